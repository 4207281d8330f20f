"""What makes the figures of a bench doubtful, one sentence each. Pure."""

from collections.abc import Iterator

from specviz.core.names import first_words
from specviz.core.texts import Sentences, join_choices
from specviz.data.texts import page_texts
from specviz.measure.endpoints.findings import BenchFindings, pairs_cut
from specviz.measure.endpoints.pairs import FEWEST_TOKENS
from specviz.measure.endpoints.result import SIDES, BenchResult, Side

FEW = 16  # tokens: what a server may count more than its answers say, at their ends
LONGEST = 160  # characters of a server's own sentence

say = Sentences("bench-warnings")
NAMES = page_texts("servers")  # by their side


def bench_warnings(found: BenchFindings) -> list[str]:
    impossible = [say("impossible", concurrency=join_choices(found.impossible, "and"))] if found.impossible else []
    return [*impossible, *_doubt_servers(found), *_doubt_answers(found), *_doubt_pairs(found), *found.result.notes]


def _doubt_servers(found: BenchFindings) -> Iterator[str]:
    result, accepted = found.result, found.acceptance
    ours, plain = result.with_, result.without
    if plain and ours.url and (ours.url, ours.model) == (plain.url, plain.model):
        yield say("same_server", url=ours.url)
    if plain and (plain.drafts or _drafted(result, "without")):
        yield say("both_draft")
    if accepted and not accepted.whole.drafted:
        yield say("nothing_drafted")
    elif accepted is None and not ours.drafts:
        yield say("no_sign")
    for side in SIDES:
        yield from _doubt_rest(result, side)


def _doubt_rest(result: BenchResult, side: Side) -> Iterator[str]:
    """Whether a server wrote for others: while it was asked, and while the other one was and it should have rested."""
    asked = [span for span in result.spans if span.side == side and span.asked]
    others = sum(span.others for span in asked if span.others > FEW)
    rested = sum(span.others for span in result.spans if span.side == side and not span.asked)
    if others:
        yield say("others", name=NAMES[side], others=others, ours=sum(span.ours for span in asked))
    if rested > FEW:
        yield say("not_resting", name=NAMES[side], rested=rested)


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
    if its.short or its.lumps or its.uncounted or its.single:
        lumps, uncounted, single = its.lumps, its.uncounted, its.single
        yield say("left_out", short=its.short, fewest=FEWEST_TOKENS, lumps=lumps, uncounted=uncounted, single=single)
    if count := pairs_cut(its.pairs, "counted"):
        yield say("counted", pairs=count)
    if count := pairs_cut(its.pairs, "estimated"):
        yield say("estimated", pairs=count)
    if count := pairs_cut(its.pairs, "not cut"):
        yield say("not_cut", pairs=count)
