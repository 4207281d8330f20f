"""What the texts say of the stored figures is true: their words are fixed, and the figures may be measured again."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from specviz.core.metrics import count
from specviz.core.settings import UNSURE_BELOW
from specviz.data.lessons.facts import facts_of, stopping
from specviz.data.lessons.questions import PEERS
from specviz.data.lessons.recorded_runs import story_figures, story_trace
from specviz.data.lessons.story import steps
from specviz.data.measured.batches import pass_shares, recorded_batches
from specviz.data.measured.measured_methods import ALL, KINDS, POSITIONS_AT, recorded_peers, stored_methods
from specviz.measure.proof.findings import looks
from specviz.measure.proof.rows import recorded_proof
from specviz.models.catalogue import CARDS_MACHINE, PAIRS, known_models
from tests.support.known import known

RESULTS = Path(__file__).parents[2] / "benchmarks/results"
Claims = Iterator[tuple[str, bool]]


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def of_other_systems() -> Claims:
    found = recorded_peers()
    same = found.agreement.values()
    yield "all wrote the same texts", all(each.same_text == each.prompts for each in same)
    yield "the same guesses were accepted", all(each.same_counts in (None, each.prompts) for each in same)
    every = {name: [kind[name] for kind in found.kinds.values()] for name in PEERS}
    pairs = [pair for one, other in permutations(PEERS, 2) for pair in zip(every[one], every[other], strict=True)]
    yield (
        "one gained more and was slower",
        any(a.gain > b.gain and a.speculative_ms > b.speculative_ms for a, b in pairs),
    )


def of_sweeps() -> Claims:
    found = story_figures()
    best, longest = max(found.draft_lengths, key=lambda row: row.speedup), found.draft_lengths[-1]
    yield "the longest draft is slower than the best", longest.speedup < best.speedup and longest.resolved_from(best)
    others = [row for row in found.draft_lengths if row is not best]
    yield "the prompts cannot say which of some is the best", any(not row.resolved_from(best) for row in others)
    small, *_, big = found.drafts
    yield "more of a big draft is accepted", big.acceptance > small.acceptance
    yield "the biggest is not the fastest", big.resolved_from(max(found.drafts, key=lambda row: row.speedup))
    greedy, *_, hottest = found.temperatures
    yield "a high temperature costs speed", hottest.speedup < greedy.speedup
    certain = not facts_of("sampled")["hot_note"]
    yield "and the answer says whether that is certain", certain == hottest.resolved_from(greedy)
    overlap = found.overlap
    yield "the lossless rule accepts most", overlap.product < overlap.most_likely < overlap.minimum


def of_batches() -> Claims:
    study = recorded_batches()
    length, shortest, most = study.draft_lengths[-1], study.draft_lengths[0], study.batches[-1]
    one, many, short = study.at(1, length), study.at(most, length), study.at(most, shortest)
    yield "the speedup falls in a batch, also while all texts write", many.full_speedup.high < one.speedup.low
    yield "checks cost more", many.verification.low > one.verification.high
    yield "texts that have ended leave empty places", many.empty_places > 0 == one.empty_places
    yield "a shorter draft loses less", short.full_speedup.low > many.full_speedup.high
    rates = [known(study.at(size, length).counts.acceptance_rate) for size in study.batches]
    yield "every text accepts as much as it does alone", max(rates) - min(rates) < 0.01


def of_passes() -> Claims:
    found = pass_shares()
    exact, fast = (found.find_pass(dtype, found.most) for dtype in ("float32", "bfloat16"))
    yield "a check is faster than five passes", max(one.ratio.high for one in (exact, fast)) < found.most
    yield "the pass over one is slower in bfloat16", found.find_pass("bfloat16", 1).to_float32.low > 1
    grows = exact.ms["program"].median / found.find_pass("float32", 1).ms["program"].median
    yield "much of a pass does not grow with its tokens", grows < 1.25 < exact.ratio.low


def of_stopping() -> Claims:
    found, rounds = stopping(), story_trace("round").rounds
    yield "the stop is faster than a fixed length", found.gain.low > 1
    about = found.wasted["confidence"] / found.wasted["fixed"]
    yield "with about as many wasted guesses and fewer passes", abs(about - 1) < 0.03 < found.passes_saved
    judged = [token for each in rounds for token in each.drafted if token.status in ("accepted", "rejected")]
    sure = [token.status == "accepted" for token in judged if known(token.draft_prob) >= UNSURE_BELOW]
    yield "being sure is a hint", sum(sure) / len(sure) > known(count(rounds).per_judgement_rate)


def of_runs() -> Claims:
    kinds = results("int8_draft")["kinds"].values()
    fewer = {kind["accepted_int8"] < kind["accepted_float32"] for kind in kinds}
    yield "a quantised draft goes both ways", fewer == {True, False}
    yield "and its step is cheaper", all(kind["draft_phase"] > 1 for kind in kinds)
    figures = story_figures()
    for name, tried in figures.tried_per_call.items():
        yield f"{name}: as many runs as it was chosen from", len(tried) == figures.tried[name]
        per_call = known(count(story_trace(name).rounds).tokens_per_target_call)
        yield f"{name}: one of them", round(per_call, 3) in tried
    step = next(step for step in steps() if step.name == "no-gain")
    shown = step.run.rounds[step.playhead(False) // 3]
    yield "a round without an accepted guess", bool(shown.drafted) and not shown.accepted


def of_methods() -> Claims:
    stored = known(stored_methods())
    chain, tree = (known(known(stored.greedy).find(name)).kinds[ALL] for name in ("wren-nano", "wren-nano tree"))
    checks = [next(at for at in its.settings if at.way.draft_length == 2).costs.verify for its in (chain, tree)]
    yield "the check of a tree costs more", known(checks[1]) > known(checks[0])
    yield "at its best it is no faster", tree.best.speedup < chain.best.speedup
    sampled = next(part for part in stored.temperatures if part.temperature)
    for name in ("wren-nano", "wren-eagle"):
        usual, block = (known(sampled.find(each)).kinds[ALL].best.costs for each in (name, f"{name} block"))
        yield "the block rule takes a little longer", known(block.overhead) > known(usual.overhead)


def of_lossy_rules() -> Claims:
    batches = {each.rule: each.batches for each in known(recorded_proof()).draws}
    for rule in ("block", "lenient", "typical", "ensemble"):
        told = looks(batches[rule])[-1].p_value < 0.001
        yield f"{rule} is told from the target, if it is lossy", told == (rule != "block")


def of_the_browser() -> Claims:
    engine, phone, ours = (results(name) for name in ("browser_engine", "browser_phone", "browser_onnxruntime"))
    passes = ours["chromium_156_relaxed_simd"]
    checks = [engine["v_of_5"]["median"]]
    checks.append(passes["ms_for_5_tokens"]["our_kernel"] / passes["ms_for_1_token"]["our_kernel"])
    yield "a check takes longer than one token", min(checks) > 1.5
    yield "and less than five passes: some work is done once for all tokens", max(checks) < 3
    whole = phone["whole_processor"]
    ours_alone = whole["tokens_a_second_speculative_at_length_4"], whole["tokens_a_second_plain_beside_length_4"]
    yield "a run is faster on one processor", ours_alone[0]["median"] / ours_alone[1]["median"] > 1.2
    slower = [kind for kind, each in engine["speedup_by_kind_of_text"].items() if each["speedup"] < 1]
    yield "and slower on another one", len(slower) > 3


def of_the_bundled_pairs() -> Claims:
    measured = known(stored_methods())
    found = [known(known(measured.greedy).find(f"wren-{name}")).kinds for name in ("nano", "mini", "small")]
    at = [{kind: known(its[kind].at(POSITIONS_AT)) for kind in KINDS} for its in found]
    rates = [{kind: sum(each.accepted) / sum(each.judged) for kind, each in its.items()} for its in at]
    yield "a larger draft is right more often", all(rates[0][kind] < rates[1][kind] < rates[2][kind] for kind in KINDS)
    nano, mini, small = (its[ALL].best for its in found)
    yield "wren-mini gains about as much as wren-nano", nano.low < mini.speedup < nano.high
    yield "wren-small gains no more", small.speedup < min(nano.speedup, mini.speedup)
    machine, named = measured.machine.machine, re.findall(r"[A-Z]\w+", CARDS_MACHINE)
    yield "the menu names the machine of the cards", all(word in machine for word in named)


def of_pairs_that_were_not_measured() -> Claims:
    sizes = {name: model.parameters for name, model in known_models().items()}
    for pair in PAIRS:
        name = f"{pair.draft} for {pair.target}"
        yield f"{name}: a lesson is measured or computed", pair.lesson == "open" or "not measured" not in pair.basis
        smaller = [each for each in PAIRS if each.target == pair.target and sizes[each.draft] < sizes[pair.draft]]
        yield f"{name}: only a bigger draft than another one is called so", pair.lesson != "no better" or bool(smaller)


CLAIMS = [of_other_systems, of_sweeps, of_batches, of_passes, of_stopping, of_runs, of_methods, of_lossy_rules,
          of_the_browser, of_the_bundled_pairs, of_pairs_that_were_not_measured]  # fmt: skip


@pytest.mark.parametrize("claims", CLAIMS, ids=lambda claims: claims.__name__)
def test_what_is_stored_supports_what_the_texts_claim(claims: Callable[[], Claims]) -> None:
    found = list(claims())
    assert found
    assert [said for said, holds in found if not holds] == []
