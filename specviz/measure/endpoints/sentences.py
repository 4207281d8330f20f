"""What a bench of two servers says, in words. Pure; no sentence says more than the intervals allow."""

from collections.abc import Iterator, Sequence

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD
from specviz.core.names import first_words
from specviz.core.numbers import localize, times
from specviz.core.texts import Sentences, join_choices
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import FEWEST_RATIOS, Gain
from specviz.measure.endpoints.result import BenchResult, Server
from specviz.measure.endpoints.table import dump_csv as dump_csv
from specviz.measure.endpoints.table import table as table
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
        return [*bench_warnings(found), _asked(result), _told(found)]
    return [*filter(None, [*bench_warnings(found), *findings_in_words(found), measure_next(found)])]


def findings_in_words(found: BenchFindings) -> list[str]:
    return [*filter(None, [_asked(found.result), *_speeds(found)]), *details_in_words(found)]


def details_in_words(found: BenchFindings) -> list[str]:
    """What was found beside the speedups at each concurrency, which a table may have."""
    kinds = _describe_kinds(found, found.measured[0]) if found.measured else ""
    return [sentence for sentence in (kinds, _same(found), *_accepted(found), *_costs(found)) if sentence]


def name_server(server: Server) -> str:
    return f"{server.system or say('unnamed_server')} {server.version}".strip()


def _asked(result: BenchResult) -> str:
    settings, ours, plain = result.settings, name_server(result.with_), result.without
    server = (
        ours if plain is None or name_server(plain) == ours else say("two_servers", ours=ours, plain=name_server(plain))
    )
    return say(
        "asked",
        server=first_words(server, 2 * LONGEST_NAME),
        prompts=len(result.prompts),
        repeats=settings.repeats,
        tokens=settings.max_new_tokens,
        temperature=settings.temperature,
    )


def _speeds(found: BenchFindings) -> Iterator[str]:
    measured = found.measured
    if found.result.without is None:
        yield say("alone", speeds="; ".join(filter(None, map(_alone, found.loads))) or say("unknown"))
        return
    if not measured:
        yield say("nothing")
        return
    yield say("speed", each="; ".join(map(_speed_at, measured)))
    if all(load.speedup and load.speedup.interval is None for load in measured):
        yield say("too_few", fewest=FEWEST_RATIOS)
    yield limit_in_words(found)
    yield from _throughput_and_first(found)


def _throughput_and_first(found: BenchFindings) -> tuple[str, str]:
    """What a user's speedup alone would hide: what all users together get, and whether the first token comes later."""
    throughput = _list_gains([(load, load.throughput) for load in found.measured])
    first = _list_gains([(load, load.first) for load in found.measured])
    return say("throughput", each=throughput) if throughput else "", say("first", each=first) if first else ""


def losses_in_words(found: BenchFindings) -> list[str]:
    """The line of the throughput, or of the first token, if it hurts at a load."""
    both = [[load.throughput for load in found.measured], [load.first for load in found.measured]]
    said = zip(_throughput_and_first(found), both, strict=True)
    return [each for each, gains in said if any(gain and gain.judged.word == HURTS for gain in gains)]


def _speed_at(load: LoadFindings) -> str:
    assert load.speedup
    rates = [load.sides[side].tokens_per_second for side in ("with", "without")]
    text = say("rates", ours=_rate(rates[0]), plain=_rate(rates[1])) if all(rates) else ""
    return say("speed_at", load=load, said=load.speedup.judged.said, rates=text)


def _alone(load: LoadFindings) -> str:
    its = load.sides["with"]
    rate = _rate(its.tokens_per_second)
    return say("speed_alone", load=load, rate=rate, all=_rate(its.throughput)) if its.tokens_per_second else ""


def _rate(rate: float | None) -> str:
    return localize(rate, ",.1f") if rate else "?"


def limit_in_words(found: BenchFindings) -> str:
    """From which measured load it no longer pays; empty where no concurrency has an interval."""
    stops = found.stops
    if stops is None:
        return ""
    if len(found.measured) == 1:
        return say("one_load", most=found.measured[0].concurrency)
    words = {HELPS: stops.helps, HURTS: stops.hurts, EVEN: stops.even, UNTOLD: stops.untold}
    if len(stops.helps) == len(found.measured):
        return say("pays_everywhere", most=stops.helps[-1])
    if stops.up_to is not None and stops.from_ is not None and not (stops.even or stops.untold):
        return say("pays_up_to", up_to=stops.up_to, from_=stops.from_)
    each = [
        say("word_at", word=LOOKS[word].said, numbers=join_choices(numbers, "and"))
        for word, numbers in words.items()
        if numbers
    ]
    return say("by_load", each=join_choices(each, "and"))


def _list_gains(gains: Sequence[tuple[LoadFindings, Gain | None]]) -> str:
    return join_choices([say("gain_at", gain=_gain(gain), load=load) for load, gain in gains if gain], "and")


def _describe_kinds(found: BenchFindings, load: LoadFindings) -> str:
    gains = found.gains_by_kind(load)
    if len(gains) < 2:
        return ""
    each = [say("kind", name=first_words(name, LONGEST_NAME), gain=_gain(gain)) for name, gain in gains.items()]
    return say("by_kind", concurrency=load.concurrency, each=join_choices(each, "and"))


def _gain(gain: Gain | None) -> str:
    if gain is None or gain.interval is None:
        return times(gain.value) if gain else say("unknown")
    return f"{times(gain.value)} ({localize(gain.interval[0], '.2f')}–{localize(gain.interval[1], '.2f')})"


def _same(found: BenchFindings) -> str:
    result, its = found.result, found.sameness
    if result.without is None:
        return ""
    if not result.settings.greedy:
        return say("draws", temperature=result.settings.temperature)
    if its is None:
        return say("no_texts")
    how = say("by_ids" if its.by_ids == its.pairs else "as_text")
    if its.same == its.pairs:
        return say("all_same", found=its, how=how)
    again = [say("unsteady", name=NAMES[side], its=its.again[side]) for side in its.unsteady]
    broken = [say("broken", its=its)] if its.broken else []
    return " ".join([say("some_same", found=its, how=how), *broken, *again])


def _accepted(found: BenchFindings) -> Iterator[str]:
    its = found.acceptance
    if its is None:
        yield say("not_counted")
    elif its.whole.rate is None:
        yield say("nothing_drafted")
    else:
        tally = its.whole
        tokens = localize(tally.tokens_per_call, ".2f") if tally.tokens_per_call else "?"
        source = say("answers") if its.source == "answers" else say("counters")
        yield say("accepted", tally=tally, source=source, tokens=tokens)
        if tally.agrees is False:
            yield say("disagree", tally=tally, cut=tally.cut_off)


def _costs(found: BenchFindings) -> Iterator[str]:
    for cost in found.rounds[:1]:
        interval = say("interval", low=cost.interval[0], high=cost.interval[1]) if cost.interval else ""
        yield say("round", cost=cost, interval=interval)


def measure_next(found: BenchFindings) -> str:
    """What to measure next, one line or none."""
    measured = [load.concurrency for load in found.measured]
    if found.result.without is None:
        return say_next("first_pair")
    if any(load.doubts for load in found.measured) or broken_setup(found.result):
        return ""
    if any(load.speedup and load.speedup.judged.word == UNTOLD for load in found.measured):
        return say_next("more_prompts", times=HALF)
    if measured and (len(measured) == 1 or (found.stops and found.stops.up_to == measured[-1])):
        return say_next("loads", numbers=",".join(str(times * measured[-1]) for times in (2, 4)))
    return ""


def _told(found: BenchFindings) -> str:
    """Of a server against itself: whether chance alone made a difference, and the least that these settings tell."""
    each = [
        say("least_at", least=(gain.interval[1] / gain.interval[0]) ** 0.5, load=load, said=gain.said)
        for load in found.measured
        if (gain := load.speedup) and gain.interval
    ]
    return say("against_itself", each="; ".join(each)) if each else say("nothing")
