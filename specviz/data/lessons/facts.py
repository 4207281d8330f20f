"""Every figure that a text may name, as written on screen: of a recorded run, and of what is stored with the app.

Texts name figures and never type them, so they stay true when a run or a table is recorded again.
"""

from collections.abc import Sequence
from functools import cache

from specviz.core.metrics import costs, count, speedup
from specviz.core.names import ORDINALS, in_words
from specviz.core.rounds import known_seconds
from specviz.core.settings import UNSURE_BELOW
from specviz.core.trace import Trace
from specviz.data.batches import Ratio, recorded_batches
from specviz.data.lessons.overlap import overlap_of
from specviz.data.lessons.pass_shares import PARTS, pass_shares
from specviz.data.lessons.recorded_runs import (
    DRAFT_LENGTH,
    TREE,
    TREE_DEPTH,
    branch_round,
    drawn_round,
    full_round,
    mixed_round,
    siblings_of,
    story_figures,
    story_trace,
)
from specviz.data.lessons.stopping import stopping
from specviz.data.measured_methods import ALL, AtSetting, stored_methods
from specviz.data.sentences import percent
from specviz.data.texts import Facts, Words

NOISE = " (less than for one token: noise of a single pair of runs; a check usually takes somewhat longer)"
UNKNOWN = "?"
NAMES = {"nano": "wren-nano", "eagle": "wren-eagle", "medusa": "wren-medusa"}


@cache
def facts_of(name: str) -> Facts:
    trace = story_trace(name)
    return {
        "tried": str(story_figures().tried.get(name, "")),
        **_of_counts(trace),
        **_of_costs(trace),
        **_of_rounds(trace),
        **_of_sureness(trace),
        **_of_sweeps(),
        **_of_passes(),
        **_of_tree(trace),
        **method_facts(),
        **_of_batches(),
        **_of_stopping(),
    }


def facts_in(facts: Facts, words: Words) -> Facts:
    return {name: text.replace(" %", " in 100") for name, text in facts.items()} if words == "plain" else facts


def _of_counts(trace: Trace) -> Facts:
    counts, gain = count(trace.rounds), speedup(trace) or 0.0
    length = trace.settings.draft_length
    return {
        "machine": trace.recorded_on.machine,
        "drafted": str(counts.drafted),
        "accepted": str(counts.accepted),
        "rejected": str(counts.rejected),
        "discarded": str(counts.discarded),
        "wasted": str(counts.drafted - counts.accepted),
        "emitted": str(counts.emitted),
        "passes": str(counts.rounds),
        "saved": str(counts.emitted - counts.rounds),
        "acceptance": percent(counts.acceptance_rate or 0.0),
        "judgement": percent(counts.per_judgement_rate or 0.0),
        "per_call": f"{counts.tokens_per_target_call or 0:.1f}",
        "speedup": f"{gain:.2f}",
        "draft_length": in_words(length),
        "most": in_words(length + 1),
    }


def _of_costs(trace: Trace) -> Facts:
    measured, plain = costs(trace), trace.autoregressive
    if measured is None or plain is None:
        return {}
    length, step, alone = trace.settings.draft_length, measured.step_seconds, sum(plain.seconds_per_token)
    checked, mean = measured.verification.get(length + 1, 1.0), alone / len(plain.seconds_per_token)
    total = sum(known_seconds(round.seconds) for round in trace.rounds)
    return {
        "alone_ms": f"{1000 * alone:.0f}",
        "mean_ms": f"{1000 * mean:.1f}",
        "together_ms": f"{1000 * total:.0f}",
        "draft_ms": f"{1000 * step * measured.cost_ratio:.1f}",
        "check_ms": f"{1000 * step * checked:.1f}",
        "cost": f"{measured.cost_ratio:.2f}",
        "check": f"{checked:.2f}",
        "check_note": "" if step * checked >= mean else NOISE,
        "overhead": f"{measured.overhead:.2f}",
    }


def _of_rounds(trace: Trace) -> Facts:
    facts: dict[str, str] = {}
    if mixed := mixed_round(trace):
        facts |= {
            "mixed_round": str(mixed.index + 1),
            "mixed_drafted": in_words(len(mixed.drafted)),
            "mixed_accepted": in_words(mixed.accepted),
            "mixed_discarded": in_words(mixed.discarded),
            "mixed_written": in_words(mixed.accepted + 1),
            "rejected_place": ORDINALS[mixed.accepted],
        }
    if full := full_round(trace):
        facts |= {
            "full_round": str(full.index + 1),
            "full_drafted": in_words(len(full.drafted)),
            "full_written": in_words(len(full.drafted) + 1),
        }
    return {**facts, **_of_drawn(trace)}


def _of_drawn(trace: Trace) -> Facts:
    round = drawn_round(trace)
    if round is None:
        return {}
    token = round.drafted[round.accepted]
    numbers = {
        "drawn_p": token.target_prob,
        "drawn_q": token.draft_prob,
        "drawn_chance": token.accept_prob,
        "drawn_u": token.u,
        "drawn_alpha": overlap_of(round).alpha,
    }
    known = {name: value for name, value in numbers.items() if value is not None}
    return {
        "drawn_round": str(round.index + 1),
        "drawn_token": (token.text or "").strip(),
        **{name: f"{value:.2f}" for name, value in known.items()},
        **{f"{name}_of": f"{100 * value:.0f} of 100" for name, value in known.items()},
    }


def _of_sweeps() -> Facts:
    """Figures over the story prompts. A setting is called best only beside those that the prompts cannot rank."""
    figures = story_figures()
    lengths, drafts, temperatures = figures.draft_lengths, figures.drafts, figures.temperatures
    best, longest = max(lengths, key=lambda row: row.speedup), lengths[-1]
    near = [row for row in lengths if row is best or not row.resolved_from(best)]
    fastest, biggest = max(drafts, key=lambda row: row.speedup), drafts[-1]
    greedy, hottest = temperatures[0], temperatures[-1]
    return {
        "sweep_machine": figures.recorded_on,
        "prompts": in_words(len(best.speedups)),
        "near_lengths": listed([in_words(row.draft_length) for row in near]),
        "near_speedups": from_to([row.speedup for row in near]),
        "longest_length": in_words(longest.draft_length),
        "longest_speedup": f"{longest.speedup:.2f}",
        "longest_rate": percent(longest.accepted / longest.drafted),
        "best_draft": fastest.draft,
        "best_draft_speedup": f"{fastest.speedup:.2f}",
        "best_draft_rate": percent(fastest.accepted / fastest.drafted),
        "biggest_draft": biggest.draft,
        "biggest_speedup": f"{biggest.speedup:.2f}",
        "biggest_rate": percent(biggest.accepted / biggest.drafted),
        "greedy_speedup": f"{greedy.speedup:.2f}",
        "hot_temperature": f"{hottest.temperature:g}",
        "hot_speedup": f"{hottest.speedup:.2f}",
        "hot_note": "" if hottest.resolved_from(greedy) else ", a loss that so few prompts cannot make certain",
        "greedy_rate": percent(greedy.accepted / (greedy.accepted + greedy.rejected)),
        "hot_rate": percent(hottest.accepted / (hottest.accepted + hottest.rejected)),
        "product": percent(figures.overlap.product),
        "minimum": percent(figures.overlap.minimum),
        "most_likely": percent(figures.overlap.most_likely),
        "positions": str(figures.overlap.positions),
    }


def _of_passes() -> Facts:
    found = pass_shares()
    exact = found.of("float32", 1)
    long = [one for one in found.passes if one.tokens == found.most]
    return {
        **{f"check_{one.dtype}": f"{one.ratio.value:.2f}" for one in long},
        **{f"share_{part}": percent(exact.share(part)) for part in PARTS},
        "weights": f"{found.weights / 1e6:.1f}",
        "checked": in_words(found.most),
        "pass_machine": found.machine.machine,
    }


def _of_batches() -> Facts:
    study = recorded_batches()
    length, most = study.draft_lengths[-1], study.batches[-1]
    alone, together, shortest = study.at(1, length), study.at(most, length), study.at(most, study.draft_lengths[0])
    return {
        "batch_machine": study.recorded_on.machine,
        "batch_most": in_words(most),
        "batch_length": in_words(length),
        "batch_checked": in_words(length + 1),
        "batch_alone": f"{alone.speedup.value:.2f}",
        "batch_together": f"{together.speedup.value:.2f}",
        "batch_writing": f"{together.full_speedup.value:.2f}",
        "batch_writing_interval": interval(together.full_speedup),
        "batch_shortest": in_words(shortest.draft_length),
        "batch_shortest_together": f"{shortest.speedup.value:.2f}",
        "batch_check_alone": f"{alone.verification.value:.2f}",
        "batch_check": f"{together.verification.value:.2f}",
        "batch_empty": percent(together.empty_places),
    }


def _of_stopping() -> Facts:
    found = stopping()
    fixed, unsure = found.speedups["fixed"], found.speedups["confidence"]
    return {
        "stop_prompts": str(found.prompts),
        "stop_fixed": f"{fixed.value:.2f}",
        "stop_unsure": f"{unsure.value:.2f}",
        "stop_unsure_interval": interval(unsure),
        "stop_gain": f"{found.gain.value:.2f}",
        "stop_gain_interval": interval(found.gain),
        "stop_fixed_wasted": percent(found.wasted["fixed"]),
        "stop_unsure_wasted": percent(found.wasted["confidence"]),
    }


def _of_sureness(trace: Trace) -> Facts:
    judged = [t for r in trace.rounds for t in r.drafted if t.status in ("accepted", "rejected")]
    sure = [t.status == "accepted" for t in judged if (t.draft_prob or 0.0) >= UNSURE_BELOW]
    unsure = [t.status == "accepted" for t in judged if (t.draft_prob or 0.0) < UNSURE_BELOW]
    counts = {"sure": len(sure), "sure_accepted": sum(sure), "unsure": len(unsure), "unsure_accepted": sum(unsure)}
    return {name: str(number) for name, number in counts.items()}


def _of_tree(trace: Trace) -> Facts:
    round = branch_round(trace)
    pair = siblings_of(round) if round else None
    if round is None or pair is None:
        return {}
    failed, taken = pair
    return {
        "branch_round": str(round.index + 1),
        "tree_nodes": in_words(len(round.drafted)),
        "tree_depths": in_words(round.depth),
        "branch_failed": failed.shown.strip(),
        "branch_taken": taken.shown.strip(),
    }


@cache
def method_facts() -> Facts:
    """Greedy, over all kinds of text: heads and a draft model at one draft length, a tree and a chain of its depth."""
    found: dict[str, AtSetting | None] = {
        **{name: chain_of(name, ALL) for name in NAMES},
        "chain": _at("wren-nano", TREE_DEPTH, None),
        "tree": _at("wren-nano tree", TREE_DEPTH, TREE),
        "equal": equal_chain(),
    }
    equal = found["equal"]
    stories = {name: chain_of(name, "story") for name in ("nano", "eagle")}
    measured = stored_methods()
    return {
        "methods_machine": measured.machine.machine if measured else UNKNOWN,
        "methods_prompts": in_words(measured.prompts) if measured else UNKNOWN,
        "methods_length": in_words(DRAFT_LENGTH),
        **{f"{name}_stories": _of(name, at)[f"{name}_per_call"] for name, at in stories.items()},
        "equal_length": in_words(equal.way.draft_length) if equal else UNKNOWN,
        **{name: text for key, at in found.items() for name, text in _of(key, at).items()},
    }


def equal_chain() -> AtSetting | None:
    """The chain of the tree's draft model whose check cost is nearest to the tree's; None where one is not known."""
    tree, chains = _at("wren-nano tree", TREE_DEPTH, TREE), _settings("wren-nano", ALL)
    goal = tree.costs.verify if tree else None
    near = [(abs(at.costs.verify - goal), at) for at in chains if goal is not None and at.costs.verify is not None]
    return min(near, key=lambda pair: pair[0], default=(0, None))[1]


def chain_of(name: str, kind: str) -> AtSetting | None:
    """A drafter of `NAMES` on one kind of text, greedy, at the draft length of the methods' runs."""
    return _at(NAMES[name], DRAFT_LENGTH, None, kind)


def _at(name: str, draft_length: int, tree: str | None, kind: str = ALL) -> AtSetting | None:
    settings = _settings(name, kind)
    return next((at for at in settings if (at.way.draft_length, at.way.tree) == (draft_length, tree)), None)


def _settings(name: str, kind: str) -> list[AtSetting]:
    measured = stored_methods()
    greedy = measured.greedy if measured else None
    method = greedy.find(name) if greedy else None
    return method.kinds[kind].settings if method and kind in method.kinds else []


def _of(key: str, at: AtSetting | None) -> Facts:
    costs = at.costs if at else None
    numbers = {
        "per_call": costs.tokens_per_target_call if costs else None,
        "step": costs.draft_step if costs else None,
        "draft": costs.draft if costs else None,
        "check": costs.verify if costs else None,
        "speedup": at.speedup if at else None,
    }
    return {f"{key}_{name}": UNKNOWN if value is None else f"{value:.2f}" for name, value in numbers.items()}


def interval(ratio: Ratio) -> str:
    return f"[{ratio.low:.2f} to {ratio.high:.2f}]"


def from_to(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
