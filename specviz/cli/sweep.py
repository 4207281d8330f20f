"""`specviz sweep`: measure workloads, drafts and settings against each other."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from specviz.cli.loading import load_models
from specviz.cli.options import PROMPT_LOOKUP, add_json, add_pair, settings_of
from specviz.cli.output import StatusLine, print_table, safe, say, status_line, write_json
from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP as LOOKUP
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule
from specviz.data.workloads import WORKLOADS, Workload, find_workload

if TYPE_CHECKING:
    from specviz.cli.options import Commands
    from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
    from specviz.measure.sweep.rows import SweepRow
    from specviz.models import LoadedModel

SHOWN = ("preset", "draft_length", "acceptance_rate", "tokens_per_target_call", "speedup", "identical")
VARIED = ("draft", "temperature", "draft_schedule", "constrained")  # shown only if rows differ in it
SCHEDULES: dict[str, DraftSchedule] = {name: name for name in DRAFT_SCHEDULES}

Value = TypeVar("Value")


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = commands.add_parser("sweep", help="measure workloads, drafts and settings against each other")
    add_pair(parser, drafts="append")
    _add_sweep_options(parser)
    add_json(parser)
    parser.set_defaults(command=sweep)


def sweep(options: argparse.Namespace) -> None:
    """Measure what the CSV file does not hold yet, and print or write the rows."""
    plan = sweep_plan(options, settings_of(options))
    from specviz.measure.sweep.table import SweepFile

    file = SweepFile(options.csv)
    before = len(file.rows)
    with status_line() as status:
        load = _loader(options, max(plan.temperatures), status)
        cells = plan.cells()
        from specviz.measure.sweep import measure  # imports torch

        for row in measure.sweep(cells, load, file.done, status.show):
            file.add(row)
    if write_json(options.json, json.dumps({"rows": [asdict(row) for row in file.rows]}, indent=2)):
        print_sweep(file.rows[before:], str(options.csv))


def _loader(
    options: argparse.Namespace, temperature: float, status: StatusLine
) -> "Callable[[SweepPair], tuple[LoadedModel, LoadedModel | None]]":
    """Loads one pair after the other; all pairs share the target."""
    target: LoadedModel | None = None

    def load(pair: "SweepPair") -> "tuple[LoadedModel, LoadedModel | None]":
        nonlocal target
        draft = PROMPT_LOOKUP if pair.draft == LOOKUP else pair.draft
        one = {"draft": draft, "temperature": temperature}
        target, loaded = load_models(argparse.Namespace(**{**vars(options), **one}), status, target)
        return target, loaded

    return load


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Everything that a sweep varies."""
    known = ", ".join(workload.name for workload in WORKLOADS)
    parser.add_argument("--workload", nargs="+", action="extend", metavar="NAME", help=f"of {known} (all)")
    parser.add_argument(
        "--prompts-file",
        type=Path,
        metavar="F",
        help='your own prompts: one per line, or JSON lines {"prompt", "name", "workload"}; other workloads are then '
        "measured only if they are named",
    )
    parser.add_argument("--prompts", type=int, metavar="N", help="prompts per workload (all)")
    parser.add_argument("--draft-lengths", default="1,2,4,8", metavar="G,G,...", help="draft lengths (1,2,4,8)")
    parser.add_argument("--temperatures", metavar="X,X,...", help="temperatures (that of --temperature)")
    schedules = ", ".join(DRAFT_SCHEDULES)
    parser.add_argument("--schedules", default="fixed", metavar="S,S,...", help=f"of {schedules} (fixed)")
    parser.add_argument(
        "--constrained", action="store_true", help="measure prompts that have a grammar both with and without it"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="PATH", help="write rows here; rows that it already holds are not measured again"
    )


def sweep_plan(options: argparse.Namespace, settings: DecodeSettings) -> "SweepPlan":
    """The plan that the options describe.

    Raises:
        InputError: a value cannot be used; the sentence names the option.
    """
    from specviz.measure.sweep.plan import SweepPair, SweepPlan  # data frames take time to import: only a sweep waits

    drafts = [LOOKUP if draft == PROMPT_LOOKUP else draft for draft in dict.fromkeys(options.draft)]
    temperatures: tuple[float, ...] = (settings.temperature,)
    if options.temperatures is not None:
        temperatures = _listed("--temperatures", "numbers", options.temperatures, float)
        for temperature in temperatures:
            replace(settings, temperature=temperature)  # checks it
    return SweepPlan(
        prompts=tuple(_prompts(options)),
        pairs=tuple(SweepPair(options.target, draft) for draft in drafts),
        draft_lengths=_draft_lengths(options.draft_lengths),
        temperatures=temperatures,
        schedules=_listed("--schedules", f"{', '.join(SCHEDULES)}", options.schedules, lambda name: SCHEDULES[name]),
        constrain=options.constrained,
        settings=settings,
    )


def _prompts(options: argparse.Namespace) -> "list[SweepPrompt]":
    from specviz.measure.sweep.plan import workload_prompts
    from specviz.measure.sweep.prompt_files import read_prompt_file

    if options.prompts is not None and options.prompts < 1:
        raise InputError(f"--prompts must be at least 1, not {options.prompts}.")
    names = options.workload or ([] if options.prompts_file else [workload.name for workload in WORKLOADS])
    prompts = workload_prompts([_workload(name) for name in dict.fromkeys(names)], options.prompts)
    if options.prompts_file:
        file = read_prompt_file(options.prompts_file)
        for problem in file.problems:
            print(f"note: {safe(problem)}", file=sys.stderr)
        prompts += file.prompts
    return prompts


def _workload(name: str) -> Workload:
    workload = find_workload(name)
    if workload is None:
        raise InputError(f"There is no workload {name!r}: use {', '.join(known.name for known in WORKLOADS)}.")
    return workload


def _draft_lengths(text: str) -> tuple[int, ...]:
    lengths = _listed("--draft-lengths", "whole numbers", text, int)
    if not all(1 <= length <= MAX_DRAFT_LENGTH for length in lengths):
        raise InputError(f"--draft-lengths must be from 1 to {MAX_DRAFT_LENGTH}, not {text!r}.")
    return lengths


def _listed(option: str, what: str, text: str, parse: Callable[[str], Value]) -> tuple[Value, ...]:
    """The values in a list with commas, each once."""
    try:
        return tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",")))
    except (ValueError, KeyError):
        raise InputError(f"{option} takes {what} with commas between, not {text!r}.") from None


def print_sweep(rows: "Sequence[SweepRow]", path: str) -> None:
    """The rows measured now, as a table."""
    if not rows:
        say(f"Nothing left to measure: {path} holds all rows.")
        return
    varied = [column for column in VARIED if len({getattr(row, column) for row in rows}) > 1]
    columns = (SHOWN[0], *varied, *SHOWN[1:])
    print_table(columns, ([getattr(row, column) for column in columns] for row in rows))
