"""A conversation as one text: links, traces, files and every other place of a prompt carry it without knowing of it.

    [system]
    Answer in one sentence.
    [user]
    What is a tree?

A line with nothing but a role in brackets begins a message; text before the first such line is the user's. A line of a
message that looks like one has a backslash before it, and one backslash more for each that it has of its own.
"""

import re
from collections.abc import Sequence

ChatMessage = tuple[str, str]  # a role and a text
ROLES = ("system", "user", "assistant")
_BEGINS = re.compile(rf"\[({'|'.join(ROLES)})\][ \t]*")
_LOOKS = re.compile(rf"\\*{_BEGINS.pattern}")


def read_messages(text: str) -> list[ChatMessage]:
    """The messages of a text, in order; those without a letter are left out. Any text has a meaning: there is no error.

    A text of one message of the user is that message as it is; others lose the empty lines around them.
    """
    role, found, lines = "user", list[ChatMessage](), list[str]()
    for line in text.split("\n"):
        if begins := _BEGINS.fullmatch(line):
            found.append((role, "\n".join(lines).strip("\n")))
            role, lines = begins[1], []
        else:
            lines.append(line[1:] if line.startswith("\\") and _LOOKS.fullmatch(line) else line)
    found.append((role, "\n".join(lines).strip("\n") if found else "\n".join(lines)))
    return [message for message in found if message[1].strip()]


def write_messages(messages: Sequence[ChatMessage]) -> str:
    """The text of which `read_messages` makes these messages; a single one of the user needs no line for its role."""
    if len(messages) == 1 and messages[0][0] == "user":
        return _hidden(messages[0][1])
    return "\n".join(f"[{role}]\n{_hidden(text)}" for role, text in messages)


def _hidden(text: str) -> str:
    return "\n".join(f"\\{line}" if _LOOKS.fullmatch(line) else line for line in text.split("\n"))
