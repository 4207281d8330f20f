"""The "When it helps" page by AppTest: the recorded sweep, one of its own, and its panels by drafter and by method."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.request import DEFAULT_TARGET, RunRequest
from specviz.data.prompts.workloads import OWN_TEXT, find_preset
from specviz.measure.sweep.rows import dump_frame, frame_of
from specviz.service.protocol import JobFinished, JobItem
from specviz.ui.session import Arrival, Session
from specviz.ui.shared.form import offered_presets
from specviz.ui.when_it_helps.by_draft import ByDraft, drafts_to_compare
from specviz.ui.when_it_helps.sweeps import (
    HERE,
    MAX_FILES,
    RECORDED,
    SweepChoice,
    WhenItHelpsState,
    studied,
)
from tests.support import app_pages
from tests.support.app_pages import alone, texts, visit
from tests.support.fake_rows import row_at
from tests.support.fake_service import FakeService
from tests.support.hostile import figures_of
from tests.support.known import known
from tests.support.measured_methods import measured
from tests.support.replaying_engine import guess_along

SMALL = SweepChoice(workloads=("story", "copy"), draft_lengths=(2,), tokens=8, prompts=1)


def opened(choice: SweepChoice | None = None, **state: Any) -> AppTest:
    page = "when_it_helps"
    asked: Any = {"asked": {page: choice}, "came": {page: Arrival(True)}} if choice else {}
    return app_pages.opened("pages/when_it_helps.py", Session(**asked).put(WhenItHelpsState(**state)))


def test_the_address_says_what_is_chosen_and_a_link_is_taken() -> None:
    page = opened()
    page.get_by_key("when_it_helps_tokens").set_value(32).run()
    assert page.query_params["tokens"] == "32"
    assert page.query_params["gamma"] == ["1", "2", "4", "8"]
    link = {"workload": ["prose", "nonsense"], "gamma": ["3"], "tokens": "16"}
    linked = app_pages.opened("pages/when_it_helps.py", **link)
    assert visit(linked).asked["when_it_helps"] == SweepChoice(workloads=("prose",), draft_lengths=(3,), tokens=16)
    assert "A workload in the link is not known here" in texts(linked)


def test_sweeps_accumulate_and_are_still_there_after_another_page(service: FakeService) -> None:
    nothing = opened(choice=SweepChoice(workloads=()))
    assert nothing.button(key="when_it_helps_start").disabled
    assert "Nothing is chosen: Workloads" in texts(nothing)
    page = opened(choice=SMALL)
    for number in (1, 2):
        page.button(key="when_it_helps_start").click().run()
        assert visit(page).of(WhenItHelpsState).slot.busy
        assert service.commands[-1].plan == SMALL.plan()
        service.tell(JobItem(number, "sweep", row_at("story", 4, 1.5, number=number)), JobFinished(number))
        page.run()
    sweeps = visit(page).of(WhenItHelpsState)
    assert (sweeps.sources(), len(sweeps.rows[HERE])) == ([HERE, RECORDED], 2)
    again = opened(choice=SMALL, rows=sweeps.rows)
    for shown in (page, again):
        assert "**Measured here**" in texts(shown)
    assert again.get_by_key("when_it_helps_tokens").value == 8


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
    from specviz.ui.when_it_helps.by_draft import show_by_draft

    show_by_draft()


def asked_for(preset: str) -> RunRequest:
    return RunRequest(known(find_preset(preset)).text)


def test_a_comparison_is_of_every_draft_on_the_prompt_of_watch_until_another_is_chosen(service: FakeService) -> None:
    """Found: it opened on the first prompt of the menu; and after a chat, whose prompt is in no menu, not at all."""
    page = alone(by_draft_panel)
    by_draft = visit(page).of(ByDraft)
    assert "**Compare drafts**" in page.info[0].value
    by_draft.watched = asked_for("correct-2")
    assert page.run().selectbox[0].value in offered_presets(DEFAULT_TARGET)
    by_draft.watched = RunRequest("My *own* text")
    assert page.run().selectbox[0].value == OWN_TEXT
    page.button(key="fs_start").click().run()
    (command,) = service.commands
    assert (command.request.prompt, command.drafts) == ("My *own* text", drafts_to_compare())
    assert "wren-eagle" in command.drafts
    service.tell(*guess_along(command))
    page.run()
    assert "Prompt: “My \\*own\\* text”" in texts(page)
    assert len(page.dataframe[0].value) == len(command.drafts)
    by_draft.watched = asked_for("code-1")
    assert page.run().selectbox[0].value == "code-1"
    page.selectbox[0].set_value("story-2").run()
    by_draft.watched = asked_for("code-2")
    assert page.run().selectbox[0].value == "story-2", "what was chosen here stays"


# ---- by method


def by_method_panel() -> None:
    from specviz.ui.when_it_helps.by_method import show_by_method

    show_by_method()


METHODS = [
    "wren-nano", "wren-eagle", "wren-medusa", "prompt lookup", "early exit (4 layers)", "wren-nano (tree)",
    "wren-nano (most probable drafts)", "wren-nano (block verification)",
]  # fmt: skip


def test_methods_are_chosen_by_temperature_and_kind_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said and drawn of them: `test_measured_methods.py`."""
    monkeypatch.setattr("specviz.ui.when_it_helps.by_method.stored_methods", measured)
    page = alone(by_method_panel)
    for key, choice, methods in (("", "", 6), ("methods_temperature", "1", 8), ("methods_kind", "story", 8)):
        if key:
            page.button_group(key=key).set_value(choice).run()
        assert list(page.dataframe[0].value["method"])[4:] == METHODS[4:methods]
        assert len(figures_of(page)) == 2
