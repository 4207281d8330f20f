"""The Watch page by AppTest: at first, after a change, after bad input, in each view; the list of tries; a chat."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.core.conversation import read_messages
from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Trace, dump_trace
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.measured.first_run import first_trace
from specviz.data.prompts.workloads import OWN_TEXT, find_preset
from specviz.models.gguf_folder import TEMPLATE_FIELD
from specviz.service.protocol import Run
from specviz.ui.watch import files
from specviz.ui.watch.tried import restore_list
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, texts, until, visit
from tests.support.drawn import drawn
from tests.support.fake_service import FakeService
from tests.support.known import known
from tests.support.payloads import payload_of, trace_in
from tests.support.payloads import stage_payload_of as stage_of
from tests.support.records import record
from tests.support.seen import seen, step, whole


def until_done(page: AppTest) -> Any:
    """Run the script until the live run on the stage is over."""

    def done() -> bool:
        data = stage_of(page)
        return data["run_id"].startswith("live") and not visit(page).of(WatchState).run.busy and not data["running"]

    page.run()
    until(page, done)
    return stage_of(page)


def release_slider(page: AppTest, length: int) -> Any:
    """What the stage's slider does when the visitor releases it."""
    page.session_state["gamma"] = length
    return until_done(page.run())


def prompt_menu(page: AppTest) -> Any:
    return next(box for box in page.selectbox if box.label == "Prompt")


def shown(page: AppTest) -> Trace:
    return known(visit(page).of(WatchState).shown).trace


def asked(page: AppTest) -> RunRequest:
    return visit(page).of(WatchState).form.current


def test_the_first_screen_plays_a_recorded_run(page: AppTest, snapshot: SnapshotAssertion) -> None:
    assert whole(page) == snapshot


RUNS = ("story-costly", "story-sampled", "method-tree", "chat-story")
LINKS = {view: {"view": view} for view in ("simple", "projector", "stage", "huge")}
LINKS |= {run: {"run": run, "view": "full"} for run in RUNS}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_shows_its_recorded_run_with_as_much_as_it_says(
    name: str, page: AppTest, snapshot: SnapshotAssertion
) -> None:
    before = seen(page)
    linked = opened(**LINKS[name])
    assert step(before, linked) == snapshot
    assert visit(linked).of(WatchState).run.view.state == "idle", "a link alone loads no model"


def test_the_controls_and_a_link_ask_for_the_run_on_screen(page: AppTest) -> None:
    data, recorded = stage_of(page), known(first_trace())
    drafter = known(recorded.drafter)
    assert asked(page) == RunRequest(recorded.prompt.text, recorded.target.name, drafter.name, recorded.settings)
    assert page.query_params == {"view": "full"}  # as it was opened: nothing was asked for
    assert data["run"]["guesses"], "the draft length can be dragged before any model is there"
    linked = stage_of(other := opened(**data["link"], step="5"))
    assert (linked["run_id"], linked["playhead"], linked["run"]) == ("first", 5, data["run"])
    assert not visit(other).came["watch"].acted, "a lesson's link needs no engine"
    page.text_area(key="prompt").set_value("\x00\x07\x1b").run()
    assert "control characters" in texts(page)
    assert (stage_of(page)["run_id"], stage_of(page)["result"]["previous"]) == ("first", True)


def test_a_changed_control_runs_at_once_and_the_address_says_everything(page: AppTest) -> None:
    release_slider(page, 6)
    page.run()  # once the run is over the browser is sent it whole; AppTest sees that in the next drawing
    data = stage_of(page)
    (now,) = drawn(data)
    assert (now["draft_length"], now["gamma"], now["replay"]["why_not"]) == (6, 6, None)
    assert now["replay"]["lengths"]["6"]["accepted"] == now["rounds"][-1]["after"]["accepted"]
    assert data["badge"].startswith(("live", "measured here"))  # another test may have had this run made
    assert page.query_params["gamma"] == "6"
    assert {"target", "draft", "temperature", "top_k", "top_p", "tokens", "seed"} <= set(page.query_params)
    assert data["result"]["same"] == "Is it the same text? Identical: both wrote the same 64 tokens."
    says = now["result"]["says"]
    assert f"64 tokens in {len(now['rounds'])} passes" in says
    assert ("times as fast" in says and "on a quiet machine" not in says) == now["result"]["trusted"]
    first, second = (text.value for text in page.text)
    assert first == second != ""


def test_a_link_opens_one_stored_run_with_its_figures_or_runs_its_settings(page: AppTest) -> None:
    page.slider(key="temperature").set_value(0.9).run()
    data = until_done(page)
    link, figures = data["link"], trace_in(data)["rounds"]
    assert data["result"]["same"].startswith("At temperature 0.9 these are two different draws from the same")
    page.button(key="again").click().run()
    until_done(page)
    other = opened(**link)
    data = stage_of(other)
    assert (trace_in(data)["rounds"], data["link"]) == (figures, link)
    assert data["badge"].startswith("measured here on")
    assert other.slider(key="temperature").value == 0.9
    gone = opened(run="0123456789abcdef", preset="code-1", draft="lookup", gamma="3", tokens="20", step="4")
    assert "This run is no longer here" in texts(gone)
    data = until_done(gone)
    assert (trace_in(data)["settings"]["draft_length"], data["run"]["method"]["kind"]) == (3, "prompt-lookup")
    assert data["playhead"] == 4
    assert data["run"]["guesses"], "prompt lookup needs no model to be replayed"


@pytest.mark.parametrize(("view", "press"), [("simple", "run_own"), ("full", "again")])
def test_a_button_that_is_pressed_before_the_answer_to_the_text_came_runs_the_text(
    view: str, press: str, service: FakeService
) -> None:
    """The browser said once more that its menu has the old prompt, which the server took for a choice."""
    page = opened(view=view)
    menu = prompt_menu(page)
    late = WidgetState(id=menu.proto.id, string_value=menu.options[known(menu.index)])
    page.text_area[0].set_value("The dog saw a cat and").run()
    button = page.button(key=press)
    page._run(WidgetStates(widgets=[late, WidgetState(id=button.proto.id, trigger_value=True)]))
    assert service.commands[-1].request.prompt == "The dog saw a cat and"
    assert prompt_menu(page).value == OWN_TEXT


BROKEN: list[tuple[str, dict[str, str], str]] = [  # what the operator allows, a link, and what is said of it
    ("hub", {"target": "somebody/some__thing__", "prompt": "Once"}, "press Run again to load"),
    ("hub", {"target": "somebody/some_*thing*", "prompt": "Once"}, "There is no model named"),
    ("bundled", {"target": "smollm2"}, "its operator can run `make smollm2`"),
]


@pytest.mark.parametrize(("allowed", "link", "says"), BROKEN)
def test_a_link_to_what_is_not_here_falls_back_and_loads_nothing(
    allowed: str, link: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", allowed)
    page = opened(**link)
    assert says in texts(page).replace("\\", "")
    assert not any(name in texts(page) for name in ("some__thing__", "some_*thing*")), "the link's text is no markup"
    assert (visit(page).of(WatchState).run.busy, stage_of(page)["run_id"]) == (False, "first")
    assert ("Or type" in texts(page)) == (allowed == "hub")
    monkeypatch.setenv("SPECVIZ_MODELS", "any")
    assert texts(page.run()).count("Or type a Hub id, a folder or a GGUF file.") == 2


def test_a_record_of_another_system_has_its_own_names_and_what_it_lacks_can_be_filled_in(
    page: AppTest, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = seen(page.run())

    def changes() -> str:
        return re.sub(r"file-[0-9a-f-]{36}", "file-ID", step(before, page))

    for name in ("broken.json", "vllm-0.29-chat.json", "transformers-5.23.jsonl"):
        content = b'{"schema": 99}' if name == "broken.json" else record(name)
        page.get_by_key("trace_file").set_value((name, content, "application/json")).run()
        assert changes() == snapshot(name=name)
        if name.startswith("vllm"):
            page.text_input(key="record_draft").set_value("my <b>head</b>").run()
            page.text_input(key="record_prompt").set_value("Tell a story.").run()
            assert changes() == snapshot(name=f"{name}, filled in")
            assert "".join(trace_in(stage_of(page))["prompt"]["tokens"]) == "Tell a story."
    page.selectbox(key="record_tokenizer").set_value("wren-base").run()
    assert changes() == snapshot(name=f"{name}, with its tokens")
    monkeypatch.setattr(files, "system_of", None)  # the file is searched for its system once, not at each drawing
    page.run()
    assert page.selectbox(key="record_tokenizer").value == "wren-base"


def test_a_file_starts_no_run_and_undo_goes_back_to_what_was_asked_for_last(
    page: AppTest, service: FakeService
) -> None:
    for temperature in (0.5, 0.8):
        page.slider(key="temperature").set_value(temperature).run()
    trace = story_trace("sampled")
    content = dump_trace(replace(trace, settings=replace(trace.settings, temperature=0.33333)))
    page.get_by_key("trace_file").set_value(("run.json", content.encode(), "application/json")).run()
    runs = [each.request.settings.temperature for each in service.commands if isinstance(each, Run)]
    assert (runs, asked(page).settings.temperature) == ([0.5, 0.8], 0.3333)
    page.button(key="undo").click().run()
    assert asked(page).settings.temperature == 0.8


def test_an_own_folder_is_in_the_menu_and_what_is_said_of_it_leaves_the_run_on_screen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By a link, because AppTest cannot type into a menu."""
    monkeypatch.setenv("SPECVIZ_MODELS", "any")
    page = opened(view="full", target=str(tmp_path / "gone"))
    assert "gone · folder" in page.selectbox(key="target").options
    page.button(key="again").click().run()
    until(page, lambda: page.error)
    said = page.error[0].value.replace("\\", "").replace("\u2060", "")
    assert said.startswith(f"There is no model named '{tmp_path / 'gone'}' here")
    assert stage_of(page)["run_id"] == "first"


def choose_try(page: AppTest, number: int, button: str) -> Any:
    """Open the list, choose a run and press a button; the list then closes."""
    page.button(key="list").click().run()
    page.selectbox(key="tried_run").select_index(number).run()
    page.button(key=button).click().run()
    assert not [box for box in page.selectbox if box.key == "tried_run"]
    return stage_of(page)


def names_on(data: Any) -> dict[str, str]:
    """What the run on screen and the one before it are called, with what is different about each."""
    (shown,) = drawn(data)
    names: dict[str, str] = shown["before"]["names"]
    return names


def test_a_setting_that_was_measured_before_is_shown_again_and_says_so_and_can_be_measured_anew() -> None:
    page = opened()
    notices = [release_slider(page, length)["notice"] for length in (11, 12, 11)]  # no other test here asks for them
    assert names_on(stage_of(page)) == {"run": "wren-nano, 11", "before": "wren-nano, 12"}
    assert notices == [None, None, "From before. “Run again” times it again."]
    page.button(key="list").click().run()
    names = [name.partition(" ·")[0] for name in page.selectbox(key="tried_run").options]
    assert names == ["0, recorded: wren-nano, 4", "1: wren-nano, 11", "2: wren-nano, 12"]
    assert "Run 0 was recorded on a" in texts(page), "another machine has another speedup"
    # The list was a widget that loads a megabyte first, and empty for a second and a half.
    [table] = [box.proto.body for box in page.get("html") if 'class="tried"' in box.proto.body]
    assert (table.count("<tr>"), table.count("wren-nano → wren-base"), len(page.dataframe)) == (4, 3, 0)
    visit(page).of(WatchState).listed = False
    page.button(key="again").click().run()
    assert until_done(page)["notice"] is None
    assert len(visit(page).of(WatchState).past.finished) == 3


def test_a_run_is_shown_again_with_its_controls_and_one_can_be_pinned() -> None:
    page = opened()
    page.selectbox(key="draft").set_value("wren-small").run()
    small = until_done(page)
    (first,) = drawn(small)
    assert names_on(small) == {
        "run": "wren-small, 4, measured here",
        "before": "wren-nano, 4, recorded on another machine",
    }
    assert len(first["before"]["lengths"]) == len(first["replay"]["lengths"]) == MAX_DRAFT_LENGTH
    held = payload_of(page.run().get_by_key("kept-tried"))
    assert (held["name"], held["text"]) == ("specviz-tried", small["link"]["run"])
    data = choose_try(page, 0, "tried_show")
    assert (data["run_id"], names_on(data)["before"][:13]) == ("first", "wren-small, 4")
    assert page.selectbox(key="draft").value == "wren-nano"
    assert not visit(page).of(WatchState).run.busy, "a run that is shown again is not run again"
    choose_try(page, 0, "tried_pin")
    for length in (6, 7):
        assert names_on(release_slider(page, length))["before"] == "wren-nano, 4, recorded on another machine"
    reloaded = opened()
    assert payload_of(reloaded.get_by_key("kept-tried"))["text"] is None, "it asks for what the tab has"
    restore_list(visit(reloaded).of(WatchState), held["text"])
    for each in (page, reloaded):
        data = choose_try(each, 1, "tried_show")
        assert data["run"]["trace"] == small["run"]["trace"]  # its costs may have come since
        assert each.selectbox(key="draft").value == "wren-small"
    assert names_on(choose_try(page, 0, "tried_unpin"))["before"] == "wren-nano, 7"


@pytest.fixture
def talker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the operator's folder; the engine makes its runs up."""
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    (tmp_path / "talker.gguf").write_bytes(b"GGUF" + bytes(100) + TEMPLATE_FIELD + bytes(100))
    (tmp_path / "writer.gguf").write_bytes(b"GGUF" + bytes(1_000))


@pytest.mark.usefixtures("talker")
def test_to_choose_it_brings_chats_and_their_prompts_and_to_leave_it_takes_them_away(page: AppTest) -> None:
    def choose(widget: Any, value: str) -> tuple[str | None, str]:
        widget.set_value(value).run()
        until_done(page)
        return shown(page).settings.prompt_format, shown(page).prompt.text

    assert not any("Correct a text" in option for option in prompt_menu(page).options)
    assert choose(page.selectbox(key="target"), "talker")[0] == page.query_params["prompt_format"] == "chat"
    assert page.selectbox(key="draft").value == "lookup", "wren-nano knows none of its words"
    preset = known(find_preset("correct-1")).text
    assert choose(prompt_menu(page), "correct-1") == ("chat", preset)
    (read_as,) = (radio for radio in page.radio if "reads the prompt" in radio.label)
    assert choose(read_as, "raw") == ("raw", preset)
    assert not page.chat_input, "only a chat can be answered"
    choose(page.selectbox(key="target"), "writer")
    assert not any("reads the prompt" in radio.label for radio in page.radio)
    assert page.query_params["preset"] == "correct-1", "the prompt stays in the menu"


@pytest.mark.usefixtures("talker")
def test_a_reply_asks_for_a_run_of_the_whole_conversation_and_undo_takes_it_back() -> None:
    page = opened(target="talker", draft="lookup", prompt="Name a tree.", prompt_format="chat", tokens="8", view="full")
    until_done(page)
    first = shown(page)
    assert "What the model read: " in page.expander[0].label + texts(page)
    page.chat_input[0].set_value("[user]\nAnother **one**.").run()
    until_done(page)
    said = ("user", "Name a tree."), ("assistant", first.output.text.strip("\n")), ("user", "[user]\nAnother **one**.")
    assert tuple(read_messages(shown(page).prompt.text)) == said
    assert asked(page).prompt == shown(page).prompt.text
    again = opened(**page.query_params)
    until_done(again)
    assert shown(again).prompt == shown(page).prompt, "the link carries the conversation"
    next(button for button in page.button if button.label == "Undo").click().run()
    assert shown(page).prompt == first.prompt
