"""`sweep`, and what it shares with `compare --prompts-file`: many prompts. Rows are saved as they are measured."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Option

from specviz.cli.options import (
    DRAFT,
    ModelOptions,
    PromptsFile,
    ResultOptions,
    add_command,
    load_models,
    new_group,
)
from specviz.cli.output import StatusLine, note, print_line, print_table, status_line, write_json
from specviz.cli.plots import check_plots, write_plots
from specviz.core.drafters import canonical
from specviz.core.errors import InputError, NoNodeLeft
from specviz.core.ray_address import check_ray, parse_ray_address
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, SETTINGS, DecodeSettings, DraftSchedule
from specviz.core.texts import join_choices
from specviz.data.prompts.workloads import ALL_WORKLOADS, WORKLOADS, Workload, find_workload
from specviz.measure.sweep.plan import SweepCell, SweepPair, SweepPlan, SweepPrompt, workload_prompts
from specviz.measure.sweep.prompt_files import read_prompt_file
from specviz.measure.sweep.rows import dump_row, names_apart

if TYPE_CHECKING:
    from specviz.decoding.drafters.choose import Loaded
    from specviz.measure.sweep.rows import SweepRow
    from specviz.measure.sweep.table import SweepFile
    from specviz.models.loaded_model import LoadedModel

SHOWN = ("preset", "draft_length", "acceptance_rate", "tokens_per_target_call", "speedup", "identical")
# Shown only if rows differ in it; repeats differ in the seed.
VARIED = ("draft", *(name for name in SETTINGS if name not in (*SHOWN, "seed")), "constrained", "node")
DRAFT_LENGTHS = "1,2,4,8"
WORKLOAD_NAMES = ", ".join(each.name for each in ALL_WORKLOADS)
RAY = "measure on all nodes of a Ray cluster: local (starts one here), auto, HOST:PORT or ray://HOST:PORT; needs ray"
SCHEDULES: dict[str, DraftSchedule] = {name: name for name in DRAFT_SCHEDULES}

Value = TypeVar("Value")


group = new_group()


@dataclass(frozen=True, kw_only=True)
class ManyOptions(ModelOptions, ResultOptions):
    """Of a command that measures several prompts; rows that the CSV file has are not measured again."""

    prompts_file: PromptsFile = None
    ray: Annotated[str | None, Option(metavar="ADDRESS", help=RAY)] = None


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    workload: Annotated[list[str] | None, Option(metavar="NAME ...", help=f"of {WORKLOAD_NAMES}")] = None
    prompts: Annotated[int | None, Option(metavar="N", help="prompts of each workload (default: all)")] = None
    prompts_file: PromptsFile = None


@dataclass(frozen=True, kw_only=True)
class SweepOptions(ManyOptions, WorkloadOptions):
    draft: Annotated[list[str], Option(metavar="D", parser=canonical, help=f"{DRAFT}; can be given several times")]
    draft_lengths: Annotated[str, Option(metavar="G,G,...", help="draft lengths")] = DRAFT_LENGTHS
    temperatures: Annotated[
        str | None, Option(metavar="X,X,...", help="temperatures (default: that of --temperature)")
    ] = None
    schedules: Annotated[
        str | None,
        Option(metavar="S,S,...", help=f"of {', '.join(DRAFT_SCHEDULES)} (default: that of --draft-schedule)"),
    ] = None
    constrained: Annotated[
        bool, Option("--constrained", help="measure prompts that have a grammar both with and without it")
    ] = False


def measure_all(options: ManyOptions, plan: SweepPlan) -> None:
    """Measure what the CSV file does not have yet; print rows, a conclusion and where the rows are."""
    if options.plots:
        check_plots(options.plots)
    from specviz.measure.sweep.table import SweepFile, frame_of  # only what measures waits for its imports

    cells, file = plan.cells(), SweepFile(options.csv)
    before = len(file.rows)

    def how_to_go_on() -> str:
        if options.csv is None:
            return "nothing is saved: with --csv PATH every row is saved, and the same command goes on."
        return f"{options.csv} has {len(file.rows)} of {len(cells)} rows; the same command measures the rest."

    try:
        with status_line(lines=True) as status:
            for row in _rows(options, plan, cells, file, status):
                file.add(row)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_go_on()) from None
    except NoNodeLeft as error:
        raise InputError(f"{error}; {how_to_go_on()}") from None
    from specviz.measure.sweep.sentences import conclusions  # takes pandas, which only the end needs

    frame = frame_of(file.rows)
    said = list(conclusions(frame))
    if options.prompts_file:  # what the conclusion does not cover
        prompts = read_prompt_file(options.prompts_file)
        said += [f"{options.prompts_file}: {line}" for line in (*prompts.notes, *prompts.problems)]
    if write_json(options.json, json.dumps({"rows": list(map(dump_row, file.rows)), "conclusion": said}, indent=2)):
        if before == len(file.rows):
            print_line(f"Nothing left to measure: {options.csv} holds all rows.")
        varied = [column for column in VARIED if len({getattr(row, column) for row in file.rows}) > 1]
        columns = (SHOWN[0], *varied, *SHOWN[1:])
        named = zip(names_apart((row.preset, row.text_hash) for row in file.rows), file.rows, strict=True)
        print_table(columns, ([name, *(getattr(row, column) for column in columns[1:])] for name, row in named))
        print_line("\n" + "\n".join(said))
    for path in write_plots(options.plots, frame) if options.plots else ():
        note(f"wrote {path}")


def _rows(
    options: ManyOptions, plan: SweepPlan, cells: list[SweepCell], file: "SweepFile", status: StatusLine
) -> "Iterator[SweepRow]":
    """The rows that the file does not have yet, measured here or on the nodes of a Ray cluster.

    Nodes that were lost on the way are named at the end.
    """
    hottest = replace(plan.settings, temperature=max(plan.temperatures))
    if not options.ray:
        from specviz.measure.sweep import measure  # imports torch

        yield from measure.sweep(cells, PairLoader(options, hottest, status), file.done, status.show)
        return
    address, lost = parse_ray_address(options.ray), list[str]()
    check_ray()
    from specviz.measure.sweep import cluster  # imports torch

    status.show(f"joining the Ray cluster at {address}")
    try:
        with cluster.ray_workers(address, PairLoader(options, hottest, StatusLine(None)), options.threads) as workers:
            yield from cluster.measure_on(workers, cells, file.rows, status.show, lost.append)
    finally:
        for sentence in lost:
            note(sentence)


@dataclass
class PairLoader:
    """Loads one pair after the other; all pairs share the target. With a silent status it can be sent to a node."""

    options: ModelOptions
    settings: DecodeSettings
    status: StatusLine
    target: "LoadedModel | None" = None

    def __call__(self, pair: SweepPair) -> "tuple[LoadedModel, Loaded]":
        self.target, loaded = load_models(self.options, pair.draft, self.settings, self.status, self.target)
        return self.target, loaded


def prompts_of(path: Path) -> tuple[SweepPrompt, ...]:
    """The prompts of a file; a note on standard error for each line that cannot be used, and for what is not used."""
    file = read_prompt_file(path)
    for line in (*file.notes, *file.problems):
        note(line)
    return file.prompts


def draft_lengths(text: str) -> tuple[int, ...]:
    lengths = listed("--draft-lengths", "whole numbers", text, int)
    if not all(1 <= length <= MAX_DRAFT_LENGTH for length in lengths):
        raise InputError(f"--draft-lengths must be from 1 to {MAX_DRAFT_LENGTH}, not {text!r}.")
    return lengths


def listed(option: str, what: str, text: str, parse: Callable[[str], Value]) -> tuple[Value, ...]:
    try:
        return tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",")))
    except (ValueError, KeyError):
        raise InputError(f"{option} takes {what} with commas between, not {text!r}.") from None


@add_command(
    group,
    "sweep --target wren-base --draft wren-nano --draft prompt-lookup --workload story copy --csv sweep.csv",
    "sweep --target wren-base --draft wren-nano --prompts-file prompts.txt --draft-lengths 2,4,6 --plots figures",
    "sweep --target wren-base --draft wren-nano --csv sweep.csv --ray 10.0.0.5:6379",
)
def sweep(options: SweepOptions, settings: DecodeSettings) -> None:
    """Measure workloads, drafts and settings against each other."""
    temperatures: tuple[float, ...] = (settings.temperature,)
    if options.temperatures is not None:
        temperatures = listed("--temperatures", "numbers", options.temperatures, float)
    plan = SweepPlan(
        prompts=tuple(chosen_prompts(options, WORKLOADS)),
        pairs=tuple(SweepPair(options.target, draft) for draft in dict.fromkeys(options.draft)),
        draft_lengths=draft_lengths(options.draft_lengths),
        temperatures=temperatures,
        schedules=listed(
            "--schedules",
            join_choices([*SCHEDULES], "and"),
            options.schedules or settings.draft_schedule,
            SCHEDULES.__getitem__,
        ),
        constrain=options.constrained,
        settings=settings,
    )
    measure_all(options, plan)


def chosen_prompts(options: WorkloadOptions, otherwise: Sequence[Workload] = ()) -> list[SweepPrompt]:
    """The prompts of the workloads that are named, and of the file; of those `otherwise` where nothing is named."""
    if options.prompts is not None and options.prompts < 1:
        raise InputError(f"--prompts must be at least 1, not {options.prompts}.")
    workloads: list[Workload] = [] if options.workload or options.prompts_file else list(otherwise)
    for name in dict.fromkeys(options.workload or ()):
        if not (workload := find_workload(name)):
            raise InputError(f"There is no workload {name!r}: use {WORKLOAD_NAMES}.")
        workloads.append(workload)
    prompts = workload_prompts(workloads, options.prompts)
    return [*prompts, *(prompts_of(options.prompts_file) if options.prompts_file else ())]
