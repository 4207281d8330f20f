"""What "When it helps" computes: choices, links, estimates, pooled rows, sentences and figures."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
import pytest

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.theory import break_even_acceptance
from specviz.figures import sweep as figures
from specviz.figures.parts import Figure
from specviz.measure.paired import Pace, show_duration
from specviz.measure.sweep import sentences, study
from specviz.measure.sweep.plan import SweepPair, SweepPrompt
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.table import frame_of, iterate_rows
from specviz.models.draft_menu import linked_names
from specviz.ui.when_it_helps.sweeps import (
    MAX_CELLS,
    SweepChoice,
    estimated_seconds,
)
from tests.support.fake_rows import a_row, prompts_at, row_at
from tests.support.figures import parts_of
from tests.support.known import known

NAMES = ["wren-base", "wren-nano"]
SPEEDUPS = {"story": (1.2, 1.9), "code": (1.5, 1.3), "random": (0.8, 0.5)}
ROWS = [
    row_at(workload, length, speedup, rate=0.8 if speedup > 1 else 0.12)
    for workload, speedups in SPEEDUPS.items()
    for length, speedup in zip((2, 6), speedups, strict=True)
]


def test_a_choice_survives_its_link() -> None:
    choice = SweepChoice(
        workloads=("prose", "copy"), drafts=("wren-nano", PROMPT_LOOKUP), draft_lengths=(3, 16), prompts=5, seed=7,
        temperatures=(0.0, 0.7), schedules=("fixed", "confidence"), tokens=32, constrain=True,
        top_k=40, top_p=0.9,
    )  # fmt: skip
    assert SweepChoice.read(choice.parameters(), context=NAMES) == (choice, [])
    assert SweepChoice.read({}, context=NAMES) == (SweepChoice(), [])
    settings = choice.plan().settings
    assert (settings.seed, settings.top_k, settings.top_p, settings.max_new_tokens) == (7, 40, 0.9, 32)
    tree = SweepChoice(drafts=("wren-eagle", "early-exit:2"), tree="4,2,1")
    joint = SweepChoice(temperatures=(1.0,), draft_sampling="argmax", verification="block")
    for choice in (tree, joint):
        assert SweepChoice.read(choice.parameters(), context=linked_names()) == (choice, [])
        assert choice.problem() is None
    assert {(cell.settings.tree, cell.settings.draft_length) for cell in tree.plan().cells()} == {("4,2,1", 3)}
    assert {cell.settings.manner for cell in joint.plan().cells()} == {", most probable drafts, block verification"}
    choice, problems = SweepChoice.read(
        {"workload": ["story", "nonsense", "story"], "gamma": ["5", "x"]}, context=NAMES
    )
    assert (choice.workloads, choice.draft_lengths, len(problems)) == (("story",), (5,), 2)


def test_what_does_not_go_with_a_tree_is_one_sentence() -> None:
    assert "it drafts no tree" in str(SweepChoice(tree="dynamic:8", drafts=(PROMPT_LOOKUP,)).problem())
    several = SweepChoice(tree="dynamic:8", schedules=("fixed", "heuristic"))
    assert "A tree has a fixed draft length" in str(several.problem())
    assert SweepChoice(tree="dynamic:8", verification="block").problem() is None  # a link only: the control is locked


def test_each_bad_value_of_a_link_falls_back_with_a_sentence() -> None:
    for part in (
        {"workload": ["nonsense"]}, {"target": ["<b>"]}, {"draft": ["../x"]}, {"gamma": ["0"]}, {"gamma": ["17"]},
        {"gamma": ["9" * 5000]}, {"gamma": ["٣"]}, {"temperature": ["nan"]}, {"temperature": ["0.123"]},
        {"tokens": ["257"]}, {"prompts": ["-1"]}, {"constrain": ["yes"]}, {"dtype": ["int8"]}, {"schedule": [""]},
        {"seed": ["-1"]}, {"seed": [str(2**53)]}, {"top_k": ["1001"]}, {"top_p": ["0"]}, {"top_p": ["1.01"]},
        {"tree": ["x"]}, {"verification": ["all"]}, {"draft_sampling": ["beam"]},
    ):  # fmt: skip
        choice, problems = SweepChoice.read(part, context=NAMES)
        assert (choice, len(problems)) == (SweepChoice(), 1), part


def test_a_plan_has_the_visitors_own_prompts_last() -> None:
    own = (SweepPrompt("own", "line-1", "hello"),)
    plan = SweepChoice(workloads=("story", "code"), prompts=2).plan(own)
    assert [prompt.name for prompt in plan.prompts] == ["story-1", "code-1", "story-2", "code-2", "line-1"]
    assert len(plan.cells()) == 5 * 4


def test_what_cannot_be_started_says_so_and_what_can_how_long_it_takes() -> None:
    for empty in ("workloads", "drafts", "draft_lengths", "temperatures", "schedules"):
        nothing: dict[str, Any] = {empty: ()}
        assert str(SweepChoice(**nothing).problem()).startswith("Nothing is chosen: ")
    assert SweepChoice().problem() is None
    choice = SweepChoice(draft_lengths=tuple(range(1, 17)), temperatures=(0.0, 0.3, 0.5, 0.7, 1.0, 1.5), prompts=5)
    assert f"at most {MAX_CELLS:,}" in str(choice.problem())
    lonely = SweepChoice(drafts=(PROMPT_LOOKUP,), schedules=("confidence",))
    assert "no confidence" in str(lonely.problem())
    pair = SweepPair("wren-base", "wren-nano")
    cells = SweepChoice(workloads=("story",), prompts=1, draft_lengths=(1, 2), tokens=100).plan().cells()
    assert estimated_seconds(cells, {pair: Pace(0.01, 0.02)}) == pytest.approx(2 * 100 * 0.01 + 106 * 0.02)
    assert estimated_seconds(cells, {pair: None}) is None
    said = [show_duration(seconds) for seconds in (1, 72, 200, 6000)]
    assert said == ["about 5 s", "about 70 s", "about 3 min", "about 1.7 h"]


def fair_of(rows: list[SweepRow]) -> pd.DataFrame:
    return study.fair_points(study.fair_rows(frame_of(rows)))


def points_of(rows: list[SweepRow]) -> pd.DataFrame:
    return study.mark_rivals(study.points(frame_of(rows)), frame_of(rows))


def columns(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return list(frame[list(names)].itertuples(index=False, name=None))


def test_points_pool_their_rows() -> None:
    pair = [row_at("story", 4, 4.0, 1.0), row_at("story", 4, 1.0, 0.5, number=2)]
    (point,) = iterate_rows(study.points(frame_of(pair)))
    assert point.speedup == pytest.approx(2.0)  # the geometric mean
    assert point.acceptance_rate == pytest.approx(150 / 200)
    assert (point.runs, point.prompts, point.outcome) == (2, 2, "too close to call")
    assert point.tokens_per_target_call == 128 / 40
    half = 12.706205 * math.log(2) / math.sqrt(2) * math.sqrt(2)  # of the two logarithms, log 4 and 0
    assert (point.low, point.high) == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)))
    assert study.points(frame_of([a_row(constrained=True), a_row(draft_schedule="heuristic")])).empty
    nothing = {"drafted": 0, "accepted": 0, "rejected": 0, "discarded": 0}
    (point,) = iterate_rows(study.points(frame_of([a_row(**nothing, acceptance_rate=None, per_judgement_rate=None)])))
    assert math.isnan(point.acceptance_rate)
    assert math.isnan(point.per_judgement_rate)
    assert study.costs_of(frame_of([a_row(**nothing)])) is None


def test_pooling_many_rows_groups_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear in the rows: the number of passes over them does not depend on how many there are."""
    passes: list[int] = []
    grouped = pd.DataFrame.groupby

    def counting(frame: pd.DataFrame, *arguments: Any, **options: Any) -> Any:
        passes.append(len(frame))
        return grouped(frame, *arguments, **options)

    monkeypatch.setattr(pd.DataFrame, "groupby", counting)
    counts = []
    for prompts in (2, 50):
        rows = frame_of(row_at("story", length, 1.5, number=n) for n in range(prompts) for length in range(1, 17))
        passes.clear()
        study.fair_points(study.fair_rows(rows))
        for pool in (study.points, study.split_by_series, study.grammar_ways, study.schedule_ways):
            pool(rows)
        counts.append(len(passes))
    assert counts[0] == counts[1] > 0


def test_what_several_prompts_may_say_of_workloads() -> None:
    def said(rows: list[SweepRow]) -> str:
        return sentences.workload_sentence(fair_of(rows))

    assert columns(fair_of(ROWS), "workload", "lengths") == [("story", (6,)), ("code", (2,)), ("random", (2,))]
    assert said(ROWS) == (
        "Looks like it helps on story (1.90×) and code (1.50×); looks like it hurts on random words (0.80×)."
    )
    assert said([]) == sentences.length_sentence(points_of([])) == "Nothing is measured yet."
    near, above = prompts_at("prose", 1, 1.01, 0.99, 1.005), prompts_at("prose", 1, 1.03, 1.031, 1.029)
    assert said(near).startswith("About even on prose")
    assert said(above).startswith("Helps on prose"), "small, but its interval leaves out 1"
    # Found: one sure workload made it "Pays on 8 of 8 workloads, 1 of them for sure", with seven that include 1.
    agreed, slow = prompts_at("story", 4, 1.5, 1.55, 1.52), prompts_at("random", 4, 0.6, 0.61, 0.59)
    uneven = [row for name in ("code", "copy", "prose") for row in prompts_at(name, 4, 0.9, 3.0, 1.1)]
    same = prompts_at("boilerplate", 4, 1.01, 0.99, 1.0)
    every = [*agreed, *uneven, *slow, *same]
    assert said(every).startswith(
        "Helps on story (1.52×); about even on boilerplate (1.00×); too close to call on code"
    )
    assert said(every).endswith("; hurts on random words (0.60×).")


def test_an_impossible_time_is_reported_and_luck_does_not_choose_a_draft_length() -> None:
    def said(*rows: SweepRow) -> str:
        return sentences.clock_sentence(study.impossible(frame_of(rows)))

    possible = row_at("story", 4, 3.2)  # 64 tokens in 20 rounds
    assert said(possible) == ""
    assert said(possible, replace(possible, speedup=3.5)).startswith("1 of these 2 pairs of runs is faster than")
    drawn = replace(possible, speedup=3.5, temperature=0.7, plain_tokens=40)  # texts of different length: no bound
    assert said(drawn) == ""
    in_bfloat16 = replace(possible, speedup=3.5, target_dtype="bfloat16")  # a check takes 0.92 plain steps: 3.2 / 0.92
    assert said(in_bfloat16) == ""
    assert said(in_bfloat16, replace(in_bfloat16, speedup=3.8)).startswith("1 of these 2")
    assert "no speedup can" not in said(replace(possible, speedup=3.5))
    lucky = [
        row_at("story", 1, 3.2, number=1), row_at("story", 1, 1.0, number=2),  # best on average, by one lucky prompt
        row_at("story", 4, 1.1, number=1), row_at("story", 4, 1.3, number=2),
    ]  # fmt: skip
    (best,), (fair,) = iterate_rows(study.best_points(study.points(frame_of(lucky)))), iterate_rows(fair_of(lucky))
    assert (best.draft_length, fair.lengths) == (1, (1, 4))
    assert best.speedup == pytest.approx((3.2 * 1.0) ** 0.5)
    assert fair.speedup == pytest.approx((1.1 * 1.0) ** 0.5)  # each at the length best on the other
    ahead = [*lucky, row_at("story", 8, 9.0, number=3)]  # a sweep under way: nothing else has this length yet
    assert sorted(study.fair_rows(frame_of(ahead))["speedup"]) == [1.0, 1.1, 9.0]


def test_the_reading_by_length() -> None:
    def said(rows: list[SweepRow]) -> str:
        return sentences.length_sentence(points_of(rows))

    assert said(ROWS) == "One prompt a workload cannot rank draft lengths."
    story = [*prompts_at("story", 2, 1.2, 1.5, 1.9), *prompts_at("story", 6, 1.5, 1.88, 2.37)]
    code = [*prompts_at("code", 2, 1.5, 1.2, 1.9), *prompts_at("code", 6, 1.0, 0.8, 1.3)]
    assert said(story) == ("With 3 prompts each, it is too close to call: γ = 6 may be the best on every workload.")
    assert said([*story, *code]) == (
        "No draft length is best everywhere. With 3 prompts each, the best may be γ = 2 on code and γ = 6 on story."
    )


def test_neighbours_are_told_apart_only_by_what_the_prompts_resolve() -> None:
    """Found: "best draft length was four", where two and eight were not told apart from it."""
    rows = [
        *prompts_at("story", 2, 1.4, 1.7, 1.5), *prompts_at("story", 4, 1.5, 1.6, 1.6),
        *prompts_at("story", 8, 1.0, 1.05, 1.06),
    ]  # fmt: skip
    every = points_of(rows)
    assert columns(every, "draft_length", "may_be_best") == [(2, True), (4, True), (8, False)]
    assert "γ = 2 or 4 may be the best" in sentences.length_sentence(every)
    # Prompts from 1.0× to 3.0×, and one length 10 % faster on each: the intervals overlap, but not the ratio's.
    slower, faster = (1.0, 2.0, 3.0), (1.1, 2.21, 3.29)
    every = points_of([*prompts_at("story", 2, *slower), *prompts_at("story", 4, *faster)])
    assert every["low"].max() < every["high"].min()
    assert columns(every, "draft_length", "may_be_best") == [(2, False), (4, True)]


def test_costs_are_those_of_the_rows_and_give_the_break_even_line() -> None:
    row = a_row()  # 76 drafted in 0.1 s, 20 rounds of 0.28 s checking, 0.02 s overhead, 10 ms a plain token
    costs = known(study.costs_of(frame_of([row, replace(row, constrained=True, draft_seconds=9.0)])))
    assert (costs.cost_ratio, costs.overhead) == pytest.approx((0.1 / 76 / 0.01, 0.1))
    assert costs.verification == {5: pytest.approx(1.4)}
    expected = break_even_acceptance(4, costs.cost_ratio, 1.4, 0.1)
    assert study.break_even_line(costs, [4]) == [pytest.approx(expected)]
    assert sentences.map_sentence(study.points(frame_of([row])), costs).startswith("1 of 1 measured points")
    assert sentences.map_sentence(study.points(frame_of([replace(row, speedup=0.9)])), costs).startswith("0 of 1")
    assert study.costs_of(frame_of([replace(row, draft_schedule="heuristic")])) is None


def schedules_figure(found: pd.DataFrame) -> Figure:
    return figures.ways_figure(found, "draft_schedule", {"fixed": "a", "heuristic": "b", "confidence": "c"})


def test_grammars_and_schedules_are_compared_with_the_same_draft_lengths() -> None:
    free = [row_at("constrained", length, 1.0, 0.3) for length in (2, 4)]
    held = [row_at("constrained", length, 1.5, 0.9, constrained=True) for length in (4, 8)]
    pairs = study.grammar_ways(frame_of([*free, *held]))
    assert columns(pairs, "preset", "lengths", "constrained", "acceptance_rate") == [
        ("constrained-1", (4,), False, 0.3), ("constrained-1", (4,), True, 0.9),
    ]  # fmt: skip
    assert sentences.grammar_sentence(pairs) == (
        "With the grammar 90 % of the guesses are accepted, 30 % without it; more on 1 of 1 prompts."
    )
    assert study.grammar_ways(frame_of(free)).empty
    assert "Nothing" in sentences.grammar_sentence(study.grammar_ways(frame_of([])))
    near = row_at("story", 4, 1.85, draft_schedule="heuristic")
    far = row_at("code", 4, 1.0, draft_schedule="heuristic")
    stop = row_at("story", 6, 2.5, draft_schedule="confidence")
    found = study.schedule_ways(frame_of([*ROWS, near, far, stop]))
    assert sorted(columns(found, "workload", "draft_schedule", "speedup")) == [
        ("code", "fixed", 1.5), ("code", "heuristic", 1.0),
        ("story", "confidence", 2.5), ("story", "fixed", 1.9), ("story", "heuristic", 1.85),
    ]  # fmt: skip
    labels = [label.split("<br>")[0][-1] for part in parts_of(schedules_figure(found)) for label in part["y"]]
    assert sorted(labels) == ["a", "a", "b", "b", "c"]
    assert study.schedule_ways(frame_of(ROWS)).empty


def test_pairs_temperatures_formats_and_machines_are_not_pooled() -> None:
    rows = [
        a_row(), a_row(draft="wren-mini"), a_row(draft="lookup", draft_dtype=None), a_row(temperature=0.7),
        a_row(target_dtype="bfloat16"), a_row(machine="another"), a_row(top_k=40), a_row(top_p=0.9),
    ]  # fmt: skip
    found = study.split_by_series(frame_of(rows))
    assert [frame_of([row]).equals(its.reset_index(drop=True)) for row, its in zip(rows, found.values(), strict=True)]
    labels = [series.label for series in found]
    assert labels[2] == "prompt lookup → wren-base, temperature 0"
    assert "(bfloat16)" in labels[4]
    assert [label.rpartition(", ")[2] for label in labels[-2:]] == ["top-k 40", "top-p 0.9"]
    assert len(study.split_by_series(frame_of([a_row(seed=7), a_row()]))) == 1  # another draw of the same


def workload_bars(rows: list[SweepRow]) -> Figure:
    chosen = study.fair_rows(frame_of(rows))
    return figures.workload_figure(study.fair_points(chosen), chosen)


def test_bars_below_1_differ_by_more_than_colour_and_every_prompt_is_a_dot() -> None:
    rows = [*ROWS, row_at("story", 6, 1.85, number=2), row_at("copy", 6, 1.01)]
    rows += prompts_at("prose", 6, 0.5, 2.5)
    faster, even, unclear, slower, dots = parts_of(workload_bars(rows))
    kinds = [[label.split("<br>")[0] for label in kind["y"]] for kind in (faster, even, unclear, slower)]
    assert kinds == [["Story", "Code"], ["Copy"], ["Prose"], ["Random words"]]
    assert unclear["y"] == ["Prose<br>1.12×, γ = 6"]
    assert unclear["error_x"]["array"][0] > 1
    assert slower["error_x"]["array"] == [0], "one prompt has no interval"
    assert even["marker"]["color"] != faster["marker"]["color"]
    assert slower["marker"]["pattern"]["shape"]
    assert not faster["marker"].get("pattern")
    assert sorted(dots["x"]) == [0.5, 0.8, 1.01, 1.5, 1.85, 1.9, 2.5]
    one, other = parts_of(figures.acceptance_figure(fair_of(rows)))
    assert one["name"] != other["name"]
    assert other["marker"]["pattern"]["shape"] == "/"


def test_lines_and_the_map_show_the_best_and_the_break_even() -> None:
    *lines, best = parts_of(figures.length_figure(points_of(ROWS)))
    assert len({line["marker"]["symbol"] for line in lines}) == len(lines) == 3
    assert len(best["x"]) == 6, "one prompt tells nothing apart"
    told = [*prompts_at("story", 2, 1.0, 2.0), *prompts_at("story", 4, 1.5, 3.001)]
    *_, best = parts_of(figures.length_figure(points_of(told)))
    assert best["x"] == [4]
    costs = known(study.costs_of(frame_of(ROWS)))
    line, above, below = parts_of(figures.break_even_figure(study.points(frame_of(ROWS)), costs))
    assert "modelled" in line["name"]
    assert (len(above["x"]), len(below["x"])) == (4, 2)


@pytest.mark.parametrize("rows", [ROWS[:1], [a_row(drafted=0, accepted=0, rejected=0, discarded=0, acceptance_rate=None,
    per_judgement_rate=None)], [row_at(f"w{n}", g, 1.0) for n, g in product(range(12), (1, 16))]])  # fmt: skip
def test_figures_of_few_and_of_many_rows_are_drawn(rows: list[SweepRow]) -> None:
    every = points_of(rows)
    adaptive = frame_of([*rows, *(replace(row, draft_schedule="heuristic") for row in rows)])
    constrained = frame_of([*rows, *(replace(row, constrained=True) for row in rows)])
    for figure in (
        workload_bars(rows),
        figures.acceptance_figure(fair_of(rows)),
        figures.length_figure(every),
        schedules_figure(study.schedule_ways(adaptive)),
        figures.ways_figure(study.grammar_ways(constrained), "constrained", {False: "a", True: "b"}),
    ):
        assert parts_of(figure)
