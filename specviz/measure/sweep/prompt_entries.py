"""One entry of a prompts file as a prompt: what its keys may be, and one sentence about an entry that has others."""

import unicodedata
from dataclasses import replace
from typing import Any

from specviz.core.errors import InputError
from specviz.core.request import prompt_problem
from specviz.measure.sweep.plan import OWN_WORKLOAD, SweepPrompt

MAX_NAME = 40  # characters of a name or a workload
MAX_MESSAGES = 64  # of a conversation
CONTENTS = ("prompt", "messages", "turns")  # an entry has one of them
KEYS = {*CONTENTS, "name", "workload"}
# What vLLM, Spec-Bench and other sets of prompts have besides. It is not used: all prompts have the same settings.
FURTHER = {"output_tokens", "output_len", "expected_output_len", "max_tokens", "max_new_tokens", "prompt_len"}
FURTHER |= {"id", "question_id", "task_id", "category", "reference"}
UNDERSTOOD = '"prompt" (a text), "messages" (each with a "role" and a "content") or "turns" (texts)'
FIRST_TURN = 'Only the first text of "turns" is used: each prompt is measured by itself.'
SHOWN = 4  # keys of an entry that are named in a sentence


def is_conversation(found: object) -> bool:
    """Whether this is a list of messages, which may still have faults."""
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) and "role" in each for each in found)


def prompt_of(found: object, name: str) -> SweepPrompt:
    """The prompt of one value of a JSON file. InputError: the end of a sentence that says where the value is."""
    if is_conversation(found):
        found = {"messages": found}
    if not isinstance(found, dict):
        raise InputError(f"it is {_kind(found)}, and not an object with {UNDERSTOOD}.")
    contents = [key for key in CONTENTS if key in found]
    if not contents:
        raise InputError(f"it has {_named(found)}, but not {UNDERSTOOD}.")
    if len(contents) > 1:
        raise InputError(f'it has "{contents[0]}" and "{contents[1]}": it can have only one of them.')
    if unknown := sorted(found.keys() - KEYS - FURTHER):
        known = "prompt, messages or turns, name and workload"
        raise InputError(f"it has {plain(unknown[0])!r}, but a line can only have {known}.")
    name, workload = word(found, "name", name), word(found, "workload", OWN_WORKLOAD)
    match contents[0]:
        case "messages":
            messages = _messages(found["messages"])
            shown = "\n".join(f"{role}: {text}" for role, text in messages)
            return replace(text_prompt(shown, name, workload), messages=messages)
        case "turns":
            return text_prompt(_first_turn(found["turns"]), name, workload)
    if is_conversation(found["prompt"]):
        raise InputError('its "prompt" is a list of messages: such a list is called "messages".')
    if not isinstance(found["prompt"], str):
        raise InputError('it has no "prompt" with a text.')
    return text_prompt(found["prompt"], name, workload)


def notes_on(found: object) -> list[str]:
    """What of an entry is not used, one sentence for each kind."""
    if not isinstance(found, dict):
        return []
    notes = [f'"{key}" is not used.' for key in found if key in FURTHER]
    turns = found.get("turns")
    return [*notes, FIRST_TURN] if isinstance(turns, list) and len(turns) > 1 else notes


def text_prompt(text: str, name: str, workload: str = OWN_WORKLOAD) -> SweepPrompt:
    if problem := prompt_problem(text):
        raise InputError(problem[0].lower() + problem[1:])
    return SweepPrompt(workload, name, text)


def word(found: dict[str, Any], key: str, default: str) -> str:
    text = found.get(key, default)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_NAME or text != plain(text):
        raise InputError(f'its "{key}" is not a text of 1 to {MAX_NAME} plain characters.')
    return text.strip()


def plain(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")[:MAX_NAME]


def _messages(found: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_MESSAGES:
        raise InputError(f'its "messages" are not a list of 1 to {MAX_MESSAGES} messages.')
    for message in found:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            has = f": {_named(message)}" if isinstance(message, dict) else ""
            raise InputError(f'one of its "messages" has other keys than "role" and "content"{has}.')
        word(message, "role", "")
        if not isinstance(content := message["content"], str):
            raise InputError(f'one of its "messages" has a "content" that is not a text: it is {_kind(content)}.')
    return tuple((message["role"].strip(), message["content"]) for message in found)


def _first_turn(turns: object) -> str:
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
        raise InputError('its "turns" are not a list of texts.')
    return str(turns[0])


def _named(found: dict[str, Any]) -> str:
    """The keys of an object, for a sentence."""
    names = [f'"{plain(key)}"' for key in found][:SHOWN]
    return ", ".join(names) + (" and more" if len(found) > SHOWN else "") if names else "no keys"


def _kind(found: object) -> str:
    match found:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
    return "a number"
