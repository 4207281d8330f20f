"""The one table that a bench file of any tool becomes: its runs, each with an entry for each request."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.systems.counts import SystemCounts
from specviz.systems.fields import Fields

LONGEST = 300  # characters of a name or a problem
MOST_PARTS = 4_096  # times of one answer
FAILED = "The tool counts it as failed."


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    key: str  # what may say which prompt it was; empty: its place alone
    prompt_tokens: int | None
    began: float
    first: float | None  # None: not streamed
    seconds: float
    tokens: int
    text: str = ""
    part_seconds: Sequence[float] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The requests of one load."""

    tool: str
    model: str
    created: str  # ISO 8601, or empty
    concurrency: int | None  # the most requests under way that were asked for; None: it does not say_record
    began_known: bool
    answers: Sequence[ToolAnswer]
    counts: SystemCounts | None = None
    notes: tuple[str, ...] = ()


def run_of_lists(tool: str, value: Fields, counts: SystemCounts | None = None, *notes: str) -> ToolRun:
    """vLLM's and SGLang's file: an entry of each list is one request."""
    lengths, firsts, starts = value.counts("output_lens"), value.numbers("ttfts"), value.numbers("start_times")
    prompts, problems, texts = value.counts("input_lens"), value.value.get("errors"), value.value.get("generated_texts")
    count, start, gaps = len(lengths), min(starts, default=0.0), value.value.get("itls")
    if not count or len(firsts) != count:
        raise InputError(f"it has {count} lengths and {len(firsts)} times to a first token")
    mean = value.number("mean_e2e_latency_ms") or value.number("mean_e2el_ms")
    streamed, answers = True, list[ToolAnswer]()
    for place in range(count):
        parts = Fields("itls", {str(place): _at(gaps, place)}).numbers(str(place))
        times = [firsts[place]]
        for gap in parts:
            times.append(times[-1] + gap)
        problem = first_words(str(_at(problems, place) or ""), LONGEST)
        held = not problem and not firsts[place] and not parts and lengths[place] > 0
        if held and not mean:
            raise InputError("its answers were not streamed, and it says no time of a whole answer")
        streamed = streamed and not held
        answers.append(
            ToolAnswer(
                "",
                prompts[place] if place < len(prompts) else None,
                max(0.0, starts[place] - start) if place < len(starts) else 0.0,
                None if held else firsts[place],
                (mean or 0.0) / 1000 if held else times[-1],
                lengths[place],
                str(_at(texts, place) or "")[:100_000],
                times if len(times) <= MOST_PARTS and not held else [],
                problem if problem or held or firsts[place] else FAILED,
            )
        )
    if not streamed:
        notes += ("Some answers were not streamed: each has the file's mean latency, and no time to a first token.",)
    return ToolRun(
        tool,
        first_words(value.text("model_id") or "", LONGEST),
        _iso(value.text("date") or ""),
        value.whole("max_concurrency"),
        len(starts) == count,
        answers,
        counts,
        notes,
    )


def _at(values: object, place: int) -> object:
    return values[place] if isinstance(values, list) and place < len(values) else None


def _iso(date: str) -> str:
    """ "2026-11-26T22:39:00" of "20261126-223900"."""
    if len(date) == 15 and date.replace("-", "", 1).isdecimal():
        return f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[9:11]}:{date[11:13]}:{date[13:]}"
    return first_words(date, 40)
