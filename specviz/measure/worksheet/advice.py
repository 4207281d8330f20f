"""Production's counters in words: what the round costs, which draft length to try, when to stop, what to measure."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.judge import NEUTRAL, judge
from specviz.data.published import GPU_ROUNDS
from specviz.measure.worksheet.model import break_even_sentence
from specviz.measure.worksheet.serving import GROWING, Length, Production, draft_lengths, nearest_batch, recommended


def headline(found: Production, assumed: str) -> str:
    """The verdict in two sentences: measured, or modelled at costs that are assumed.

    Args:
        found: production's acceptance and costs.
        assumed: where the costs are from, as the page names it.
    """
    cost, tokens = found.round_cost, found.tokens
    judged = judge(found.speed, None, modelled=found.speedup is None)
    if found.speedup is not None:
        return (
            f"**{judged.headline}, measured.** {tokens:.2f} tokens a round / "
            f"{found.speed:.2f} = **{cost:.2f} target steps a round**, inferred{_where(found)}."
        )
    return (
        f"**{judged.headline}.** {_tree(found)}{tokens:.2f} tokens per target call "
        "were counted. "
        f"A round takes {cost:.2f} target steps at **assumed** costs ({assumed}): it pays above {cost:.2f} tokens per "
        f"target call.{_plain_calls(found)} {break_even_sentence(found.model)}"
    )


def _where(found: Production) -> str:
    return f", where about {100 * found.share:.0f} % of the calls drafted" if found.share < 1 else ""


def _plain_calls(found: Production) -> str:
    if found.share == 1:
        return ""
    return f" About {100 * found.share:.0f} % of the calls drafted; the others count as one plain step each."


def advice(found: Production) -> list[tuple[str, str]]:
    """A title and a few sentences each. Only for a measured speedup: without one the costs are assumed."""
    lengths = draft_lengths(found)
    return [
        ("What this means", _meaning(found)),
        ("Draft length", _length(found, lengths)),
        ("When to switch it off", _switch_off(found, lengths)),
        ("Measure next", _measure_next(found, lengths)),
    ]


def _meaning(found: Production) -> str:
    extra, length = found.round_cost - 1, found.draft_length
    written = f"A round takes as long as {found.round_cost:.2f} plain steps and writes {found.tokens:.2f} tokens"
    change = _change(found.speed)
    low, high = min(each.cost for each in GPU_ROUNDS), max(each.cost for each in GPU_ROUNDS)
    return (
        f"{written}, so the same text takes {change}. One step is the pass that plain decoding needs too. The other "
        f"{extra:.2f} steps pay for {length} draft {_tokens(length)}, for checking {length + 1} tokens instead of one, "
        f"and for the engine’s own work: {extra / length:.2f} for each drafted token. For comparison, published rounds "
        f"on one A100, one request at a time, cost {low:.2f} to {high:.2f} steps ([Spec-Bench]({GPU_ROUNDS[0].url}), "
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
    shown = [f"{each.slowest:.2f}× to {each.fastest:.2f}× at γ = {each.draft_length}" for each in lengths if each.good]
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


def batch_note(found: Production, loaded: bool = False) -> str:
    """What the batch slider does to this verdict, or why it does nothing. `loaded`: the costs contain the load."""
    if found.speedup is not None:
        return (
            "The batch slider does not change this part: the measured speedup already contains the load it was "
            "measured at."
        )
    if loaded:
        return "The costs contain the load at which the speedup was measured: the batch slider multiplies that load."
    batch = nearest_batch(found.counters.running)
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
    """The engine, its acceptance rate, and α twice where the two differ."""
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
    """ "2", "2 or 3", "2, 3 or 4"."""
    *first, last = map(str, lengths)
    return f"{', '.join(first)} or {last}" if first else last


def _tokens(count: int) -> str:
    return "token" if count == 1 else "tokens"
