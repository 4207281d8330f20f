"""The worksheet's pure parts: the model, the gap, published machines, starts, figures. Hand-worked numbers."""

from dataclasses import replace

import pytest

from specviz.core import metrics
from specviz.core.metrics import Costs
from specviz.core.terms import terms_of
from specviz.core.theory import expected_tokens
from specviz.data.published import PUBLISHED
from specviz.measure.sweep.points import costs_of
from specviz.measure.sweep.table import frame_of
from specviz.measure.worksheet.gap import gap_of, position_rates
from specviz.measure.worksheet.model import (
    Model,
    alpha_of_counts,
    batch_sentence,
    break_even_sentence,
    counts_sentence,
    half_sentence,
)
from specviz.measure.worksheet.runs import Measured, first_series, of_laps, of_rows, of_runs, trace_of_lap
from specviz.measure.worksheet.starts import calibrated, start_of_paper, start_of_run, starts
from specviz.ui.race.state import recorded_race
from specviz.ui.worksheet.figures import gap_figure, machines_figure, positions_figure, speedup_map
from tests.support.fake_rows import row_at
from tests.support.fake_traces import cut, fake_trace
from tests.support.figures import by_name, parts_of

MODEL = Model(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05, operations_ratio=0.1)
COSTS = Costs(step_seconds=0.005, cost_ratio=0.1, verification={k: 1 + 0.1 * (k - 1) for k in range(1, 18)}, overhead=0)


def test_the_model_is_the_papers_formulas() -> None:
    assert MODEL.tokens_per_call == pytest.approx(3.3616)  # 1 + .8 + .64 + .512 + .4096
    assert MODEL.ideal == pytest.approx(3.3616 / 1.4)
    assert MODEL.realistic == pytest.approx(3.3616 / (0.4 + 1.4 + 0.05))
    assert MODEL.extra_operations == pytest.approx((4 * 0.1 + 5) / 3.3616)
    assert MODEL.best_speedup >= MODEL.realistic
    assert MODEL.best_speedup == MODEL.speedup_at(0.8, MODEL.best)


def test_break_even_is_where_the_map_says_1() -> None:
    needed = MODEL.break_even
    assert needed is not None
    assert MODEL.speedup_at(needed, 4) == pytest.approx(1)
    assert expected_tokens(needed, 4) == pytest.approx(1.85)


def test_break_even_is_told_as_alpha_and_converted_to_accepted_over_drafted() -> None:
    model = Model(0.8, 4, 0.5, 1.4, 0.2)  # a round of 3.6 steps
    said = break_even_sentence(model)
    assert "α = 0.83 per judgement" in said
    assert "65 % accepted / drafted" in said  # (3.6 − 1) / 4


def test_costs_that_nothing_or_anything_pays() -> None:
    assert "No acceptance breaks even" in break_even_sentence(Model(0.9, 2, 1.5, 3.0, 0.0))
    assert "Any acceptance breaks even" in break_even_sentence(Model(0.9, 4, 0.0, 1.0, 0.0))


@pytest.mark.parametrize(("accepted", "says"), [(70, "it pays"), (60, "no real gain")])
def test_counts_are_compared_with_the_break_even_of_their_own_kind(accepted: int, says: str) -> None:
    model = Model(0.8, 4, 0.5, 1.4, 0.2)  # 65 % accepted / drafted, or α = 0.83
    assert alpha_of_counts(100, 60, 4) < 0.83 < 0.84 < alpha_of_counts(100, 70, 4)
    said = counts_sentence(100, accepted, model)
    assert f"{accepted} %" in said
    assert "65 % of drafted tokens" in said
    assert said.endswith(f"{says}.")


@pytest.mark.parametrize(("drafted", "accepted", "says"), [(0, 0, "Nothing was drafted"), (3, 5, "impossible")])
def test_impossible_counts_get_a_sentence(drafted: int, accepted: int, says: str) -> None:
    assert says in counts_sentence(drafted, accepted, MODEL)


def test_right_half_the_time_brings_no_real_gain_only_at_high_costs() -> None:
    assert "0.66×: no real gain" in half_sentence(replace(MODEL, cost_ratio=0.375))  # 1.9375 / 2.95
    assert "1.94×: a real gain even so" in half_sentence(Model(0.8, 4, 0.0, 1.0, 0.0))


def test_a_batch_makes_checking_dearer_up_to_one_by_one() -> None:
    assert MODEL.steps(5) == pytest.approx(1.4)
    assert replace(MODEL, batch=4).steps(5) == pytest.approx((1 + 0.1 * 19) / (1 + 0.1 * 3))
    assert replace(MODEL, batch=100_000).steps(5) == pytest.approx(5, rel=1e-3)
    assert replace(MODEL, batch=64).realistic < MODEL.realistic
    assert "takes 2.23 target steps (alone: 1.40)" in batch_sentence(replace(MODEL, batch=4))


def test_free_checking_is_called_what_it_is_in_a_batch() -> None:
    free = Model(0.8, 4, 0.1, 1.0, 0.0, batch=64)
    assert free.steps(5) == 1
    assert "No real machine does that" in batch_sentence(free)


# ---- the gap


def test_the_gap_adds_up_and_each_cause_has_its_sign() -> None:
    trace = fake_trace(draft_length=4)
    gap, terms = gap_of(trace), terms_of(trace)
    assert gap is not None
    assert terms is not None
    parts = gap.ideal + gap.clustering + gap.verification + gap.overhead + gap.rest
    assert parts == pytest.approx(metrics.speedup(trace))
    assert gap.ideal == pytest.approx(expected_tokens(terms.alpha, 4) / (4 * terms.cost_ratio + 1))
    assert gap.verification < 0  # made with v(5) above 1
    assert gap.overhead < 0
    assert f"{gap.measured:.2f}×" in gap.sentence


def test_alike_positions_leave_clustering_nothing_to_explain() -> None:
    trace = fake_trace(draft_length=1)  # one position has one rate
    gap = gap_of(trace)
    assert gap is not None
    assert gap.clustering == pytest.approx(0)


def test_position_rates_are_per_judgement_and_stop_where_nothing_was_judged() -> None:
    trace = fake_trace(draft_length=12, tokens=16, seed=1)
    rates = position_rates(trace)
    judged = [position for position in metrics.by_position(trace.rounds, 12) if position.judged]
    assert rates == [position.rate for position in judged]
    assert len(rates) < 12


def test_a_run_without_its_plain_run_has_no_gap() -> None:
    assert gap_of(fake_trace(plain=False)) is None
    assert gap_of(cut(fake_trace(), 0)) is None


# ---- everything measured


def test_runs_are_points_the_newest_first_and_those_that_measured_nothing_are_none() -> None:
    older, newer = fake_trace(draft_length=2), fake_trace(draft_length=5)
    found = of_runs([older, newer, fake_trace(plain=False)], recorded=False)
    assert [each.terms.draft_length for each in found] == [5, 2]
    assert found[1].terms == terms_of(older)
    assert found[1].measured == pytest.approx(metrics.speedup(older))
    assert found[0].source == "Watch, yours"


def test_a_races_point_has_the_speedup_of_all_repeats_and_its_gap_still_adds_up() -> None:
    laps = recorded_race()
    found = of_laps(laps, recorded=True)
    assert [each.measured for each in found] == [lap.verdict.speedup for lap in laps if gap_of(trace_of_lap(lap))]
    first = found[0]
    assert first.gap is not None
    assert first.gap.by_position + first.gap.rest == pytest.approx(laps[0].verdict.speedup)
    assert first.source == "Race, recorded"


def test_a_sweeps_rows_are_pooled_and_predicted_at_their_own_costs() -> None:
    rows = frame_of([row_at("story", 4, 2.0, 0.8), row_at("story", 4, 0.5, 0.6, number=2), row_at("copy", 4, 1.5, 0.9)])
    story, copy = of_rows(rows, recorded=False)
    assert story.measured == pytest.approx(1.0)  # twice and half as fast
    assert story.terms.alpha == pytest.approx(0.7)
    costs = costs_of(rows)
    assert costs is not None
    terms = story.terms
    assert (terms.cost_ratio, terms.verification, terms.overhead) == (
        costs.cost_ratio,
        costs.verification[5],
        costs.overhead,
    )
    assert story.ideal == pytest.approx(expected_tokens(0.7, 4) / (4 * costs.cost_ratio + 1))
    assert copy.gap is None
    assert of_rows(frame_of([]), recorded=False) == []


def test_only_one_pair_of_a_recorded_sweep_is_drawn() -> None:
    rows = [row_at("story", 4, 2.0), replace(row_at("story", 4, 2.0), draft="prompt-lookup", draft_dtype=None)]
    assert first_series(frame_of(rows)).equals(frame_of(rows[:1]))
    assert first_series(frame_of([])).empty


# ---- machines and starts


def test_published_figures_give_what_the_paper_itself_expects() -> None:
    # Leviathan et al. 2023, appendix table 4, their own "expected" column
    expected = [3.2, 3.3, 2.5, 2.3, 2.4, 1.9]
    modelled = [run.modelled_speedup for run in PUBLISHED if run.alpha is not None]
    assert modelled == pytest.approx(expected, abs=0.051)


def test_the_alpha_that_would_explain_a_speedup_gives_that_speedup() -> None:
    for run in PUBLISHED:
        start = start_of_paper(run)
        if run.alpha is None:
            assert start.model.realistic == pytest.approx(run.speedup)
            assert "α is not published" in start.source
        assert run.source[:8] in start.source
        assert run.url.startswith("https://arxiv.org/abs/")
    assert len({run.label for run in PUBLISHED}) == len(PUBLISHED)


def test_a_start_is_the_runs_own_acceptance_and_costs() -> None:
    trace = fake_trace(draft_length=4)
    start, terms = start_of_run(trace, "a run", "live"), terms_of(trace)
    assert start is not None
    assert start.model.terms == terms
    assert start.model.realistic == pytest.approx(terms.speedup if terms else None)
    assert start.model.operations_ratio == pytest.approx(700_000 / 7_500_000)
    assert (start.drafted, start.accepted) == (
        metrics.count(trace.rounds).drafted,
        metrics.count(trace.rounds).accepted,
    )
    assert "measured here" in start.source
    recorded = start_of_run(trace, "a run", "recorded")
    assert recorded is not None
    assert "recorded on a test's machine" in recorded.source


def test_a_run_with_a_tree_says_so_in_its_name() -> None:
    trace = fake_trace(draft_length=2)
    trace = replace(trace, settings=replace(trace.settings, tree="dynamic:4"))
    assert "γ = 2, tree dynamic:4, temperature" in starts([trace], None, {})[0].label


def test_starts_are_newest_first_and_always_something() -> None:
    runs = [fake_trace(draft_length=2), fake_trace(draft_length=5), fake_trace(plain=False)]
    found = starts(runs, fake_trace(), {("wren-base", "wren-nano", "exact"): COSTS})
    assert found[0].label.startswith("your run 2: wren-nano → wren-base, γ = 5")
    assert found[1].label.startswith("your run 1")
    assert found[2].label.startswith("the recorded run")
    assert "calibrated" in found[3].label
    assert starts([], None, {})[0].label.startswith("published")
    assert len({start.label for start in found}) == len(found)


def test_a_calibrated_machine_takes_the_newest_runs_acceptance_and_its_own_table() -> None:
    run = fake_trace(draft_length=5)
    start, newest = calibrated(("wren-base", "wren-nano", "exact"), COSTS, [fake_trace(), run])
    assert newest is run
    assert start.model.draft_length == 5
    assert start.model.verification == pytest.approx(1.5)
    assert start.verification_at(9) == pytest.approx(1.9)
    alone, none = calibrated(("other", "wren-nano", "exact"), COSTS, [run])
    assert none is None
    assert "not measured" in alone.source


# ---- figures


def test_the_map_holds_the_formula_the_break_even_and_the_runs() -> None:
    point = Measured("Watch", False, "nano → base", replace(MODEL.terms, alpha=0.7), 1.5)
    other = replace(point, where="Race", recorded=True, label="<b>own</b>", terms=replace(point.terms, alpha=0.9))
    figure = speedup_map(MODEL, [point, other])
    ground = parts_of(figure)[0]
    row, column = ground["y"].index(0.8), ground["x"].index(4)
    assert ground["customdata"][row][column] == pytest.approx(MODEL.realistic)
    found = by_name(figure)
    assert found["break-even, 1×"]["y"][3] == pytest.approx(MODEL.break_even)
    assert found["Watch, yours"]["y"] == [0.7]
    assert found["Race, recorded"]["y"] == [0.9]
    assert found["the sliders"]["x"] == [4]
    assert found["Race, recorded"]["customdata"][0][2] == "&lt;b&gt;own&lt;/b&gt;"
    symbols = {found[name]["marker"]["symbol"] for name in ("Watch, yours", "Race, recorded")}
    assert len(symbols) == 2, "told apart by shape, not by colour alone"
    assert "Watch, yours" not in by_name(speedup_map(MODEL, []))


def test_the_other_figures_plot_what_they_are_given() -> None:
    gap = gap_of(fake_trace())
    assert gap is not None
    (bars,) = parts_of(gap_figure(gap))
    assert bars["y"][0] == gap.ideal
    assert bars["y"][-1] == gap.measured
    modelled, published = parts_of(machines_figure(PUBLISHED))
    assert len(modelled["x"]) == sum(run.alpha is not None for run in PUBLISHED)
    assert published["x"] == [run.speedup for run in PUBLISHED]
    rates, survival = parts_of(positions_figure((0.9, 0.5), (0.9, 0.45)))
    assert rates["y"] == [0.9, 0.5]
    assert survival["y"] == [0.9, 0.45]
