"""A target with a chat template: its prompts, how it reads them, and a conversation that goes on. Made-up runs."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.conversation import read_messages
from specviz.core.trace import Trace
from specviz.data.prompts.workloads import find_preset
from specviz.models.gguf_folder import TEMPLATE_FIELD
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, texts, visit
from tests.support.known import known
from tests.support.watch_page import until_done

REPLY = "reply-"


@pytest.fixture
def talker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the operator's folder; the engine makes its runs up."""
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    (tmp_path / "talker.gguf").write_bytes(b"GGUF" + bytes(100) + TEMPLATE_FIELD + bytes(100))
    (tmp_path / "writer.gguf").write_bytes(b"GGUF" + bytes(1_000))


pytestmark = pytest.mark.usefixtures("talker")


def shown(page: AppTest) -> Trace:
    return known(visit(page).of(WatchState).shown).trace


def test_to_choose_it_brings_chats_and_their_prompts_and_to_leave_it_takes_them_away(page: AppTest) -> None:
    menu = next(box for box in page.selectbox if box.label == "Prompt")
    assert not any("Correct a text" in option for option in menu.options)
    page.selectbox(key="target").set_value("talker").run()
    until_done(page)
    assert shown(page).settings.prompt_format == "chat"
    assert page.query_params["prompt_format"] == "chat"
    assert page.selectbox(key="draft").value == "lookup", "wren-nano knows none of its words"
    menu = next(box for box in page.selectbox if box.label == "Prompt")
    menu.set_value("correct-1").run()
    until_done(page)
    assert shown(page).prompt.text == known(find_preset("correct-1")).text
    page.radio(key=next(radio.key for radio in page.radio if "reads the prompt" in radio.label)).set_value("raw").run()
    until_done(page)
    assert shown(page).settings.prompt_format == "raw"
    assert not page.chat_input, "only a chat can be answered"
    page.selectbox(key="target").set_value("writer").run()
    until_done(page)
    assert not any("reads the prompt" in radio.label for radio in page.radio)
    assert page.query_params["preset"] == "correct-1", "the prompt stays in the menu"


def test_a_reply_asks_for_a_run_of_the_whole_conversation_and_undo_takes_it_back() -> None:
    page = opened(target="talker", draft="lookup", prompt="Name a tree.", prompt_format="chat", tokens="8", view="full")
    until_done(page)
    first = shown(page)
    assert "What the model read: " in page.expander[0].label + texts(page)
    next(field for field in page.chat_input if REPLY in str(field.key)).set_value("[user]\nAnother **one**.").run()
    until_done(page)
    said = ("user", "Name a tree."), ("assistant", first.output.text.strip("\n")), ("user", "[user]\nAnother **one**.")
    assert tuple(read_messages(shown(page).prompt.text)) == said
    assert visit(page).of(WatchState).form.current.prompt == shown(page).prompt.text
    again = opened(
        **{name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
    )
    until_done(again)
    assert shown(again).prompt == shown(page).prompt, "the link carries the conversation"
    next(button for button in page.button if button.label == "Undo").click().run()
    assert shown(page).prompt == first.prompt
