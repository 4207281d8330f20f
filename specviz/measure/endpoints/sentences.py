"""What a bench of two servers says, in words. Pure; no sentence says more than the intervals allow."""

from collections.abc import Iterator

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD
from specviz.core.names import first_words
from specviz.core.numbers import localize, times
from specviz.core.texts import Sentences, join_choices
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import FEWEST_RATIOS, Gain
from specviz.measure.endpoints.result import SIDES, BenchResult, Server
from specviz.measure.endpoints.warnings import NAMES, bench_warnings, broken_setup

LONGEST_NAME = 60  # characters: a file can name anything
HALF = 4  # times as many prompts: an interval is half as wide
say, say_next = Sentences("bench"), Sentences("bench-next")


def conclusion(result: BenchResult) -> list[str]:
    """What is doubtful first, then what was found, then what to measure next. Names and texts in it are not escaped."""
    found = BenchFindings(result)
    if broken := broken_setup(result):
        return [broken]
    if result.against_itself:
        return [*bench_warnings(found), asked_in_words(result), _told(found)]
    said = [asked_in_words(result), *_speeds(found), *details_in_words(found), measure_next(found)]
    return [*bench_warnings(found), *filter(None, said)]


def asked_in_words(result: BenchResult) -> str:
    settings, server = result.settings, name_server(result.with_)
    plain = name_server(result.without) if result.without else server
    if plain != server:
        server = say("two_servers", ours=server, plain=plain)
    return say(
        "asked",
        server=first_words(server, 2 * LONGEST_NAME),
        prompts=len(result.prompts),
        repeats=settings.repeats,
        tokens=settings.max_new_tokens,
        temperature=settings.temperature,
    )


def name_server(server: Server) -> str:
    return f"{server.system or say('unnamed_server')} {server.version}".strip()


def details_in_words(found: BenchFindings) -> list[str]:
    """What was found beside the speedups at each concurrency, which a table may have."""
    kinds = _describe_kinds(found, found.measured[0]) if found.measured else ""
    return [*filter(None, (kinds, _same(found), _accepted(found)))]


def no_speedup_in_words(found: BenchFindings) -> str:
    """Why there is no speedup; empty where there is one."""
    if found.result.without is None:
        return say("alone", speeds="; ".join(filter(None, map(_alone, found.loads))) or say("unknown"))
    return "" if found.measured else say("nothing")


def _alone(load: LoadFindings) -> str:
    its = load.sides["with"]
    rate = _rate(its.tokens_per_second)
    return say("speed_alone", load=load, rate=rate, all=_rate(its.throughput)) if its.tokens_per_second else ""


def _speeds(found: BenchFindings) -> Iterator[str]:
    if none := no_speedup_in_words(found):
        yield none
        return
    yield say("speed", each="; ".join(map(_speed_at, found.measured)))
    if not found.words:
        yield say("too_few", fewest=FEWEST_RATIOS)
    yield limit_in_words(found)
    yield from (said for said, _ in _throughput_and_first(found))


def _throughput_and_first(found: BenchFindings) -> Iterator[tuple[str, bool]]:
    """What a user's speedup alone would hide: what all users together get, whether the first token comes later.

    With each line whether it hurts at a load.
    """
    for name in ("throughput", "first"):
        gains = [(load, gain) for load in found.measured if (gain := getattr(load, name))]
        each = ", ".join(say("gain_at", gain=_gain(gain), load=load) for load, gain in gains)
        said = say("throughput", each=each) if name == "throughput" else say("first", each=each)
        yield said if gains else "", any(gain.judged.word == HURTS for _, gain in gains)


def losses_in_words(found: BenchFindings) -> list[str]:
    """The line of the throughput, or of the first token, if it hurts at a load."""
    return [said for said, hurts in _throughput_and_first(found) if hurts]


def _speed_at(load: LoadFindings) -> str:
    assert load.speedup
    ours, plain = (load.sides[side].tokens_per_second for side in SIDES)
    text = say("rates", ours=_rate(ours), plain=_rate(plain)) if ours and plain else ""
    return say("speed_at", load=load, said=load.speedup.judged.said, rates=text)


def _rate(rate: float | None) -> str:
    return localize(rate, ",.1f") if rate else "?"


def limit_in_words(found: BenchFindings) -> str:
    """From which measured load it no longer pays; empty where no concurrency has an interval."""
    words, loads = found.words, [load.concurrency for load in found.measured]
    at = {word: [load for load, its in words.items() if its == word] for word in (HELPS, HURTS, EVEN, UNTOLD)}
    helps, hurts = at[HELPS], at[HURTS]
    if not words or len(loads) == 1:
        return ""
    if helps == loads:
        return say("pays_everywhere", most=loads[-1])
    if helps and hurts and [*helps, *hurts] == list(words):
        return say("pays_up_to", up_to=helps[-1], from_=hurts[0])
    each = [
        say("word_at", word=LOOKS[word].said, numbers=join_choices(numbers, "and"))
        for word, numbers in at.items()
        if numbers
    ]
    return say("by_load", each=join_choices(each, "and"))


def _describe_kinds(found: BenchFindings, load: LoadFindings) -> str:
    gains = found.gains_by_kind(load)
    each = [say("kind", name=first_words(name, LONGEST_NAME), gain=_gain(gain)) for name, gain in gains.items()]
    return say("by_kind", concurrency=load.concurrency, each=join_choices(each, "and")) if len(gains) > 1 else ""


def _gain(gain: Gain) -> str:
    if gain.interval is None:
        return times(gain.value)
    return f"{times(gain.value)} ({localize(gain.interval[0], '.2f')}–{localize(gain.interval[1], '.2f')})"


def _same(found: BenchFindings) -> str:
    result, its = found.result, found.sameness
    if result.without is None:
        return ""
    if not result.settings.greedy:
        return say("draws", temperature=result.settings.temperature)
    if its is None:
        return ""
    if its.same == its.pairs:
        return say("all_same", found=its)
    again = [say("unsteady", name=NAMES[side]) for side in its.unsteady]
    return " ".join([say("some_same", found=its), *[say("broken", its=its)] * bool(its.broken), *again])


def _accepted(found: BenchFindings) -> str:
    its = found.acceptance
    if its is None or its.whole.rate is None:
        return ""
    tokens = localize(its.whole.tokens_per_call, ".2f") if its.whole.tokens_per_call else "?"
    source = say("answers") if its.source == "answers" else say("counters")
    return say("accepted", tally=its.whole, source=source, tokens=tokens)


def measure_next(found: BenchFindings) -> str:
    """What to measure next, one line or none."""
    loads = [load.concurrency for load in found.measured]
    if found.result.without is None:
        return say_next("first_pair")
    if any(load.doubts for load in found.measured) or broken_setup(found.result):
        return ""
    if UNTOLD in found.words.values():
        return say_next("more_prompts", times=HALF)
    if loads and (len(loads) == 1 or [*found.words.values()] == [HELPS] * len(loads)):
        return say_next("loads", numbers=",".join(str(times * loads[-1]) for times in (2, 4)))
    return ""


def _told(found: BenchFindings) -> str:
    """Of a server against itself: whether chance alone made a difference, and the least that these settings tell."""
    each = [
        say("least_at", least=(gain.interval[1] / gain.interval[0]) ** 0.5, load=load, said=gain.said)
        for load in found.measured
        if (gain := load.speedup) and gain.interval
    ]
    return say("against_itself", each="; ".join(each)) if each else say("nothing")
