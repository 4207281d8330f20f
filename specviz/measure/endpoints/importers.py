"""Two result files of another bench tool, with and without speculation, as a bench of this program."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specviz.core.errors import InputError
from specviz.measure.endpoints.result import (
    MAX_PROMPTS,
    MAX_TOKENS,
    SIDES,
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
from specviz.measure.endpoints.tool_files import ToolAnswer, ToolRun, read_run
from specviz.measure.endpoints.warnings import NAMES

MOST_RUNNING = 1_024


@dataclass(frozen=True, slots=True)
class _Matched:
    """Answers of both files to what is taken as the same prompt."""

    name: str
    repeat: int
    prompt: int
    both: dict[Side, ToolAnswer]


def import_files(with_bytes: bytes, without_bytes: bytes) -> BenchResult:
    """The bench that two files of the same tool describe; InputError, one sentence, where they describe none."""
    runs: dict[Side, ToolRun] = {}
    for side, content in zip(SIDES, (with_bytes, without_bytes), strict=True):
        try:
            runs[side] = read_run(content)
        except InputError as error:
            raise InputError(f"The file {NAMES[side]}: {str(error).rstrip('.')}.") from None
    ours, plain = runs["with"], runs["without"]
    if ours.tool != plain.tool:
        raise InputError(f"The files are of two tools, {ours.tool} and {plain.tool}: their times are not compared.")
    notes = ["The two runs were not made in turns: what disturbed one of them is in every ratio."]
    notes += [*ours.notes, *plain.notes]
    concurrency = _concurrency(ours, plain, notes)
    matched = _match(ours, plain, notes)
    answers = [_answer(runs[side], side, each, concurrency) for side in SIDES for each in matched]
    system = "vLLM" if ours.accepted or plain.accepted else ""
    result = BenchResult(
        1,
        ours.created,
        "a machine that the files do not name",
        _settings(answers, concurrency),
        Server("", ours.model, system),
        Server("", plain.model, system),
        [BenchPrompt(each.name, "", "") for each in matched if not each.repeat],
        answers,
        list(_spans(runs, answers, concurrency)),
        notes,
        ours.tool,
        blocks_timed=ours.began_known and plain.began_known,
    )
    return read_result(dump_result(result).encode())  # within the bounds of a bench file, or refused


def _concurrency(ours: ToolRun, plain: ToolRun, notes: list[str]) -> int:
    """As asked for, where both files say it; else the most requests that were under way at once."""
    asked = {run.concurrency for run in (ours, plain)}
    if len(asked) > 1:
        said = " and ".join(str(run.concurrency or "no limit") for run in (ours, plain))
        raise InputError(f"The files are of different numbers of requests under way ({said}): they are not compared.")
    if (given := asked.pop()) is not None:
        return min(given, MOST_RUNNING)
    if not (ours.began_known and plain.began_known):
        notes.append("The files do not say how many requests were under way: concurrency 1 stands for any number.")
        return 1
    peaks = [_most_running(run.answers) for run in (ours, plain)]
    notes.append(f"At most {peaks[0]} requests were under way at once with speculation, and {peaks[1]} without.")
    return min(max(peaks), MOST_RUNNING)


def _most_running(answers: Sequence[ToolAnswer]) -> int:
    changes = [(each.began, 1) for each in answers] + [(each.began + each.seconds, -1) for each in answers]
    running = most = 0
    for _, change in sorted(changes):
        running += change
        most = max(most, running)
    return max(most, 1)


def _match(ours: ToolRun, plain: ToolRun, notes: list[str]) -> list[_Matched]:
    """By what names the prompts where both files name the same ones, else by their place; never of unequal prompts."""
    by_key = [Counter(each.key for each in run.answers) for run in (ours, plain)]
    if by_key[0] == by_key[1] and "" not in by_key[0]:
        found = _match_keys(ours.answers, plain.answers)
    else:
        notes.append("The files do not hold the prompts: answers are paired by their place in the files.")
        found = _match_places(ours.answers, plain.answers)
    if len(ours.answers) != len(plain.answers):
        notes.append(f"The files have {len(ours.answers):,} and {len(plain.answers):,} requests.")
    equal = [each for each in found if len({answer.prompt_tokens for answer in each.both.values()}) == 1]
    if not equal:
        raise InputError("The files are not of the same prompts: their numbers of tokens differ everywhere.")
    if other := len(found) - len(equal):
        notes.append(f"{other} pairs are left out: their prompts have different numbers of tokens.")
    kept = _renumbered(equal)
    if len(kept) < len(equal):
        notes.append(f"Of {len(equal):,} pairs the first {len(kept):,} are read.")
    return kept


def _match_places(ours: Sequence[ToolAnswer], plain: Sequence[ToolAnswer]) -> list[_Matched]:
    return [
        _Matched(f"request {place + 1}", 0, place, {"with": one, "without": other})
        for place, (one, other) in enumerate(zip(ours, plain, strict=False))
    ]


def _match_keys(ours: Sequence[ToolAnswer], plain: Sequence[ToolAnswer]) -> list[_Matched]:
    others: dict[str, list[ToolAnswer]] = defaultdict(list)
    for answer in plain:
        others[answer.key].append(answer)
    places, seen = {key: place for place, key in enumerate(others)}, Counter[str]()
    found = []
    for answer in ours:
        repeat = seen[answer.key]
        seen[answer.key] += 1
        both: dict[Side, ToolAnswer] = {"with": answer, "without": others[answer.key][repeat]}
        found.append(_Matched(answer.key, repeat, places[answer.key], both))
    return found


def _renumbered(found: Sequence[_Matched]) -> list[_Matched]:
    """Prompts numbered from 0, in the order of their first repeats; as many as a bench file may hold."""
    places: dict[int, int] = {}
    repeats = Counter[int]()
    kept = []
    for each in found:
        place = places.setdefault(each.prompt, len(places))
        if place < MAX_PROMPTS:
            kept.append(_Matched(each.name, repeats[place], place, each.both))
            repeats[place] += 1
    return kept


def _answer(run: ToolRun, side: Side, each: _Matched, concurrency: int) -> Answer:
    its = each.both[side]
    place = (side, each.prompt, each.repeat, concurrency, 0, its.began)
    if its.problem:
        return Answer(*place, None, 0.0, None, problem=its.problem)
    one_each = len(its.part_seconds) == its.tokens
    return Answer(
        *place,
        first=its.first,
        seconds=its.seconds,
        tokens=its.tokens,
        prompt_tokens=its.prompt_tokens,
        text=its.text,
        part_seconds=its.part_seconds,
        part_tokens=[1] * its.tokens if one_each else [],
    )


def _settings(answers: Sequence[Answer], concurrency: int) -> BenchSettings:
    """What can be read off the answers. No file says the temperature: texts are compared as if it were 0."""
    most = max((answer.tokens or 1 for answer in answers), default=1)
    repeats = max((answer.repeat for answer in answers), default=0) + 1
    return BenchSettings(min(most, MAX_TOKENS), 0.0, 0, repeats, [concurrency], "completions")


def _spans(runs: dict[Side, ToolRun], answers: Sequence[Answer], concurrency: int) -> Iterator[Span]:
    """The counts are of the whole run, so its own sum of tokens goes with them."""
    for side, run in runs.items():
        if run.accepted:
            written = sum(each.tokens for each in run.answers)
            yield Span(side, concurrency, "", None, written, run.accepted)
