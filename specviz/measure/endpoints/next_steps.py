"""What to measure next after a bench. Pure."""

from collections.abc import Sequence

from specviz.core.judge import UNTOLD
from specviz.core.texts import Sentences, join_choices
from specviz.measure.endpoints.findings import BenchFindings

MOST_NAMED = 3  # draft lengths
HALF = 4  # times as many prompts: an interval is half as wide

say = Sentences("bench-next")


def measure_next(found: BenchFindings) -> list[str]:
    measured = [load.concurrency for load in found.measured]
    if found.result.without is None:
        return [say("first_pair")]
    if found.acceptance and not found.acceptance.whole.drafted and not measured:
        return [say("same_server")]
    if measured and (len(measured) == 1 or (found.stops and found.stops.up_to == measured[-1])):
        return [say("loads", numbers=",".join(str(times * measured[-1]) for times in (2, 4)))]
    if any(load.speedup and load.speedup.judged.word == UNTOLD for load in found.measured):
        return [say("more_prompts", times=HALF)]
    for cost in found.rounds[:1]:  # the best lengths, or the half: a second one shows what grows with the draft
        full = cost.found.draft_length
        others = [length for length in cost.best_lengths if length != full] or [full // 2]
        return [say("length", others=lengths_in_words(others), length=full)] if others[0] else []
    return []


def lengths_in_words(lengths: Sequence[int]) -> str:
    """ "2 or 3", and "1 to 17" for many in a row."""
    in_a_row = list(lengths) == list(range(lengths[0], lengths[-1] + 1))
    if in_a_row and len(lengths) > MOST_NAMED:
        return say("in_a_row", first=lengths[0], last=lengths[-1])
    return join_choices(lengths)
