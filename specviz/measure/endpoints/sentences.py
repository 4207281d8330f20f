"""What a bench of two servers says, in words. Pure; no sentence says more than the intervals allow."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from specviz.core.judge import HELPS, HURTS, UNTOLD
from specviz.core.names import first_words
from specviz.core.numbers import localize
from specviz.core.texts import Sentences, join_choices
from specviz.data.texts import page_texts
from specviz.measure.endpoints.acceptance import reasoning_share
from specviz.measure.endpoints.findings import BenchFindings, Doubt, drafted, name_loads, rested, say_doubt
from specviz.measure.endpoints.pairs import FEWEST_RATIOS, FEWEST_TOKENS, Within
from specviz.measure.endpoints.result import SIDES, BenchResult, Server

LONGEST_NAME = 60  # characters: a file can name anything
HALF = 4  # times as many prompts: an interval is half as wide
FEW = 16  # tokens: what a server may count more than its answers say, at their ends
LONGEST = 160  # characters of a server's own sentence
NAMES = page_texts("servers")  # by their side
say, say_next = Sentences("bench"), Sentences("bench-next")


def conclusion(result: BenchResult, within: Within | None = None) -> list[str]:
    """What is doubtful first, then what was found, then what to measure next. Names and texts in it are not escaped."""
    found, asked = BenchFindings(result), asked_in_words(result)
    if found.broken:
        return [found.broken]
    if result.against_itself:  # whether chance alone made a difference, and the least that these settings tell
        each = list[str]()
        for load, gain in found.measured:
            if gain.interval:
                least, at = (gain.interval[1] / gain.interval[0]) ** 0.5, load.in_words
                each.append(say("least_at", least=least, load=at, said=gain.shown))
        none = say("too_few", fewest=FEWEST_RATIOS) if found.measured else say("nothing")
        told = say("against_itself", each="; ".join(each)) if each else none
        return [*bench_warnings(found), asked, told]
    goodput = [_goodput(found, within)] if within else []
    return [*bench_warnings(found), asked, *speeds_in_words(found), *goodput, *details_in_words(found)]


def asked_in_words(result: BenchResult) -> str:
    server = name_server(result.with_)
    plain = name_server(result.without) if result.without else server
    if plain != server:
        server = say("two_servers", ours=server, plain=plain)
    shown = first_words(server, 2 * LONGEST_NAME)
    return say("asked", server=shown, prompts=len(result.prompts), settings=result.settings)


def name_server(server: Server) -> str:
    return f"{server.system or say('unnamed_server')} {server.version}".strip()


def details_in_words(found: BenchFindings) -> Iterator[str]:
    """What was found beside the speedups at each load, and what to measure next."""
    result, same, accepted = found.result, found.sameness, found.acceptance
    # What a user's speedup alone would hide: what all users together get, whether the first token comes later.
    throughputs = [(load, load.throughput) for load, _ in found.measured]
    firsts = [(load, load.first) for load, _ in found.measured]
    for name, gains in (("throughput", throughputs), ("first", firsts)):
        if each := [say("gain_at", gain=gain.shown, load=load.in_words) for load, gain in gains if gain]:
            yield say("throughput" if name == "throughput" else "first", each=", ".join(each))
    for load, _ in found.measured[:1]:
        kinds = found.gains_by_kind(load)
        each = [say("kind", name=first_words(name, LONGEST_NAME), gain=gain.shown) for name, gain in kinds.items()]
        if len(kinds) > 1:
            yield say("by_kind", load=load.in_words, each=join_choices(each, "and"))
    if result.without and not result.settings.greedy:
        yield say("draws", temperature=result.settings.temperature)
    elif result.without and same and same.same == same.pairs:
        yield say("all_same", found=same)
    elif result.without and same:
        again = [say("unsteady", name=NAMES[side]) for side in same.unsteady]
        yield " ".join([say("some_same", found=same), *[say("broken", its=same)] * bool(same.broken), *again])
    if accepted and accepted.whole.drafted:
        whole, source = accepted.whole, say("answers" if accepted.source == "answers" else "counters")
        tokens = localize(whole.tokens_per_call, ".2f") if whole.tokens_per_call else "?"
        yield say("accepted_in_rounds" if whole.rounds else "accepted", tally=whole, source=source, tokens=tokens)
    sides = [[each for each in result.answers if each.side == side] for side in SIDES if result.server(side)]
    thought = [reasoning_share(its) for its in sides]
    if any(thought):
        yield say("reasoning", shares=_shares(thought))
    if step := _measure_next(found):
        yield step


def speeds_in_words(found: BenchFindings) -> Iterator[str]:
    """The speedup at each load, from which load on it no longer pays, and why a load has no interval."""
    settings, speeds = found.result.settings, list[str]()
    if found.result.without is None:
        for load in found.loads:
            its = load.sides["with"]
            if its.tokens_per_second:
                rate, every = _rate(its.tokens_per_second), _rate(its.throughput)
                speeds.append(say("speed_alone", load=load.in_words, rate=rate, all=every))
        yield say("alone", speeds="; ".join(speeds) or say("unknown"))
        return
    for load, speedup in found.measured:
        ours, plain = (load.sides[side].tokens_per_second for side in SIDES)
        rates = say("rates", ours=_rate(ours), plain=_rate(plain)) if ours and plain else ""
        speeds.append(say("speed_at", load=load.in_words, speedup=speedup, rates=rates))
    yield say("speed", each="; ".join(speeds)) if speeds else say("nothing")
    helps, hurts = ([load for load, its in found.words.items() if its == word] for word in (HELPS, HURTS))
    if helps and hurts and [*helps, *hurts] == [*found.words]:
        yield say("pays_up_to", up_to=name_loads(settings, helps[-1]), from_=hurts[0])
    if any(speedup.interval is None for _, speedup in found.measured):
        yield say("too_few", fewest=FEWEST_RATIOS)


def _rate(rate: float | None) -> str:
    return localize(rate, ",.1f") if rate else "?"


def _goodput(found: BenchFindings, within: Within) -> str:
    """The share of requests within the limits, at each load."""
    each = list[str]()
    for load in found.loads:
        shares = _shares([within.share(answers) for answers in load.answers.values()])
        each.append(say("share_at", load=load.in_words, shares=shares))
    return say("goodput", within=within.said, each="; ".join(each))


def _shares(of_sides: Sequence[float | None]) -> str:
    """Of both servers, or of one alone; a question mark where it is not known."""
    ours, *plain = ("?" if share is None else localize(share, ".0%") for share in of_sides)
    return say("two_shares", ours=ours, plain=plain[0]) if plain else ours


def _measure_next(found: BenchFindings) -> str:
    """One line or none: a second server, more prompts where an interval is too wide, higher loads where all help."""
    if found.result.without is None:
        return say_next("first_pair")
    if not found.words or not all(load.trusted for load, _ in found.measured):
        return ""
    if any(speedup.interval and speedup.judged.word == UNTOLD for _, speedup in found.measured):
        return say_next("more_prompts", times=HALF)
    if {*found.words.values()} != {HELPS}:
        return ""
    option = "--rate" if found.result.settings.rates else "--concurrency"
    return say_next("loads", option=option, numbers=",".join(f"{times * max(found.words):g}" for times in (2, 4)))


def bench_warnings(found: BenchFindings) -> list[str]:
    doubted = list[str]()
    for doubt in get_args(Doubt):
        if loads := [load.load for load in found.loads if doubt in load.doubts]:
            doubted.append(say_doubt(doubt, loads=name_loads(found.result.settings, *loads)))
    servers = [] if found.result.against_itself else _doubt_servers(found)
    return [*doubted, *servers, *_doubt_answers(found), *found.result.notes]


def _doubt_servers(found: BenchFindings) -> Iterator[str]:
    """Whether they are not what they are taken for, or wrote for others, also while they should have rested."""
    result, accepted = found.result, found.acceptance
    if found.broken:
        yield found.broken
    elif result.without and (result.without.drafts or drafted(result, "without")):
        yield say_doubt("both_draft")
    if accepted and not accepted.whole.drafted:
        yield say_doubt("nothing_drafted")
    elif accepted is None and not result.with_.drafts:
        yield say_doubt("no_sign")
    most = max(result.settings.concurrency, default=0)
    for side in SIDES:
        asked = [span for span in result.spans if span.side == side and span.asked]
        if others := sum(span.others for span in asked if span.others > FEW):
            yield say_doubt("others", name=NAMES[side], others=others, ours=sum(span.ours for span in asked))
        if (wrote := rested(result, side)) > FEW:
            yield say_doubt("not_resting", name=NAMES[side], rested=wrote)
        if (server := result.server(side)) and server.slots and most > server.slots:
            yield say_doubt("queue", name=NAMES[side], slots=server.slots, most=most)


def _doubt_answers(found: BenchFindings) -> Iterator[str]:
    for side in SIDES:
        its = [answer.problem for answer in found.result.answers if answer.side == side]
        if problems := [*filter(None, its)]:
            first = first_words(problems[0], LONGEST).rstrip(".")
            yield say_doubt("failed", name=NAMES[side], failed=len(problems), all=len(its), first=first)
    short, uncounted, single = (found.left_out[why] for why in ("short", "uncounted", "single"))
    if short or uncounted or single:
        yield say_doubt("left_out", fewest=FEWEST_TOKENS, short=short, uncounted=uncounted, single=single)
    cuts = Counter(pair.cut for pair in found.pairs if pair.cut)
    yield from (say_doubt(cut, pairs=count) for cut, count in cuts.items())
