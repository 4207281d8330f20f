"""A visitor's own prompts from a file: one a line, or JSON lines. Nothing in the file is trusted."""

import io
import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from specviz.core.errors import InputError
from specviz.core.files import content_of
from specviz.core.request import MAX_PROMPT_CHARACTERS, prompt_problem
from specviz.measure.sweep.plan import OWN_WORKLOAD, SweepPrompt

MAX_FILE_BYTES = 1_000_000
MAX_PROMPTS = 200
MAX_LINE = 7 * MAX_PROMPT_CHARACTERS  # characters of a JSON line, where a letter may be written as \u0041
MAX_PROBLEMS = 20
MAX_NAME = 40  # characters of a name or a workload
CONTENTS = {"prompt", "messages"}  # a line has one of them
KEYS = CONTENTS | {"name", "workload"}
MAX_MESSAGES = 64  # of a conversation
LIST = 5  # lines from which a text looks like a list of prompts


@dataclass(frozen=True, slots=True)
class PromptFile:
    prompts: tuple[SweepPrompt, ...]
    problems: tuple[str, ...]


def read_prompts(content: bytes) -> PromptFile:
    """The prompts in a file: JSON lines where its first line is a JSON object, else every line is a prompt.

    A JSON line is {"prompt": TEXT, "name": TEXT, "workload": TEXT}; the last two may be left out. In place of "prompt"
    it may have "messages": [{"role": TEXT, "content": TEXT}, ...], a conversation.
    """
    lines = _lines(content)
    first = next(lines, None)
    as_json = first is not None and first[1].lstrip().startswith("{") and _is_object(first[1])
    prompts: dict[str, SweepPrompt] = {}
    problems: list[str] = []
    for number, line in chain([first] if first else [], lines):
        if len(prompts) == MAX_PROMPTS:
            problems.append(f"Line {number} and those after it are left out: at most {MAX_PROMPTS} prompts are used.")
            break
        if len(problems) == MAX_PROBLEMS:
            problems.append(f"Line {number} and those after it are not read: {MAX_PROBLEMS} lines cannot be used.")
            break
        try:
            prompt = _from_json(line, number) if as_json else _prompt(line, number)
            if prompt.name in prompts:
                raise InputError(f"an earlier line has the same name, {prompt.name!r}.")
        except InputError as error:
            problems.append(f"Line {number} is left out: {error}")
        else:
            prompts[prompt.name] = prompt
    if not prompts:
        raise InputError(problems[0] if problems else "The file holds no prompt: write one on each line.")
    return PromptFile(tuple(prompts.values()), tuple(problems))


def prompts_in(text: str) -> int | None:
    """How many prompts a text lists, one a line: JSON lines, or `LIST` lines without indent; None for one text."""
    lines = text.split("\n")
    used = [line for line in lines if line.strip()]
    if used and len(used[0]) <= MAX_LINE and _is_object(used[0]) and CONTENTS & json.loads(used[0]).keys():
        return len(used)
    while lines and not lines[-1].strip():
        lines.pop()
    is_list = len(lines) >= LIST and all(line.strip() and not line[0].isspace() for line in lines)
    return len(lines) if is_list else None


def read_prompt_file(path: Path) -> PromptFile:
    """Raises InputError: the file cannot be read."""
    return read_prompts(content_of(path, MAX_FILE_BYTES))


def _lines(content: bytes) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with their numbers. Only line feeds and carriage returns end a line."""
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"The file is larger than {MAX_FILE_BYTES // 10**6} MB: prompts are a few lines each.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.") from None
    lines = io.StringIO(text, newline=None)
    return ((number, line.removesuffix("\n")) for number, line in enumerate(lines, start=1) if line.strip())


def _is_object(line: str) -> bool:
    try:
        return len(line) > MAX_LINE or isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _from_json(line: str, number: int) -> SweepPrompt:
    if len(line) > MAX_LINE:
        raise InputError(f"it is longer than {MAX_LINE:,} characters.")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("it is not JSON.") from None
    if not isinstance(found, dict) or not (isinstance(found.get("prompt"), str) or "messages" in found):
        raise InputError('it has no "prompt" with a text.')
    if found.keys() >= CONTENTS:
        raise InputError('it has "prompt" and "messages": it can have only one of them.')
    if unknown := sorted(found.keys() - KEYS):
        known = "prompt or messages, name and workload"
        raise InputError(f"it has {_plain(unknown[0])!r}, but a line can only have {known}.")
    name, workload = _word(found, "name", f"line-{number}"), _word(found, "workload", OWN_WORKLOAD)
    if "prompt" in found:
        return _prompt(found["prompt"], number, name, workload)
    messages = _messages(found["messages"])
    shown = "\n".join(f"{role}: {text}" for role, text in messages)
    return replace(_prompt(shown, number, name, workload), messages=messages)


def _messages(found: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_MESSAGES:
        raise InputError(f'its "messages" are not a list of 1 to {MAX_MESSAGES} messages.')
    for message in found:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise InputError('one of its "messages" has other keys than "role" and "content".')
        _word(message, "role", "")
        if not isinstance(message["content"], str):
            raise InputError('one of its "messages" has a "content" that is not a text.')
    return tuple((message["role"].strip(), message["content"]) for message in found)


def _prompt(text: str, number: int, name: str = "", workload: str = OWN_WORKLOAD) -> SweepPrompt:
    if problem := prompt_problem(text):
        raise InputError(problem[0].lower() + problem[1:])
    return SweepPrompt(workload, name or f"line-{number}", text)


def _word(found: dict[str, Any], key: str, default: str) -> str:
    word = found.get(key, default)
    if not isinstance(word, str) or not word.strip() or len(word) > MAX_NAME or word != _plain(word):
        raise InputError(f'its "{key}" is not a text of 1 to {MAX_NAME} plain characters.')
    return word.strip()


def _plain(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")[:MAX_NAME]
