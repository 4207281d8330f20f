"""What to measure next after a bench, with the options of that server. Pure.

The options are those of vLLM 0.32, llama.cpp's server 11434 and SGLang 0.5; of other systems they are described.
"""

from collections.abc import Iterator, Sequence

from specviz.core.judge import UNTOLD
from specviz.core.texts import Sentences, join_choices
from specviz.measure.endpoints.findings import BenchFindings, RoundCost

MOST_NAMED = 3  # draft lengths
MOST_STEPS = 3
MOST_RUNNING = 1_024  # the last batch size of a schedule
FEW = 0.5  # of the guesses: where more are accepted, another draft is not the first thing to try
HALF = 4  # times as many prompts: an interval is half as wide

say = Sentences("bench-next")


def measure_next(found: BenchFindings) -> list[str]:
    if found.result.without is None:
        return [say("first_pair")]
    acceptance = found.acceptance
    if acceptance and not acceptance.whole.drafted and not found.measured:
        return [say("same_server")]
    return [*_suggest_load(found), *_suggest_length(found), *_suggest_prompts(found)][:MOST_STEPS]


def _suggest_length(found: BenchFindings) -> Iterator[str]:
    if not found.rounds:
        return
    first, system = found.rounds[0], found.result.with_.system.lower()
    rate = found.acceptance.whole.rate if found.acceptance else None
    if first.found.is_low and (rate or 0) < FEW:
        yield say("lookup", option=lookup_option(system, first.found.draft_length))
    if others := _other_lengths(first):
        full, best = first.found.draft_length, others[-1]
        yield say("length", others=lengths_in_words(others), length=full, option=length_option(system, best))


def _other_lengths(cost: RoundCost) -> list[int]:
    """Those that may be nearly as good, or the half: a second length shows what grows with the draft."""
    full = cost.found.draft_length
    others = [length for length in cost.best_lengths if length != full] or [full // 2]
    return [length for length in others if length]


def lengths_in_words(lengths: Sequence[int]) -> str:
    """ "2 or 3", and "1 to 17" for many in a row."""
    in_a_row = list(lengths) == list(range(lengths[0], lengths[-1] + 1))
    if in_a_row and len(lengths) > MOST_NAMED:
        return say("in_a_row", first=lengths[0], last=lengths[-1])
    return join_choices(lengths)


def length_option(system: str, length: int) -> str:
    if system == "vllm":
        return say("vllm", length=length)
    if system == "llama.cpp":
        return say("llama", length=length)
    if system == "sglang":
        return say("sglang", length=length, checked=length + 1)
    return say("other")


def lookup_option(system: str, length: int) -> str:
    if system == "vllm":
        return say("vllm_lookup", length=length)
    if system == "llama.cpp":
        return say("llama_lookup", length=length)
    if system == "sglang":
        return say("sglang_lookup", checked=length + 1)
    return say("other_lookup")


def _suggest_load(found: BenchFindings) -> Iterator[str]:
    stops, measured = found.stops, [load.concurrency for load in found.measured]
    if len(measured) == 1:
        yield say("loads", numbers=",".join(str(number * measured[0]) for number in (1, 4, 16)))
    if stops is None or stops.up_to is None:
        return
    if len(measured) > 1 and stops.up_to == measured[-1]:
        yield say("loads", numbers=",".join(str(times * measured[-1]) for times in (2, 4)))
    above = [number for number in measured if number > stops.up_to]
    if above and above[0] > stops.up_to + 1:
        yield say("between", numbers=(stops.up_to + above[0]) // 2)
    if stops.from_ is not None and found.rounds and found.result.with_.system.lower() == "vllm":
        length = found.rounds[0].found.draft_length
        option = say(
            "vllm_schedule", up_to=stops.up_to, length=length, above=stops.up_to + 1, most=MOST_RUNNING, none=0
        )
        yield say("schedule", up_to=stops.up_to, option=option)


def _suggest_prompts(found: BenchFindings) -> Iterator[str]:
    if any(load.speedup and load.speedup.judged.word == UNTOLD for load in found.measured):
        yield say("more_prompts", one=1, times=HALF)
