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
from specviz.ui.when_it_helps.sweeps import HERE, MAX_FILES, RECORDED, SweepChoice, WhenItHelpsState, studied
from tests.support import app_pages
from tests.support.app_pages import texts, visit
from tests.support.fake_rows import row_at
from tests.support.fake_service import FakeService
from tests.support.hostile import figures_of
from tests.support.measured_methods import measured
from tests.support.replaying_engine import guess_along

SMALL = SweepChoice(workloads=("story", "copy"), draft_lengths=(2,), tokens=8, prompts=1)


def opened(choice: SweepChoice = SMALL, **state: Any) -> AppTest:
    page = "when_it_helps"
    session = Session(asked={page: choice}, came={page: Arrival(True)}).put(WhenItHelpsState(**state))
    return app_pages.opened("pages/when_it_helps.py", session)


def test_sweeps_accumulate_and_are_still_there_after_another_page(service: FakeService) -> None:
    page = opened()
    page.get_by_key("when_it_helps_tokens").set_value(32).run()
    for number in (1, 2):
        page.button(key="when_it_helps_start").click().run()
        assert visit(page).of(WhenItHelpsState).slot.busy
        assert service.commands[-1].plan == SMALL.model_copy(update={"tokens": 32}).plan()
        service.tell(JobItem(number, "sweep", row_at("story", 4, 1.5, number=number)), JobFinished(number))
        page.run()
    sweeps = visit(page).of(WhenItHelpsState)
    assert (sweeps.sources(), len(sweeps.rows[HERE])) == ([HERE, RECORDED], 2)
    assert (page.query_params["tokens"], page.query_params["workload"]) == ("32", ["story", "copy"])
    again = opened(visit(page).asked["when_it_helps"], rows=sweeps.rows)
    for shown in (page, again):
        assert "**Measured here**" in texts(shown)
    assert again.get_by_key("when_it_helps_tokens").value == 32


def test_ones_own_prompts_are_taken_and_bad_lines_are_named() -> None:
    page = opened(SweepChoice(workloads=()))
    assert page.button(key="when_it_helps_start").disabled
    assert "Nothing is chosen: Workloads" in texts(page)
    lines = b'{"prompt": "Once upon a time", "workload": "<img src=x>"}\r\n{"prompt": 7}\r\n'
    page.get_by_key("when_it_helps_file").set_value(("mine.jsonl", lines, "text/plain")).run()
    for said in ("1 prompt taken", "Line 2 is left out: its", "**4 runs**"):
        assert said in texts(page)
    page.get_by_key("when_it_helps_file").set_value(("bad.bin", bytes(range(256)), "text/plain")).run()
    assert "The file is not UTF-8 text." in page.error[0].value
    assert "1 prompt taken" in texts(page), "nothing is lost"


def test_clearing_can_be_undone() -> None:
    rows = frame_of([row_at("story", 4, 1.5), row_at("code", 4, 0.8)])
    page = opened(rows={HERE: rows}, shown=HERE)
    assert "Looks like it helps on story (1.50×); looks like it hurts on code (0.80×)" in texts(page)
    page.button(key="when_it_helps_clear").click().run()
    assert "**Recorded**; your machine" in texts(page)
    page.button(key="when_it_helps_undo").click().run()
    [(source, again)] = visit(page).of(WhenItHelpsState).rows.items()
    assert (source, again.equals(rows)) == (HERE, True)


def test_only_the_newest_opened_files_stay_in_the_servers_memory_and_they_say_where_they_are_from() -> None:
    sweeps, row = WhenItHelpsState(rows={HERE: frame_of([row_at("story", 4, 1.5)])}), row_at("tales", 4, 1.5)
    for number in range(MAX_FILES + 2):
        sweeps.load(dump_frame(frame_of([row])).encode(), f"{number}.csv")
        studied(sweeps, sweeps.shown)
    assert set(sweeps.studied) <= set(sweeps.rows)
    assert list(sweeps.rows) == [HERE, *(f"from {number}.csv" for number in range(2, MAX_FILES + 2))]
    page = opened(rows=sweeps.rows, shown=sweeps.shown)
    assert f"**Loaded from {MAX_FILES + 1}.csv** (a test's machine" in texts(page)
    assert "Looks like it helps on tales" in texts(page)


def test_impossible_times_are_left_out_and_one_of_several_pairs_is_chosen() -> None:
    rows = [row_at("story", 4, 9.0), row_at("story", 4, 1.5, number=2), row_at("copy", 4, 1.4)]
    page = opened(rows={HERE: frame_of([*rows, row_at("story", 4, 0.5, temperature=0.7)])}, shown=HERE)
    assert "1 of these 3 pairs of runs is faster than possible" in texts(page)
    assert "elps on story" not in texts(page), "a busy machine ranks nothing"
    next(box for box in page.selectbox if box.label == "Pair and temperature").set_value(1).run()
    assert "Looks like it hurts on" in texts(page)


def panel(name: str) -> AppTest:
    """One of the page's panels alone."""
    script = f"from specviz.ui.when_it_helps.{name} import show_{name}\nshow_{name}()"
    return AppTest.from_string(script, default_timeout=app_pages.SECONDS).run()


def test_a_comparison_is_of_every_draft_on_the_prompt_of_watch_until_another_is_chosen(service: FakeService) -> None:
    """Found: it opened on the first prompt of the menu; and after a chat, whose prompt is in no menu, not at all."""

    def on_watch(prompt: str) -> str:
        visit(page).of(ByDraft).watched = RunRequest(getattr(find_preset(prompt), "text", prompt))
        return str(page.run().selectbox[0].value)

    page = panel("by_draft")
    assert "**Compare drafts**" in page.info[0].value
    assert on_watch("correct-2") in offered_presets(DEFAULT_TARGET)
    assert on_watch("My *own* text") == OWN_TEXT
    page.button(key="fs_start").click().run()
    (command,) = service.commands
    assert (command.request.prompt, command.drafts) == ("My *own* text", drafts_to_compare())
    assert "wren-eagle" in command.drafts
    service.tell(*guess_along(command))
    page.run()
    assert "Prompt: “My \\*own\\* text”" in texts(page)
    assert len(page.dataframe[0].value) == len(command.drafts)
    assert on_watch("code-1") == "code-1"
    page.selectbox[0].set_value("story-2").run()
    assert on_watch("code-2") == "story-2", "what was chosen here stays"


def test_methods_are_chosen_by_temperature_and_kind_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said and drawn of them: `test_measured_methods.py`."""

    monkeypatch.setattr("specviz.ui.when_it_helps.by_method.stored_methods", measured)
    page = panel("by_method")
    for key, choice, methods in (("", "", 6), ("methods_temperature", "1", 8), ("methods_kind", "story", 8)):
        if key:
            page.button_group(key=key).set_value(choice).run()
        shown = list(page.dataframe[0].value["method"])
        assert (len(shown), shown[-1]) == (
            methods,
            "wren-nano (tree)" if methods == 6 else "wren-nano (block verification)",
        )
        assert len(figures_of(page)) == 2
