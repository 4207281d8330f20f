"""Production's counters in words: what the round costs, which draft length to try, when to stop, what to measure."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.judge import NEUTRAL, judge
from specviz.core.metrics import span
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences, join_choices
from specviz.data.published import GPU_ROUNDS
from specviz.measure.worksheet.model import break_even_sentence
from specviz.measure.worksheet.serving import (
    GROWING,
    LEAST_GUESS,
    LEAST_USE,
    Length,
    OtherMachine,
    Production,
    draft_lengths,
    nearest_batch,
    outlook,
    recommended,
)
from specviz.measure.worksheet.starts import CostsOrigin

say = Sentences("advice")
OF_RUNS = CostsOrigin("")


def headline(found: Production, costs: CostsOrigin) -> str:
    """The verdict: measured; without a measured speedup, that there is none, and what is known instead."""
    if found.speedup is not None:
        where = say("measured_share", found=found) if found.share < 1 else ""
        assumed = say("measured_assumed", length=found.draft_length) if found.counters.calls_assumed else ""
        return say("measured", found=found, judged=judge(found.speed, None), where=where, assumed=assumed)
    told = f" {describe_at_costs(found, costs)}" if costs.are_told else ""
    said = f"**{never()}** {reasons(found)}" if found.never_pays else f"**{untold()}** {describe_known(found)}"
    return said + told


def untold() -> str:
    return say("untold")


def never() -> str:
    return say("never")


def reasons(found: Production) -> str:
    """The bound that the verdict is derived from."""
    ahead, most = outlook(found), found.ceiling
    if found.counters.calls_assumed:
        percent = 100 * (found.counters.acceptance_rate or 0.0)
        bound = say("bound_assumed", percent=percent, longest=MAX_DRAFT_LENGTH, ceiling=most)
    else:
        bound = say("bound", ceiling=most, small=say("small", least=LEAST_GUESS) if f"{most:.2f}" > "1.00" else "")
    return say("reasons", counted=counted_calls(found), bound=bound, places=ahead.pairs, speeds=ahead.speeds)


def describe_known(found: Production) -> str:
    ahead = outlook(found)
    slowest, fastest = ahead.places[0], ahead.places[-1]
    ways = say("block", drafter=found.counters.drafter) if found.model.block else ""
    return say(
        "known",
        found=found,
        counted=counted_calls(found),
        plain_calls=say("plain_calls", found=found) if found.share < 1 else "",
        most=say("most", most=found.ceiling) if found.is_low or found.share < 1 else "",
        ahead=ahead,
        slowest=slowest,
        fastest=fastest,
        first=_way(slowest) if ahead.both else "",
        last=_way(fastest) if ahead.both else "",
        ways=f" {say('both_ways')}" if ahead.both else ways,
    )


def _way(place: OtherMachine) -> str:
    return say("one_step") if place.block else say("step_each")


def counted_calls(found: Production) -> str:
    """The tokens per target call, and how that is known; no sentence yet."""
    counters, tokens = found.counters, found.tokens
    if counters.calls_assumed:
        return say("assumed_calls", length=found.draft_length, tokens=tokens)
    if counters.bounded and counters.written:
        return say("counted_written", tokens=tokens, written=counters.written)
    return say("counted_calls", tokens=tokens)


def describe_at_costs(found: Production, costs: CostsOrigin) -> str:
    judged, even = judge(found.speed, None, modelled=True), break_even_sentence(found.model)
    return say("at_costs", found=found, costs=costs.name, judged=judged, tree=_tree(found), break_even=even)


def advice(found: Production, costs: CostsOrigin = OF_RUNS) -> list[tuple[str, str]]:
    """A title and a few sentences each. Without a measured speedup only what needs no cost of a round."""
    means = [] if found.speedup is None else [(say("means"), _meaning(found))]
    if found.never_pays:
        return [*means, (say("next"), say("check_first"))]
    if found.speedup is None:
        return [(say("draft_length"), _length_without_costs(found, costs)), (say("next"), _measure_first(found))]
    lengths = draft_lengths(found)
    good = recommended(lengths)
    others = [each for each in good if each != found.draft_length]
    return [
        *means,
        (say("draft_length"), _length(found, lengths, good)),
        (say("when_off"), _switch_off(found, others)),
        (say("next"), say("measure_next", others=join_choices(others or [max(1, found.draft_length // 2)]))),
    ]


def _length_without_costs(found: Production, costs: CostsOrigin) -> str:
    """Where shorter drafts would be best: at published costs, and at chosen ones. Never longer ones than counted."""
    ahead = outlook(found)
    several = len(ahead.usual) > 1
    return say(
        "length_untold",
        found=found,
        ahead=ahead,
        lengths=say("most_often", ahead=ahead, length=ahead.usual[0][0]) if several else ahead.lengths,
        chosen=say("at_chosen", model=found.model) if costs.are_told else "",
        last=_last_position(found),
    )


def _last_position(found: Production) -> str:
    full, useful = found.draft_length, found.useful
    if useful == full:
        return say("last_pays", length=full, adds=found.last_adds, counted=_counted(found))
    which, fewer = _positions(useful + 1, full), full - useful
    return say("last_useless", useful=useful, which=which, least=LEAST_USE, counted=_counted(found), fewer=fewer)


def _counted(found: Production) -> str:
    return say("how_counted") if found.model.survival else say("how_modelled")


def _measure_first(found: Production) -> str:
    length, running, latency = found.draft_length, found.counters.running, found.counters.latency
    other = next((best for best, _ in outlook(found).usual if best != length), length + 1)
    load = say("running", running=running) if running else ""
    limit = "" if latency is None else say("latency", milliseconds=1000 * latency)
    return say("measure_first", length=length, other=other, load=load, latency=limit)


def _meaning(found: Production) -> str:
    extra, length, costs = found.round_cost - 1, found.draft_length, [each.cost for each in GPU_ROUNDS]
    return say(
        "meaning",
        found=found,
        change=_change(found.speed),
        extra=extra,
        length=length,
        checked=length + 1,
        each=extra / length,
        published=span((min(costs), max(costs))),
        url=GPU_ROUNDS[0].url,
    )


def _change(speed: float) -> str:
    share = abs(1 / speed - 1)
    if 1 / NEUTRAL <= speed <= NEUTRAL and round(100 * share) == 0:
        return say("same_time")
    return say("longer" if speed < 1.0 else "less_time", share=share)


def _length(found: Production, lengths: Sequence[Length], good: Sequence[int]) -> str:
    full = found.draft_length
    if good[-1] == full:
        near = say("near", shorter=join_choices(good[:-1])) if good[:-1] else ""
        return say("keep", full=full, near=near, longer=_longer(found), split=say("split"))
    speeds = [
        say("speed_at", speeds=span((each.slowest, each.fastest), "×"), length=each.draft_length)
        for each in lengths
        if each.good
    ]
    return say(
        "try_shorter",
        good=join_choices(good),
        full=full,
        which=_positions(good[-1] + 1, full),
        added=found.model.terms.tokens - found.model.at(good[-1]).tokens,
        counted=_counted(found),
        less=full - good[-1],
        split=say("split"),
        speeds=", ".join(speeds),
    )


def _positions(first: int, last: int) -> str:
    if first == last:
        return say("position_adds", position=first)
    return say("two_add" if last == first + 1 else "positions_add", first=first, last=last)


def _longer(found: Production) -> str:
    """Whether one more position could pay: it must add more tokens than the speed times its cost."""
    adds, costs = found.last_adds, (found.round_cost - 1) / found.draft_length
    longer = adds > found.speed * costs * max(GROWING)
    shorter = adds < found.speed * costs * min(GROWING)
    return say(
        "try_longer" if longer else "not_longer" if shorter else "last_position",
        adds=adds,
        counted=_counted(found),
        costs=costs,
    )


def _switch_off(found: Production, others: Sequence[int]) -> str:
    if judge(found.speed, None).label == "helps":
        when = say("off_below")
    elif others:
        slower = found.speed < 1
        when = say(
            "off_unless_shorter_too" if slower else "off_unless_shorter",
            others=join_choices(others),
            count=len(others),
        )
    else:
        when = say("off_unless_cheaper")
    return say("switch_off", length=found.draft_length, cost=found.round_cost, found=found, when=when)


def batch_note(found: Production, loaded: bool = False, told: bool = True) -> str:
    """What the batch slider does to this verdict. `told`: whether the costs are of the machine in question."""
    if found.speedup is not None:
        return say("batch_of_measured")
    if loaded:
        return say("batch_of_loaded")
    running, now = found.counters.running, found.model.batch
    batch = nearest_batch(running)
    if not told:
        return say("batch_of_published", running=running) if batch and batch > 1 else ""
    if batch and batch != now:
        there = Production(found.counters, replace(found.model, batch=batch))
        return say("batch_there", running=running, batch=batch, now=now, there=there)
    return say("batch_is", running=running, batch=batch) if batch else ""


def _tree(found: Production) -> str:
    """What the figure assumes of a tree, and what it would be on the sliders' line; empty for a chain."""
    nodes, model, checked = found.counters.checked, found.model, found.draft_length + 1
    if nodes is None or nodes <= checked:
        return ""
    wider = found.round_cost - model.steps(checked) + model.steps(round(nodes))
    return say("tree", nodes=nodes, checked=checked, speed=found.tokens / wider)


def note_earlier(found: Production) -> str:
    """That earlier lines of the log differ from the last one, where they differ by more than a fifth."""
    before, now = found.counters.before or found.tokens, found.tokens
    return say("before_last", before=before) if abs(before - now) > max(before, now) / 5 else ""


def counted_note(found: Production, alpha: float) -> str:
    counters, length = found.counters, found.draft_length
    rate, mean = counters.acceptance_rate, counters.draft_length
    if rate is None:
        drafted = say("length_assumed", length=length)
    elif counters.calls_assumed:
        drafted = say("rate_counted", rate=rate, length=length)
    else:
        drafted = say("drafted", rate=rate, length=length)
    if mean and abs(mean - length) >= 0.01:
        drafted += say("drafted_on_average", mean=mean)
    how = say("judgements_counted") if counters.counts_judgements else say("judgements_modelled")
    same = f"{alpha:.2f}" == f"{found.model.alpha:.2f}"
    mapped = "" if same else say("mapped", alpha=found.model.alpha)
    return say("counted", engine=counters.engine, drafted=drafted, alpha=alpha, how=how, mapped=mapped)
