"""What makes the figures of a bench doubtful, one sentence each. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from specviz.core.names import first_words
from specviz.core.texts import Sentences, join_choices
from specviz.data.texts import page_texts
from specviz.measure.endpoints.findings import BenchFindings, Doubt
from specviz.measure.endpoints.pairs import FEWEST_TOKENS
from specviz.measure.endpoints.result import SIDES, BenchResult, Side

FEW = 16  # tokens: what a server may count more than its answers say, at their ends
LONGEST = 160  # characters of a server's own sentence

say = Sentences("bench-warnings")
NAMES = page_texts("servers")  # by their side


def broken_setup(result: BenchResult) -> str:
    """Why these are not a server with speculation and one without, one sentence; empty where nothing says so."""
    ours, plain = result.with_, result.without
    if plain is None or result.against_itself:
        return ""
    if ours.url and (ours.url, ours.model) == (plain.url, plain.model):
        return say("same_server", url=ours.url)
    asked = {side: sum(span.ours for span in result.spans if span.side == side and span.asked) for side in SIDES}
    if asked["with"] and asked["without"] and _rested(result, "without") == asked["with"] == _rested(result, "with"):
        return say("same_server", url=ours.url)
    if _drafted(result, "without") and not _drafted(result, "with"):
        return say("swapped")
    return ""


def _rested(result: BenchResult, side: Side) -> int:
    """Tokens that it wrote while the other server was asked."""
    return sum(span.others for span in result.spans if span.side == side and not span.asked)


def bench_warnings(found: BenchFindings) -> list[str]:
    doubted = [
        say(doubt, concurrency=join_choices(numbers, "and"))
        for doubt in get_args(Doubt)
        if (numbers := found.doubted(doubt))
    ]
    servers = [] if found.result.against_itself else _doubt_servers(found)
    return [*doubted, *servers, *_doubt_answers(found), *_doubt_pairs(found), *found.result.notes]


def _doubt_servers(found: BenchFindings) -> Iterator[str]:
    result, accepted = found.result, found.acceptance
    if broken := broken_setup(result):
        yield broken
    elif result.without and (result.without.drafts or _drafted(result, "without")):
        yield say("both_draft")
    if accepted and not accepted.whole.drafted:
        yield say("nothing_drafted")
    elif accepted is None and not result.with_.drafts:
        yield say("no_sign")
    for side in SIDES:
        yield from _doubt_rest(result, side)


def _doubt_rest(result: BenchResult, side: Side) -> Iterator[str]:
    """Whether a server wrote for others: while it was asked, and while the other one was and it should have rested."""
    asked = [span for span in result.spans if span.side == side and span.asked]
    others = sum(span.others for span in asked if span.others > FEW)
    rested = _rested(result, side)
    if others:
        yield say("others", name=NAMES[side], others=others, ours=sum(span.ours for span in asked))
    if rested > FEW:
        yield say("not_resting", name=NAMES[side], rested=rested)
    server, most = result.server(side), max(result.settings.concurrency, default=0)
    if server and server.slots and most > server.slots:
        yield say("queue", name=NAMES[side], slots=server.slots, most=most)


def _drafted(result: BenchResult, side: Side) -> int:
    counted = [each.accepted for each in result.answers if each.side == side]
    counted += [each.accepted for each in result.spans if each.side == side]
    return sum(each.drafted for each in counted if each)


def _doubt_answers(found: BenchFindings) -> Iterator[str]:
    for side in SIDES:
        its = [answer for answer in found.result.answers if answer.side == side]
        problems = [answer.problem for answer in its if answer.problem]
        if problems:
            first = first_words(problems[0], LONGEST).rstrip(".")
            yield say("failed", name=NAMES[side], failed=len(problems), all=len(its), first=first)


def _doubt_pairs(found: BenchFindings) -> Iterator[str]:
    its = found.paired
    if its.short or its.uncounted or its.single:
        short, uncounted, single = its.short, its.uncounted, its.single
        yield say("left_out", fewest=FEWEST_TOKENS, short=short, uncounted=uncounted, single=single)
    cuts = Counter(pair.cut.replace(" ", "_") for pair in its.pairs)
    yield from (say(cut, pairs=count) for cut, count in cuts.items() if cut)
