"""Production's counters with and without a measured speedup: costs, draft lengths, words. Hand-worked numbers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED
from specviz.measure.worksheet import serving
from specviz.measure.worksheet.model import MOST_COST, MOST_OVERHEAD, MOST_VERIFICATION, WorksheetModel
from specviz.measure.worksheet.serving import (
    Production,
    draft_lengths,
    outlook,
    production,
    production_start,
)
from specviz.measure.worksheet.starts import CostsOrigin, start_of_gpu
from specviz.systems import ServingCounters, read_counters
from tests.support.pasted_counters import ISSUE
from tests.support.records import report

MODEL = WorksheetModel(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05, operations_ratio=0.1)
CHEAP = WorksheetModel(0.8, 4, 0.05, 1.2, 0.02)  # v grows by 0.05 a token
RECORDED, OPT = CostsOrigin("the recorded run"), CostsOrigin("published GPU costs: OPT", "told")
COUNTED = ISSUE.replace(" 780", " 800").replace(" 270", " 250")  # 800, 450, 250, 140 and 80 of 1,000
BLOCK = f"speculative_algorithm='DFLASH'\n{report('08/input.txt').read_text('utf-8')}"
TOTALS = "trtllm_spec_decode_num_draft_tokens_total 1000\ntrtllm_spec_decode_num_accepted_tokens_total {}\n"


def pasted(text: str = ISSUE, speedup: float | None = None, costs: WorksheetModel = MODEL) -> Production:
    return production(read_counters(text), costs, speedup)


def counted(tokens: float, length: float = 4.0, speedup: float | None = None, **more: float) -> Production:
    totals = {"drafted": length * 1000, "accepted": (tokens - 1) * 1000}
    counters = ServingCounters("vLLM", tokens, length, **(totals | more))  # type: ignore[arg-type]
    return production(counters, MODEL, speedup)


def said(found: Production, costs: CostsOrigin = RECORDED) -> str:
    return f"{serving.headline(found, costs)}\n{serving.advice(found)}"


def recommended(found: Production) -> list[int]:
    return [each.draft_length for each in draft_lengths(found) if each.good]


FOUND = {
    "alone": (counted(3.7), RECORDED),
    "at chosen costs it helps": (counted(3.7), OPT),
    "at chosen costs it hurts": (counted(1.1), OPT),
    "positions": (pasted(COUNTED), RECORDED),
    "positions at a GPU's costs": (pasted(COUNTED, costs=start_of_gpu(GPU_COSTS[0]).model), OPT),
    "measured, it hurts": (pasted(speedup=0.94), RECORDED),
    "measured, it helps": (pasted(speedup=2.5), RECORDED),
    "half of the calls draft": (pasted(f"{ISSUE}\nvllm:generation_tokens_total 3720"), OPT),
    "half of the calls draft, measured": (pasted(f"{ISSUE}\nvllm:generation_tokens_total 3720", 1.2), RECORDED),
    "lengths that vary": (counted(1.485, 2.59, drafted=347, accepted=65), OPT),
    "running": (counted(3.7, running=9), RECORDED),
    "one of 633": (pasted(report("18/input.txt").read_text("utf-8")), RECORDED),
    "a tree": (pasted(report("32/input.txt").read_text("utf-8")), OPT),
    "a collapse": (pasted(report("39/collapse.txt").read_text("utf-8")), RECORDED),
    "few calls draft": (counted(2.4, drafting_share=0.02), RECORDED),  # 0.02 · 2.4 + 0.98
    "a block": (pasted(BLOCK), OPT),
    "a block, measured": (pasted(BLOCK, 0.9), RECORDED),
    "the slider's length": (pasted(TOTALS.format(830)), OPT),
    "the slider's length, measured": (pasted(TOTALS.format(830), 1.1), RECORDED),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_counters_say_and_what_the_page_starts_from(name: str, snapshot: SnapshotAssertion) -> None:
    found, costs = FOUND[name]
    start, ahead = production_start(found, costs), outlook(found)
    model = start.model
    figures = {
        "speed": found.speed, "ceiling": found.ceiling, "round": found.round_cost, "α": model.alpha,
        "c": model.cost_ratio, "v": model.verification, "overhead": model.overhead,
    }  # fmt: skip
    lengths = [f"{each.draft_length}: {each.slowest:.3f} to {each.fastest:.3f}" for each in draft_lengths(found)]
    lines = [
        said(found, costs),
        f"{start.label}, {start.drafted}, {start.accepted}, batch {model.batch}: {start.source}",
        ", ".join(f"{name} {value:.4f}" for name, value in figures.items()),
        f"{ahead.speeds}, {ahead.lengths}: {ahead.places[0].name}, {ahead.places[-1].name}",
        f"{'; '.join(lengths)}; good: {recommended(found)}",
    ]
    assert "\n".join(lines) == snapshot


def test_costs_worked_by_hand() -> None:
    found = pasted(speedup=0.94)
    assert (found.tokens, found.round_cost) == (pytest.approx(2.72), pytest.approx(2.72 / 0.94))
    two, extra = draft_lengths(found)[1], 2.72 / 0.94 - 1
    assert two.fastest == pytest.approx(2.23 / (1 + extra * 2 / 5))  # all of it grows with the draft
    assert two.slowest == pytest.approx(2.23 / (1 + extra * (0.5 + 0.5 * 2 / 5)))
    assert recommended(found) == [2, 3]
    # half of the calls: (2.72 + 1) / 2 = 1.86 tokens a call; at 1.2× a call takes 1.55 steps, so a round 2.1
    half = FOUND["half of the calls draft"][0]
    assert FOUND["half of the calls draft, measured"][0].round_cost == pytest.approx(2.1)
    assert (half.share, half.speed) == (pytest.approx(0.5), pytest.approx((2.72 + 1) / (half.round_cost + 1)))
    assert outlook(half).places[-1].speed < outlook(pasted()).places[-1].speed
    places = outlook(FOUND["positions"][0]).places
    assert len(places) == len({(each.pair, each.machine) for each in [*GPU_COSTS, *PUBLISHED]})
    ends = [max(each.cost_ratio for each in GPU_COSTS), min(each.cost_ratio for each in PUBLISHED)]
    assert [places[0].speed, places[-1].speed] == pytest.approx([2.72 / (1 + 5 * cost) for cost in ends])


def test_pasted_positions_choose_the_best_length_up_to_the_counted_one() -> None:
    found = FOUND["positions at a GPU's costs"][0]
    assert (found.model.best, found.model.longest) == (4, 5)
    assert found.model.best_speedup == pytest.approx(
        2.64 / (1 + 4 * GPU_COSTS[0].cost_ratio)
    )  # 1 + .8 + .45 + .25 + .14
    assert replace(found.model, survival=()).at(4).tokens != pytest.approx(2.64)
    assert found.model.terms.speedup == pytest.approx(found.speed)


def test_a_block_drafter_is_priced_at_one_step_a_block() -> None:
    model = FOUND["a block"][0].model
    assert model.terms.steps == pytest.approx(0.1 + model.verification + 0.05)  # c once, not 15 times
    assert model.at(5).steps == pytest.approx(0.1 + model.steps(6) + 0.05)
    assert replace(model, block=False).terms.steps == pytest.approx(model.terms.steps + 14 * 0.1)
    assert outlook(FOUND["a block"][0]).places[-1].speed == pytest.approx(2.37 / 1.02)
    assert FOUND["a block, measured"][0].model.terms.steps == pytest.approx(2.37 / 0.9)


@pytest.mark.parametrize("speedup", [0.05, 0.94, 0.999, 1.0, 1.02, 2.7])
@pytest.mark.parametrize("counts", [[780, 450, 270, 140, 80], [900] * 5, [10, 0, 0, 0, 0], [500, 1, 1, 1, 1]])
def test_every_measured_speedup_is_explained_in_whole_sentences(speedup: float, counts: list[int]) -> None:
    survival = tuple(count / 1000 for count in counts)
    tokens = 1 + sum(survival)
    if tokens / speedup < 1:
        return
    found = production(ServingCounters("vLLM", tokens, 5.0, survival), MODEL, speedup)
    assert recommended(found)
    at_five = draft_lengths(found)[-1]  # the measured length has the measured speed, whatever grows
    assert (at_five.slowest, at_five.fastest) == (pytest.approx(speedup), pytest.approx(speedup))
    text = serving.advice(found)
    assert not re.search(r"(\d\.\d\d×?) to \1(?!\d)", text)  # "1.44 to 1.44"
    assert not re.search(r"nan|inf |  |None|\.\.|[^.]$", text)


def test_impossible_speedups_are_refused() -> None:
    with pytest.raises(InputError, match="faster than one plain step"):
        pasted(speedup=4.0)
    for impossible in (0.0, 1e9, float("nan")):
        with pytest.raises(InputError, match="above 0 and below 100"):
            pasted(speedup=impossible)


@pytest.mark.parametrize(
    "costs", [MODEL, CHEAP, WorksheetModel(0.5, 4, 0.0, 1.0, 0.0), WorksheetModel(0.5, 4, 1.5, 8.0, 2.0, batch=64)]
)
@pytest.mark.parametrize("speedup", [None, 0.94, 1.5])
def test_the_map_shows_the_same_speedup(costs: WorksheetModel, speedup: float | None) -> None:
    found = pasted(speedup=speedup, costs=costs)
    start = production_start(found, CostsOrigin("the test"))
    assert start.model.terms.speedup == pytest.approx(found.speed, rel=0.001)
    assert start.model.terms.tokens == pytest.approx(found.tokens, abs=0.001)
    assert 0 <= start.model.cost_ratio <= MOST_COST
    assert 1 <= start.model.verification <= MOST_VERIFICATION
    assert 0 <= start.model.overhead <= MOST_OVERHEAD
    if speedup:
        assert start.model.batch == 1
        assert start.model.best in recommended(found)  # the page's "Best γ" is no other one


def test_gpu_costs_say_what_they_are() -> None:
    assert all(each.url.startswith("https://") for each in [*GPU_COSTS, *GPU_ROUNDS])
    starts = [start_of_gpu(costs) for costs in GPU_COSTS]
    assert len({start.label for start in starts}) == len(starts)
    assert all("assumed" in start.source and "Published: " in start.source for start in starts)
    assert starts[0].model.cost_ratio == pytest.approx(0.062, abs=0.001)
    assert starts[-1].verification_at(4) == pytest.approx(1.28, abs=0.01)  # 5 × 34.67 / 135.18
    assert GPU_ROUNDS[0].cost == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize("tokens", [1.0, 1.004, 1.02, 1.05, 1.06, 1.07])
@pytest.mark.parametrize("length", [1.0, 3.0, 15.0])
def test_hardly_any_accepted_guess_never_pays_and_the_verdict_gives_its_bound(tokens: float, length: float) -> None:
    found = counted(tokens, length)
    assert found.never_pays
    assert found.ceiling == pytest.approx(tokens)
    assert f"{tokens:.2f}×" in said(found)
    assert Path("docs/checklists.md").is_file()  # it is named


@pytest.mark.parametrize("length", [1, 4, 16])
def test_what_comes_from_the_slider_is_never_called_counted(length: int) -> None:
    costs = replace(MODEL, draft_length=length)
    for found in (pasted(TOTALS.format(830), speedup, costs) for speedup in (None, 1.1)):
        assert found.counters.calls_assumed
        assert not re.search(r"tokens per target call were counted|\(counted\)", said(found))
        assert f"γ = {length}, which is from the slider" in said(found)
    assert pasted(TOTALS.format(2), costs=costs).never_pays  # 1 + 16 · 0.002 at the longest
    assert not pasted(TOTALS.format(20), costs=replace(MODEL, draft_length=1)).never_pays  # 1.02 at γ = 1, 1.32 at 16
