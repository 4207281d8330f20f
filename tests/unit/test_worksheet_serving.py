"""Production's counters with and without a measured speedup: costs, draft lengths, words. Hand-worked numbers."""

import re
from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED
from specviz.measure.worksheet import advice
from specviz.measure.worksheet.model import MOST_COST, MOST_OVERHEAD, MOST_VERIFICATION, WorksheetModel
from specviz.measure.worksheet.serving import (
    Production,
    draft_lengths,
    inferred_cost,
    outlook,
    production,
    production_start,
)
from specviz.measure.worksheet.starts import CostsOrigin, start_of_gpu
from specviz.systems import ServingCounters, read_counters
from tests.support.pasted_counters import ISSUE

MODEL = WorksheetModel(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05, operations_ratio=0.1)
CHEAP = WorksheetModel(
    alpha=0.8, draft_length=4, cost_ratio=0.05, verification=1.2, overhead=0.02
)  # v grows by 0.05 a token


def measured(speedup: float | None = 0.94, text: str = ISSUE, costs: WorksheetModel = MODEL) -> Production:
    return production(read_counters(text), costs, speedup)


def said(found: Production) -> str:
    return f"{advice.headline(found, CostsOrigin('the test'))} {advice.advice(found)}"


def recommended(found: Production) -> list[int]:
    return [each.draft_length for each in draft_lengths(found) if each.good]


OPT = CostsOrigin("published GPU costs: OPT", "told")


def test_counters_alone_are_not_judged_and_chosen_costs_give_a_modelled_speedup() -> None:
    helped = production(ServingCounters("vLLM", 3.7, draft_length=4), MODEL, None)
    headline = advice.headline(helped, CostsOrigin("the recorded run"))
    assert headline.startswith(f"**{advice.untold()}** 3.70 tokens per target call were counted")
    assert "pays where a round takes less than 3.70 plain steps" in headline
    assert "2.00×" not in headline  # at the costs of this program's own small model
    headline = advice.headline(helped, OPT)
    assert headline.startswith(f"**{advice.untold()}** 3.70 tokens")
    assert f"At the chosen costs ({OPT.name}) a round takes 1.85 target steps: **Helps, 2.00×, modelled**." in headline
    poor = production(ServingCounters("vLLM", 1.1, draft_length=4), MODEL, None)
    assert "**Hurts, 0.59×, modelled**" in advice.headline(poor, OPT)


COUNTED = ISSUE.replace(" 780", " 800").replace(" 270", " 250")  # 800, 450, 250, 140 and 80 of 1,000


def test_counters_alone_have_a_range_over_the_published_machines() -> None:
    found = measured(None, COUNTED)
    ahead = outlook(found)
    pairs = {(each.pair, each.machine) for each in [*GPU_COSTS, *PUBLISHED]}
    assert len(ahead.places) == len(pairs)
    slowest, fastest = ahead.places[0], ahead.places[-1]
    dearest = max(each.cost_ratio for each in GPU_COSTS)
    cheapest = min(each.cost_ratio for each in PUBLISHED)
    assert slowest.speed == pytest.approx(2.72 / (1 + 5 * dearest))
    assert fastest.speed == pytest.approx(2.72 / (1 + 5 * cheapest))
    headline = advice.headline(found, CostsOrigin("the recorded run"))
    assert f"{slowest.speed:.2f}× ({slowest.name}) to {fastest.speed:.2f}× ({fastest.name}), modelled" in headline
    assert ahead.speeds == f"{slowest.speed:.2f}× to {fastest.speed:.2f}×"  # the page's figure has the same source


def test_counters_alone_get_a_range_of_draft_lengths() -> None:
    found = measured(None, COUNTED)
    assert f"it is γ = {outlook(found).lengths}." in advice.advice(found)


def test_pasted_positions_choose_the_best_length_up_to_the_counted_one() -> None:
    costs = start_of_gpu(GPU_COSTS[0]).model
    found = measured(None, COUNTED, costs)
    cost_ratio = GPU_COSTS[0].cost_ratio
    assert (found.model.best, found.model.longest) == (4, 5)
    assert found.model.best_speedup == pytest.approx(2.64 / (1 + 4 * cost_ratio))  # 1 + .8 + .45 + .25 + .14 tokens
    alike = replace(found.model, survival=())
    assert alike.at(4).tokens != pytest.approx(2.64)
    assert found.model.terms.speedup == pytest.approx(found.speed)


def test_a_measured_speedup_gives_the_cost_of_a_round_and_a_cheap_round_keeps_its_length() -> None:
    found = measured()
    assert found.tokens == pytest.approx(2.72)
    assert found.round_cost == pytest.approx(2.72 / 0.94)
    assert advice.headline(found, CostsOrigin("x")).startswith(
        "**Looks like it hurts, 0.94×, measured.** 2.72 tokens per target call were counted, and a speedup of 0.94: "
        "**2.89 target steps a round**"
    )
    found = measured(2.5)
    assert recommended(found)[-1] == 5
    text = said(found)
    assert "Looks like it helps, 2.50×" in text
    assert "Keep draft length **5**." in text


def test_two_or_three_drafted_tokens_instead_of_five() -> None:
    found = measured()
    lengths = draft_lengths(found)
    assert recommended(found) == [2, 3]
    extra = 2.72 / 0.94 - 1
    assert lengths[1].fastest == pytest.approx(2.23 / (1 + extra * 2 / 5))  # all of it grows with the draft
    assert lengths[1].slowest == pytest.approx(2.23 / (1 + extra * (0.5 + 0.5 * 2 / 5)))
    text = said(found)
    assert "Try draft length **2 or 3** instead of 5." in text


@pytest.mark.parametrize("speedup", [0.05, 0.5, 0.94, 0.999, 1.0, 1.02, 1.7, 2.7])
@pytest.mark.parametrize("counts", [[780, 450, 270, 140, 80], [900] * 5, [10, 0, 0, 0, 0], [500, 1, 1, 1, 1]])
def test_every_measured_speedup_is_explained_in_whole_sentences(speedup: float, counts: list[int]) -> None:
    survival = tuple(count / 1000 for count in counts)
    tokens = 1 + sum(survival)
    if tokens / speedup < 1:
        return
    found = production(ServingCounters("vLLM", tokens, 5.0, survival), MODEL, speedup)
    lengths = draft_lengths(found)
    assert recommended(found)
    at_five = lengths[-1]  # the measured length has the measured speed, whatever grows
    assert (at_five.slowest, at_five.fastest) == (pytest.approx(speedup), pytest.approx(speedup))
    text = advice.advice(found)
    assert not re.search(r"(\d\.\d\d×?) to \1(?!\d)", text)  # "1.44 to 1.44"
    assert text.endswith(".")
    assert not any(wrong in text for wrong in ("nan", "inf ", "  ", "None", ".."))


def test_calls_without_a_draft_cost_one_step_and_impossible_speedups_are_refused() -> None:
    # half of the calls: (2.72 + 1) / 2 = 1.86 tokens a call; at 1.2× a call takes 1.55 steps, so a round 2.1
    assert inferred_cost(2.72, 1.2, 0.5) == pytest.approx(2.1)
    found = measured(None, ISSUE + "\nvllm:generation_tokens_total 3720")
    assert found.share == pytest.approx(0.5)
    assert found.speed == pytest.approx((2.72 + 1) / (found.round_cost + 1))
    assert "About 50 % of the passes checked a draft" in advice.headline(found, CostsOrigin("x"))
    assert outlook(found).places[-1].speed < outlook(measured(None)).places[-1].speed
    with pytest.raises(InputError, match="faster than one plain step"):
        measured(4.0)
    for impossible in (0.0, 1e9, float("nan")):
        with pytest.raises(InputError, match="above 0 and below 100"):
            measured(impossible)


@pytest.mark.parametrize(
    "costs", [MODEL, CHEAP, WorksheetModel(0.5, 4, 0.0, 1.0, 0.0), WorksheetModel(0.5, 4, 1.5, 8.0, 2.0, batch=64)]
)
@pytest.mark.parametrize("speedup", [None, 0.94, 1.5])
def test_the_map_shows_the_same_speedup(costs: WorksheetModel, speedup: float | None) -> None:
    found = measured(speedup, costs=costs)
    start = production_start(found, CostsOrigin("the test"))
    assert start.model.terms.speedup == pytest.approx(found.speed, rel=0.001)
    assert start.model.terms.tokens == pytest.approx(found.tokens, abs=0.001)
    assert (start.drafted, start.accepted) == (5000, 1720)
    assert 0 <= start.model.cost_ratio <= MOST_COST
    assert 1 <= start.model.verification <= MOST_VERIFICATION
    assert 0 <= start.model.overhead <= MOST_OVERHEAD
    if speedup:
        assert start.model.batch == 1
        assert start.model.best in recommended(found)  # the page's "Best γ" is no other one


def test_counts_of_drafts_that_vary_and_gpu_costs_say_what_they_are() -> None:
    found = production(ServingCounters("llama.cpp", 1.485, 2.59, drafted=347, accepted=65), MODEL, None)
    start = production_start(found, CostsOrigin("the test"))
    assert (start.drafted, start.accepted) == (3000, 485)
    assert "per 1,000 rounds" in start.source
    assert all(each.url.startswith("https://") for each in [*GPU_COSTS, *GPU_ROUNDS])
    starts = [start_of_gpu(costs) for costs in GPU_COSTS]
    assert len({start.label for start in starts}) == len(starts)
    assert all("assumed" in start.source and "Published: " in start.source for start in starts)
    assert starts[0].model.cost_ratio == pytest.approx(0.062, abs=0.001)
    assert starts[-1].verification_at(4) == pytest.approx(1.28, abs=0.01)  # 5 × 34.67 / 135.18
    assert GPU_ROUNDS[0].cost == pytest.approx(1.5, abs=0.01)
