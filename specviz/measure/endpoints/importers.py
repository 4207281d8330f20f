"""Two result files of another bench tool, with and without speculation, as a bench of this program."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from specviz.core.errors import InputError
from specviz.measure.endpoints import result as bench_file
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side
from specviz.measure.endpoints.sentences import NAMES
from specviz.systems import read_bench
from specviz.systems.benches import ToolAnswer, ToolRun

MOST_RUNNING = 1_024
MOST_LOADS = 20
Runs = Mapping[Side, ToolRun]  # of both files at one load


def import_files(with_bytes: bytes, without_bytes: bytes, drafts: str = "") -> BenchResult:
    """The bench that two files of the same tool describe; InputError, one sentence, where they describe none."""
    files = dict[Side, list[ToolRun]]()
    for side, content in zip(SIDES, (with_bytes, without_bytes), strict=True):
        try:
            files[side] = read_bench(content)
        except InputError as error:
            raise InputError(f"The file {NAMES[side]}: {str(error).rstrip('.')}.") from None
    ours, plain = (files[side][-1] for side in SIDES)
    if ours.tool != plain.tool:
        raise InputError(f"The files are of two tools, {ours.tool} and {plain.tool}: their times are not compared.")
    notes = ["The two runs were not made in turns: what disturbed one of them is in every ratio."]
    notes += [note for runs in files.values() for run in runs for note in run.notes]
    loads = _loads(files)
    prompts, answers, spans = dict[str, int](), list[Answer](), list[bench_file.Span]()
    for block, runs in enumerate(loads):
        matched = _match(runs, notes)
        concurrency = min(runs["with"].concurrency or _count_running(runs, notes), MOST_RUNNING)
        for side, run in runs.items():
            for name, both in matched.items():
                place = side, prompts.setdefault(name, len(prompts)), 0, concurrency, block
                if place[1] < bench_file.MAX_PROMPTS:
                    answers.append(_answer(both[side], place))
            if accepted := bench_file.Accepted.from_counts(run.counts):
                # Of the whole run, so its own sum of tokens goes with them, where rounds are counted.
                written = 0 if accepted.rounds is None else sum(each.tokens for each in run.answers)
                spans.append(bench_file.Span(side, concurrency, None, written, accepted, block))
    if len(prompts) > bench_file.MAX_PROMPTS:
        notes.append(f"Of {len(prompts):,} pairs the first {bench_file.MAX_PROMPTS:,} are read.")
    every = [run for runs in loads for run in runs.values()]
    system = next((run.counts.engine for run in every if run.counts), "")
    most = max((answer.tokens or 1 for answer in answers), default=1)
    under_way = sorted({answer.concurrency for answer in answers})
    result = BenchResult(
        1,
        ours.created,
        "a machine that the files do not name",
        # No file says the temperature: texts are compared as if it were 0.
        bench_file.BenchSettings(min(most, bench_file.MAX_TOKENS), 0.0, 0, 1, under_way, "completions"),
        bench_file.Server("", ours.model, system, drafts=drafts),
        bench_file.Server("", plain.model, system),
        [bench_file.BenchPrompt(name, "", "") for name in list(prompts)[: bench_file.MAX_PROMPTS]],
        answers,
        spans,
        list(dict.fromkeys(notes)),
        ours.tool,
        blocks_timed=all(run.began_known for run in every),
    )
    # within the bounds of a bench file, or refused
    return bench_file.read_result(bench_file.dump_result(result).encode())


def _loads(files: Mapping[Side, Sequence[ToolRun]]) -> list[Runs]:
    """The loads that both files have. A load that is there twice was measured again: the last one counts."""
    loads = {side: {run.concurrency: run for run in runs} for side, runs in files.items()}
    common = [load for load in loads["with"] if load in loads["without"]][:MOST_LOADS]
    if not common:
        said = " and ".join(str(next(iter(loads[side])) or "no limit") for side in SIDES)
        raise InputError(f"The files are of different numbers of requests under way ({said}): they are not compared.")
    return [{side: loads[side][load] for side in SIDES} for load in common]


def _count_running(runs: Runs, notes: list[str]) -> int:
    """The most requests that were under way at once."""
    if not all(run.began_known for run in runs.values()):
        notes.append("The files do not say how many requests were under way: concurrency 1 stands for any number.")
        return 1
    peaks = list[int]()
    for run in runs.values():
        changes = [(each.began, 1) for each in run.answers] + [(each.began + each.seconds, -1) for each in run.answers]
        peaks.append(max(1, *accumulate(change for _, change in sorted(changes))))
    notes.append(f"At most {peaks[0]} requests were under way at once with speculation, and {peaks[1]} without.")
    return max(peaks)


def _match(runs: Runs, notes: list[str]) -> dict[str, dict[Side, ToolAnswer]]:
    """By the names of the prompts where the files have them, else by their place; never of unequal prompts."""
    if not all(each.key for run in runs.values() for each in run.answers):
        notes.append("The files do not hold the prompts: answers are paired by their place in the files.")
    ours, plain = (
        {each.key or f"request {number}": each for number, each in enumerate(run.answers, start=1)}
        for run in runs.values()
    )
    if len(ours) != len(plain):
        notes.append(f"The files have {len(ours):,} and {len(plain):,} requests.")
    common = [name for name in ours if name in plain]
    equal = [name for name in common if ours[name].prompt_tokens == plain[name].prompt_tokens]
    if not common:
        raise InputError("The files have no prompt in common.")
    if not equal:
        raise InputError("The files are not of the same prompts: their numbers of tokens differ everywhere.")
    if other := len(common) - len(equal):
        notes.append(f"{other} pairs are left out: their prompts have different numbers of tokens.")
    return {name: {"with": ours[name], "without": plain[name]} for name in equal}


def _answer(its: ToolAnswer, place: tuple[Side, int, int, int, int]) -> Answer:
    if its.problem:
        return Answer(*place, its.began, None, 0.0, None, problem=its.problem)
    parts = list(its.part_seconds)
    return Answer(
        *place, its.began, its.first, its.seconds, its.tokens, its.prompt_tokens, its.text,
        part_seconds=parts, part_tokens=[1] * its.tokens if len(parts) == its.tokens else [],
    )  # fmt: skip
