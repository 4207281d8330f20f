"""One entry of a prompts file as a prompt: what its keys may be, and one sentence about an entry that has others."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from specviz.core.errors import InputError
from specviz.core.request import prompt_problem
from specviz.core.texts import Sentences, join_choices
from specviz.measure.sweep.plan import OWN_WORKLOAD, SweepPrompt

say = Sentences("prompt_files")

MAX_NAME = 40  # characters of a name or a workload
MAX_MESSAGES = 64  # of a conversation
# What may hold the prompt, the first that an entry has; the last two are those of GSM8K and MBPP.
CONTENTS = ("prompt", "messages", "turns", "question", "text")
KINDS = ("workload", "kind", "category")  # what may hold its kind of text
KEYS = {"name", *KINDS}
SHOWN = 4  # keys of an entry that are named in a sentence


def is_conversation(found: object) -> bool:
    """Whether this is a list of messages, which may still have faults."""
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) and "role" in each for each in found)


def prompt_of(found: object, name: str) -> SweepPrompt:
    """The prompt of one value of a JSON file. InputError: the end of a sentence that says where the value is."""
    found = {"messages": found} if is_conversation(found) else found
    if not isinstance(found, dict):
        raise wrong_entry(f"{found!r}")
    key = _content_key(found)
    if not key:
        raise wrong_entry(join_choices([*found], "and"))
    content = found[key]
    name, workload = word(found, "name", name), _kind_of(found)
    if key == "messages" or is_conversation(content):
        messages = _messages(content)
        messages = messages[: _first_turn(messages)]
        shown = "\n".join(f"{role}: {text}" for role, text in messages)
        return replace(text_prompt(shown, name, workload), messages=messages)
    if isinstance(content, list) and all(isinstance(turn, str) for turn in content):
        content = next(iter(content), None)
    if not isinstance(content, str):
        raise wrong_entry(key)
    return text_prompt(content, name, workload)


def wrong_entry(what: str) -> InputError:
    return InputError(say("wrong_entry", what=f'"{plain(what)}"'))


def _content_key(found: dict[str, Any]) -> str:
    return next((key for key in CONTENTS if key in found), "")


def _kind_of(found: dict[str, Any]) -> str:
    """The `workload` that it names, else another file's kind where that is a short text."""
    if "workload" in found:
        return word(found, "workload", OWN_WORKLOAD)
    kinds = (kind for key in KINDS if isinstance(kind := found.get(key), str) and kind.strip() and kind == plain(kind))
    return next(kinds, OWN_WORKLOAD).strip()


def _first_turn(messages: Sequence[tuple[str, str]]) -> int:
    """How many messages there are before the user speaks twice: each prompt is measured by itself."""
    twice = (at for at, pair in enumerate(pairwise(messages), start=1) if pair[0][0] == pair[1][0] == "user")
    return next(twice, len(messages))


def notes_on(found: object) -> list[str]:
    """What of an entry is not used, one sentence for each kind."""
    if not isinstance(found, dict):
        return []
    content = found.get(key := _content_key(found))
    unused = [name for name in found if name != key and name not in KEYS]
    names = [f'"{plain(key)}"' for key in unused]
    notes = [say("unused", names=", ".join(names[:SHOWN]) + " …" * (len(names) > SHOWN))] if names else []
    several = isinstance(content, list) and len(content) > 1
    if is_conversation(content):
        messages = _messages(content)
        several = _first_turn(messages) < len(messages)
    return [*notes, say("first_turn")] if several else notes


def text_prompt(text: str, name: str, workload: str = OWN_WORKLOAD) -> SweepPrompt:
    if problem := prompt_problem(text):
        raise InputError(problem[0].lower() + problem[1:])
    return SweepPrompt(workload, name, text)


def word(found: dict[str, Any], key: str, default: str) -> str:
    text = found.get(key, default)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_NAME or text != plain(text):
        raise wrong_entry(key)
    return text.strip()


def plain(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")[:MAX_NAME]


def _messages(found: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_MESSAGES:
        raise wrong_entry("messages")
    for message in found:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise wrong_entry("messages")
        word(message, "role", "")
        if not isinstance(message["content"], str):
            raise wrong_entry("content")
    return tuple((message["role"].strip(), message["content"]) for message in found)
