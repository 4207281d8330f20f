"""The "When it helps" page by AppTest: the recorded sweep first, then a small one of its own on the bundled models."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.data.batches import recorded_batches
from specviz.measure.batch_sentences import reading, where
from specviz.measure.sweep.table import dump_frame, frame_of
from specviz.ui.helps.helps_state import CANCELLED, HERE, MAX_FILES, RECORDED, Choice, Sweeps, recorded_sweep, studied
from specviz.ui.session import Session
from tests.support import app_pages
from tests.support.app_pages import texts, until
from tests.support.fake_rows import row_at
from tests.support.hostile import figures_of

SMALL = Choice(workloads=("story", "copy"), draft_lengths=(2, 4), tokens=8, prompts=1)


def opened(**state: Any) -> AppTest:
    page = app_pages.opened("pages/helps.py", Session(sweeps=Sweeps(**state)))
    assert not page.exception
    return page


def sweeps_of(page: AppTest) -> Sweeps:
    found: Sweeps = page.session_state["session"].sweeps
    return found


def test_the_first_screen_shows_the_recorded_sweep_and_says_so() -> None:
    page = opened()
    assert "**Recorded** on" in texts(page)
    assert "helps on" in texts(page).lower()
    assert [tab.label for tab in page.tabs][:5] == [
        "By workload", "Draft length", "Map", "Constrained output", "Adaptive",
    ]  # fmt: skip
    assert len(figures_of(page)) >= 7
    assert "**72 runs**, and 36 of the target alone" in texts(page)
    assert page.query_params == {}


def test_without_any_rows_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("specviz.ui.helps.helps_state.FILE", tmp_path / "none.csv")
    monkeypatch.setattr("specviz.ui.helps.controls.pace_here", lambda *_: None)  # the engine may have measured already
    recorded_sweep.cache_clear()
    try:
        page = opened()
        assert "Nothing is measured yet: choose what to measure" in texts(page)
        assert "not known before this pair has run here" in texts(page)
    finally:
        recorded_sweep.cache_clear()


def test_the_address_says_what_is_chosen_and_a_link_is_taken() -> None:
    page = opened()
    page.get_by_key("sweep_tokens").set_value(32).run()
    assert page.query_params["tokens"] == "32"
    assert page.query_params["gamma"] == ["1", "2", "4", "8"]
    link = {"workload": ["prose", "nonsense"], "gamma": ["3"], "tokens": "16"}
    linked = app_pages.opened("pages/helps.py", **link)
    assert not linked.exception
    assert sweeps_of(linked).choice == Choice(workloads=("prose",), draft_lengths=(3,), tokens=16)
    assert "A workload in the link is not known here" in texts(linked)


def test_impossible_times_are_left_out_and_reported() -> None:
    spoilt, rest = row_at("story", 4, 9.0), [row_at("story", 4, 1.5, number=2), row_at("copy", 4, 1.4)]
    page = opened(rows={HERE: frame_of([spoilt, *rest])})
    assert "1 of these 3 pairs of runs is faster than possible" in texts(page)
    assert "it looks like it helps on story (1.5×)" in texts(page)


def test_nothing_chosen_cannot_be_started() -> None:
    page = opened(choice=Choice(workloads=()))
    assert page.button(key="sweep_start").disabled
    assert "choose a workload" in texts(page)


def test_the_rows_of_a_sweep_are_still_there_after_another_page() -> None:
    page = opened(choice=SMALL)
    page.button(key="sweep_start").click().run()
    assert sweeps_of(page).slot.busy
    until(page, lambda: not sweeps_of(page).slot.busy)
    rows = sweeps_of(page).rows[HERE]
    assert list(zip(rows["preset"], rows["draft_length"], strict=True)) == [
        ("story-1", 2), ("story-1", 4), ("copy-1", 2), ("copy-1", 4),
    ]  # fmt: skip
    assert "**Measured here**" in texts(page)
    assert sweeps_of(page).sources() == [HERE, RECORDED]
    assert "going by your last sweep here" in texts(page)

    again = opened(choice=SMALL, rows={HERE: rows})
    assert "**Measured here**" in texts(again)
    assert again.get_by_key("sweep_tokens").value == 8
    again.button(key="sweep_start").click().run()
    until(again, lambda: not sweeps_of(again).slot.busy)
    assert len(sweeps_of(again).rows[HERE]) == 8  # sweeps accumulate


def test_ones_own_prompts_are_taken_and_bad_lines_are_named() -> None:
    page = opened()
    lines = b'{"prompt": "Once upon a time", "workload": "<img src=x>"}\r\n{"prompt": 7}\r\n'
    page.get_by_key("sweep_file").set_value(("mine.jsonl", lines, "text/plain")).run()
    for said in ("1 prompt taken", "Line 2 is left out: it has no", "**76 runs**"):
        assert said in texts(page)
    page.get_by_key("sweep_file").set_value(("bad.bin", bytes(range(256)), "text/plain")).run()
    assert "The file is not UTF-8 text." in page.error[0].value
    assert "1 prompt taken" in texts(page), "nothing is lost"


def test_a_cancelled_sweep_keeps_what_it_has() -> None:
    page = opened(choice=Choice(tokens=64, prompts=3))
    page.button(key="sweep_start").click().run()
    until(page, lambda: len(sweeps_of(page).rows_of(HERE)) >= 2)
    page.button(key="sweep_cancel").click().run()
    assert not page.exception
    assert not sweeps_of(page).slot.busy
    assert CANCELLED in texts(page)
    assert 2 <= len(sweeps_of(page).rows[HERE]) < 72


def test_clearing_can_be_undone() -> None:
    rows = [row_at("story", 4, 1.5), row_at("code", 4, 0.8)]
    page = opened(rows={HERE: frame_of(rows)}, shown=HERE)
    assert "With one prompt each, it looks like it helps on story (1.5×), looks like it hurts on code" in texts(page)
    page.button(key="sweep_clear").click().run()
    assert "**Recorded** on" in texts(page)
    page.button(key="sweep_undo").click().run()
    assert sweeps_of(page).rows[HERE].equals(frame_of(rows))
    assert list(sweeps_of(page).rows) == [HERE]


def test_only_the_newest_opened_files_stay_in_the_servers_memory() -> None:
    sweeps = Sweeps(rows={HERE: frame_of([row_at("story", 4, 1.5)])})
    for number in range(MAX_FILES + 2):
        sweeps.load(dump_frame(frame_of([row_at("tales", 4, 1.5)])).encode(), f"{number}.csv")
        studied(sweeps, sweeps.shown)
    assert set(sweeps.studied) <= set(sweeps.rows)
    assert list(sweeps.rows) == [HERE, *(f"from {number}.csv" for number in range(2, MAX_FILES + 2))]
    assert sweeps.shown == f"from {MAX_FILES + 1}.csv"


def test_a_loaded_csv_says_where_it_is_from() -> None:
    found = Sweeps()
    found.load(dump_frame(frame_of([row_at("tales", 4, 1.5)])).encode(), "my.csv")
    page = opened(rows=found.rows, shown=found.shown)
    assert "**Loaded from my.csv**, measured on a test's machine" in texts(page)
    assert "it looks like it helps on tales (1.5×)" in texts(page)


def test_several_pairs_are_chosen_between() -> None:
    rows = [row_at("story", 4, 1.5), row_at("story", 4, 0.5, temperature=0.7)]
    page = opened(rows={HERE: frame_of(rows)}, shown=HERE)
    assert "it looks like it helps on story (1.5×)" in texts(page)
    menu = next(box for box in page.selectbox if box.label == "Pair and temperature")
    menu.set_value(1).run()
    assert "it looks like it hurts on" in texts(page)


def test_the_tab_on_batches_shows_the_recorded_study() -> None:
    page = opened()
    assert page.tabs[-1].label == "In batches"
    shown = texts(page).replace("\\", "")
    assert reading(recorded_batches()) in shown
    assert where(recorded_batches()) in shown
    found = figures_of(page)
    for start in ("Speedup against the number of texts", "The cost of checking k tokens of each text"):
        assert any(alt.startswith(start) for alt in found)
