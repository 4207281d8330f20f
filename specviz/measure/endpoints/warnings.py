"""What makes the figures of a bench doubtful, one sentence each. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from specviz.core.names import first_words
from specviz.core.texts import Sentences, join_choices
from specviz.data.texts import page_texts
from specviz.measure.endpoints.findings import BenchFindings, Doubt
from specviz.measure.endpoints.pairs import FEWEST_TOKENS
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side, Span

FEW = 16  # tokens: what a server may count more than its answers say, at their ends
LONGEST = 160  # characters of a server's own sentence

say = Sentences("bench-warnings")
NAMES = page_texts("servers")  # by their side


def broken_setup(result: BenchResult) -> str:
    """Why these are not a server with speculation and one without, one sentence; empty where nothing says so."""
    ours, plain = result.with_, result.without
    if plain is None or result.against_itself:
        return ""
    asked = {side: sum(span.ours for span in result.spans if span.side == side and span.asked) for side in SIDES}
    same_counts = _rested(result, "without") == asked["with"] == _rested(result, "with") and all(asked.values())
    if (ours.url and (ours.url, ours.model) == (plain.url, plain.model)) or same_counts:
        return say("same_server", url=ours.url)
    return say("swapped") if _drafted(result, "without") and not _drafted(result, "with") else ""


def _rested(result: BenchResult, side: Side) -> int:
    """Tokens that it wrote while the other server was asked."""
    return sum(span.others for span in result.spans if span.side == side and not span.asked)


def _drafted(result: BenchResult, side: Side) -> int:
    every: list[Answer | Span] = [*result.answers, *result.spans]
    counted = [each.accepted for each in every if each.side == side]
    return sum(each.drafted for each in counted if each)


def bench_warnings(found: BenchFindings) -> list[str]:
    doubted = [
        say(doubt, concurrency=join_choices(numbers, "and"))
        for doubt in get_args(Doubt)
        if (numbers := found.doubted(doubt))
    ]
    servers = [] if found.result.against_itself else [*_doubt_setup(found), *_doubt_counters(found.result)]
    return [*doubted, *servers, *_doubt_answers(found), *found.result.notes]


def _doubt_setup(found: BenchFindings) -> Iterator[str]:
    result, accepted = found.result, found.acceptance
    if broken := broken_setup(result):
        yield broken
    elif result.without and (result.without.drafts or _drafted(result, "without")):
        yield say("both_draft")
    if accepted and not accepted.whole.drafted:
        yield say("nothing_drafted")
    elif accepted is None and not result.with_.drafts:
        yield say("no_sign")


def _doubt_counters(result: BenchResult) -> Iterator[str]:
    """Whether a server wrote for others: while it was asked, and while the other one was and it should have rested."""
    most = max(result.settings.concurrency, default=0)
    for side in SIDES:
        asked = [span for span in result.spans if span.side == side and span.asked]
        if others := sum(span.others for span in asked if span.others > FEW):
            yield say("others", name=NAMES[side], others=others, ours=sum(span.ours for span in asked))
        if (rested := _rested(result, side)) > FEW:
            yield say("not_resting", name=NAMES[side], rested=rested)
        if (server := result.server(side)) and server.slots and most > server.slots:
            yield say("queue", name=NAMES[side], slots=server.slots, most=most)


def _doubt_answers(found: BenchFindings) -> Iterator[str]:
    for side in SIDES:
        its = [answer.problem for answer in found.result.answers if answer.side == side]
        if problems := [*filter(None, its)]:
            first = first_words(problems[0], LONGEST).rstrip(".")
            yield say("failed", name=NAMES[side], failed=len(problems), all=len(its), first=first)
    paired = found.paired
    if paired.short or paired.uncounted or paired.single:
        short, uncounted, single = paired.short, paired.uncounted, paired.single
        yield say("left_out", fewest=FEWEST_TOKENS, short=short, uncounted=uncounted, single=single)
    cuts = Counter(pair.cut for pair in paired.pairs if pair.cut)
    yield from (say(cut, pairs=count) for cut, count in cuts.items())
