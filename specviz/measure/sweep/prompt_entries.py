"""One entry of a prompts file as a prompt: what its keys may be, and one sentence about an entry that has others."""

import unicodedata
from dataclasses import replace
from typing import Any

from specviz.core.errors import InputError
from specviz.core.request import prompt_problem
from specviz.core.texts import Sentences
from specviz.measure.sweep.plan import OWN_WORKLOAD, SweepPrompt

say = Sentences("prompt_files")

MAX_NAME = 40  # characters of a name or a workload
MAX_MESSAGES = 64  # of a conversation
CONTENTS = ("prompt", "messages", "turns")  # an entry has one of them
KEYS = {*CONTENTS, "name", "workload"}
# What vLLM, Spec-Bench and other sets of prompts have besides. It is not used: all prompts have the same settings.
FURTHER = {"output_tokens", "output_len", "expected_output_len", "max_tokens", "max_new_tokens", "prompt_len"}
FURTHER |= {"id", "question_id", "task_id", "category", "reference"}


def is_conversation(found: object) -> bool:
    """Whether this is a list of messages, which may still have faults."""
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) and "role" in each for each in found)


def prompt_of(found: object, name: str) -> SweepPrompt:
    """The prompt of one value of a JSON file. InputError: the end of a sentence that says where the value is."""
    if is_conversation(found):
        found = {"messages": found}
    if not isinstance(found, dict):
        raise wrong_entry(f"{found!r}")
    contents = [key for key in CONTENTS if key in found]
    unknown = sorted(found.keys() - KEYS - FURTHER)
    if len(contents) != 1 or unknown:
        raise wrong_entry(unknown[0] if unknown else ", ".join(contents or found))
    name, workload = word(found, "name", name), word(found, "workload", OWN_WORKLOAD)
    content = found[contents[0]]
    if contents == ["messages"]:
        messages = _messages(content)
        shown = "\n".join(f"{role}: {text}" for role, text in messages)
        return replace(text_prompt(shown, name, workload), messages=messages)
    if contents == ["turns"] and isinstance(content, list) and all(isinstance(turn, str) for turn in content):
        content = next(iter(content), None)
    if not isinstance(content, str):
        raise wrong_entry(contents[0])
    return text_prompt(content, name, workload)


def wrong_entry(what: str) -> InputError:
    return InputError(say("wrong_entry", what=f'"{plain(what)}"'))


def notes_on(found: object) -> list[str]:
    """What of an entry is not used, one sentence for each kind."""
    if not isinstance(found, dict):
        return []
    notes = [say("unused", name=f'"{key}"') for key in found if key in FURTHER]
    turns = found.get("turns")
    return [*notes, say("first_turn")] if isinstance(turns, list) and len(turns) > 1 else notes


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
