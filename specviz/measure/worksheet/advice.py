"""Production's counters in words: what the round costs, which draft length to try, when to stop, what to measure."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.judge import NEUTRAL, judge
from specviz.data.published import GPU_ROUNDS
from specviz.measure.worksheet.model import break_even_sentence
from specviz.measure.worksheet.serving import (
    GROWING,
    Length,
    Production,
    costs_are_told,
    draft_lengths,
    nearest_batch,
    outlook,
    recommended,
    span,
)

UNTOLD = "Cannot be told without the cost of a round on your machine."


def headline(found: Production, costs: str) -> str:
    """The verdict: measured; without a measured speedup, that there is none, and what is known instead."""
    cost, tokens = found.round_cost, found.tokens
    if found.speedup is not None:
        judged = judge(found.speed, None)
        return (
            f"**{judged.headline}, measured.** {tokens:.2f} tokens a round / "
            f"{found.speed:.2f} = **{cost:.2f} target steps a round**, inferred{_where(found)}."
        )
    told = f" {at_costs(found, costs)}" if costs_are_told(costs) else ""
    return f"**{UNTOLD}** {known_without_costs(found)}{told}"


def known_without_costs(found: Production) -> str:
    tokens, ahead = found.tokens, outlook(found)
    slowest, fastest = ahead.places[0], ahead.places[-1]
    free = sum(each.free_checks for each in ahead.places)
    return (
        f"{tokens:.2f} tokens per target call were counted, so it pays where a round takes less than {tokens:.2f} "
        f"plain steps.{_plain_calls(found)} At the published costs of {len(ahead.places)} pairs of models, one text at "
        f"a time, it would be {slowest.speed:.2f}× ({slowest.name}) to {fastest.speed:.2f}× ({fastest.name}), "
        f"modelled. {free} of them publish only the cost of a guess: checking is taken to be free there, so expect "
        "less."
    )


def at_costs(found: Production, costs: str) -> str:
    judged = judge(found.speed, None, modelled=True)
    return (
        f"At the chosen costs ({costs}) a round takes {found.round_cost:.2f} target steps: **{judged.headline}**. "
        f"{_tree(found)}{break_even_sentence(found.model)}"
    )


def _where(found: Production) -> str:
    return f", where about {100 * found.share:.0f} % of the calls drafted" if found.share < 1 else ""


def _plain_calls(found: Production) -> str:
    if found.share == 1:
        return ""
    return f" About {100 * found.share:.0f} % of the calls drafted; the others count as one plain step each."


def advice(found: Production, costs: str = "") -> list[tuple[str, str]]:
    """A title and a few sentences each. Without a measured speedup only what needs no cost of a round."""
    if found.speedup is None:
        return [("Draft length", _length_without_costs(found, costs)), ("Measure next", _measure_first(found))]
    lengths = draft_lengths(found)
    return [
        ("What this means", _meaning(found)),
        ("Draft length", _length(found, lengths)),
        ("When to switch it off", _switch_off(found, lengths)),
        ("Measure next", _measure_next(found, lengths)),
    ]


def _length_without_costs(found: Production, costs: str) -> str:
    """Where shorter drafts would be best: at published costs, and at chosen ones. Never longer ones than counted."""
    length, ahead = found.draft_length, outlook(found)
    counted = "counted" if found.positions_counted else "modelled, every position alike"
    often = f", most often {ahead.usual[0][0]}" if len(ahead.usual) > 1 else ""
    chosen = ""
    if costs_are_told(costs):
        model = found.model
        chosen = f" At the chosen costs γ = {model.best} is best, {model.best_speedup:.2f}×, modelled."
    adds = found.survival[length - 1]
    return (
        f"The best length up to {length} depends on the costs: at the {len(ahead.places)} published ones it is "
        f"γ = {ahead.lengths}{often}.{chosen} Position {length} adds {adds:.2f} tokens a round ({counted}): where "
        f"speculation pays, this position pays only if its guess and its check take less than {adds:.2f} plain steps. "
        "Longer drafts cannot be judged from these counters."
    )


def _measure_first(found: Production) -> str:
    length, running = found.draft_length, found.counters.running
    other = next((best for best, _ in outlook(found).usual if best != length), length + 1)
    load = f" ({running:.0f} were running)" if running else ""
    return (
        f"The same requests without speculation, with γ = {length}, and with γ = {other}, at the same number of "
        f"running requests{load}, taking turns, at least five times. Enter the speedup or both latencies on the left: "
        f"the cost of a round on your machine follows.{_latency(found)}"
    )


def _latency(found: Production) -> str:
    if found.counters.latency is None:
        return ""
    return (
        f" The text reports {1000 * found.counters.latency:.3g} ms for an output token: speculation pays if the target "
        "alone takes longer at this load. Enter that under “or latency without”, in ms for a token."
    )


def _meaning(found: Production) -> str:
    extra, length = found.round_cost - 1, found.draft_length
    written = f"A round takes as long as {found.round_cost:.2f} plain steps and writes {found.tokens:.2f} tokens"
    change = _change(found.speed)
    low, high = min(each.cost for each in GPU_ROUNDS), max(each.cost for each in GPU_ROUNDS)
    return (
        f"{written}, so the same text takes {change}. One step is the pass that plain decoding needs too. The other "
        f"{extra:.2f} steps pay for {length} draft {_tokens(length)}, for checking {length + 1} tokens instead of one, "
        f"and for the engine’s own work: {extra / length:.2f} for each drafted token. For comparison, published rounds "
        f"on one A100, one request at a time, cost {span(low, high, '')} steps ([Spec-Bench]({GPU_ROUNDS[0].url}), "
        "inferred in the same way)."
    )


def _change(speed: float) -> str:
    if 1 / NEUTRAL <= speed <= NEUTRAL and round(100 * abs(1 / speed - 1)) == 0:
        return "the same time"
    return f"{100 * abs(1 / speed - 1):.0f} % {'longer' if speed < 1 else 'less time'}"


def _length(found: Production, lengths: Sequence[Length]) -> str:
    good, full = recommended(lengths), found.draft_length
    counted = "counted" if found.positions_counted else "modelled, every position alike"
    if good[-1] != full:
        added = found.tokens_at(full) - found.tokens_at(good[-1])
        which = _positions(good[-1] + 1, full)
        steps = "1 draft step" if full - good[-1] == 1 else f"{full - good[-1]} draft steps"
        advised = (
            f"Try **{_or(good)}** instead of {full}: {which} {added:.2f} tokens a round ({counted}) for {steps} and a "
        )
        return f"{advised}wider check. {ASSUMED_SPLIT} {_range(lengths)}"
    shorter = good[:-1]
    near = f" γ = {_or(shorter)} would be nearly as fast, as far as this can be told." if shorter else ""
    return f"Keep **{full}**.{near} {_longer(found, counted)} {ASSUMED_SPLIT}"


def _positions(first: int, last: int) -> str:
    if first == last:
        return f"position {first} adds"
    return f"positions {first} {'and' if last == first + 1 else 'to'} {last} add"


def _longer(found: Production, counted: str) -> str:
    """Whether one more position could pay: it must add more tokens than the speed times its cost."""
    adds, costs = found.survival[found.draft_length - 1], (found.round_cost - 1) / found.draft_length
    last = f"The last position adds {adds:.2f} tokens a round ({counted}) for at most {costs:.2f} steps"
    if adds > found.speed * costs * max(GROWING):
        return f"{last}: try a longer draft too."
    if adds < found.speed * costs * min(GROWING):
        return f"{last}: a longer draft is not worth a try."
    return f"{last}: whether a longer draft pays cannot be told from this."


def _range(lengths: Sequence[Length]) -> str:
    shown = [f"{span(each.slowest, each.fastest)} at γ = {each.draft_length}" for each in lengths if each.good]
    return f"Modelled speedup: {', '.join(shown)}."


def _switch_off(found: Production, lengths: Sequence[Length]) -> str:
    good, cost, length = recommended(lengths), found.round_cost, found.draft_length
    threshold = (
        f"At γ = {length} and this load it pays only above {cost:.2f} tokens a round (acceptance length); you have "
        f"{found.tokens:.2f}."
    )
    load = "A larger batch makes checking dearer, so the limit rises with the load."
    if judge(found.speed, None).label == "helps":
        return f"{threshold} Switch it off for traffic that falls below this. {load}"
    others = [each for each in good if each != length]
    if others:
        return (
            f"{threshold} Switch it off for this traffic if γ = {_or(others)} {'also ' if found.speed < 1 else ''}"
            + (f"{'measures' if len(others) == 1 else 'measure'} no more than 1×. {load}")
        )
    return f"{threshold} Switch it off for this traffic, unless a cheaper draft brings the round below that. {load}"


def _measure_next(found: Production, lengths: Sequence[Length]) -> str:
    others = [each for each in recommended(lengths) if each != found.draft_length] or [max(1, found.draft_length // 2)]
    return (
        f"The same requests at γ = {_or(others)}, with and without speculation, at the same number of running "
        "requests, taking turns, at least five times: one ratio has no interval, so it is never certain. A second "
        "draft length also shows which part of a round’s cost grows with the draft. Then once with fewer and "
        "once with more running requests."
    )


def batch_note(found: Production, loaded: bool = False, told: bool = True) -> str:
    """What the batch slider does to this verdict, or why it does nothing.

    Args:
        found: production's acceptance and costs.
        loaded: whether the costs contain the load.
        told: whether the costs are of the machine in question; else the slider changes nothing that is said.
    """
    if found.speedup is not None:
        return (
            "The batch slider does not change this part: the measured speedup already contains the load it was "
            "measured at."
        )
    if loaded:
        return "The costs contain the load at which the speedup was measured: the batch slider multiplies that load."
    batch = nearest_batch(found.counters.running)
    if not told:
        more = "the published costs are of one text at a time, and checking is dearer beside other texts"
        return f"{found.counters.running:.0f} requests were running: {more}." if batch and batch > 1 else ""
    running = f"{found.counters.running:.0f} requests were running" if batch else ""
    if batch and batch != found.model.batch:
        there = Production(found.counters, replace(found.model, batch=batch))
        now = found.model.batch
        return f"{running}. At a batch of {batch} instead of {now} this would be {there.speed:.2f}×, modelled."
    return f"{running}; the batch slider says {batch}." if batch else ""


def _tree(found: Production) -> str:
    """What the figure assumes of a tree, and what it would be on the sliders' line; empty for a chain."""
    nodes, length = found.counters.checked, found.draft_length
    if nodes is None or nodes <= length + 1:
        return ""
    model = found.model
    wider = found.round_cost - model.steps(length + 1) + model.steps(round(nodes))
    return (
        f"This assumes that checking the {nodes:.0f} nodes of the tree takes as long as checking {length + 1} tokens: "
        f"nearly so on a GPU with few requests. At v(γ+1)’s straight line it would be {found.tokens / wider:.2f}×. "
    )


def counted_note(found: Production, alpha: float) -> str:
    counters, length = found.counters, found.draft_length
    rate = counters.acceptance_rate
    mean = counters.draft_length
    drafted = f"{rate:.2f} accepted / drafted at γ = {length}" if rate is not None else f"γ = {length} is assumed"
    if mean and abs(mean - length) >= 0.01:
        drafted += f" (on average {mean:.2f} drafted)"
    how = (
        "counted: accepted / (accepted + rejected)" if counters.counts_judgements else "modelled: every judgement alike"
    )
    same = f"{alpha:.2f}" == f"{found.model.alpha:.2f}"
    mapped = (
        ""
        if same
        else (
            f" The map uses α = {found.model.alpha:.2f}: with every judgement alike, it gives the same tokens per call."
        )
    )
    return f"{counters.engine}: {drafted}; α = {alpha:.2f} per judgement ({how}).{mapped}"


ASSUMED_SPLIT = "Assumed: half or more of a round’s extra cost grows with the draft."


def _or(lengths: Sequence[int]) -> str:
    *first, last = map(str, lengths)
    return f"{', '.join(first)} or {last}" if first else last


def _tokens(count: int) -> str:
    return "token" if count == 1 else "tokens"
