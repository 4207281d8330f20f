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
SHOWN = 4  # keys of an entry that are named in a sentence


def is_conversation(found: object) -> bool:
    """Whether this is a list of messages, which may still have faults."""
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) and "role" in each for each in found)


def prompt_of(found: object, name: str) -> SweepPrompt:
    """The prompt of one value of a JSON file. InputError: the end of a sentence that says where the value is."""
    if is_conversation(found):
        found = {"messages": found}
    if not isinstance(found, dict):
        raise InputError(say("no_object", found=_kind(found), understood=say("understood")))
    contents = [key for key in CONTENTS if key in found]
    if not contents:
        raise InputError(say("other_keys", found=_named(found), understood=say("understood")))
    if len(contents) > 1:
        raise InputError(say("two_contents", first=contents[0], second=contents[1]))
    if unknown := sorted(found.keys() - KEYS - FURTHER):
        raise InputError(say("unknown_key", key=repr(plain(unknown[0]))))
    name, workload = word(found, "name", name), word(found, "workload", OWN_WORKLOAD)
    match contents[0]:
        case "messages":
            messages = _messages(found["messages"])
            shown = "\n".join(f"{role}: {text}" for role, text in messages)
            return replace(text_prompt(shown, name, workload), messages=messages)
        case "turns":
            return text_prompt(_first_turn(found["turns"]), name, workload)
    if is_conversation(found["prompt"]):
        raise InputError(say("prompt_is_messages"))
    if not isinstance(found["prompt"], str):
        raise InputError(say("no_prompt_text"))
    return text_prompt(found["prompt"], name, workload)


def notes_on(found: object) -> list[str]:
    """What of an entry is not used, one sentence for each kind."""
    if not isinstance(found, dict):
        return []
    notes = [say("key_unused", key=key) for key in found if key in FURTHER]
    turns = found.get("turns")
    return [*notes, say("first_turn")] if isinstance(turns, list) and len(turns) > 1 else notes


def text_prompt(text: str, name: str, workload: str = OWN_WORKLOAD) -> SweepPrompt:
    if problem := prompt_problem(text):
        raise InputError(problem[0].lower() + problem[1:])
    return SweepPrompt(workload, name, text)


def word(found: dict[str, Any], key: str, default: str) -> str:
    text = found.get(key, default)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_NAME or text != plain(text):
        raise InputError(say("no_name", key=key, most=MAX_NAME))
    return text.strip()


def plain(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")[:MAX_NAME]


def _messages(found: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_MESSAGES:
        raise InputError(say("no_messages", most=MAX_MESSAGES))
    for message in found:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            if isinstance(message, dict):
                raise InputError(say("message_keys", found=_named(message)))
            raise InputError(say("no_message"))
        word(message, "role", "")
        if not isinstance(content := message["content"], str):
            raise InputError(say("no_content", kind=_kind(content)))
    return tuple((message["role"].strip(), message["content"]) for message in found)


def _first_turn(turns: object) -> str:
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
        raise InputError(say("no_turns"))
    return str(turns[0])


def _named(found: dict[str, Any]) -> str:
    """The keys of an object, for a sentence."""
    names = [f'"{plain(key)}"' for key in found][:SHOWN]
    return ", ".join(names) + (say("and_more") if len(found) > SHOWN else "") if names else say("no_keys")


def _kind(found: object) -> str:
    match found:
        case None:
            return "null"
        case bool():
            return say("a_truth")
        case str():
            return say("a_text")
        case list():
            return say("a_list")
        case dict():
            return say("an_object")
    return say("a_number")
