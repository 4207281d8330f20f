"""What a sweep's file says as a whole: pooled points, sentences, figures on pages and as files."""

import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock, patch

import pandas as pd
import pytest
from scipy.special import stdtrit
from syrupy.assertion import SnapshotAssertion

from specviz.cli import plots
from specviz.core.errors import InputError
from specviz.core.intervals import student_t
from specviz.core.metrics import Costs
from specviz.figures import sweep as figures
from specviz.figures.parts import Figure
from specviz.measure.sweep import study as studying
from specviz.measure.sweep.rows import SweepRow, frame_of, iterate_rows
from specviz.measure.sweep.study import RISK, Study, rivals_t, studies_of
from specviz.measure.worksheet.runs import collect_rows
from specviz.ui.watch.watch_page import verification_figure
from specviz.ui.when_it_helps.sweeps import HERE, RECORDED, WhenItHelpsState, recorded_studies, recorded_sweep, studied
from specviz.ui.when_it_helps.when_it_helps_page import temperature_table
from tests.support.bench_results import make_bench
from tests.support.fake_rows import a_row, counted, prompts_at, row_at
from tests.support.figures import lines_of, parts_of, rounded

SPEEDUPS = {"story": (1.2, 1.9), "code": (1.5, 1.3), "random": (0.8, 0.5)}
ROWS = [
    row_at(workload, length, speedup, rate=0.8 if speedup > 1 else 0.12)
    for workload, speedups in SPEEDUPS.items()
    for length, speedup in zip((2, 6), speedups, strict=True)
]
# γ = 4, but 20 rounds drafted 12 tokens
LOOKUP = a_row(
    draft="prompt lookup", draft_dtype=None, new_tokens=30, plain_tokens=30, draft_seconds=0.0, overhead_seconds=0.0,
    **counted(drafted=12, accepted=10, rejected=2, emitted=30), autoregressive_seconds=0.30, verify_seconds=0.22,
    speculative_seconds=0.22, speedup=0.30 / 0.22,
)  # fmt: skip
UNDRAFTED = a_row(**counted())
# Each figure of the costs is of other rows.
UNEVEN = [
    row_at(
        "story", length, 1.5 + length / 9, 0.8 - 0.05 * length, number,
        draft_seconds=0.05 + 0.01 * number, verify_seconds=0.2 + 0.02 * length, overhead_seconds=0.01 * number,
    )
    for length, number in product((2, 4, 8), (1, 2, 3))
]  # fmt: skip
POSSIBLE = row_at("story", 4, 3.19)  # 64 tokens in 20 rounds
WARM: dict[str, Any] = {"temperature": 1.0, "repetition": 0.02}

SWEEPS: dict[str, list[SweepRow]] = {
    "nothing": [],
    "one prompt each": ROWS,
    "of each outcome": [
        *prompts_at("story", 4, 1.5, 1.55, 1.52), *prompts_at("random", 4, 0.6, 0.61, 0.59),
        *prompts_at("boilerplate", 4, 1.01, 0.99, 1.0), *prompts_at("code", 4, 0.9, 3.0, 1.1),
        row_at("<b>%{x}</b>", 4, 1.1, identical=False),
        a_row(workload="copy", preset="copy-1"),  # with discarded tokens: its two rates differ
    ],
    "lengths that differ": [
        *prompts_at("story", 2, 1.2, 1.5, 1.9), *prompts_at("story", 6, 1.5, 1.88, 2.37),
        *prompts_at("code", 2, 1.5, 1.2, 1.9), *prompts_at("code", 6, 1.0, 0.8, 1.3),
    ],
    # Found: "best draft length was four", where two and eight were not told apart from it.
    "neighbours that are not": [
        *prompts_at("story", 2, 1.4, 1.7, 1.5), *prompts_at("story", 4, 1.5, 1.6, 1.6),
        *prompts_at("story", 8, 1.0, 1.05, 1.06),
    ],
    # Prompts from 1.0× to 3.0×, and one length 10 % faster on each: the intervals overlap, but not the ratio's.
    "intervals that overlap": [*prompts_at("story", 2, 1.0, 2.0, 3.0), *prompts_at("story", 4, 1.1, 2.21, 3.18)],
    # Each prompt's own best is the other length.
    "the length that did best on the other prompts": [
        *prompts_at("own", 2, 1.9, 1.2, 1.2, 1.2), *prompts_at("own", 4, 1.5, 1.5, 1.5, 1.5)
    ],
    "luck chooses no length": [
        row_at("story", 1, 3.2), row_at("story", 1, 1.0, number=2), row_at("story", 4, 1.1),
        row_at("story", 4, 1.3, number=2), row_at("story", 8, 3.1, number=3),  # nothing else has this length yet
    ],
    "two texts of one name": [row_at("own", 4, 1.0), row_at("own", 4, 3.1, text_hash="bbbb")],
    "grammars and schedules": [
        *ROWS, *(row_at("constrained", length, 1.0, 0.3) for length in (2, 4)),
        *(row_at("constrained", length, 1.5, 0.9, constrained=True) for length in (4, 8)),
        row_at("story", 4, 1.85, draft_schedule="heuristic"), row_at("code", 4, 1.1, draft_schedule="heuristic"),
        row_at("story", 6, 2.5, draft_schedule="confidence"),
    ],
    "no chain of a fixed length": [a_row(constrained=True), a_row(draft_schedule="heuristic")],
    "costs of chains alone": [a_row(), a_row(constrained=True, draft_seconds=9.0), row_at("story", 4, 1.5, tree="2,2")],
    "prompt lookup": [LOOKUP, replace(LOOKUP, workload="prose", rounds=29, verify_seconds=0.32, speedup=0.30 / 0.32)],
    "checks without a time": [a_row(verify_seconds=0.0)],
    "no draft": [UNDRAFTED, replace(UNDRAFTED, draft_schedule="heuristic")],
    "greedy and temperature 1": [
        row_at("random", 4, 1.5, repetition=0.6), row_at("random", 4, 1.6, number=2, repetition=0.6),
        row_at("random", 4, 0.7, identical=None, **WARM), row_at("random", 4, 1.8, number=2, identical=None, **WARM),
        row_at("code", 4, 1.2, identical=None, **WARM), row_at("random", 4, 3.1, draft="another"),
    ],
    "times that differ": UNEVEN,
    "some impossible": [POSSIBLE, replace(POSSIBLE, speedup=3.5), row_at("code", 4, 1.5), a_row(draft="another")],
    "what is not pooled": [
        a_row(), a_row(seed=7), a_row(draft="org/wren-mini"), a_row(draft="lookup", draft_dtype=None),
        a_row(temperature=0.7), a_row(target_dtype="bfloat16"), a_row(machine="another", speedup=1.4),
        a_row(top_k=40), a_row(top_p=0.9), a_row(draft_length=3, tree="4,2,1"),
    ],
}  # fmt: skip


DRAWN = ("of each outcome", "lengths that differ", "prompt lookup", "some impossible")  # others: not kept


def told(study: Study) -> dict[str, object]:
    """The sentences and the tables of one series."""
    sorted_too = sorted([study, *study.others], key=lambda each: each.series.temperature)
    said = [
        studying.workload_sentence(study.fair),
        studying.length_sentence(study.points),
        studying.map_sentence(study.points, study.costs, study.lookup),
        studying.grammar_sentence(study.grammar),
    ]
    table = pd.DataFrame(temperature_table(study.fair["workload"].to_list(), sorted_too))
    tables = {"points": study.points, "fair": study.fair, "by temperature": table if study.others else table[:0]}
    lines = {name: its.to_csv(index=False, float_format="%.4g").rstrip() for name, its in tables.items() if len(its)}
    return {study.series.label: "\n".join(said), "costs": study.costs, **lines}


def drawn(study: Study) -> dict[str, str]:
    """The figures that `--plots` does not write."""
    found, labels = dict[str, str](), {"fixed": "a", "heuristic": "b", "confidence": "c", True: "held", False: "free"}
    for way, its in (("constrained", study.grammar), ("draft_schedule", study.schedules)):
        if not its.empty:
            found[way] = lines_of(figures.ways_figure(its, way, labels))
    if study.costs:
        found["map"] = lines_of(figures.break_even_figure(study.points, study.costs, lookup=study.lookup))
    return found


@pytest.mark.parametrize("name", SWEEPS)
def test_what_is_told_and_drawn_of_a_sweep(
    name: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, plotted = frame_of(SWEEPS[name]), dict[str, str]()

    def write(_: Path, file: str, title: str, figure: Figure) -> list[Path]:
        plotted[f"{file}, {title}"] = lines_of(figure)
        return []

    studies = studies_of(rows)
    monkeypatch.setattr(studying, "studies_of", lambda _: studies)  # each table is made once
    monkeypatch.setattr(plots, "_write", write)
    list(plots.write_plots(Path(), rows))
    found: dict[str, object] = {"conclusions": "\n".join(studying.conclusions(rows))}
    for number, study in enumerate(studies, start=1):
        ways = drawn(study)
        plotted["map"] = ways.pop("map", "")
        found |= {f"{number}. {title}": text for title, text in (told(study) | ways).items()}
    found |= plotted if name in DRAWN else {}
    assert rounded("\n".join(f"{title}:\n{text}" for title, text in found.items())) == snapshot


def test_points_pool_their_rows() -> None:
    pair = [row_at("story", 4, 3.0, 1.0), row_at("story", 4, 0.75, 0.5, number=2)]
    (point,) = iterate_rows(studies_of(frame_of(pair))[0].points)
    assert (point.speedup, point.acceptance_rate) == pytest.approx((1.5, 150 / 200)), "the geometric mean"
    half = 12.706205 * math.log(2)  # of the two logarithms, log 3 and log 3/4
    assert (point.low, point.high) == pytest.approx((1.5 * math.exp(-half), 1.5 * math.exp(half)))
    (worksheet,) = collect_rows(studies_of(frame_of([LOOKUP])), recorded=True)
    assert worksheet.terms.speedup == pytest.approx(1.5 / 1.1), "prompt lookup, from its counts"


def test_twelve_lines_look_different_without_their_colour() -> None:
    rows = frame_of([row_at(f"w{n}", length, 1.0) for n, length in product(range(12), (1, 16))])
    *lines, _ = parts_of(figures.length_figure(studies_of(rows)[0].points))
    assert len({(line["marker"]["symbol"], line["line"]["dash"]) for line in lines}) == 12


def test_many_rows_are_grouped_once_and_many_series_compared_with_their_own_others_alone() -> None:
    """Before: 2,000 series held the interpreter for a minute, as each was compared with each other."""
    passes = []
    for prompts in (2, 50):
        rows = frame_of(row_at("story", length, 1.5, number=n) for n in range(prompts) for length in range(1, 17))
        with patch.object(pd.DataFrame, "groupby", autospec=True, side_effect=pd.DataFrame.groupby) as grouping:
            [study] = studies_of(rows)
            assert len(study.points) + len(study.grammar) + len(study.schedules) == 16
        passes.append(grouping.call_count)
    assert passes[0] == passes[1] > 0
    rows = frame_of(row_at("story", 4, 1.5, temperature=t, machine=f"m{n}") for n in range(20) for t in (0.0, 1.0))
    with patch.object(studying, "replace", wraps=replace) as comparing:
        studies = studies_of(rows)
    assert comparing.call_count == len(studies) == 40
    assert all([other.series.machine for other in study.others] == [study.series.machine] for study in studies)


def test_rows_are_pooled_once_for_each_file_not_in_each_script_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pooling, sweeps = Mock(wraps=studying.summarise), WhenItHelpsState()
    monkeypatch.setattr(studying, "summarise", pooling)
    for number in (1, 2):
        sweeps.rows[HERE] = frame_of([row_at("story", 4, 1.5), row_at("code", 4, 1.5)][:number])
        assert [len(study.points) for _ in range(3) for study in studied(sweeps, HERE)] == [number] * 3
        assert pooling.call_count == number
    assert studied(sweeps, RECORDED) is studied(WhenItHelpsState(), RECORDED), "every visitor shares the recorded sweep"
    assert sum(len(study.rows) for study in recorded_studies()) == len(recorded_sweep())
    assert not any(study.spoilt.any() for study in recorded_studies()), "as `scripts.record sweep` leaves it"


@pytest.mark.parametrize(
    ("changes", "spoilt"),
    [
        ({}, 1),
        ({"temperature": 0.7, "plain_tokens": 40}, 0),  # texts of different length: no bound
        ({"target_dtype": "bfloat16"}, 0),  # a check takes 0.92 plain steps: 3.2 / 0.92
        ({"target_dtype": "bfloat16", "speedup": 3.8}, 1),
    ],
)
def test_a_pair_that_is_faster_than_its_rounds_allow_is_impossible(changes: Any, spoilt: int) -> None:
    fast = replace(POSSIBLE, **{"speedup": 3.4, **changes})
    assert int(studying.impossible(frame_of([fast, replace(fast, speedup=3.2)])).sum()) == spoilt


def falsely_told_apart(rows: pd.DataFrame) -> float:
    """The share of the workloads on which a length is told apart from the best."""
    found = studies_of(rows)[0].points
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
    for freedom, probability in product((1, 2, 5, 8, 9, 30, 400), (0.975, 0.995, 0.9995)):
        assert student_t(freedom, probability) == pytest.approx(stdtrit(freedom, probability), rel=1e-9)
    assert rivals_t(9, 2) == pytest.approx(student_t(9), abs=0.001)  # of two lengths there is one pair
    assert rivals_t(9, 5) > rivals_t(9, 4) > rivals_t(9, 3)


def test_measured_costs_of_checking_are_drawn_beside_checking_one_by_one(snapshot: SnapshotAssertion) -> None:
    costs = Costs(step_seconds=0.005, cost_ratio=0.1, verification={1: 1.0, 2: 1.1, 5: 1.3, 17: 1.9}, overhead=0.05)
    assert lines_of(verification_figure(costs)) == snapshot


# ---- as files


def check_pages(drawn: list[Path], names: set[str]) -> None:
    """Text stays text, no long name is cut, and colours of the pages' theme are colours."""
    assert {path.name for path in drawn} == {f"{name}.html" for name in names}
    for path in drawn:
        content = path.read_text(encoding="utf-8")
        assert [each for each in ("Plotly.newPlot", "plotly.min.js", '"automargin":') if each not in content] == []
        assert not re.search(r"<b>|var\(--", content)


def test_figures_are_pages_for_each_pair_of_models_and_pictures_where_kaleido_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new" / "figures"
    plots.check_plots(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        plots.check_plots(tmp_path / "file")
    rows = frame_of([*prompts_at("$x^2$ <b>", 2, 1.2, 1.3), *prompts_at("story", 4, 1.4, temperature=1.0)])
    names = ("speedup-by-workload", "speedup-by-draft-length", "acceptance-by-workload")
    check_pages([*plots.write_plots(folder, rows)], {f"{name}-{pair}" for pair in (1, 2) for name in names})
    assert (folder / "plotly.min.js").exists()
    monkeypatch.setattr(plots, "find_spec", lambda name: name == "kaleido")
    monkeypatch.setattr("plotly.io.write_image", lambda _, path, **__: path.write_text("a picture"))
    assert {path.suffix for path in plots.write_plots(folder, rows)} == {".html", ".svg", ".png"}


def test_a_benchs_figures_are_pages_and_those_without_figures_are_left_out(tmp_path: Path) -> None:
    result = make_bench({1: 1.5, 4: 1.0, 8: 0.8}, prompts=[("$x^2$ <b>", "story"), ("plain", "code")])
    of_one_server = {"throughput-by-concurrency", "acceptance-by-position", "times"}
    drawn = list(plots.write_bench_plots(tmp_path, result))
    check_pages(drawn, {"speedup-by-concurrency", "speedup-by-prompt", *of_one_server})
    alone = replace(result, without=None, answers=[each for each in result.answers if each.side == "with"])
    check_pages(list(plots.write_bench_plots(tmp_path, alone)), of_one_server)
    assert list(plots.write_bench_plots(tmp_path, replace(result, answers=[]))) == []
