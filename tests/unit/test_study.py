"""What a sweep's file says as a whole: predictions, conclusions, and figures as files."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest
from scipy import stats

from specviz.cli import plots
from specviz.core.errors import InputError
from specviz.core.intervals import student_t
from specviz.core.judge import UNTOLD
from specviz.core.metrics import Costs
from specviz.figures.sweep import break_even_tokens_figure
from specviz.measure.sweep import study as studying
from specviz.measure.sweep.rows import SweepRow, names_apart
from specviz.measure.sweep.sentences import conclusions, map_sentence
from specviz.measure.sweep.study import (
    RISK,
    costs_of,
    mark_rivals,
    points,
    rivals_t,
    split_by_series,
    studies_of,
    summarise,
)
from specviz.measure.sweep.table import frame_of
from specviz.measure.worksheet.runs import collect_rows
from specviz.ui.watch.watch_page import verification_figure
from specviz.ui.when_it_helps.sweeps import (
    HERE,
    RECORDED,
    WhenItHelpsState,
    recorded_studies,
    recorded_sweep,
    studied,
)
from specviz.ui.when_it_helps.when_it_helps_page import temperature_table
from tests.support.bench_results import make_bench
from tests.support.fake_rows import a_row, prompts_at, row_at
from tests.support.figures import by_name, parts_of
from tests.support.known import known

# γ = 4, but 20 rounds drafted 12 tokens: 10 accepted, 2 rejected. 30 tokens in 20 calls.
LOOKUP = a_row(
    draft="prompt lookup", draft_dtype=None, draft_length=4, rounds=20, new_tokens=30, plain_tokens=30, drafted=12,
    accepted=10, rejected=2, discarded=0, acceptance_rate=10 / 12, per_judgement_rate=10 / 12, draft_seconds=0.0,
    autoregressive_seconds=0.30, verify_seconds=0.22, overhead_seconds=0.0, speculative_seconds=0.22,
    speedup=0.30 / 0.22,
)  # fmt: skip


def test_prompt_lookup_is_predicted_and_drawn_from_its_counts() -> None:
    rows = frame_of([LOOKUP])
    costs = known(costs_of(rows))
    assert costs.verification == {5: pytest.approx(1.1)}
    (worksheet,) = collect_rows(rows, recorded=True)
    assert worksheet.terms.speedup == pytest.approx(1.5 / 1.1)
    slow = replace(LOOKUP, workload="prose", rounds=29, verify_seconds=0.32, speedup=0.30 / 0.32)
    every, costs = points(frame_of([LOOKUP, slow])), costs_of(frame_of([LOOKUP, slow]))
    assert costs is not None
    line, above, below = parts_of(break_even_tokens_figure(every, costs))
    assert line["y"] == [pytest.approx(costs.verification[5])]
    assert above["y"] == [1.5]
    assert below["y"] == [30 / 29]
    assert map_sentence(every, costs, lookup=True).startswith("2 of 2 measured points are on the side of break-even")


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
    assert "?" not in first[1]
    assert first[3].startswith("1.12×? (")
    assert (first[2], first[4]) == ("60 %", "2 %")
    assert (second[0], second[3], second[4]) == ("Code", "1.20×", "2 %")
    assert pd.isna(second[1]), "not measured greedily"


def test_rows_are_pooled_once_for_each_file_not_in_each_script_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pooling = Mock(wraps=studying.points)
    monkeypatch.setattr(studying, "points", pooling)
    sweeps = WhenItHelpsState()
    for number, workloads in enumerate((["story"], ["story", "code"]), start=1):
        sweeps.rows[HERE] = frame_of([row_at(workload, 4, 1.5) for workload in workloads])
        for _ in range(3):  # script runs
            (study,) = studied(sweeps, HERE)
            assert len(study.points) == len(workloads)
        assert pooling.call_count == number
    assert studied(sweeps, RECORDED) is studied(WhenItHelpsState(), RECORDED), "every visitor shares the recorded sweep"
    assert sum(len(study.rows) for study in recorded_studies()) == len(recorded_sweep())


def test_an_impossible_row_is_in_no_figure() -> None:
    impossible: SweepRow = replace(row_at("story", 4, 3.2), speedup=9.0)
    (study,) = studies_of(frame_of([row_at("code", 4, 1.5), impossible]))
    assert study.fair["workload"].to_list() == ["code"]
    assert int(study.spoilt.sum()) == 1


def test_each_series_is_compared_once_with_the_same_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with each other: 2,000 series held the interpreter for a minute."""
    comparing = Mock(wraps=replace)
    monkeypatch.setattr(studying, "replace", comparing)
    rows = [row_at("story", 4, 1.5, temperature=t, machine=f"m{n}") for n in range(20) for t in (0.0, 1.0)]
    studies = studies_of(frame_of(rows))
    assert comparing.call_count == len(studies) == 40
    assert all([other.series.machine for other in study.others] == [study.series.machine] for study in studies)


def said(*rows: SweepRow) -> str:
    return "\n".join(conclusions(frame_of(rows)))


def test_conclusions_go_by_other_prompts_and_by_machine() -> None:
    # Each prompt's own best is the other length: chosen on the others, a prompt gets the one that is good elsewhere.
    text = said(*prompts_at("own", 2, 1.9, 1.2, 1.2, 1.2), *prompts_at("own", 4, 1.5, 1.5, 1.5, 1.5))
    assert "with each prompt at the draft length that did best on the other prompts," in text
    assert "1.50 times the speed" in text
    one = prompts_at("own", 4, 1.5, 1.52, 1.49)
    text = said(*one, *prompts_at("own", 4, 0.5, 0.52, 0.49, machine="slow"))
    assert "on a test's machine: at draft length 4 speculative decoding runs at 1.50 times" in text
    assert "on slow: at draft length 4 speculative decoding runs at 0.50 times" in text
    assert "machine" not in said(*one)


def test_what_a_sweep_concludes() -> None:
    text = said(*prompts_at("own", 4, 0.7, 1.5, 1.1, 0.9))
    assert "at draft length 4 speculative decoding runs at" in text
    assert "95 % interval over 4 prompts" in text
    assert "Too close to call." in text
    assert "Helps." in said(*prompts_at("own", 4, 1.5, 1.52, 1.49))
    assert "Hurts." in said(*prompts_at("own", 4, 0.5, 0.52, 0.49))
    text = said(*prompts_at("own", 2, 1.5), *prompts_at("own", 4, 1.2))
    assert "at each prompt's own best draft length, which flatters, speculative decoding runs at 1.50 times" in text
    assert "one prompt, so there is no interval" in text
    twice = prompts_at("own", 4, 1.5, 1.4, 1.6) * 2
    assert "95 % interval over 3 prompts" in said(*twice)


def test_outputs_that_differ_are_counted_and_a_schedule_has_its_speedup() -> None:
    rows = prompts_at("own", 4, 1.5, 1.5)
    assert "all 2 outputs are the target's own" in said(*rows)
    assert "1 of 3 outputs differ" in said(*rows, row_at("own", 4, 1.5, number=9, identical=False))
    assert "outputs" not in said(*prompts_at("own", 4, 1.5, 1.5, temperature=1.0, identical=None))
    rows = prompts_at("own", 4, 1.3, 1.4, draft_schedule="heuristic")
    assert "with the heuristic speculative decoding runs at 1.35 times" in said(*rows)
    assert said() == ""


def test_a_folder_for_plots_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        plots.check_plots(tmp_path / "file")


def rows(*names: str, temperature: float = 0.0) -> list[Any]:
    return [
        row_at(name, length, 1 + 0.1 * length + 0.05 * number, number=number, temperature=temperature)
        for name in names
        for number in (1, 2, 3)
        for length in (2, 4)
    ]


def check_pages(drawn: list[Path], names: set[str]) -> None:
    """Text stays text, and colours of the pages' theme are colours."""
    assert {path.name for path in drawn} == {f"{name}.html" for name in names}
    for path in drawn:
        content = path.read_text(encoding="utf-8")
        assert "Plotly.newPlot" in content
        assert "plotly.min.js" in content
        assert '"automargin":' in content, "no long name is cut"
        assert "<b>" not in content
        assert "var(--" not in content


def test_figures_are_pages_for_each_pair_of_models(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    plots.check_plots(folder)
    drawn = list(plots.write_plots(folder, frame_of([*rows("$x^2$ <b>"), *rows("story", temperature=1.0)])))
    names = ("speedup-by-workload", "speedup-by-draft-length", "acceptance-by-workload")
    check_pages(drawn, {f"{name}-{pair}" for pair in (1, 2) for name in names})
    assert (folder / "plotly.min.js").exists()


def test_a_benchs_figures_are_pages_and_those_without_figures_are_left_out(tmp_path: Path) -> None:
    result = make_bench({1: 1.5, 4: 1.0, 8: 0.8}, prompts=[("$x^2$ <b>", "story"), ("plain", "code")])
    of_one_server = {"throughput-by-concurrency", "acceptance-by-position", "times"}
    drawn = list(plots.write_bench_plots(tmp_path, result))
    check_pages(drawn, {"speedup-by-concurrency", "speedup-by-prompt", *of_one_server})
    alone = replace(result, without=None, answers=[each for each in result.answers if each.side == "with"])
    check_pages(list(plots.write_bench_plots(tmp_path, alone)), of_one_server)
    assert list(plots.write_bench_plots(tmp_path, replace(result, answers=[]))) == []


def test_pictures_are_written_where_kaleido_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: name == "kaleido")
    monkeypatch.setattr("plotly.io.write_image", lambda _, path, **__: path.write_text("a picture"))
    drawn = list(plots.write_plots(tmp_path, frame_of(rows("story"))))
    assert {path.suffix for path in drawn} == {".html", ".svg", ".png"}


def test_measured_costs_of_checking_are_drawn_beside_checking_one_by_one() -> None:
    costs = Costs(step_seconds=0.005, cost_ratio=0.1, verification={1: 1.0, 2: 1.1, 5: 1.3, 17: 1.9}, overhead=0.05)
    found = by_name(verification_figure(costs))
    assert found["measured here"]["y"] == [1.0, 1.1, 1.3, 1.9]
    assert found["one by one"]["y"] == [1, 2, 5, 17]


def falsely_told_apart(rows: pd.DataFrame) -> float:
    """The share of the workloads on which a length is told apart from the best."""
    found = mark_rivals(points(rows), rows)
    return float((~found["may_be_best"]).groupby(found["workload"]).any().mean())


def test_equal_draft_lengths_are_told_apart_in_at_most_one_case_of_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads on which every draft length is equally fast but for noise; each prompt has a speed of its own."""
    noise, made = Random(1), []
    for case, number in product(range(400), range(6)):
        prompt = noise.gauss(0, 0.3)
        for length in range(1, 6):
            speedup = math.exp(prompt + noise.gauss(0, 0.1))
            made.append(row_at(f"case {case}", length, speedup, number=number))
    rows = frame_of(made)
    assert falsely_told_apart(rows) <= RISK
    one_sided = RISK / 2 / 4  # as if the best were known before
    monkeypatch.setattr(studying, "rivals_t", lambda freedom, _: student_t(freedom, 1 - one_sided))
    assert RISK < falsely_told_apart(rows) < 0.15
    monkeypatch.setattr(studying, "rivals_t", lambda freedom, _: student_t(freedom))
    assert falsely_told_apart(rows) > 0.15  # one comparison at a time: what the page did before


def test_the_t_of_several_comparisons_is_exact() -> None:
    for freedom in (1, 2, 5, 8, 9, 30, 400):
        for probability in (0.975, 0.995, 0.9995):
            assert student_t(freedom, probability) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9)
    assert rivals_t(9, 2) == pytest.approx(student_t(9), abs=0.001)  # of two lengths there is one pair
    assert rivals_t(9, 5) > rivals_t(9, 4) > rivals_t(9, 3)


def test_a_sweep_of_a_busy_machine_gives_no_verdict() -> None:
    """One plain run of prompt lookup was slow, so its pair is faster than possible."""
    rows = recorded_sweep().copy()
    assert not any(study.spoilt.any() for study in studies_of(rows))  # as `scripts.record sweep` leaves it
    slow = rows["draft"].str.startswith("prompt lookup").idxmax()
    rows.loc[slow, "speedup"] = 1.1 * rows.loc[slow, "new_tokens"] / rows.loc[slow, "rounds"]
    said = conclusions(rows)
    spoilt = [study for study in studies_of(rows) if study.spoilt.any()]
    assert spoilt
    for study in spoilt:
        its = [line for line in said if line.startswith(f"{study.series.label}: ")]
        assert its[0].startswith(
            f"{study.series.label}: {study.spoilt.sum()} of these {len(study.rows)} pairs of runs "
        )
        assert not any("times the speed" in line or "elps" in line for line in its)
        assert set(study.mark_unsure(study.fair)["outcome"]) == {UNTOLD}
    quiet = next(study for study in studies_of(rows) if not study.spoilt.any())
    assert quiet.mark_unsure(quiet.fair) is quiet.fair
    assert any("times the speed" in line for line in said if line.startswith(f"{quiet.series.label}: "))


def test_two_texts_of_one_name_are_two_prompts_and_shown_apart() -> None:
    """As the first lines of two files are."""
    one, other = (
        replace(row_at("own", 4, speedup), text_hash=text) for speedup, text in ((1.0, "aaaa"), (4.0, "bbbb"))
    )
    alone = replace(one, preset="mine")
    assert names_apart((row.preset, row.text_hash) for row in (one, other, alone, one)) == [
        f"{one.preset} (aaaa)", f"{one.preset} (bbbb)", "mine", f"{one.preset} (aaaa)"
    ]  # fmt: skip
    [rows] = split_by_series(frame_of([one, other])).values()
    assert sorted(summarise(rows, ["workload", "preset"])["speedup"]) == pytest.approx([1, 4])
