"""`specviz calibrate`: measure c, v(k) and the overhead of a pair on this machine."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from specviz.cli.help_text import add_command
from specviz.cli.loading import load_pair
from specviz.cli.options import add_json, add_pair
from specviz.cli.output import print_table, say, status_line, write_json

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "calibrate",
        "measure c, v(k) and overhead on this machine",
        "calibrate --target wren-base --draft wren-nano",
        "calibrate --target wren-base --draft wren-nano --tree 4,2,1 --json costs.json",
    )
    add_pair(parser)
    add_json(parser)
    parser.set_defaults(command=calibrate)


def calibrate(options: argparse.Namespace) -> None:
    """Measure the pair's costs, and both number formats of each model."""
    with status_line() as status:
        target, drafter = load_pair(options, status)
        from specviz.measure import calibration  # imports torch
        from specviz.models.dtype_choice import measure_dtypes

        status.show("measuring")
        costs = calibration.calibrate(
            target, drafter.loaded, nodes=calibration.TREE_NODES, tree=options.tree, drafter=drafter
        )
        result = asdict(costs) | {"dtypes": {}}
        for role, model in (("target", target), ("draft", drafter.loaded)):
            status.show(f"measuring the {role} in both number formats")
            lengths = range(1, calibration.LONGEST_PASS + 1)
            result["dtypes"][role] = asdict(measure_dtypes(model.name, lengths)) if model else None
    if write_json(options.json, json.dumps(result, indent=2)):
        print_costs(result)


def print_costs(result: dict[str, Any]) -> None:
    """The costs of a round, then the time of a pass in each number format."""
    say(f"one target step  {1000 * result['step_seconds']:.2f} ms ({result['target_dtype']}, measured here)")
    say(f"c                {result['cost_ratio']:.3f}   one draft step, in target steps")
    say(f"overhead         {result['overhead']:.3f}   per round, in target steps")
    print_table(("k", "v(k)"), [[k, v] for k, v in result["verification"].items()])
    if trees := result["tree_verification"]:
        say("\nthe target checks a tree of so many guesses in one pass")
        print_table(("nodes", "v of a tree"), [[nodes, v] for nodes, v in trees.items()])
    print_dtypes(choice for choice in result["dtypes"].values() if choice)


def print_dtypes(choices: Iterable[dict[str, Any]]) -> None:
    """For each model, the time of a pass in each number format, and which format is chosen."""
    for choice in choices:
        say(f"\n{choice['reason']}")
        dtypes = list(choice["seconds"])
        lengths = choice["seconds"][dtypes[0]]
        rows = [[k, *(1000 * choice["seconds"][dtype][k] for dtype in dtypes)] for k in lengths]
        print_table(("k", *(f"{dtype} ms" for dtype in dtypes)), rows)
