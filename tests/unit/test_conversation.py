"""A conversation as one text: whatever the messages are, they come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.core.conversation import ROLES, ChatMessage, read_messages, write_messages

LINES = st.sampled_from(
    ["[user]", "\\[user]", "\\\\[system] ", "[assistant]\t", "[user] a", "a", " b", "", "é\r", "[x]"]
)
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join) | st.text(min_size=1, max_size=20)
MESSAGES = st.lists(st.tuples(st.sampled_from(ROLES), TEXTS), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("What is a tree?", [("user", "What is a tree?")]),
        ("  two\nlines\n", [("user", "  two\nlines\n")]),
        ("[system]\nBe brief.\n\n[user]\nHi", [("system", "Be brief."), ("user", "Hi")]),
        ("Hi\n[assistant]\nHello\n[user]\nAnd?", [("user", "Hi"), ("assistant", "Hello"), ("user", "And?")]),
        ("a list\n\\[user]\n\\\\[user]", [("user", "a list\n[user]\n\\[user]")]),
        ("[user] is not alone", [("user", "[user] is not alone")]),
        ("[User]\n[somebody]", [("user", "[User]\n[somebody]")]),
        ("[user]\n \n[assistant]\n", []),
        ("", []),
    ],
)
def test_a_line_with_a_role_alone_begins_a_message(text: str, messages: list[ChatMessage]) -> None:
    assert read_messages(text) == messages


@given(MESSAGES)
def test_what_was_written_is_read_as_the_same_messages(messages: list[ChatMessage]) -> None:
    """But for empty lines around a message, and messages without a letter."""
    whole = [(role, text) for role, text in messages if text.strip()]
    alone = len(messages) == 1 and messages[0][0] == "user"
    expected = whole if alone else [(role, text.strip("\n")) for role, text in whole]
    assert read_messages(write_messages(messages)) == expected
