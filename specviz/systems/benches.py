"""The one table that a bench file of any tool becomes: its runs, each with an entry for each request."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, zip_longest
from typing import Any

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.systems.counts import Counts
from specviz.systems.fields import Fields

LONGEST = 300  # characters of a name or a problem
MOST_PARTS = 4_096  # times of one answer
FAILED = "The tool counts it as failed."


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    key: str = ""  # the name of its prompt; empty: its place alone
    prompt_tokens: int | None = None
    began: float = 0.0
    first: float | None = None  # None: not streamed
    seconds: float = 0.0
    tokens: int = 0
    text: str = ""
    part_seconds: Sequence[float] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The requests of one load."""

    tool: str
    answers: Sequence[ToolAnswer]
    model: str = ""
    created: str = ""  # ISO 8601, or empty
    concurrency: int | None = None  # the most requests under way that were asked for; None: it does not say
    began_known: bool = False
    counts: Counts | None = None
    notes: tuple[str, ...] = ()


def run_of_lists(tool: str, value: Fields, counts: Counts | None = None, *notes: str) -> ToolRun:
    """vLLM's and SGLang's file: an entry of each list is one request."""
    lengths, firsts, starts = value.counts("output_lens"), value.numbers("ttfts"), value.numbers("start_times")
    count, start, prompts = len(lengths), min(starts, default=0.0), value.counts("input_lens")
    if not count or len(firsts) != count:
        raise InputError(f"it has {count} lengths and {len(firsts)} times to a first token")
    lists = [value.value.get(name) for name in ("itls", "errors", "generated_texts")]
    columns: list[list[Any]] = [lengths, firsts, prompts, starts]
    columns += [each if isinstance(each, list) else [] for each in lists]
    mean = value.number("mean_e2e_latency_ms") or value.number("mean_e2el_ms")
    answers = list[ToolAnswer]()
    for place, row in enumerate(islice(zip_longest(*columns), count)):
        tokens, first, prompt, began, gaps, error, text = row
        parts, problem = Fields("itls", {str(place): gaps}).numbers(str(place)), first_words(str(error or ""), LONGEST)
        held = not problem and not first and not parts and tokens > 0
        if held and not mean:
            raise InputError("its answers were not streamed, and it says no time of a whole answer")
        times = [*accumulate(parts, initial=first)]
        answers.append(
            ToolAnswer(
                prompt_tokens=prompt,
                began=max(0.0, began - start) if began is not None else 0.0,
                first=None if held else first,
                seconds=(mean or 0.0) / 1000 if held else times[-1],
                tokens=tokens,
                text=str(text or "")[:100_000],
                part_seconds=times if len(times) <= MOST_PARTS and not held else [],
                problem=problem if problem or held or first else FAILED,
            )
        )
    if any(each.first is None for each in answers):
        notes += ("Some answers were not streamed: each has the file's mean latency, and no time to a first token.",)
    date = value.text("date") or ""
    if len(date) == 15 and date.replace("-", "", 1).isdecimal():  # "20261126-223900"
        date = f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[9:11]}:{date[11:13]}:{date[13:]}"
    return ToolRun(
        tool,
        answers,
        first_words(value.text("model_id") or "", LONGEST),
        first_words(date, 40),
        value.whole("max_concurrency"),
        len(starts) == count,
        counts,
        notes,
    )
