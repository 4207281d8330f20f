"""What all benchmarks share: their options, a choice that flatters nothing, means of ratios, and JSON."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from specviz.core.intervals import interval_of_ratios


def asked(about: str | None, options: dict[str, Any]) -> argparse.Namespace:
    """What a program of this description was given; its result goes to `--out` too.

    Options by name: the default; or a type, where one must be given, in a list: several. A pair is both.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, given in (options | {"--out": (str, None)}).items():
        must = isinstance(given, type | list)
        kind, default = (given, None) if must else given if isinstance(given, tuple) else (type(given), given)
        if kind is bool:
            parser.add_argument(name, action="store_true")
            continue
        more: dict[str, Any] = {"required": must} if name.startswith("-") else {}
        if isinstance(kind, list):
            kind, more["nargs"] = kind[0], "+" if must or default is None else "*"
        parser.add_argument(name, type=kind, default=default, **more)
    return parser.parse_args()


def chosen_on_others(prompts: Sequence[Sequence[float]]) -> list[int]:
    """For each prompt the number of the setting that did best on the others: the highest geometric mean."""
    others = [[*prompts[:own], *prompts[own + 1 :]] for own in range(len(prompts))]
    each = range(len(prompts[0]))
    return [max(each, key=lambda number: geometric_mean(one[number] for one in its)) for its in others]


def mean_ratio(ratios: Sequence[float], digits: int = 3) -> dict[str, float]:
    """The geometric mean and its 95 % interval."""
    low, high = interval_of_ratios(ratios)
    return {"value": round(geometric_mean(ratios), digits), "low": round(low, digits), "high": round(high, digits)}


def rounded(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures, or lists of them, with three digits."""
    return {
        name: [round(one, 3) for one in value] if isinstance(value, list) else round(value, 3)
        for name, value in figures.items()
    }


def here() -> dict[str, Any]:
    """This machine, and the day."""
    from specviz.models.devices import describe_machine  # imports torch, which not every benchmark needs

    return {"machine": asdict(describe_machine()), "created": datetime.now(UTC).date().isoformat()}


def report(result: object, path: str | Path | None) -> None:
    """Print JSON, and write it to the file, if one is named."""
    text = json.dumps(result, indent=2)
    print(text, flush=True)
    if path:
        Path(path).write_text(text + "\n")
