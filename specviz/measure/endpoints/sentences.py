"""What a bench of two servers says, in words. Pure; no sentence says more than the intervals allow."""

from collections.abc import Iterator, Sequence

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD, VerdictWord
from specviz.core.names import first_words
from specviz.core.numbers import localize, percent, times
from specviz.core.texts import Sentences, join_choices
from specviz.data.bench_words import definitions as definitions
from specviz.measure.endpoints.acceptance import AcceptanceFound, Tally
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings, RoundCost, StopsPaying
from specviz.measure.endpoints.next_steps import lengths_in_words, measure_next
from specviz.measure.endpoints.pairs import Gain
from specviz.measure.endpoints.result import BenchResult, Server
from specviz.measure.endpoints.sameness import Sameness, TextDifference
from specviz.measure.endpoints.table import dump_csv as dump_csv
from specviz.measure.endpoints.table import table as table
from specviz.measure.endpoints.warnings import NAMES, bench_warnings

LONGEST_NAME = 60  # characters: a file can name anything
say = Sentences("bench")


def conclusion(result: BenchResult) -> list[str]:
    """What is doubtful first, then what was found, then what to measure next. Names and texts in it are not escaped."""
    found = BenchFindings(result)
    return [*bench_warnings(found), *findings_in_words(found), *measure_next(found)]


def findings_in_words(found: BenchFindings) -> list[str]:
    return [*filter(None, [_asked(found.result), *_speeds(found)]), *details_in_words(found)]


def details_in_words(found: BenchFindings) -> list[str]:
    """What was found beside the speedups at each concurrency, which a table may have."""
    spread = [_spread(found, found.measured[0]), _describe_kinds(found, found.measured[0])] if found.measured else []
    return [sentence for sentence in (*spread, _same(found), *_accepted(found), *_costs(found)) if sentence]


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
    each = "; ".join(map(_speed_at, measured))
    yield say("speed", prompts=max(len(load.prompts) for load in measured), each=f"{each[0].upper()}{each[1:]}")
    if all(load.speedup and load.speedup.interval is None for load in measured):
        yield say("one_prompt")
    yield limit_in_words(found)
    yield from losses_in_words(found)
    if throughput := _list_gains([(load, load.throughput) for load in measured]):
        yield say("throughput", each=throughput)
    if first := _list_gains([(load, load.first) for load in measured]):
        yield say("first", each=first)


def _speed_at(load: LoadFindings) -> str:
    assert load.speedup
    rates = [load.sides[side].tokens_per_second for side in ("with", "without")]
    text = say("rates", ours=_rate(rates[0]), plain=_rate(rates[1])) if all(rates) else ""
    return say("speed_at", load=load, said=load.speedup.judged.said, rates=text)


def _alone(load: LoadFindings) -> str:
    its = load.sides["with"]
    rates = say("rate_alone", rate=_rate(its.tokens_per_second), all=_rate(its.throughput))
    return say("speed_alone", load=load, rates=rates) if its.tokens_per_second else ""


def _rate(rate: float | None) -> str:
    return localize(rate, ",.1f") if rate else "?"


def _spread(found: BenchFindings, load: LoadFindings) -> str:
    if len(load.prompts) < 2:
        return ""
    slowest, *_, fastest = sorted(load.prompts, key=lambda prompt: prompt.ratio)
    return say(
        "spread",
        concurrency=load.concurrency,
        slow=slowest.ratio,
        fast=fastest.ratio,
        slowest=_prompt_name(found, slowest.prompt),
        fastest=_prompt_name(found, fastest.prompt),
    )


def _prompt_name(found: BenchFindings, prompt: int) -> str:
    return first_words(found.result.prompts[prompt].name, LONGEST_NAME)


def limit_in_words(found: BenchFindings) -> str:
    """From which load it no longer pays; empty where no concurrency has an interval."""
    if found.stops and len(found.measured) == 1:
        return say("one_load", most=found.measured[0].concurrency)
    return _limit(found.stops) if found.stops else ""


def _limit(stops: StopsPaying) -> str:
    """From which measured load it no longer pays; never between two loads by a line, and never above the last one."""
    at = list(_open_at(stops))
    open_ = join_choices(at, "and") if at else ""
    if not stops.helps:
        return say("never_sure", open=open_) if open_ else say("pays_nowhere", hurts=join_choices(stops.hurts, "and"))
    if not stops.hurts and not open_:
        return say("pays_everywhere", most=stops.helps[-1])
    if stops.up_to == stops.helps[-1] and stops.up_to is not None:
        if stops.from_ is not None:
            if open_:
                return say("pays_up_to_open", up_to=stops.up_to, from_=stops.from_, open=open_)
            return say("pays_up_to", up_to=stops.up_to, from_=stops.from_)
        if not stops.hurts:
            return say("open_after", up_to=stops.up_to, open=open_)
    hurts = say("and_hurts", hurts=join_choices(stops.hurts, "and")) if stops.hurts else ""
    helps = join_choices(stops.helps, "and")
    if open_:
        return say("mixed_open", helps=helps, hurts=hurts, open=open_)
    return say("mixed", helps=helps, hurts=hurts)


def _open_at(stops: StopsPaying) -> Iterator[str]:
    """Where it neither helps nor hurts."""
    for word, numbers in ((EVEN, stops.even), (UNTOLD, stops.untold)):
        if numbers:
            yield say("open_at", numbers=join_choices(numbers, "and"), word=LOOKS[word].said)


def losses_in_words(found: BenchFindings) -> Iterator[str]:
    """What a user's speedup alone would hide: a first token that comes later, and what all users together get."""
    later = [(load, load.first) for load in found.measured if load.first and load.first.judged.word == HURTS]
    if later:
        yield say("first_later", each=_list_gains(later))
    words: dict[VerdictWord, list[int]] = {}
    for load in found.measured:
        if load.throughput and load.throughput.interval:
            words.setdefault(load.throughput.judged.word, []).append(load.concurrency)
    if set(words) - {HELPS}:
        each = [
            say("all_users_at", word=LOOKS[word].said, numbers=join_choices(its, "and")) for word, its in words.items()
        ]
        yield say("all_users", each=", ".join(each))


def _list_gains(gains: Sequence[tuple[LoadFindings, Gain | None]]) -> str:
    return ", ".join(say("gain_at", gain=_gain(gain), load=load) for load, gain in gains if gain)


def _describe_kinds(found: BenchFindings, load: LoadFindings) -> str:
    gains = found.gains_by_kind(load)
    if len(gains) < 2:
        return ""
    each = [say("kind", name=first_words(name, LONGEST_NAME), gain=_gain(gain)) for name, gain in gains.items()]
    return say("by_kind", concurrency=load.concurrency, each=", ".join(each))


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
    shorter = say("shorter", shorter=its.shorter) if its.shorter else ""
    said = [say("some_same", found=its, how=how, shorter=shorter)]
    said += [difference_in_words(found, each) for each in its.differences[:1]]
    return " ".join([*said, *_describe_again(its)])


def difference_in_words(found: BenchFindings, each: TextDifference) -> str:
    token = say("at_token", token=each.token + 1) if each.token is not None else ""
    ours, plain = (_on_one_line(each.continuations[side]) for side in ("with", "without"))
    name, before = _prompt_name(found, each.prompt), _on_one_line(each.before)
    after = say("after", before=before) if before else say("at_once")
    return say("difference", name=name, token=token, after=after, ours=ours, plain=plain)


def _on_one_line(text: str) -> str:
    return text.replace("\r", "↵").replace("\n", "↵").replace("\t", "⇥")


def _describe_again(its: Sameness) -> Iterator[str]:
    if its.unsteady:
        yield from (say("unsteady", name=NAMES[side], its=its.again[side]) for side in its.unsteady)
    elif its.different:
        asked = any(each.prompts for each in its.again.values())
        yield say("steady") if asked else say("never_again")


def _accepted(found: BenchFindings) -> Iterator[str]:
    its = found.acceptance
    if its is None:
        yield say("not_counted")
    elif its.whole.rate is None:
        yield say("nothing_drafted")
    else:
        tally, tokens = its.whole, ""
        if tally.tokens_per_call:
            tokens = say("tokens_per_call", tokens=tally.tokens_per_call)
        rates = ", ".join(map(percent, tally.survival[:8])) + (", …" if len(tally.survival) > 8 else "")
        positions = say("positions", rates=rates) if tally.survival else ""
        source = say("answers") if its.source == "answers" else say("counters")
        yield say("accepted", tally=tally, source=source, tokens=tokens, positions=positions, kinds=_kinds(its))
        yield _agreement(tally)


def _kinds(its: AcceptanceFound) -> str:
    rates = {name: tally.rate for name, tally in its.by_workload.items() if tally.rate is not None}
    if len(set(map(percent, rates.values()))) < 2:
        return ""
    lowest, highest = (first_words(end(rates, key=lambda name: rates[name]), LONGEST_NAME) for end in (min, max))
    return say("kinds", low=min(rates.values()), high=max(rates.values()), lowest=lowest, highest=highest)


def _agreement(tally: Tally) -> str:
    if tally.agrees is None:
        return ""
    if not tally.cut_off:
        return say("agree", tally=tally)
    if tally.cut_off < 0:
        return say("plain_passes", tally=tally, passes=-tally.cut_off)
    return say("cut_off" if tally.agrees else "disagree", tally=tally, cut=tally.cut_off)


def _costs(found: BenchFindings) -> Iterator[str]:
    costs = found.rounds
    if not costs:
        yield say("no_round", why=found.no_rounds) if found.no_rounds else ""
        return
    first, last = costs[0], costs[-1]
    loaded = say("loaded", cost=last) if last is not first else ""
    interval = say("interval", low=first.interval[0], high=first.interval[1]) if first.interval else ""
    needed, length = first.share_needed, first.found.draft_length
    share = say("never", length=length) if needed is None else say("share", share=needed)
    yield say("round", cost=first, interval=interval, share=share, had=say("had", share=first.share), loaded=loaded)
    yield _best_length(first)


def _best_length(cost: RoundCost) -> str:
    length, others = cost.found.draft_length, [each for each in cost.best_lengths if each != cost.found.draft_length]
    if length in cost.best_lengths:
        return say("keep", length=length, others=say("nearly", others=lengths_in_words(others)) if others else "")
    return say("shorter_length", length=length, others=lengths_in_words(others))
