"""What a sweep's file says as a whole: computed once, predicted from counts, beside other temperatures."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from specviz.core.theory import expected_tokens
from specviz.measure.sweep import study as studying
from specviz.measure.sweep.points import costs_of, points
from specviz.measure.sweep.predictions import errors, predictions
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.sentences import lookup_map_sentence, prediction_sentence, repetition_sentence
from specviz.measure.sweep.study import studies_of
from specviz.measure.sweep.table import each_row, frame_of
from specviz.measure.worksheet.runs import of_rows
from specviz.ui.helps.figures import break_even_tokens_figure
from specviz.ui.helps.state import HERE, RECORDED, Sweeps, recorded_sweep
from specviz.ui.helps.studied import recorded_studies, studied
from specviz.ui.helps.temperatures import temperature_table
from tests.support.fake_rows import a_row, row_at
from tests.support.figures import parts_of

# γ = 4, but 20 rounds drafted 12 tokens: 10 accepted, 2 rejected. 30 tokens in 20 calls.
LOOKUP = a_row(
    draft="prompt lookup", draft_dtype=None, draft_length=4, rounds=20, new_tokens=30, plain_tokens=30, drafted=12,
    accepted=10, rejected=2, discarded=0, acceptance_rate=10 / 12, per_judgement_rate=10 / 12, draft_seconds=0.0,
    autoregressive_seconds=0.30, verify_seconds=0.22, overhead_seconds=0.0, speculative_seconds=0.22,
    speedup=0.30 / 0.22,
)  # fmt: skip


def test_prompt_lookup_is_predicted_from_its_counts() -> None:
    rows = frame_of([LOOKUP])
    costs = costs_of(rows)
    assert costs is not None
    assert costs.verification == {5: pytest.approx(1.1)}
    (found,) = each_row(predictions(rows, costs))
    assert found.counted == pytest.approx(1.5 / 1.1) == pytest.approx(found.speedup)
    assert found.formula == pytest.approx(expected_tokens(10 / 12, 4) / 1.1)
    assert errors(pd.Series([2.0, 0.5]), pd.Series([1.0, 1.0])).to_list() == [1.0, 1.0]
    (worksheet,) = of_rows(rows, recorded=True)
    assert worksheet.terms.speedup == pytest.approx(found.counted)
    assert "off by 0 % in the median and 0 % at most (1 runs)" in prediction_sentence(predictions(rows, costs))


def test_on_the_recorded_sweep_counts_predict_prompt_lookup_far_better_than_the_formula() -> None:
    """On the sweep that found it: 6 % in the median and 36 % at most, where E(γ) was off by 25 % and 124 %."""
    lookups = [study for study in recorded_studies() if study.lookup and study.costs]
    assert lookups
    for study in lookups:
        off = {way: errors(study.predictions[way], study.predictions["speedup"]) for way in ("counted", "formula")}
        assert off["counted"].median() < 0.5 * off["formula"].median()
        assert off["counted"].median() < 0.12


def test_the_map_of_prompt_lookup_has_tokens_per_call_and_the_time_of_a_round() -> None:
    slow = replace(LOOKUP, workload="prose", rounds=29, verify_seconds=0.32, speedup=0.30 / 0.32)
    every, costs = points(frame_of([LOOKUP, slow])), costs_of(frame_of([LOOKUP, slow]))
    assert costs is not None
    line, above, below = parts_of(break_even_tokens_figure(every, costs))
    assert line["y"] == [pytest.approx(costs.verification[5])]
    assert above["y"] == [1.5]
    assert below["y"] == [30 / 29]
    assert lookup_map_sentence(every, costs).startswith("2 of 2 measured points are on the side of break-even")


def test_outputs_that_repeat_themselves_are_named() -> None:
    rows = [row_at("random", 4, 1.5, repetition=0.6), row_at("random", 4, 1.6, number=2, repetition=0.8)]
    (loops,) = studies_of(frame_of([*rows, row_at("story", 4, 1.2, repetition=0.1)]))
    said = repetition_sentence(loops.fair)
    assert said.startswith("Outputs repeat themselves on random words (70 %): that share of their 4-grams")
    assert "story" not in said
    (calm,) = studies_of(frame_of([row_at("story", 4, 1.2, repetition=0.1)]))
    assert repetition_sentence(calm.fair) == "Outputs repeat little: at most 10 % of their 4-grams occurred before."
    (old,) = studies_of(frame_of([row_at("story", 4, 1.2)]))
    assert repetition_sentence(old.fair) == ""


def test_greedy_stands_beside_temperature_1() -> None:
    warm: dict[str, Any] = {"temperature": 1.0, "repetition": 0.02}
    rows = [
        row_at("random", 4, 1.5, repetition=0.6), row_at("random", 4, 1.6, number=2, repetition=0.6),
        row_at("random", 4, 0.7, **warm), row_at("random", 4, 1.8, number=2, **warm), row_at("code", 4, 1.2, **warm),
        row_at("random", 4, 9.0, draft="another"),
    ]  # fmt: skip
    greedy, sampled, another = studies_of(frame_of(rows))
    assert (list(greedy.others), list(sampled.others), list(another.others)) == ([sampled], [greedy], [])
    table = temperature_table(["random", "code"], [greedy, sampled])
    assert list(table.columns) == [
        "workload", "greedy", "repeated, greedy", "temperature 1", "repeated, temperature 1",
    ]  # fmt: skip
    first, second = table.to_numpy().tolist()
    assert first[0] == "Random words"
    assert first[1].startswith("1.55× (")
    assert not first[1].endswith("?")
    assert first[3].startswith("1.12× (")
    assert first[3].endswith("?")
    assert (first[2], first[4]) == ("60 %", "2 %")
    assert (second[0], second[3], second[4]) == ("Code", "1.20×", "2 %")
    assert pd.isna(second[1]), "not measured greedily"


def test_rows_are_pooled_once_for_each_file_not_in_each_script_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pooled: list[int] = []
    real: Callable[[pd.DataFrame], pd.DataFrame] = studying.points

    def counting(rows: pd.DataFrame) -> pd.DataFrame:
        pooled.append(len(rows))
        return real(rows)

    monkeypatch.setattr(studying, "points", counting)
    sweeps = Sweeps()
    sweeps.rows[HERE] = frame_of([row_at("story", 4, 1.5)])
    for _ in range(3):  # script runs
        (study,) = studied(sweeps, HERE)
        assert len(study.points) == 1
    assert pooled == [1]
    sweeps.rows[HERE] = frame_of([row_at("story", 4, 1.5), row_at("code", 4, 1.2)])
    (study,) = studied(sweeps, HERE)
    assert len(study.points) == 2
    assert pooled == [1, 2]
    assert studied(sweeps, RECORDED) is studied(Sweeps(), RECORDED), "every visitor shares the recorded sweep"
    assert sum(len(study.rows) for study in recorded_studies()) == len(recorded_sweep())


def test_an_impossible_row_is_in_no_figure() -> None:
    impossible: SweepRow = replace(row_at("story", 4, 3.2), speedup=9.0)
    (study,) = studies_of(frame_of([row_at("code", 4, 1.5), impossible]))
    assert study.fair["workload"].to_list() == ["code"]
    assert int(study.spoilt.sum()) == 1


def test_each_series_is_compared_once_with_the_same_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with each other: 2,000 series held the interpreter for a minute."""
    compared: list[object] = []

    def counted(series: Any, **changes: Any) -> Any:
        compared.append(series)
        return replace(series, **changes)

    monkeypatch.setattr(studying, "replace", counted)
    rows = [row_at("story", 4, 1.5, temperature=t, machine=f"m{n}") for n in range(20) for t in (0.0, 1.0)]
    studies = studies_of(frame_of(rows))
    assert len(compared) == len(studies) == 40
    assert all([other.series.machine for other in study.others] == [study.series.machine] for study in studies)
