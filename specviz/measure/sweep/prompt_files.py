"""A visitor's own prompts from a file: plain lines, JSON or a CSV. Nothing in the file is trusted."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from specviz.core.errors import InputError
from specviz.core.files import content_of
from specviz.core.outside import check_density
from specviz.core.request import MAX_PROMPT_CHARACTERS, prompt_problem
from specviz.core.texts import Sentences, join_choices
from specviz.measure.sweep.plan import OWN_WORKLOAD, SweepPrompt
from specviz.systems.finding import find_values, left_over, line_of

say = Sentences("prompt_files")

MAX_NAME = 40  # characters of a name or a workload
MAX_MESSAGES = 64  # of a conversation
# What may hold the prompt, the first that an entry has; the last two are those of GSM8K and MBPP.
CONTENTS = ("prompt", "messages", "turns", "question", "text")
KINDS = ("workload", "kind", "category")  # what may hold its kind of text
SHOWN = 4  # keys of an entry that are named in a sentence
MAX_FILE_BYTES = 4_000_000
MOST_READ = 1_000_000  # bytes of it
MAX_PROMPTS = 200
MAX_LINE = 7 * MAX_PROMPT_CHARACTERS  # characters of a JSON value, where a letter may be written as \u0041
MAX_PROBLEMS = 20
SEPARATORS = ",;\t"  # of a CSV
COLUMNS = ("prompt", "name", *KINDS)  # of a CSV; others are not used
# How a file of JSON begins that is not whole in its first line. Other unfinished JSON may be a prompt: a text to go on.
_BEGINS = re.compile(rf"""[\[{{]$|\[\s*{{|[\[{{].*['"](?:{"|".join(CONTENTS)})['"]\s*:""")
_NAME = re.compile(r"(?:[A-Za-z_]\w*(?:[ :.-]\w+)?)?")  # of a column, which may have none


@dataclass(frozen=True, slots=True)
class PromptFile:
    prompts: tuple[SweepPrompt, ...]
    problems: tuple[str, ...]  # what cannot be used
    notes: tuple[str, ...] = ()  # what is read in another way than the file may mean


class Entry(NamedTuple):
    """One prompt of a file, not checked yet."""

    line: int
    name: str  # unless the value has one
    found: object  # of JSON or a CSV; a plain line as JSON would have it; an InputError: nothing can be read there


def read_prompts(content: bytes) -> PromptFile:
    """The prompts in a file.

    It may be plain text, where every line is a prompt; JSON, one value a line, in an array, or over several lines; or
    a CSV with a column "prompt". A value is {"prompt": TEXT, "name": TEXT, "workload": TEXT}; the last two may be left
    out. In place of "prompt" it may have "messages": [{"role": TEXT, "content": TEXT}, ...], a conversation, or
    "turns": [TEXT, ...], of which the first is used. A list of messages alone is a conversation too. Of a large file
    the first prompts are read, and a note says so.

    Raises InputError: the file has no prompt, or is JSON or a CSV of another form.
    """
    prompts: dict[str, SweepPrompt] = {}
    problems: list[str] = []
    notes: dict[str, None] = {}  # in their order, each once
    cut = len(content) > MOST_READ
    for entry in _entries(_text(content), cut):
        if len(prompts) == MAX_PROMPTS:
            problems.append(say("most_prompts", line=entry.line, most=MAX_PROMPTS))
            break
        if len(problems) == MAX_PROBLEMS:
            problems.append(say("most_problems", line=entry.line, count=MAX_PROBLEMS))
            break
        try:
            prompt, of_it = prompt_of(entry.found, entry.name)
            if prompt.name in prompts:
                raise InputError(say("same_name", name=repr(prompt.name)))
        except InputError as error:
            problems.append(say("left_out", line=entry.line, problem=error))
        else:
            prompts[prompt.name] = prompt
            notes |= dict.fromkeys(of_it)
    else:
        problems += [say("cut", most=MOST_READ // 10**6)] if cut else []
    if not prompts:
        raise InputError(problems[0] if problems else say("no_prompt"))
    return PromptFile(tuple(prompts.values()), tuple(problems), tuple(notes)[:MAX_PROBLEMS])


def read_prompt_file(path: Path) -> PromptFile:
    """Raises InputError: the file cannot be read."""
    return read_prompts(content_of(path, MAX_FILE_BYTES))


def _text(content: bytes) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise InputError(say("too_large", most=MAX_FILE_BYTES // 10**6))
    if len(content) > MOST_READ:
        content = content[: content.rfind(b"\n", 0, MOST_READ) + 1] or content[:MOST_READ]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(say("no_utf8")) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # other ends of lines belong to a prompt
    return re.sub(r'^("?)sep=.\1\n', "\n", text, flags=re.IGNORECASE)  # Excel's


def _entries(text: str, cut: bool) -> Iterator[Entry]:
    """What a file lists, by the form that its first line has."""
    first = next(filter(str.strip, io.StringIO(text)), "").removesuffix("\n")
    lines = ((at, line.removesuffix("\n")) for at, line in enumerate(io.StringIO(text), start=1) if line.strip())
    begins, found = first.lstrip().startswith(("{", "[")), _json(first)
    is_long = len(first) > MAX_LINE and first.lstrip().startswith("{")
    if isinstance(found, dict) or is_conversation(found) or is_long:
        for number, line in lines:
            problem = say("too_long", most=MAX_LINE) if len(line) > MAX_LINE else say("no_json")
            found = _json(line)
            yield Entry(number, f"line-{number}", InputError(problem) if found is None else found)
    elif begins and (values := _document(text, cut, surely=bool(_BEGINS.match(first.strip())))):
        yield from values
    else:
        headers = {separator: _header(first, separator) for separator in SEPARATORS}
        if separator := next((each for each, columns in headers.items() if "prompt" in columns), ""):
            yield from _table(text, headers[separator], separator)
            return
        for separator, columns in headers.items():
            _check_no_table(text, columns, separator)
        for number, line in lines:
            is_json = line.lstrip().startswith(("{", "[")) and isinstance(_json(line), dict | list)
            found = InputError(say("json_after_text")) if is_json else {"prompt": line}
            yield Entry(number, f"line-{number}", found)


def _json(line: str) -> object:
    """The value that a line is; None for a line that is too long or no JSON."""
    with suppress(ValueError, RecursionError):
        return json.loads(line) if len(line) <= MAX_LINE else None
    return None


def _document(text: str, cut: bool, *, surely: bool) -> list[Entry]:
    """The values of a JSON array, or of objects that follow one another; none where a text only begins with a bracket.

    Raises InputError where JSON is broken. What was cut may end anywhere.
    """
    check_density(text.encode(), "file")
    found, left = find_values(text.lstrip().removeprefix("[") if cut else text)
    if (wrong := left_over(left)) and not cut:
        if surely or found:
            raise InputError(say("breaks", line=line_of(wrong, text), form="JSON"))
        return []
    if len(found) == 1 and isinstance(values := found[0].value, list) and not is_conversation(values):
        return [Entry(1, f"prompt-{place}", value) for place, value in enumerate(values, start=1)]
    return [Entry(line, f"prompt-{place}", value) for place, (line, value) in enumerate(found, start=1)]


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV that have text, each with its line. Raises InputError where a quotation does not end."""
    reader, line = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error:
        raise InputError(say("breaks", line=line, form="CSV")) from None


def _header(first: str, separator: str) -> list[str]:
    with suppress(InputError):
        columns = [name for _, row in _rows(first, separator) for name in row]
        return [word if (word := name.strip().lower()) in COLUMNS else name for name in columns]
    return []


def _table(text: str, columns: list[str], separator: str) -> Iterator[Entry]:
    """The rows of a CSV, each as the object that it stands for."""
    for line, row in islice(_rows(text, separator), 1, None):
        row = row if len(columns) > 1 else [separator.join(row)]  # a list under the word "prompt"
        cells = {name.strip(): cell for name, cell in zip(columns, row, strict=False) if name and cell}
        wrong = None if len(row) == len(columns) else say("cells", count=len(row), columns=len(columns))
        yield Entry(line, f"line-{line}", InputError(wrong) if wrong else {"prompt": ""} | cells)


def _check_no_table(text: str, columns: list[str], separator: str) -> None:
    """Refuse a CSV without a "prompt": names in its first line, and as many cells in every other one."""
    lengths = list[int]()
    if len(columns) > 1 and all(len(name) <= MAX_NAME and _NAME.fullmatch(name) for name in columns):
        with suppress(InputError):
            lengths = [len(row) for _, row in _rows(text, separator)]
    if len(lengths) > 1 and set(lengths) == {len(columns)}:
        named = join_choices([f'"{plain(name)}"' for name in columns[:SHOWN] if name], "and")
        raise InputError(say("other_columns", columns=named))


def is_conversation(found: object) -> bool:
    """Whether this is a list of messages, which may still have faults."""
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) and "role" in each for each in found)


def prompt_of(found: object, name: str) -> tuple[SweepPrompt, list[str]]:
    """The prompt of one value of a JSON file, and what of the value is not used, one sentence for each kind.

    InputError: the end of a sentence that says where the value is.
    """
    found = {"messages": found} if is_conversation(found) else found
    if isinstance(found, InputError):
        raise InputError(str(found))  # a new one: raised, it would hold itself and the whole text in memory
    if not isinstance(found, dict):
        raise wrong_entry(f"{found!r}")
    if not (key := _content_key(found)):
        raise wrong_entry(join_choices([*found], "and"))
    content, label = found[key], found.get("name")
    kind = next((each for name in KINDS if _is_word(each := found.get(name))), OWN_WORKLOAD)
    messages, several = tuple[tuple[str, str], ...](), isinstance(content, list) and len(content) > 1
    if key == "messages" or is_conversation(content):
        every = _messages(content)
        twice = (at for at, pair in enumerate(pairwise(every), start=1) if pair[0][0] == pair[1][0] == "user")
        messages = every[: next(twice, None)]  # each prompt is measured by itself
        content, several = "\n".join(f"{role}: {text}" for role, text in messages), len(messages) < len(every)
    elif isinstance(content, list) and all(isinstance(turn, str) for turn in content):
        content = next(iter(content), None)
    if not isinstance(content, str):
        raise wrong_entry(key)
    if problem := prompt_problem(content):
        raise InputError(problem[0].lower() + problem[1:])
    used = {key, *(name for name in ("name", *KINDS) if _is_word(found.get(name)))}
    unused = [f'"{plain(other)}"' for other, value in found.items() if value is not None and other not in used]
    names = join_choices([*unused[:SHOWN], *["…"] * (len(unused) > SHOWN)], "and")
    notes = [*[say("unused", names=names)] * bool(unused), *[say("first_turn")] * several]
    return SweepPrompt(kind.strip(), label.strip() if _is_word(label) else name, content, messages=messages), notes


def wrong_entry(what: str) -> InputError:
    return InputError(say("wrong_entry", what=f'"{plain(what)}"'))


def _content_key(found: dict[str, Any]) -> str:
    return next((key for key in CONTENTS if found.get(key) is not None), "")


def _is_word(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and bool(text.strip()) and text == plain(text)


def plain(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")[:MAX_NAME]


def _messages(found: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_MESSAGES:
        raise wrong_entry("messages")
    for message in found:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise wrong_entry("messages")
        if not _is_word(message["role"]):
            raise wrong_entry("role")
        if not isinstance(message["content"], str):
            raise wrong_entry("content")
    return tuple((message["role"].strip(), message["content"]) for message in found)
