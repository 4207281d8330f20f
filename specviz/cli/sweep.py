"""`specviz sweep`: measure workloads, drafts and settings against each other."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.many import DRAFT_LENGTHS, add_results, draft_lengths, listed, measure_all, prompts_of
from specviz.cli.options import PROMPT_LOOKUP, add_json, add_pair, add_prompts_file, settings_of
from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP as LOOKUP
from specviz.core.settings import DRAFT_SCHEDULES, DecodeSettings, DraftSchedule
from specviz.data.workloads import WORKLOADS, Workload, find_workload
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt, workload_prompts

if TYPE_CHECKING:
    from specviz.cli.options import Commands

SCHEDULES: dict[str, DraftSchedule] = {name: name for name in DRAFT_SCHEDULES}


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "sweep",
        "measure workloads, drafts and settings against each other",
        "sweep --target wren-base --draft wren-nano --draft prompt-lookup --workload story copy --csv sweep.csv",
        "sweep --target wren-base --draft wren-nano --prompts-file prompts.txt --draft-lengths 2,4,6 --plots figures",
        "sweep --target wren-base --draft wren-nano --csv sweep.csv --ray 10.0.0.5:6379",
    )
    add_pair(parser, drafts="append")
    _add_sweep_options(parser)
    add_results(parser)
    add_json(parser)
    parser.set_defaults(command=sweep)


def sweep(options: argparse.Namespace) -> None:
    """Measure what the CSV file does not have yet, and print or write the rows."""
    measure_all(options, sweep_plan(options, settings_of(options)))


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Everything that a sweep varies."""
    known = ", ".join(workload.name for workload in WORKLOADS)
    names = f"of {known} (default: all; none with --prompts-file)"
    parser.add_argument("--workload", nargs="+", action="extend", metavar="NAME", help=names)
    add_prompts_file(parser)
    parser.add_argument("--prompts", type=int, metavar="N", help="prompts of each workload (default: all)")
    parser.add_argument("--draft-lengths", default=DRAFT_LENGTHS, metavar="G,G,...", help="draft lengths")
    parser.add_argument("--temperatures", metavar="X,X,...", help="temperatures (default: that of --temperature)")
    parser.add_argument("--schedules", default="fixed", metavar="S,S,...", help=f"of {', '.join(DRAFT_SCHEDULES)}")
    both = "measure prompts that have a grammar both with and without it"
    parser.add_argument("--constrained", action="store_true", help=both)


def sweep_plan(options: argparse.Namespace, settings: DecodeSettings) -> SweepPlan:
    """The plan that the options describe.

    Raises:
        InputError: a value cannot be used; the sentence names the option.
    """
    drafts = [LOOKUP if draft == PROMPT_LOOKUP else draft for draft in dict.fromkeys(options.draft)]
    temperatures: tuple[float, ...] = (settings.temperature,)
    if options.temperatures is not None:
        temperatures = listed("--temperatures", "numbers", options.temperatures, float)
        for temperature in temperatures:
            replace(settings, temperature=temperature)  # checks it
    return SweepPlan(
        prompts=tuple(_prompts(options)),
        pairs=tuple(SweepPair(options.target, draft) for draft in drafts),
        draft_lengths=draft_lengths(options.draft_lengths),
        temperatures=temperatures,
        schedules=listed("--schedules", f"{', '.join(SCHEDULES)}", options.schedules, lambda name: SCHEDULES[name]),
        constrain=options.constrained,
        settings=settings,
    )


def _prompts(options: argparse.Namespace) -> list[SweepPrompt]:
    if options.prompts is not None and options.prompts < 1:
        raise InputError(f"--prompts must be at least 1, not {options.prompts}.")
    names = options.workload or ([] if options.prompts_file else [workload.name for workload in WORKLOADS])
    prompts = workload_prompts([_workload(name) for name in dict.fromkeys(names)], options.prompts)
    return [*prompts, *(prompts_of(options.prompts_file) if options.prompts_file else ())]


def _workload(name: str) -> Workload:
    workload = find_workload(name)
    if workload is None:
        raise InputError(f"There is no workload {name!r}: use {', '.join(known.name for known in WORKLOADS)}.")
    return workload
