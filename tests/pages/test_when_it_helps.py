"""The "When it helps" page by AppTest: the recorded sweep, one of its own, and its panels by drafter and by method."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.judge import Interval, judge
from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.request import DEFAULT_TARGET, RunRequest
from specviz.core.trace import DrafterInfo
from specviz.data.measured.measured_methods import MeasuredMethods
from specviz.data.prompts.workloads import OWN_TEXT, find_preset
from specviz.measure.sweep.table import dump_frame, frame_of
from specviz.ui.session import Arrival, Session
from specviz.ui.shared.form import offered_presets
from specviz.ui.when_it_helps.by_draft import (
    Point,
    best_lengths,
    best_of,
    drafts_to_compare,
    lengths_in_words,
    points_of,
    prospects_figure,
    reading,
    tokens_figure,
)
from specviz.ui.when_it_helps.sweeps import (
    HERE,
    MAX_FILES,
    RECORDED,
    SweepChoice,
    WhenItHelpsState,
    recorded_sweep,
    studied,
)
from tests.support import app_pages
from tests.support.app_pages import alone, texts, until, visit
from tests.support.fake_rows import row_at
from tests.support.figures import parts_of
from tests.support.hostile import figures_of
from tests.support.known import known
from tests.support.measured_methods import NAMES, measured

SMALL = SweepChoice(workloads=("story", "copy"), draft_lengths=(2, 4), tokens=8, prompts=1)


def opened(choice: SweepChoice | None = None, **state: Any) -> AppTest:
    page = "when_it_helps"
    asked: Any = {"asked": {page: choice}, "came": {page: Arrival(True)}} if choice else {}
    return app_pages.opened("pages/when_it_helps.py", Session(**asked).put(WhenItHelpsState(**state)))


def test_without_any_rows_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("specviz.ui.when_it_helps.sweeps.FILE", tmp_path / "none.csv")
    recorded_sweep.cache_clear()
    try:
        page = opened()
        assert "Nothing is measured yet: choose what to measure" in texts(page)
    finally:
        recorded_sweep.cache_clear()


def test_the_address_says_what_is_chosen_and_a_link_is_taken() -> None:
    page = opened()
    page.get_by_key("when_it_helps_tokens").set_value(32).run()
    assert page.query_params["tokens"] == "32"
    assert page.query_params["gamma"] == ["1", "2", "4", "8"]
    link = {"workload": ["prose", "nonsense"], "gamma": ["3"], "tokens": "16"}
    linked = app_pages.opened("pages/when_it_helps.py", **link)
    assert visit(linked).asked["when_it_helps"] == SweepChoice(workloads=("prose",), draft_lengths=(3,), tokens=16)
    assert "A workload in the link is not known here" in texts(linked)


def test_the_rows_of_a_sweep_are_still_there_after_another_page() -> None:
    nothing = opened(choice=SweepChoice(workloads=()))
    assert nothing.button(key="when_it_helps_start").disabled
    assert "Nothing is chosen: Workloads" in texts(nothing)
    page = opened(choice=SMALL)
    page.button(key="when_it_helps_start").click().run()
    assert visit(page).of(WhenItHelpsState).slot.busy
    until(page, lambda: not visit(page).of(WhenItHelpsState).slot.busy)
    rows = visit(page).of(WhenItHelpsState).rows[HERE]
    cells = list(zip(rows["preset"], rows["draft_length"], strict=True))
    assert cells == [("story-1", 2), ("story-1", 4), ("copy-1", 2), ("copy-1", 4)]
    assert "**Measured here**" in texts(page)
    assert visit(page).of(WhenItHelpsState).sources() == [HERE, RECORDED]
    again = opened(choice=SMALL, rows={HERE: rows})
    assert "**Measured here**" in texts(again)
    assert again.get_by_key("when_it_helps_tokens").value == 8
    again.button(key="when_it_helps_start").click().run()
    until(again, lambda: not visit(again).of(WhenItHelpsState).slot.busy)
    assert len(visit(again).of(WhenItHelpsState).rows[HERE]) == 8  # sweeps accumulate


def test_ones_own_prompts_are_taken_and_bad_lines_are_named() -> None:
    page = opened()
    lines = b'{"prompt": "Once upon a time", "workload": "<img src=x>"}\r\n{"prompt": 7}\r\n'
    page.get_by_key("when_it_helps_file").set_value(("mine.jsonl", lines, "text/plain")).run()
    for said in ("1 prompt taken", "Line 2 is left out: its", "**76 runs**"):
        assert said in texts(page)
    page.get_by_key("when_it_helps_file").set_value(("bad.bin", bytes(range(256)), "text/plain")).run()
    assert "The file is not UTF-8 text." in page.error[0].value
    assert "1 prompt taken" in texts(page), "nothing is lost"


def test_clearing_can_be_undone() -> None:
    rows = [row_at("story", 4, 1.5), row_at("code", 4, 0.8)]
    page = opened(rows={HERE: frame_of(rows)}, shown=HERE)
    assert "Looks like it helps on story (1.50×); looks like it hurts on code (0.80×)" in texts(page)
    page.button(key="when_it_helps_clear").click().run()
    assert "**Recorded**; your machine" in texts(page)
    page.button(key="when_it_helps_undo").click().run()
    assert visit(page).of(WhenItHelpsState).rows[HERE].equals(frame_of(rows))
    assert list(visit(page).of(WhenItHelpsState).rows) == [HERE]


def test_only_the_newest_opened_files_stay_in_the_servers_memory_and_they_say_where_they_are_from() -> None:
    sweeps = WhenItHelpsState(rows={HERE: frame_of([row_at("story", 4, 1.5)])})
    for number in range(MAX_FILES + 2):
        sweeps.load(dump_frame(frame_of([row_at("tales", 4, 1.5)])).encode(), f"{number}.csv")
        studied(sweeps, sweeps.shown)
    assert set(sweeps.studied) <= set(sweeps.rows)
    assert list(sweeps.rows) == [HERE, *(f"from {number}.csv" for number in range(2, MAX_FILES + 2))]
    assert sweeps.shown == f"from {MAX_FILES + 1}.csv"
    page = opened(rows=sweeps.rows, shown=sweeps.shown)
    assert f"**Loaded {sweeps.shown}** (a test's machine" in texts(page)
    assert "Looks like it helps on tales" in texts(page)


def test_impossible_times_are_left_out_and_one_of_several_pairs_is_chosen() -> None:
    rows = [row_at("story", 4, 9.0), row_at("story", 4, 1.5, number=2), row_at("copy", 4, 1.4)]
    page = opened(rows={HERE: frame_of([*rows, row_at("story", 4, 0.5, temperature=0.7)])}, shown=HERE)
    assert "1 of these 3 pairs of runs is faster than possible" in texts(page)
    assert "elps on story" not in texts(page), "a busy machine ranks nothing"
    menu = next(box for box in page.selectbox if box.label == "Pair and temperature")
    menu.set_value(1).run()
    assert "Looks like it hurts on" in texts(page)


# ---- by drafter


def by_draft_panel() -> None:
    from specviz.ui.session import session
    from specviz.ui.when_it_helps.by_draft import show_by_draft
    from specviz.ui.when_it_helps.sweeps import WhenItHelpsState

    show_by_draft(session().of(WhenItHelpsState).by_draft)


def prospect(draft: str, right: bool, cost_ratio: float, noise: float = 0.01, repeats: int = 9) -> Prospect:
    output = list(range(20))
    guesses = output if right else [token + 100 for token in output]
    draft_guesses = DraftGuesses(DrafterInfo("model", draft), output, guesses, None, {}, True)
    blocks = [Costs(0.01, cost_ratio, {1: 1.0, 17: 1.0}, noise * turn) for turn in range(max(1, repeats))]
    return Prospect(draft, draft_guesses, Costs.from_blocks(blocks) if repeats else blocks[0], 20, [])


def slower(point: Point, draft: str, times: float, interval: Interval) -> Point:
    return replace(point, draft=draft, modelled=judge(times * point.modelled.speedup, interval, modelled=True))


def test_a_draft_that_is_always_right_and_free_is_best_long_and_one_that_never_is_best_short() -> None:
    always, never = points_of(prospect("a", True, 0.0, 0.0)), points_of(prospect("b", False, 0.1, 0.0))
    assert best_of(always).draft_length == 9  # 20 tokens in two rounds, and no longer draft does it in one
    assert best_of(always).modelled.speedup == pytest.approx(10)
    assert (best_of(never).draft_length, best_of(never).per_call) == (1, 1.0)
    assert best_of(never).modelled.speedup < 1
    assert "a would help most: 10.00× (10.00–10.00) at γ = 9 to 16, about the same" in reading([never, always])
    assert "Too close" not in reading([never, always])
    near = [slower(point, "near", 0.96, (9.5, 9.7)) for point in always]
    assert reading([never, always, near]).endswith("Too close to it to call: near 9.60× (9.50–9.70).")
    wide = [slower(point, "wide", 0.9, (7.0, 11.0)) for point in always]
    assert reading([never, always, wide]).endswith("Too close to it to call: wide 9.00× (7.00–11.00).")
    tried = len(never) + len(always)
    assert f"the best of {tried} combinations on this one text" in reading([never, always])
    assert "No draft helps on this text. The best, b" in reading([never])


def test_a_best_length_is_only_claimed_where_the_costs_can_tell_it_from_its_neighbours() -> None:
    """Found: a curve zigzagged (2.0, 1.3, 1.9) after a calibration under load, and one peak was the verdict."""
    told, noisy = points_of(prospect("a", True, 0.3)), points_of(prospect("a", True, 0.3, noise=0.3))
    assert best_of(told).draft_length == best_of(noisy).draft_length
    few, many = best_lengths(told), best_lengths(noisy)
    assert best_of(told).draft_length in few
    assert set(few) <= set(many)
    flat = points_of(prospect("b", True, 0.0, 0.0))
    assert list(best_lengths(flat)) == list(range(9, 17))
    [line] = parts_of(prospects_figure([flat]))
    assert line["error_y"]["array"] == pytest.approx([0.0] * 16)


def test_costs_that_were_stored_without_an_interval_give_no_verdict() -> None:
    old = points_of(prospect("a", True, 0.0, repeats=0))
    assert (len(best_lengths(old)), lengths_in_words(old)) == (0, "not known")
    said = "No verdict: these costs have no interval. The best, a, would reach 10.00× (modelled)."
    assert reading([old]) == said


def test_a_best_draft_whose_interval_holds_1_is_not_said_to_help() -> None:
    unsure = points_of(prospect("a", True, 0.9, noise=0.25))
    low, high = known(best_of(unsure).modelled.interval)
    assert low < 1 < high
    assert reading([unsure]).startswith("Too close to call on this text. The best, a, would reach ")


def test_each_draft_is_a_line() -> None:
    drafts = [points_of(prospect("a", True, 0.05)), points_of(prospect("b", False, 0.1))]
    calls = [[point.per_call for point in points] for points in drafts]
    assert [line["y"] for line in parts_of(tokens_figure(drafts))] == calls
    lines = parts_of(prospects_figure(drafts))
    assert len({(line["line"]["dash"], line["marker"]["symbol"]) for line in lines}) == 2, "colour is not alone"
    hostile = [points_of(prospect("<b>x</b>%{x}", True, 0.05))]  # a name from a file
    for figure in (tokens_figure(hostile), prospects_figure(hostile)):
        assert "&lt;b&gt;" in str(figure)
        assert "<b>" not in str(figure)


def asked_for(preset: str) -> RunRequest:
    return RunRequest(known(find_preset(preset)).text)


def test_a_comparison_of_drafts_opens_on_the_prompt_of_watch_until_another_is_chosen() -> None:
    """Found: it opened on the first prompt of the menu, whatever Watch had."""
    page = alone(by_draft_panel)
    by_draft = visit(page).of(WhenItHelpsState).by_draft
    by_draft.watched = RunRequest("My own text")
    menu = page.run().selectbox[0]
    assert menu.value == OWN_TEXT
    page.button(key="fs_start").click().run()
    assert by_draft.shown == "My own text"
    until(page, lambda: not by_draft.slot.busy)
    assert "Prompt: “My own text”" in texts(page)
    by_draft.watched = asked_for("code-1")
    assert page.run().selectbox[0].value == "code-1"
    page.selectbox[0].set_value("story-2").run()
    by_draft.watched = asked_for("code-2")
    assert page.run().selectbox[0].value == "story-2", "what was chosen here stays"


def test_a_comparison_of_drafts_after_a_chat_begins_with_a_prompt_that_its_target_reads() -> None:
    """Found: a ValueError, because the chat's prompt is in no menu of the bundled target."""
    page = alone(by_draft_panel)
    by_draft = visit(page).of(WhenItHelpsState).by_draft
    by_draft.watched = asked_for("correct-2")
    assert page.run().selectbox[0].value in offered_presets(DEFAULT_TARGET)
    assert not page.exception


def test_the_button_compares_every_bundled_draft_the_eagle_head_and_prompt_lookup() -> None:
    page = alone(by_draft_panel)
    assert "**Compare drafts**" in page.info[0].value
    page.button(key="fs_start").click().run()
    by_draft = visit(page).of(WhenItHelpsState).by_draft
    until(page, lambda: not by_draft.slot.busy)
    assert by_draft.message == ""
    assert [one.draft for one in by_draft.prospects] == drafts_to_compare()
    assert "wren-eagle" in drafts_to_compare()
    assert len({tuple(one.draft_guesses.token_ids) for one in by_draft.prospects}) == 1, "one output for all"
    assert len(page.dataframe[0].value) == len(by_draft.prospects)


# ---- by method


def by_method_panel() -> None:
    from specviz.ui.when_it_helps.by_method import show_by_method

    show_by_method()


def stored(found: MeasuredMethods | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specviz.ui.when_it_helps.by_method.stored_methods", lambda: found)


def test_it_says_where_the_figures_are_from_and_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    stored(measured(1.5, 1.4, 0.8, 1.02, 0.5, 0.9, 1.3, 1.35), monkeypatch)
    page = alone(by_method_panel)
    said = texts(page)
    for part in (
        "**Recorded** on a machine, 2026",
        "Highest: wren-nano, 1.50× (1.40–1.60).",
    ):
        assert part in said
    table = page.dataframe[0].value
    assert list(table["no."]) == [1, 2, 3, 4, 5, 6]
    assert list(table["method"])[-1] == "wren-nano (tree)"
    assert len(figures_of(page)) == 2
    page.button_group(key="methods_temperature").set_value("1").run()
    assert len(page.dataframe[0].value) == len(NAMES)
    assert "wren-nano (block verification)" in list(page.dataframe[0].value["method"])
    page.button_group(key="methods_kind").set_value("story").run()
    assert len(figures_of(page)) == 2
