"""Two result files of another bench tool, with and without speculation, as a bench of this program."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from specviz.core.errors import InputError
from specviz.measure.endpoints.result import (
    MAX_PROMPTS,
    MAX_TOKENS,
    SIDES,
    Accepted,
    Answer,
    BenchPrompt,
    BenchResult,
    BenchSettings,
    Server,
    Side,
    Span,
    dump_result,
    read_result,
)
from specviz.measure.endpoints.warnings import NAMES
from specviz.systems import read_bench
from specviz.systems.benches import ToolAnswer, ToolRun

MOST_RUNNING = 1_024
MOST_LOADS = 20


@dataclass(frozen=True, slots=True)
class _Matched:
    """Answers of both files to what is taken as the same prompt."""

    name: str
    repeat: int
    both: Mapping[Side, ToolAnswer]


@dataclass(frozen=True, slots=True)
class _BothRuns:
    """The runs of both files at one load."""

    concurrency: int
    runs: Mapping[Side, ToolRun]
    matched: Sequence[_Matched]


def import_files(with_bytes: bytes, without_bytes: bytes) -> BenchResult:
    """The bench that two files of the same tool describe; InputError, one sentence, where they describe none."""
    files: dict[Side, list[ToolRun]] = {}
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
    loads = list(_loads(files, notes))
    prompts: dict[str, int] = {}
    for load in loads:
        for each in load.matched:
            prompts.setdefault(each.name, len(prompts))
    if len(prompts) > MAX_PROMPTS:
        notes.append(f"Of {len(prompts):,} pairs the first {MAX_PROMPTS:,} are read.")
    answers = [answer for block, load in enumerate(loads) for answer in _answers(block, load, prompts)]
    every = [run for load in loads for run in load.runs.values()]
    system = next((run.counts.engine for run in every if run.counts), "")
    result = BenchResult(
        1,
        ours.created,
        "a machine that the files do not name",
        _settings(answers, [load.concurrency for load in loads]),
        Server("", ours.model, system),
        Server("", plain.model, system),
        [BenchPrompt(name, "", "") for name in list(prompts)[:MAX_PROMPTS]],
        answers,
        [span for block, load in enumerate(loads) for span in _spans(block, load)],
        list(dict.fromkeys(notes)),
        ours.tool,
        blocks_timed=all(run.began_known for run in every),
    )
    return read_result(dump_result(result).encode())  # within the bounds of a bench file, or refused


def _loads(files: Mapping[Side, Sequence[ToolRun]], notes: list[str]) -> Iterator[_BothRuns]:
    """The loads that both files have. A load that is there twice was measured again: the last one counts."""
    loads = {side: {run.concurrency: run for run in runs} for side, runs in files.items()}
    common = [load for load in loads["with"] if load in loads["without"]][:MOST_LOADS]
    if not common:
        said = " and ".join(str(next(iter(loads[side])) or "no limit") for side in SIDES)
        raise InputError(f"The files are of different numbers of requests under way ({said}): they are not compared.")
    for load in common:
        runs: dict[Side, ToolRun] = {side: loads[side][load] for side in SIDES}
        concurrency = _count_running(runs, notes) if load is None else min(load, MOST_RUNNING)
        yield _BothRuns(concurrency, runs, _match(runs["with"], runs["without"], notes))


def _count_running(runs: Mapping[Side, ToolRun], notes: list[str]) -> int:
    """The most requests that were under way at once."""
    if not all(run.began_known for run in runs.values()):
        notes.append("The files do not say how many requests were under way: concurrency 1 stands for any number.")
        return 1
    peaks = [_most_running(run.answers) for run in runs.values()]
    notes.append(f"At most {peaks[0]} requests were under way at once with speculation, and {peaks[1]} without.")
    return min(max(peaks), MOST_RUNNING)


def _most_running(answers: Sequence[ToolAnswer]) -> int:
    changes = [(each.began, 1) for each in answers] + [(each.began + each.seconds, -1) for each in answers]
    running = most = 1
    for _, change in sorted(changes)[1:]:
        running += change
        most = max(most, running)
    return most


def _match(ours: ToolRun, plain: ToolRun, notes: list[str]) -> list[_Matched]:
    """By what names the prompts where both files name the same ones, else by their place; never of unequal prompts."""
    by_key = [Counter(each.key for each in run.answers) for run in (ours, plain)]
    found = list[_Matched]()
    if by_key[0] == by_key[1] and "" not in by_key[0]:
        others: dict[str, list[ToolAnswer]] = defaultdict(list)
        for answer in plain.answers:
            others[answer.key].append(answer)
        seen = Counter[str]()
        for answer in ours.answers:
            repeat = seen[answer.key]
            seen[answer.key] += 1
            found.append(_Matched(answer.key, repeat, {"with": answer, "without": others[answer.key][repeat]}))
    else:
        notes.append("The files do not hold the prompts: answers are paired by their place in the files.")
        pairs = zip(ours.answers, plain.answers, strict=False)
        found += [
            _Matched(f"request {place}", 0, {"with": one, "without": other})
            for place, (one, other) in enumerate(pairs, start=1)
        ]
    if len(ours.answers) != len(plain.answers):
        notes.append(f"The files have {len(ours.answers):,} and {len(plain.answers):,} requests.")
    equal = [each for each in found if len({answer.prompt_tokens for answer in each.both.values()}) == 1]
    if not equal:
        raise InputError("The files are not of the same prompts: their numbers of tokens differ everywhere.")
    if other := len(found) - len(equal):
        notes.append(f"{other} pairs are left out: their prompts have different numbers of tokens.")
    return equal


def _answers(block: int, load: _BothRuns, prompts: Mapping[str, int]) -> Iterator[Answer]:
    for side in SIDES:
        for each in load.matched:
            if (prompt := prompts[each.name]) >= MAX_PROMPTS:
                continue
            its = each.both[side]
            place = (side, prompt, each.repeat, load.concurrency, block, its.began)
            if its.problem:
                yield Answer(*place, None, 0.0, None, problem=its.problem)
                continue
            yield Answer(
                *place,
                first=its.first,
                seconds=its.seconds,
                tokens=its.tokens,
                prompt_tokens=its.prompt_tokens,
                text=its.text,
                part_seconds=list(its.part_seconds),
                part_tokens=[1] * its.tokens if len(its.part_seconds) == its.tokens else [],
            )


def _settings(answers: Sequence[Answer], concurrency: Sequence[int]) -> BenchSettings:
    """What can be read off the answers. No file says the temperature: texts are compared as if it were 0."""
    most = max((answer.tokens or 1 for answer in answers), default=1)
    repeats = max((answer.repeat for answer in answers), default=0) + 1
    return BenchSettings(min(most, MAX_TOKENS), 0.0, 0, repeats, sorted(set(concurrency)), "completions")


def _spans(block: int, load: _BothRuns) -> Iterator[Span]:
    """The counts are of the whole run, so its own sum of tokens goes with them, where rounds are counted."""
    for side, run in load.runs.items():
        if accepted := Accepted.from_counts(run.counts):
            written = 0 if accepted.rounds is None else sum(each.tokens for each in run.answers)
            yield Span(side, load.concurrency, "", None, written, accepted, block)
