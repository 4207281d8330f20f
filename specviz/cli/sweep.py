"""`compare` times both decoders on one prompt or on a file of them, `sweep` on many; each measured row is saved."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typer import Context, Option

from specviz.cli.options import (
    DRAFT,
    ModelOptions,
    PromptOptions,
    PromptsFile,
    ResultOptions,
    add_command,
    check_one_given,
    grammar_of,
    load_models,
    load_pair,
    new_group,
    prompt_of,
)
from specviz.cli.output import StatusLine, counts_line, note, print_line, print_table, status_line, write_json
from specviz.cli.plots import check_plots, write_plots
from specviz.core.drafters import canonical, typed_name
from specviz.core.errors import InputError, NoNodeLeft
from specviz.core.ray_address import check_ray, parse_ray_address
from specviz.core.settings import DRAFT_SCHEDULES, SETTINGS, DecodeSettings, DraftSchedule
from specviz.core.texts import join_choices
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts
from specviz.data.prompts.workloads import ALL_WORKLOADS, WORKLOADS, Workload, find_workload
from specviz.measure.paired import Comparison, TimedDecoder, prefill_seconds
from specviz.measure.race import lap_figures
from specviz.measure.sweep.plan import SweepCell, SweepPair, SweepPlan, SweepPrompt, workload_prompts
from specviz.measure.sweep.prompt_files import read_prompt_file
from specviz.measure.sweep.rows import COLUMNS, SweepFile, SweepRow, counted, frame_of, names_apart

if TYPE_CHECKING:
    from specviz.decoding.drafters.choose import Loaded
    from specviz.models.loaded_model import LoadedModel

SHOWN = ("preset", "draft_length", "acceptance_rate", "tokens_per_target_call", "speedup", "identical")
# Shown only if rows differ in it; repeats differ in the seed.
VARIED = ("draft", *(name for name in SETTINGS if name not in (*SHOWN, "seed")), "constrained", "node")
DRAFT_LENGTHS = "1,2,4,8"
WORKLOAD_NAMES = ", ".join(each.name for each in ALL_WORKLOADS)
RAY = "measure on all nodes of a Ray cluster: local (starts one here), auto, HOST:PORT or ray://HOST:PORT; needs ray"
REPEATS = 5  # of one prompt
REPEATS_SAID = f"{REPEATS}; 1 with --prompts-file, where the prompts are the sample"
SCHEDULES: dict[str, DraftSchedule] = {name: name for name in DRAFT_SCHEDULES}

Value = TypeVar("Value")
group = new_group()


@dataclass(frozen=True, kw_only=True)
class ManyOptions(ModelOptions, ResultOptions):
    """Of a command that measures several prompts; rows that the CSV file has are not measured again."""

    prompts_file: PromptsFile = None
    draft_lengths: Annotated[
        str | None, Option(metavar="G,G,...", help=f"draft lengths (default: --draft-length, or {DRAFT_LENGTHS})")
    ] = None
    ray: Annotated[str | None, Option(metavar="ADDRESS", help=RAY)] = None


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PromptOptions, ManyOptions):
    repeats: Annotated[int | None, Option(metavar="R", help=f"alternating repeats (default: {REPEATS_SAID})")] = None


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    workload: Annotated[list[str] | None, Option(metavar="NAME ...", help=f"of {WORKLOAD_NAMES}")] = None
    prompts: Annotated[int | None, Option(metavar="N", help="prompts of each workload (default: all)")] = None
    prompts_file: PromptsFile = None


@dataclass(frozen=True, kw_only=True)
class SweepOptions(ManyOptions, WorkloadOptions):
    draft: Annotated[list[str], Option(metavar="D", parser=canonical, help=f"{DRAFT}; can be given several times")]
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

    if not (cells := plan.cells()):
        raise InputError("Prompt lookup has no confidence to stop by: choose another schedule.")
    file = SweepFile(options.csv)
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
    except (NoNodeLeft, OSError) as error:  # a full disk, for example
        raise InputError(f"{error}; {how_to_go_on()}") from None
    from specviz.measure.sweep.study import conclusions  # takes pandas, which only the end needs

    frame = frame_of(file.rows)
    said = list(conclusions(frame))
    if options.prompts_file:  # what the conclusion does not cover
        prompts = read_prompt_file(options.prompts_file)
        said += [f"{options.prompts_file}: {line}" for line in (*prompts.notes, *prompts.problems)]
    rows = [{column: getattr(row, column) for column in COLUMNS} for row in file.rows]
    if write_json(options.json, json.dumps({"rows": rows, "conclusion": said}, indent=2)):
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
    options: ManyOptions, plan: SweepPlan, cells: list[SweepCell], file: SweepFile, status: StatusLine
) -> Iterator[SweepRow]:
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


def draft_lengths(options: ManyOptions, settings: DecodeSettings, context: Context) -> tuple[int, ...]:
    one = context.params["draft_length"]
    check_one_given(draft_length=one, draft_lengths=options.draft_lengths)
    if one is not None:
        return (one,)
    lengths = listed("--draft-lengths", "whole numbers", options.draft_lengths or DRAFT_LENGTHS, int)
    if options.draft_lengths:
        for length in lengths:
            replace(settings, draft_length=length)  # InputError: there is no such length, or the tree has another
    return lengths


def listed(option: str, what: str, text: str, parse: Callable[[str], Value]) -> tuple[Value, ...]:
    try:
        return tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",")))
    except (ValueError, KeyError):
        raise InputError(f"{option} takes {what} with commas between, not {text!r}.") from None


@add_command(
    group,
    'compare --target wren-base --draft wren-nano --prompt "Once upon a time" --repeats 9',
    "compare --target wren-base --draft wren-nano --prompts-file prompts.jsonl --csv rows.csv --plots figures",
)
def compare(options: CompareOptions, settings: DecodeSettings, context: Context) -> None:
    """Measure both decoders, timed alternately, on one prompt or on a file of prompts."""
    check_one_given(prompt=options.prompt, prompt_file=options.prompt_file, prompts_file=options.prompts_file)
    if options.repeats is not None and options.repeats < 1:
        raise InputError(f"--repeats must be at least 1, not {options.repeats}.")
    if not options.prompts_file:
        return compare_one(options, settings)
    if options.json_schema or options.regex:
        raise InputError("--json-schema and --regex are for one prompt: leave out --prompts-file.")
    plan = SweepPlan(
        prompts=prompts_of(options.prompts_file),
        pairs=(SweepPair(options.target, options.draft),),
        draft_lengths=draft_lengths(options, settings, context),
        temperatures=(settings.temperature,),
        schedules=(settings.draft_schedule,),
        settings=settings,
        repeats=options.repeats or 1,
    )
    return measure_all(options, plan)


def compare_one(options: CompareOptions, settings: DecodeSettings) -> None:
    for option in ("csv", "plots", "ray", "draft_lengths"):
        if getattr(options, option) is not None:
            raise InputError(f"--{option.replace('_', '-')} is for several prompts: use --prompts-file.")
    prompt, grammar, repeats = prompt_of(options), grammar_of(options), options.repeats or REPEATS
    with status_line() as status:
        target, drafter = load_pair(options, settings, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure import compare

        constraint = make_constraint(target, grammar, prompt) if grammar else None
        comparison = compare.compare(target, drafter, prompt, settings, repeats, status.show, constraint)
    if write_json(options.json, json.dumps(comparison_json(comparison), indent=2)):
        print_comparison(comparison)


AS_IN_A_RACE = (
    "target", "draft_length", "temperature", "seed", "target_dtype", "draft_dtype", "threads", "prompt_tokens",
    "speedup", "speedup_low", "speedup_high", "identical",
)  # fmt: skip


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The result of `compare --json`.

    Above temperature 0 each repeat has one of `seeds`. "autoregressive" and "speculative" hold one repeat's texts and
    counts (that with the median ratio), and every repeat's seconds; "all_seeds" holds the counts over all repeats.
    """
    speculative, plain = comparison.speculative, comparison.plain
    drafter, settings = speculative.drafter, speculative.settings
    verdict = comparison.verdict
    predicted = comparison.predicted
    predicted_low, predicted_high = (predicted and predicted.interval) or (None, None)
    figures = lap_figures(comparison)
    return {
        **{name: figures[name] for name in AS_IN_A_RACE},
        "draft": typed_name(drafter.asked_as) if drafter else None,
        **{name: getattr(settings, name) for name, row in SETTINGS.items() if row.words},  # those that are in `manner`
        "seeds": comparison.seeds,
        "new_tokens": len(speculative.output.token_ids),
        "autoregressive": _decoder_json(plain, comparison.alone),
        "speculative": _decoder_json(speculative, comparison.ours) | counted(speculative),
        "all_seeds": comparison.counts.figures | {"plain_tokens": comparison.plain_written},
        "predicted_speedup": predicted and predicted.speedup,
        "predicted_low": predicted_low,
        "predicted_high": predicted_high,
        "calibrated": comparison.costs is not None,
        "quality": asdict(comparison.quality),
        "verdict": {"label": verdict.label, "reason": verdict.reason},
    }


def _decoder_json(trace: Trace, timed: TimedDecoder) -> dict[str, Any]:
    """One decoder: its run that is shown, and of every repeat the seconds and the number of new tokens."""
    return {
        "seconds": median(timed.seconds),
        "seconds_all": timed.seconds,
        "new_tokens_all": timed.tokens,
        "prefill_seconds": prefill_seconds(trace),
        "token_ids": trace.output.token_ids,
        "text": trace.output.text,
    }


def print_comparison(comparison: Comparison) -> None:
    verdict, seeds, found = comparison.verdict, comparison.seeds, comparison.quality
    rows = [
        [name, median(its.seconds), median(its.rates), f"{min(its.seconds):.3f} to {max(its.seconds):.3f}"]
        for name, its in (("target alone", comparison.alone), ("speculative", comparison.ours))
    ]
    print_table(("", "median s", "tokens/s", "spread"), rows)
    of_all = f"seeds {seeds[0]} to {seeds[-1]}, all together: " if len(seeds) > 1 else ""
    print_line(f"{of_all}{counts_line(comparison.counts, 'discarded')}")
    said = f"speedup {verdict.shown} measured"
    if predicted := comparison.predicted:
        said += f", {predicted.shown} modelled"
    print_line(said)
    print_line(compare_texts(comparison.both, found.lead if found.kind == "greedy" else None))
    print_line(f"{verdict.headline}: {verdict.reason}")


@add_command(
    group,
    "sweep --target wren-base --draft wren-nano --draft prompt-lookup --workload story copy --csv sweep.csv",
    "sweep --target wren-base --draft wren-nano --prompts-file prompts.txt --draft-lengths 2,4,6 --plots figures",
    "sweep --target wren-base --draft wren-nano --csv sweep.csv --ray 10.0.0.5:6379",
)
def sweep(options: SweepOptions, settings: DecodeSettings, context: Context) -> None:
    """Measure workloads, drafts and settings against each other."""
    temperatures: tuple[float, ...] = (settings.temperature,)
    if options.temperatures is not None:
        temperatures = listed("--temperatures", "numbers", options.temperatures, float)
    plan = SweepPlan(
        prompts=tuple(chosen_prompts(options, WORKLOADS)),
        pairs=tuple(SweepPair(options.target, draft) for draft in dict.fromkeys(options.draft)),
        draft_lengths=draft_lengths(options, settings, context),
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
