"""The worksheet: model, gap, published machines, starts, exercises; production's counters. Hand-worked numbers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import terms_of
from specviz.core.theory import expected_tokens
from specviz.data.measured.batches import recorded_batches
from specviz.data.measured.quiet_costs import quiet_costs
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED
from specviz.measure.sweep.rows import frame_of
from specviz.measure.sweep.study import studies_of
from specviz.measure.worksheet import model as words
from specviz.measure.worksheet import runs, serving
from specviz.measure.worksheet.exercises import exercises, sheet
from specviz.measure.worksheet.model import WorksheetModel
from specviz.measure.worksheet.runs import gap_of
from specviz.measure.worksheet.serving import Production, draft_lengths
from specviz.measure.worksheet.starts import CostsOrigin, start_of_gpu, start_of_paper, start_of_run, starts
from specviz.systems import Counts, read_counters
from specviz.ui.race.race_page import recorded_race
from specviz.ui.worksheet.controls import WorksheetLink, start_from_link
from tests.support.fake_rows import row_at
from tests.support.fake_traces import cut, fake_trace
from tests.support.html import Html
from tests.support.known import known
from tests.support.pasted_counters import ISSUE
from tests.support.records import report
from tests.support.strategies import refusal

MODEL = WorksheetModel(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05, operations_ratio=0.1)
PASSES = words.measured_passes(recorded_batches())
MODELS = {
    "one text": MODEL,
    "a batch of 4": replace(MODEL, batch=4),
    "a batch of measured passes": WorksheetModel(0.8, 4, 0.1, 1.4, 0.05, batch=16, passes=PASSES),
    "a batch whose checks are free": WorksheetModel(0.8, 4, 0.1, 1.0, 0.0, batch=64),
    "it never pays": replace(MODEL, cost_ratio=1.5),
    "it always pays": WorksheetModel(0.0, 4, 0.0, 1.0, 0.0),
    "a block": replace(MODEL, block=True),
    "counted positions": replace(MODEL, survival=(0.7, 0.5, 0.25, 0.1)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_words_and_its_terms(name: str, snapshot: SnapshotAssertion) -> None:
    model = MODELS[name]
    shape = words.batch_shape(model) if model.batch > 1 else ""
    said = [words.verdict_sentence(model), words.batch_sentence(model), shape]
    said.append(f"{model.best}: {model.best_speedup:.4f}")
    usual = words.symbols(MODEL).split("\n") if model is not MODEL else ()
    rows = (row for row in words.symbols(model).split("\n") if row not in usual)
    assert "\n".join(filter(None, [*said, *rows])) == snapshot
    assert model.best_speedup >= model.terms.speedup


def test_the_longest_draft_is_best_where_all_is_accepted_and_counts_are_said(
    snapshot: SnapshotAssertion,
) -> None:
    """Formulas: `test_theory.py`."""
    assert MODEL.best_speedup == MODEL.speedup_at(0.8, MODEL.best)
    always = WorksheetModel(alpha=1.0, draft_length=4, cost_ratio=0.01, verification=1.0, overhead=0.0)
    assert [always.best, replace(always, survival=(1.0, 1.0, 1.0)).best] == [MAX_DRAFT_LENGTH, 3]
    counts = [(0, 0, 4), (3, 4, 4), (75, 44, 4), (75, 0, 4), (75, 75, 1)]
    said = [*(words.counts_sentence(*each) for each in counts), words.batch_sentence(MODEL, measured=True)]
    assert "\n".join(said) == snapshot


@pytest.mark.parametrize("acceptance", [0.3, 0.55, 0.7, 0.81, 0.95])
@pytest.mark.parametrize("length", [1, 3, 4, 9, 16])
def test_what_is_written_down_divides_to_the_speedup_that_is_said(acceptance: float, length: int) -> None:
    """Found: 2.77 / 2.02 = 1.38."""
    for cost in (0.131, 0.2, 0.377, 0.81):
        said = words.verdict_sentence(WorksheetModel(acceptance, length, cost, 1.21, 0.017))
        above, below, speedup = known(re.search(r"([\d.]+) / ([\d.]+) = ([\d.]+)\.", said)).groups()
        assert f"{float(above) / float(below):.2f}" == speedup


def test_measured_passes_are_followed_and_continued() -> None:
    measured = [(each.batch, check) for each in recorded_batches().passes for check in each.checks]
    for batch, check in measured:
        assert PASSES.steps(batch, check.tokens) == pytest.approx(check.steps.value)
    model = MODELS["a batch of measured passes"]
    assert replace(model, batch=1).steps(5) == pytest.approx(1.4)  # one text: as the slider says
    steps = [replace(model, batch=batch).steps(5) for batch in (16, 32, 64, 128, 256)]
    assert steps == sorted(steps)
    assert steps[-1] < 5 * 1.4 / PASSES.steps(1, 5)  # never dearer than one by one
    without = [replace(MODEL, batch=batch).steps(5) for batch in (1, 4, 100_000)]
    assert without == pytest.approx([1.4, (1 + 0.1 * 19) / (1 + 0.1 * 3), 5], rel=1e-3)


def test_the_gap_adds_up_and_each_cause_has_its_sign() -> None:
    trace = fake_trace(draft_length=4)
    gap, terms = known(gap_of(trace)), known(terms_of(trace))
    parts = gap.ideal + gap.clustering + gap.verification + gap.overhead + gap.rest
    assert parts == pytest.approx(metrics.speedup(trace))
    assert gap.ideal == pytest.approx(expected_tokens(terms.alpha, 4) / (4 * terms.cost_ratio + 1))
    assert max(gap.verification, gap.overhead) < 0  # made with v(5) above 1
    assert f"{gap.measured:.2f}×" in gap.sentence
    assert known(gap_of(fake_trace(draft_length=1))).clustering == pytest.approx(0), "one position has one rate"
    assert gap_of(fake_trace(plain=False)) is gap_of(cut(fake_trace(), 0)) is None
    long = fake_trace(draft_length=12, tokens=16, seed=1)
    judged = [position.rate for position in metrics.count_by_position(long.rounds, 12) if position.judged]
    assert len(judged) < 12
    assert runs.position_rates(long, 12) == judged


def test_runs_laps_and_rows_are_points() -> None:
    older, newer = fake_trace(draft_length=2), fake_trace(draft_length=5)
    found = runs.collect_runs([older, newer, fake_trace(plain=False)], recorded=False)
    assert [each.terms for each in found] == [terms_of(newer), terms_of(older)]
    assert (found[1].measured, found[0].source) == (metrics.speedup(older), "Watch, yours")
    laps = recorded_race()
    found = runs.collect_laps(laps, recorded=True)
    assert [each.measured for each in found] == [lap.verdict.speedup for lap in laps if gap_of(lap.both)]
    assert (known(found[0].gap).measured, found[0].source) == (laps[0].verdict.speedup, "Race, recorded")
    rows = frame_of([row_at("story", 4, 2.0, 0.8), row_at("story", 4, 0.5, 0.6, number=2), row_at("copy", 4, 1.5, 0.9)])
    [study] = studies_of(rows)
    story, copy = runs.collect_rows([study], recorded=False)
    costs, terms = known(study.costs), story.terms
    assert (story.measured, terms.alpha) == pytest.approx((1.0, 0.7))  # twice and half as fast
    times = (terms.cost_ratio, terms.verification, terms.overhead)
    assert times == (costs.cost_ratio, costs.verification[5], costs.overhead)
    assert copy.gap is None
    assert studies_of(frame_of([])) == []


def test_published_figures_give_what_their_papers_expect_and_say_what_they_are() -> None:
    # Leviathan et al. 2023, appendix table 4, their own "expected" column
    modelled = [run.modelled_speedup for run in PUBLISHED if run.alpha is not None]
    assert modelled == pytest.approx([3.2, 3.3, 2.5, 2.3, 2.4, 1.9], abs=0.051)
    for run in PUBLISHED:
        start = start_of_paper(run)
        if run.alpha is None:
            assert start.model.terms.speedup == pytest.approx(run.speedup)
            assert "α is computed from the published speedup" in start.source
        assert run.source[:8] in start.source
        assert run.url.startswith("https://arxiv.org/abs/")
    assert all(each.url.startswith("https://") for each in [*GPU_COSTS, *GPU_ROUNDS])
    found = [start_of_gpu(costs) for costs in GPU_COSTS]
    assert all("assumed" in start.source and "Published: " in start.source for start in found)
    assert found[0].model.cost_ratio == pytest.approx(0.062, abs=0.001)
    assert found[-1].verification_at(4) == pytest.approx(1.28, abs=0.01)  # 5 × 34.67 / 135.18
    assert GPU_ROUNDS[0].cost == pytest.approx(1.5, abs=0.01)
    every = [start.label for start in starts([], fake_trace(), {})]
    assert len(set(every)) == len(every) == 1 + len(GPU_COSTS) + len(PUBLISHED)


def test_a_run_on_a_busy_machine_starts_with_costs_of_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: Watch did not trust the times of a run, and the Worksheet opened with them, and called them a gain."""
    trace = fake_trace(draft_length=4)
    own = known(start_of_run(trace, "a run", "live"))
    monkeypatch.setattr("specviz.measure.worksheet.starts.is_trusted", lambda _: False)
    quiet = known(quiet_costs().find_for_run(trace)).drafts["wren-nano"]
    [start, *_] = starts([trace], trace, {})
    assert (start.model.cost_ratio, start.model.overhead) == (quiet.cost_ratio, quiet.overhead)
    assert start.model.alpha == own.model.alpha
    assert "on a busy machine. By the costs of a quiet" in start.source
    monkeypatch.setattr("specviz.measure.worksheet.starts.known_costs", lambda *_: None)
    [unknown, *_] = starts([trace], trace, {})
    assert unknown.model == replace(own.model, operations_ratio=unknown.model.operations_ratio)
    assert unknown.source.endswith("The machine was busy: the costs may be wrong.")


SHEETS = {
    "a chain of 4": fake_trace(draft_length=4),
    "a greedy chain of 4": fake_trace(draft_length=4, greedy=True),
    "one guess": fake_trace(draft_length=1),
    "a long draft": fake_trace(draft_length=16),
    "no run of the target alone": fake_trace(plain=False),
    "no round": cut(fake_trace(), 0),
}


@pytest.mark.parametrize("name", SHEETS)
def test_the_exercises_and_their_key_are_computed_from_the_run(name: str, snapshot: SnapshotAssertion) -> None:
    found = exercises(SHEETS[name])
    assert "\n".join(f"{each.question}\n= {each.answer}" for each in found) == snapshot
    without_key, key = (Html(sheet(SHEETS[name], "a run", "here", key=key)).text for key in (False, True))
    assert all(each.answer in key and each.answer not in without_key for each in found)


def test_text_from_models_is_text() -> None:
    hostile = [fake_trace(hostile=True, sharpness=0.5, seed=seed) for seed in range(8)]
    pages = [Html(sheet(trace, "<i>t</i>", "<u>s</u>", key=True)) for trace in hostile]
    tags = {"html", "meta", "title", "style", "h1", "p", "q", "ul", "ol", "li", "b", "bdi"}
    assert all(page.tags == tags and "<i>t</i>" in page.text for page in pages)
    assert any("<script>alert(1)</script>" in page.text for page in pages)


def test_counts_of_a_link_without_their_length_are_at_the_links_own() -> None:
    """As in older links."""
    kept = WorksheetLink(gamma=4, drafted=40, accepted=28, counted_at=4)
    for link, length in (({"gamma": ["6"], "drafted": ["50"], "accepted": ["20"]}, 0), ({"gamma": ["6"]}, 4)):
        start, problems = start_from_link(link, kept)
        assert (known(start).counted_at, problems) == (length, [])


# ---- production's counters, with and without a measured speedup

CHEAP = WorksheetModel(0.8, 4, 0.05, 1.2, 0.02)  # v grows by 0.05 a token
RECORDED, OPT = CostsOrigin("the recorded run"), CostsOrigin("published GPU costs: OPT", are_told=True)
COUNTED = ISSUE.replace(" 780", " 800").replace(" 270", " 250")  # 800, 450, 250, 140 and 80 of 1,000
HALF = f"{ISSUE}\nvllm:generation_tokens_total 3720"
BLOCK = f"speculative_algorithm='DFLASH'\n{report('08/input.txt').read_text('utf-8')}"
TOTALS = "trtllm_spec_decode_num_draft_tokens_total 1000\ntrtllm_spec_decode_num_accepted_tokens_total {}\n"


def pasted(text: str = ISSUE, speedup: float | None = None, costs: WorksheetModel = MODEL) -> Production:
    return serving.production(read_counters(text), costs, speedup)


def counted(tokens: float, length: float = 4.0, speedup: float | None = None, **more: float) -> Production:
    totals = {"drafted": length * 1000, "accepted": (tokens - 1) * 1000}
    return serving.production(Counts("vLLM", tokens, length, **(totals | more)), MODEL, speedup)


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
    "half of the calls draft": (pasted(HALF), OPT),
    "half of the calls draft, measured": (pasted(HALF, 1.2), RECORDED),
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
    start, places = serving.production_start(found, costs), found.elsewhere
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
        f"{found.speeds}, {found.lengths}: {places[0].name}, {places[-1].name}",
        f"{'; '.join(lengths)}; good: {recommended(found)}",
    ]
    assert "\n".join(lines) == snapshot


def test_costs_worked_by_hand() -> None:
    found, extra = FOUND["measured, it hurts"][0], 2.72 / 0.94 - 1
    two = draft_lengths(found)[1]
    assert two.fastest == pytest.approx(2.23 / (1 + extra * 2 / 5))  # all of it grows with the draft
    assert two.slowest == pytest.approx(2.23 / (1 + extra * (0.5 + 0.5 * 2 / 5)))
    assert (found.round_cost, recommended(found)) == (pytest.approx(2.72 / 0.94), [2, 3])
    # half of the calls: (2.72 + 1) / 2 = 1.86 tokens a call; at 1.2× a call takes 1.55 steps, so a round 2.1
    half = FOUND["half of the calls draft"][0]
    assert FOUND["half of the calls draft, measured"][0].round_cost == pytest.approx(2.1)
    assert (half.share, half.speed) == (pytest.approx(0.5), pytest.approx((2.72 + 1) / (half.round_cost + 1)))
    places = FOUND["positions"][0].elsewhere
    assert len(places) == len({(each.pair, each.machine) for each in [*GPU_COSTS, *PUBLISHED]})
    ends = [max(each.cost_ratio for each in GPU_COSTS), min(each.cost_ratio for each in PUBLISHED)]
    assert [places[0].speed, places[-1].speed] == pytest.approx([2.72 / (1 + 5 * cost) for cost in ends])
    # the best length up to the counted one: 1 + .8 + .45 + .25 + .14
    best = FOUND["positions at a GPU's costs"][0].model
    assert (best.best, best.longest) == (4, 5)
    assert best.best_speedup == pytest.approx(2.64 / (1 + 4 * GPU_COSTS[0].cost_ratio))
    # a block takes one draft step, however long it is
    block = FOUND["a block"][0].model
    assert block.terms.steps == pytest.approx(0.1 + block.verification + 0.05)
    assert block.at(5).steps == pytest.approx(0.1 + block.steps(6) + 0.05)
    assert FOUND["a block"][0].elsewhere[-1].speed == pytest.approx(2.37 / 1.02)
    assert FOUND["a block, measured"][0].model.terms.steps == pytest.approx(2.37 / 0.9)


@pytest.mark.parametrize("speedup", [0.05, 0.94, 0.999, 1.0, 1.02, 2.7])
@pytest.mark.parametrize("counts", [[780, 450, 270, 140, 80], [900] * 5, [10, 0, 0, 0, 0], [500, 1, 1, 1, 1]])
def test_every_measured_speedup_is_explained_in_whole_sentences(speedup: float, counts: list[int]) -> None:
    survival = tuple(count / 1000 for count in counts)
    tokens = 1 + sum(survival)
    if tokens / speedup < 1:
        return
    found = serving.production(Counts("vLLM", tokens, 5.0, survival), MODEL, speedup)
    assert recommended(found)
    at_five = draft_lengths(found)[-1]  # the measured length has the measured speed, whatever grows
    assert (at_five.slowest, at_five.fastest) == (pytest.approx(speedup), pytest.approx(speedup))
    text = serving.advice(found)
    assert not re.search(r"(\d\.\d\d×?) to \1(?!\d)", text)  # "1.44 to 1.44"
    assert not re.search(r"nan|inf |  |None|\.\.|[^.]$", text)


def test_impossible_speedups_are_refused() -> None:
    assert "faster than one plain step" in refusal(lambda: pasted(speedup=4.0))
    for impossible in (0.0, 1e9, float("nan")):
        assert "above 0 and below 100" in refusal(lambda speedup=impossible: pasted(speedup=speedup))


@pytest.mark.parametrize(
    "costs", [MODEL, CHEAP, WorksheetModel(0.5, 4, 0.0, 1.0, 0.0), WorksheetModel(0.5, 4, 1.5, 8.0, 2.0, batch=64)]
)
@pytest.mark.parametrize("speedup", [None, 0.94, 1.5])
def test_the_map_shows_the_same_speedup(costs: WorksheetModel, speedup: float | None) -> None:
    found = pasted(speedup=speedup, costs=costs)
    model = serving.production_start(found, CostsOrigin("the test")).model
    assert model.terms.speedup == pytest.approx(found.speed, rel=0.001)
    assert model.terms.tokens == pytest.approx(found.tokens, abs=0.001)
    assert 0 <= model.cost_ratio <= words.MOST_COST
    assert 1 <= model.verification <= words.MOST_VERIFICATION
    assert 0 <= model.overhead <= words.MOST_OVERHEAD
    if speedup:
        assert model.batch == 1
        assert model.best in recommended(found)  # the page's "Best γ" is no other one


@pytest.mark.parametrize("tokens", [1.0, 1.004, 1.02, 1.05, 1.06, 1.07])
@pytest.mark.parametrize("length", [1.0, 3.0, 15.0])
def test_hardly_any_accepted_guess_never_pays_and_the_verdict_gives_its_bound(tokens: float, length: float) -> None:
    found = counted(tokens, length)
    assert (found.never_pays, found.ceiling) == (True, pytest.approx(tokens))
    assert f"{tokens:.2f}×" in said(found)
    assert Path("docs/checklists.md").is_file()  # it is named


@pytest.mark.parametrize("length", [1, 4, 16])
def test_what_comes_from_the_slider_is_never_called_counted(length: int) -> None:
    costs = replace(MODEL, draft_length=length)
    for found in (pasted(TOTALS.format(830), speedup, costs) for speedup in (None, 1.1)):
        assert found.counters.calls_assumed
        assert not re.search(r"tokens per target call were counted|\(counted\)", said(found))
        assert f"γ = {length}, which is from the slider" in said(found)
        assert any(f"γ = {length} is taken from the slider" in note for note in found.counters.notes)
    assert pasted(TOTALS.format(2), costs=costs).never_pays  # 1 + 16 · 0.002 at the longest
    assert not pasted(TOTALS.format(20), costs=replace(MODEL, draft_length=1)).never_pays  # 1.02 at γ = 1, 1.32 at 16
