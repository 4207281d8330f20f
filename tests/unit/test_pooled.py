"""A sweep's rows pooled, whole: each table of a study with its figures as a reader sees them, and its costs."""

from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.study import (
    best_points,
    break_even_line,
    costs_of,
    fair_points,
    fair_rows,
    grammar_ways,
    mark_rivals,
    points,
    rivals_t,
    round_steps,
    schedule_ways,
    split_by_series,
    studies_of,
    summarise,
)
from specviz.measure.sweep.table import frame_of
from tests.support.fake_rows import a_row, row_at


def timed(row: dict[str, Any]) -> SweepRow:
    """A row whose times are others than its neighbours': each figure of the costs is one row's."""
    number, length = row["number"], row["draft_length"]
    return row_at(
        **row, draft_seconds=0.05 + 0.01 * number, verify_seconds=0.2 + 0.02 * length, overhead_seconds=0.01 * number
    )


STORY = {
    (2, 1): 1.5,
    (2, 2): 1.8,
    (2, 3): 1.6,
    (4, 1): 1.9,
    (4, 2): 1.7,
    (4, 3): 2.2,
    (8, 1): 0.7,
    (8, 2): 0.8,
    (8, 3): 0.9,
}
ROWS = [
    *(
        timed(
            {
                "workload": "story",
                "draft_length": length,
                "speedup": speedup,
                "rate": 0.8 - 0.05 * length,
                "number": number,
            }
        )
        for (length, number), speedup in STORY.items()
    ),
    timed({"workload": "code", "draft_length": 4, "speedup": 2.5, "rate": 0.9, "number": 1, "repetition": 0.25}),
    timed({"workload": "code", "draft_length": 2, "speedup": 1.25, "rate": 0.95, "number": 1, "repetition": 0.75}),
    row_at("code", 4, 1.1, 0.6, 1, constrained=True),
    row_at("story", 16, 1.4, 0.7, 1, draft_schedule="confidence"),
    row_at("story", 16, 1.3, 0.75, 2, draft_schedule="heuristic"),
]


def lines_of(frame: pd.DataFrame) -> list[str]:
    return frame.to_csv(index=False, sep=" ", na_rep="-", float_format="%.4g").splitlines()


def test_every_table_of_a_study(snapshot: SnapshotAssertion) -> None:
    rows = frame_of(ROWS)
    found = points(rows)
    tables = {
        "points": found,
        "best": best_points(found)[["workload", "draft_length", "speedup"]],
        "fair rows": fair_rows(rows)[["workload", "preset", "draft_length", "speedup"]],
        "fair": fair_points(fair_rows(rows))[["workload", "speedup", "low", "high", "lengths", "outcome"]],
        "rivals": mark_rivals(found, rows)[["workload", "draft_length", "may_be_best"]],
        "grammar": grammar_ways(rows)[["preset", "constrained", "speedup", "accepted"]],
        "schedules": schedule_ways(rows)[["workload", "draft_schedule", "speedup", "runs", "lengths"]],
        "by draft length": summarise(rows, ["draft_length"])[["draft_length", "speedup", "runs", "prompts", "outcome"]],
    }
    assert {name: lines_of(table) for name, table in tables.items()} == snapshot


def test_the_costs_of_a_sweep(snapshot: SnapshotAssertion) -> None:
    rows = frame_of(ROWS)
    costs = costs_of(rows)
    assert costs
    told = {
        "a step": f"{costs.step_seconds:.4g}",
        "a guess": f"{costs.cost_ratio:.4g}",
        "checks": {tokens: f"{steps:.4g}" for tokens, steps in sorted(costs.verification.items())},
        "the rest": f"{costs.overhead:.4g}",
        "break-even": [each if each is None else f"{each:.4g}" for each in break_even_line(costs, [1, 2, 4, 8])],
        "steps of a round": [f"{steps:.4g}" for steps in round_steps(points(rows), costs)],
    }
    assert told == snapshot
    assert costs_of(frame_of([row_at("story", 4, 1.5, tree="2,2")])) is None
    assert costs_of(frame_of([])) is None
    assert costs_of(frame_of([a_row(drafted=1, accepted=1, rejected=0, discarded=0)]))


def test_a_length_is_told_apart_from_the_best_of_several() -> None:
    """Student's t of scipy, with the 5 % shared among the ordered pairs."""
    assert rivals_t(4, 2) == pytest.approx(2.7764, abs=1e-4)  # 0.975
    assert rivals_t(4, 3) == pytest.approx(3.9608, abs=1e-4)  # 1 − 0.05 / 6
    assert rivals_t(9, 5) == pytest.approx(3.6897, abs=1e-4)  # 1 − 0.05 / 20
    assert rivals_t(4, 1) == float("inf")
    empty = frame_of([])
    assert mark_rivals(points(empty), empty)["may_be_best"].dtype == "bool"


def test_a_series_is_a_pair_on_one_machine_and_knows_the_same_pair_at_other_temperatures(
    snapshot: SnapshotAssertion,
) -> None:
    rows = [
        row_at("story", 4, 1.5),
        row_at("story", 4, 1.4, temperature=1.0),
        row_at("story", 4, 1.3, machine="another"),
        row_at("story", 4, 1.2, draft="prompt lookup", draft_dtype=None),
        row_at("code", 4, 1.1, temperature=1.0),
        row_at("story", 4, 1.0, text_hash="another"),
    ]
    series = split_by_series(frame_of(rows))
    assert {
        f"{each.machine}, {each.draft}, {each.temperature}": its["preset"].to_list() for each, its in series.items()
    } == snapshot
    studies = studies_of(frame_of(rows))
    assert [(study.lookup, [studies.index(other) for other in study.others]) for study in studies] == [
        (False, [1]),
        (False, [0]),
        (False, []),
        (True, []),
    ]


def test_a_study_leaves_out_what_cannot_be_and_then_tells_no_outcome() -> None:
    """A round takes at least as long as a step, so nothing is faster than its tokens per target call."""
    sure, unsure = (studies_of(frame_of(rows))[0] for rows in (ROWS, [*ROWS, row_at("copy", 4, 90.0)]))
    assert lines_of(sure.points) == lines_of(unsure.points)
    assert set(sure.mark_unsure(sure.points)["outcome"]) > {"helps"}
    assert set(unsure.mark_unsure(unsure.points)["outcome"]) == {"too close to call"}
    assert (len(unsure.rows), len(unsure.possible)) == (15, 14)
    assert unsure.costs == sure.costs
    assert lines_of(unsure.fair) == lines_of(fair_points(fair_rows(frame_of(ROWS))))
