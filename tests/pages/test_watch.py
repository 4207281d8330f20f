"""The Watch page by AppTest: at first, after a change, after bad input, in each view. The engine replays."""

import re
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.data.measured.first_run import first_trace
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.ui.watch import files
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, texts, until, visit
from tests.support.drawn import drawn
from tests.support.fake_service import FakeService
from tests.support.known import known
from tests.support.payloads import trace_in
from tests.support.records import record
from tests.support.seen import seen, step, whole
from tests.support.watch_page import release_slider, stage_of, until_done

SAME = "Is it the same text? Identical: both wrote the same 64 tokens."


@pytest.mark.parametrize("view", ["simple", "full", "projector", "stage"])
def test_the_first_screen_plays_a_recorded_run_and_shows_as_much_as_the_link_says(
    view: str, snapshot: SnapshotAssertion
) -> None:
    assert whole(opened(view=view)) == snapshot


@pytest.mark.parametrize("run", ["story-costly", "story-sampled", "method-tree", "chat-story", "chat-edit"])
def test_a_recorded_run_is_said_with_its_own_figures(run: str, snapshot: SnapshotAssertion) -> None:
    before = seen(opened(view="full"))
    page = opened(run=run, view="full")
    assert step(before, page) == snapshot
    assert visit(page).of(WatchState).run.state == "idle", "a link alone loads no model"


@pytest.mark.parametrize(
    ("link", "view", "said"),
    [
        ({"gamma": "2", "run": "first"}, "full", []),  # links of before say nothing of a view
        ({"view": "huge"}, "full", ["one of simple, full, projector and stage: using full."]),
    ],
)
def test_a_link_of_another_view(link: dict[str, str], view: str, said: list[str]) -> None:
    page = opened(**link)
    assert stage_of(page)["view"] == view
    assert [line.value.partition(" is not ")[2] for line in page.warning] == said


def test_a_setting_that_the_short_view_hides_is_kept() -> None:
    page = opened()
    page.button(key="change_view").click().run()
    page.slider(key="temperature").set_value(0.7).run()
    for _ in range(2):  # both ways, with one more drawing of the short view
        page.button(key="change_view").click().run()
        page.run()
        assert visit(page).of(WatchState).form.current.settings.temperature == 0.7
    assert page.slider(key="temperature").value == 0.7


def test_the_controls_and_a_link_ask_for_the_run_on_screen(page: AppTest) -> None:
    data, recorded = stage_of(page), known(first_trace())
    assert len(trace_in(data)["rounds"]) == len(recorded.rounds)
    assert page.query_params == {"view": "full"}  # as it was opened: nothing was asked for
    assert data["run"]["guesses"], "the draft length can be dragged before any model is there"
    asked = visit(page).of(WatchState).form.current
    wanted = (recorded.prompt.text, recorded.target.name, known(recorded.drafter).name, recorded.settings)
    assert (asked.prompt, asked.target, asked.draft, asked.settings) == wanted
    linked = stage_of(other := opened(**data["link"], step="5"))
    assert (linked["run_id"], linked["playhead"], linked["run"]) == ("first", 5, data["run"])
    assert not visit(other).came["watch"].acted, "a lesson's link needs no engine"
    page.text_area(key="prompt").set_value("\x00\x07\x1b").run()
    assert "control characters" in texts(page)
    assert (stage_of(page)["run_id"], stage_of(page)["result"]["says"][:14]) == ("first", "Previous run: ")


def test_a_changed_control_runs_at_once_and_the_address_says_everything(page: AppTest) -> None:
    release_slider(page, 6)
    until_done(page)
    page.run()  # once the run is over the browser is sent it whole; AppTest sees that in the next drawing
    data = stage_of(page)
    (now,) = drawn(data)
    assert (now["draft_length"], now["gamma"], now["replay"]["why_not"]) == (6, 6, None)
    assert now["replay"]["lengths"]["6"]["accepted"] == now["rounds"][-1]["after"]["accepted"]
    assert data["badge"].startswith(("live", "measured here"))  # another test may have had this run made
    assert page.query_params["gamma"] == "6"
    assert {"target", "draft", "temperature", "top_k", "top_p", "tokens", "seed"} <= set(page.query_params)
    assert data["result"]["same"] == SAME
    assert f"64 tokens in {len(now['rounds'])} passes" in data["result"]["says"]
    own_time = "times as fast" in data["result"]["says"] and "on a quiet machine" not in data["result"]["says"]
    assert own_time == data["result"]["trusted"]
    first, second = (text.value for text in page.text)
    assert first == second != ""


def test_a_link_opens_one_stored_run_with_its_figures_or_runs_its_settings(page: AppTest) -> None:
    page.slider(key="temperature").set_value(0.9).run()
    data = until_done(page)
    link, figures, same = data["link"], trace_in(stage_of(page))["rounds"], data["result"]["same"]
    assert same.startswith("At temperature 0.9 these are two different draws from the same distribution")
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
    (menu,) = (box for box in page.selectbox if box.label == "Prompt")
    late = WidgetState(id=menu.proto.id, string_value=menu.options[known(menu.index)])
    page.text_area(key=next(field.key for field in page.text_area)).set_value("The dog saw a cat and").run()
    (button,) = (each for each in page.button if each.key == press)
    page._run(WidgetStates(widgets=[late, WidgetState(id=button.proto.id, trigger_value=True)]))
    assert service.commands[-1].request.prompt == "The dog saw a cat and"
    assert next(box for box in page.selectbox if box.label == "Prompt").value == OWN_TEXT


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

    for name in ("broken.json", "vllm-0.29-chat.json", "lmstudio-sdk-1.5.json", "transformers-5.23.jsonl"):
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
