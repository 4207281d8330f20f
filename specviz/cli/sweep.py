"""The command line's sweep: what is asked for, and how its rows are shown."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from specviz.cli.text import safe, table
from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule
from specviz.data.workloads import WORKLOADS, Workload, find_workload
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt, workload_prompts
from specviz.measure.sweep.prompt_files import read_prompt_file
from specviz.measure.sweep.rows import SweepRow

SHOWN = ("preset", "draft_length", "acceptance_rate", "tokens_per_target_call", "speedup", "identical")
VARIED = ("draft", "temperature", "draft_schedule", "constrained")  # shown where rows differ in it
SCHEDULES: dict[str, DraftSchedule] = {name: name for name in DRAFT_SCHEDULES}

Value = TypeVar("Value")


def add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Everything a sweep varies; the pair's own options are there already."""
    known = ", ".join(workload.name for workload in WORKLOADS)
    parser.add_argument("--workload", nargs="+", action="extend", metavar="NAME", help=f"of {known} (all)")
    parser.add_argument(
        "--prompts-file",
        type=Path,
        metavar="F",
        help='prompts of your own: one a line, or JSON lines {"prompt", "name", "workload"}; then no other workload '
        "than those named",
    )
    parser.add_argument("--prompts", type=int, metavar="N", help="prompts of each workload (all)")
    parser.add_argument("--draft-lengths", default="1,2,4,8", metavar="G,G,...", help="draft lengths (1,2,4,8)")
    parser.add_argument("--temperatures", metavar="X,X,...", help="temperatures (what --temperature says)")
    schedules = ", ".join(DRAFT_SCHEDULES)
    parser.add_argument("--schedules", default="fixed", metavar="S,S,...", help=f"of {schedules} (fixed)")
    parser.add_argument(
        "--constrained", action="store_true", help="measure prompts that have a grammar with it as well as without"
    )
    parser.add_argument("--csv", type=Path, metavar="PATH", help="write rows here; what it holds is not measured again")


def sweep_plan(options: argparse.Namespace, settings: DecodeSettings) -> SweepPlan:
    """What the options ask for.

    Raises:
        InputError: a value cannot be used; the sentence names the option.
    """
    drafts = [PROMPT_LOOKUP if draft == "prompt-lookup" else draft for draft in dict.fromkeys(options.draft)]
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


def _prompts(options: argparse.Namespace) -> list[SweepPrompt]:
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


def print_sweep(rows: Sequence[SweepRow], path: str) -> None:
    """What was measured now, as a table."""
    if not rows:
        print(f"Nothing left to measure: {safe(path)} holds it all.")
        return
    varied = [column for column in VARIED if len({getattr(row, column) for row in rows}) > 1]
    columns = (SHOWN[0], *varied, *SHOWN[1:])
    values = ([getattr(row, column) for column in columns] for row in rows)
    table(columns, ([safe(value) if isinstance(value, str) else value for value in row] for row in values))
