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
from tests.support.app_pages import texts, until, visit
from tests.support.fake_rows import row_at
from tests.support.hostile import figures_of

SMALL = Choice(workloads=("story", "copy"), draft_lengths=(2, 4), tokens=8, prompts=1)


def opened(**state: Any) -> AppTest:
    page = app_pages.opened("pages/helps.py", Session(sweeps=Sweeps(**state)))
    return page


def test_the_first_screen_shows_the_recorded_sweep_and_study_and_says_so() -> None:
    page = opened()
    assert "**Recorded** on" in texts(page)
    assert "helps on" in texts(page).lower()
    labels = [tab.label for tab in page.tabs]
    assert labels[:5] == ["By workload", "Draft length", "Map", "Constrained output", "Adaptive"]
    assert labels[-1] == "In batches"
    assert len(figures_of(page)) >= 7
    assert "**72 runs**, and 36 of the target alone" in texts(page)
    assert page.query_params == {}
    for said in (reading(recorded_batches()), where(recorded_batches())):
        assert said in texts(page).replace("\\", "")
    for start in ("Speedup against the number of texts", "The cost of checking k tokens of each text"):
        assert any(alt.startswith(start) for alt in figures_of(page))


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
    assert visit(linked).sweeps.choice == Choice(workloads=("prose",), draft_lengths=(3,), tokens=16)
    assert "A workload in the link is not known here" in texts(linked)


def test_the_rows_of_a_sweep_are_still_there_after_another_page() -> None:
    nothing = opened(choice=Choice(workloads=()))
    assert nothing.button(key="sweep_start").disabled
    assert "choose a workload" in texts(nothing)
    page = opened(choice=SMALL)
    page.button(key="sweep_start").click().run()
    assert visit(page).sweeps.slot.busy
    until(page, lambda: not visit(page).sweeps.slot.busy)
    rows = visit(page).sweeps.rows[HERE]
    measured = list(zip(rows["preset"], rows["draft_length"], strict=True))
    assert measured == [("story-1", 2), ("story-1", 4), ("copy-1", 2), ("copy-1", 4)]
    assert "**Measured here**" in texts(page)
    assert visit(page).sweeps.sources() == [HERE, RECORDED]
    assert "going by your last sweep here" in texts(page)
    again = opened(choice=SMALL, rows={HERE: rows})
    assert "**Measured here**" in texts(again)
    assert again.get_by_key("sweep_tokens").value == 8
    again.button(key="sweep_start").click().run()
    until(again, lambda: not visit(again).sweeps.slot.busy)
    assert len(visit(again).sweeps.rows[HERE]) == 8  # sweeps accumulate


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
    until(page, lambda: len(visit(page).sweeps.rows_of(HERE)) >= 2)
    page.button(key="sweep_cancel").click().run()
    assert not visit(page).sweeps.slot.busy
    assert CANCELLED in texts(page)
    assert 2 <= len(visit(page).sweeps.rows[HERE]) < 72


def test_clearing_can_be_undone() -> None:
    rows = [row_at("story", 4, 1.5), row_at("code", 4, 0.8)]
    page = opened(rows={HERE: frame_of(rows)}, shown=HERE)
    assert "With one prompt each, it looks like it helps on story (1.5×), looks like it hurts on code" in texts(page)
    page.button(key="sweep_clear").click().run()
    assert "**Recorded** on" in texts(page)
    page.button(key="sweep_undo").click().run()
    assert visit(page).sweeps.rows[HERE].equals(frame_of(rows))
    assert list(visit(page).sweeps.rows) == [HERE]


def test_only_the_newest_opened_files_stay_in_the_servers_memory_and_they_say_where_they_are_from() -> None:
    sweeps = Sweeps(rows={HERE: frame_of([row_at("story", 4, 1.5)])})
    for number in range(MAX_FILES + 2):
        sweeps.load(dump_frame(frame_of([row_at("tales", 4, 1.5)])).encode(), f"{number}.csv")
        studied(sweeps, sweeps.shown)
    assert set(sweeps.studied) <= set(sweeps.rows)
    assert list(sweeps.rows) == [HERE, *(f"from {number}.csv" for number in range(2, MAX_FILES + 2))]
    assert sweeps.shown == f"from {MAX_FILES + 1}.csv"
    page = opened(rows=sweeps.rows, shown=sweeps.shown)
    assert f"**Loaded {sweeps.shown}**, measured on a test's machine" in texts(page)
    assert "it looks like it helps on tales (1.5×)" in texts(page)


def test_impossible_times_are_left_out_and_one_of_several_pairs_is_chosen() -> None:
    rows = [row_at("story", 4, 9.0), row_at("story", 4, 1.5, number=2), row_at("copy", 4, 1.4)]
    page = opened(rows={HERE: frame_of([*rows, row_at("story", 4, 0.5, temperature=0.7)])}, shown=HERE)
    assert "1 of these 3 pairs of runs is faster than possible" in texts(page)
    assert "it looks like it helps on story (1.5×)" in texts(page)
    menu = next(box for box in page.selectbox if box.label == "Pair and temperature")
    menu.set_value(1).run()
    assert "it looks like it hurts on" in texts(page)
