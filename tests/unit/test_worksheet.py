"""The worksheet's pure parts: model, gap, published machines, starts, figures, exercises. Hand-worked numbers."""

import math
import re
from dataclasses import replace
from statistics import median

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import terms_of
from specviz.core.theory import expected_tokens
from specviz.data.measured.batches import BatchStudy, recorded_batches
from specviz.data.measured.quiet_costs import quiet_costs
from specviz.data.published import PUBLISHED
from specviz.measure.sweep.rows import frame_of
from specviz.measure.sweep.study import studies_of
from specviz.measure.worksheet.exercises import exercises, sheet
from specviz.measure.worksheet.model import (
    MeasuredPasses,
    WorksheetModel,
    batch_sentence,
    batch_shape,
    counts_sentence,
    measured_passes,
    symbols,
    verdict_sentence,
)
from specviz.measure.worksheet.runs import (
    collect_laps,
    collect_rows,
    collect_runs,
    gap_of,
    position_rates,
)
from specviz.measure.worksheet.starts import start_of_paper, start_of_run, starts
from specviz.ui.race.race_page import recorded_race
from specviz.ui.worksheet.controls import WorksheetLink, start_from_link
from tests.support.fake_rows import row_at
from tests.support.fake_traces import cut, fake_trace
from tests.support.html import Html
from tests.support.known import known

MODEL = WorksheetModel(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05, operations_ratio=0.1)


PASSES = known(measured_passes(recorded_batches()))
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
    shape = batch_shape(model) if model.batch > 1 else ""
    said = [verdict_sentence(model), batch_sentence(model), shape, f"{model.best}: {model.best_speedup:.4f}"]
    usual = symbols(MODEL).split("\n") if model is not MODEL else ()
    rows = (row for row in symbols(model).split("\n") if row not in usual)
    assert "\n".join(filter(None, [*said, *rows])) == snapshot
    assert model.best_speedup >= model.terms.speedup


def test_the_model_is_the_papers_formulas(snapshot: SnapshotAssertion) -> None:
    assert MODEL.terms.tokens == pytest.approx(3.3616)  # 1 + .8 + .64 + .512 + .4096
    assert MODEL.terms.ideal == pytest.approx(3.3616 / 1.4)
    assert MODEL.terms.speedup == pytest.approx(3.3616 / (0.4 + 1.4 + 0.05))
    assert MODEL.extra_operations == pytest.approx((4 * 0.1 + 5) / 3.3616)
    assert MODEL.best_speedup == MODEL.speedup_at(0.8, MODEL.best)
    always = WorksheetModel(alpha=1.0, draft_length=4, cost_ratio=0.01, verification=1.0, overhead=0.0)
    assert [always.best, replace(always, survival=(1.0, 1.0, 1.0)).best] == [MAX_DRAFT_LENGTH, 3]
    counts = [(0, 0, 4), (3, 4, 4), (75, 44, 4), (75, 0, 4), (75, 75, 1)]
    assert "\n".join([*(counts_sentence(*each) for each in counts), batch_sentence(MODEL, measured=True)]) == snapshot


@pytest.mark.parametrize("acceptance", [0.3, 0.55, 0.7, 0.81, 0.95])
@pytest.mark.parametrize("length", [1, 3, 4, 9, 16])
def test_what_is_written_down_divides_to_the_speedup_that_is_said(acceptance: float, length: int) -> None:
    """Found: 2.77 / 2.02 = 1.38."""
    for cost in (0.131, 0.2, 0.377, 0.81):
        said = verdict_sentence(WorksheetModel(acceptance, length, cost, 1.21, 0.017))
        above, below, speedup = known(re.search(r"([\d.]+) / ([\d.]+) = ([\d.]+)\.", said)).groups()
        assert f"{float(above) / float(below):.2f}" == speedup


def predicted(study: BatchStudy, batch: int, length: int, passes: MeasuredPasses | None) -> float:
    """The speedup in a batch from one text's counts and costs alone."""
    one = study.at(1, length)
    costs = (one.cost_ratio.value, one.verification.value, one.overhead.value)
    model = WorksheetModel(0.5, length, *costs, batch=batch, passes=passes)
    return known(one.counts.tokens_per_target_call) / model.terms.steps


def test_the_batch_slider_fits_the_measured_passes() -> None:
    """Better than the straight line that it would say without them."""
    study = recorded_batches()

    def errors(passes: MeasuredPasses | None) -> dict[tuple[int, int], float]:
        return {
            (point.batch, point.draft_length): abs(
                math.log(predicted(study, point.batch, point.draft_length, passes) / point.full_speedup.value)
            )
            for point in study.speedups
            if point.batch > 1
        }

    off, straight = errors(PASSES), errors(None)
    assert (median(off.values()) < 0.06, max(off.values()) < 0.13) == (True, True)
    assert median(off.values()) < median(straight.values())
    most = study.batches[-1], study.draft_lengths[-1]
    assert off[most] < straight[most]


def test_measured_passes_are_followed_and_continued() -> None:
    for each in recorded_batches().passes:
        for check in each.checks:
            assert PASSES.steps(each.batch, check.tokens) == pytest.approx(check.steps.value)
    model = MODELS["a batch of measured passes"]
    assert replace(model, batch=1).steps(5) == pytest.approx(1.4)  # one text: as the slider says
    steps = [replace(model, batch=batch).steps(5) for batch in (16, 32, 64, 128, 256)]
    assert steps == sorted(steps)
    assert steps[-1] < 5 * 1.4 / PASSES.steps(1, 5)  # never dearer than one by one
    without = [replace(MODEL, batch=batch).steps(5) for batch in (1, 4, 100_000)]
    assert without == pytest.approx([1.4, (1 + 0.1 * 19) / (1 + 0.1 * 3), 5], rel=1e-3)
    assert MODELS["a batch whose checks are free"].steps(5) == 1


def test_the_gap_adds_up_and_each_cause_has_its_sign() -> None:
    trace = fake_trace(draft_length=4)
    gap, terms = known(gap_of(trace)), known(terms_of(trace))
    parts = gap.ideal + gap.clustering + gap.verification + gap.overhead + gap.rest
    assert parts == pytest.approx(metrics.speedup(trace))
    assert gap.ideal == pytest.approx(expected_tokens(terms.alpha, 4) / (4 * terms.cost_ratio + 1))
    assert gap.verification < 0  # made with v(5) above 1
    assert gap.overhead < 0
    assert f"{gap.measured:.2f}×" in gap.sentence
    assert known(gap_of(fake_trace(draft_length=1))).clustering == pytest.approx(0), "one position has one rate"
    assert gap_of(fake_trace(plain=False)) is None
    assert gap_of(cut(fake_trace(), 0)) is None


def test_runs_laps_and_positions_are_points() -> None:
    older, newer = fake_trace(draft_length=2), fake_trace(draft_length=5)
    found = collect_runs([older, newer, fake_trace(plain=False)], recorded=False)
    assert [each.terms.draft_length for each in found] == [5, 2]
    assert found[1].terms == terms_of(older)
    assert found[1].measured == pytest.approx(metrics.speedup(older))
    assert found[0].source == "Watch, yours"
    laps = recorded_race()
    found = collect_laps(laps, recorded=True)
    assert [each.measured for each in found] == [lap.verdict.speedup for lap in laps if gap_of(lap.both)]
    gap = known(found[0].gap)
    assert gap.by_position + gap.rest == pytest.approx(laps[0].verdict.speedup)
    assert found[0].source == "Race, recorded"
    trace = fake_trace(draft_length=12, tokens=16, seed=1)
    rates = position_rates(trace, 12)
    judged = [position for position in metrics.count_by_position(trace.rounds, 12) if position.judged]
    assert rates == [position.rate for position in judged]
    assert len(rates) < 12


def test_a_sweeps_rows_are_pooled_and_predicted_at_their_own_costs() -> None:
    rows = frame_of([row_at("story", 4, 2.0, 0.8), row_at("story", 4, 0.5, 0.6, number=2), row_at("copy", 4, 1.5, 0.9)])
    [study] = studies_of(rows)
    story, copy = collect_rows([study], recorded=False)
    assert story.measured == pytest.approx(1.0)  # twice and half as fast
    assert story.terms.alpha == pytest.approx(0.7)
    costs, terms = known(study.costs), story.terms
    times = (terms.cost_ratio, terms.verification, terms.overhead)
    assert times == (costs.cost_ratio, costs.verification[5], costs.overhead)
    assert story.terms.ideal == pytest.approx(expected_tokens(0.7, 4) / (4 * costs.cost_ratio + 1))
    assert copy.gap is None
    assert studies_of(frame_of([])) == []


def test_published_figures_give_what_their_papers_expect() -> None:
    # Leviathan et al. 2023, appendix table 4, their own "expected" column
    expected = [3.2, 3.3, 2.5, 2.3, 2.4, 1.9]
    modelled = [run.modelled_speedup for run in PUBLISHED if run.alpha is not None]
    assert modelled == pytest.approx(expected, abs=0.051)
    for run in PUBLISHED:
        start = start_of_paper(run)
        if run.alpha is None:
            assert start.model.terms.speedup == pytest.approx(run.speedup)
            assert "α is computed from the published speedup" in start.source
        assert run.source[:8] in start.source
        assert run.url.startswith("https://arxiv.org/abs/")
    assert len({run.label for run in PUBLISHED}) == len(PUBLISHED)


def test_a_run_on_a_busy_machine_starts_with_costs_of_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: Watch did not trust the times of a run, and the Worksheet opened with them, and called them a gain."""
    trace, own = fake_trace(draft_length=4), known(start_of_run(fake_trace(draft_length=4), "a run", "live"))
    monkeypatch.setattr("specviz.measure.worksheet.starts.is_trusted", lambda _: False)
    quiet = known(quiet_costs().find_for_run(trace)).drafts["wren-nano"]
    [start, *_] = starts([trace], None, {})
    assert (start.model.cost_ratio, start.model.overhead) == (quiet.cost_ratio, quiet.overhead)
    assert start.model.alpha == own.model.alpha
    assert "on a busy machine. By the costs of a quiet" in start.source
    monkeypatch.setattr("specviz.measure.worksheet.starts.known_costs", lambda *_: None)
    [unknown, *_] = starts([trace], None, {})
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
    written = ""
    for seed in range(8):
        page = Html(sheet(fake_trace(hostile=True, sharpness=0.5, seed=seed), "<i>t</i>", "<u>s</u>", key=True))
        assert page.tags == {"html", "meta", "title", "style", "h1", "p", "q", "ul", "ol", "li", "b", "bdi"}
        assert "<i>t</i>" in page.text
        written += page.text
    assert "<script>alert(1)</script>" in written


def test_counts_of_a_link_without_their_length_are_at_the_links_own() -> None:
    """As in older links."""
    kept = WorksheetLink(gamma=4, drafted=40, accepted=28, counted_at=4)
    for link, length in (({"gamma": ["6"], "drafted": ["50"], "accepted": ["20"]}, 0), ({"gamma": ["6"]}, 4)):
        start, problems = start_from_link(link, kept)
        assert (known(start).counted_at, problems) == (length, [])
