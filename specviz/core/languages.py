"""The languages of what people read: English, and each that has a folder in assets/texts, named by its code.

A translation is a gettext file for each file of texts, written by `python -m scripts.write_translations CODE`. An entry
has the place of a text as its context, the English text, and the same in that language: gettext's own key is both, so
that an item put into a list moves no other. A text that is missing, or whose English has changed since, is English.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from babel import Locale
from babel.messages.pofile import PoFileError, denormalize, read_po

from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.once import Once, cache_once

PARAMETERS = ParamSpec("PARAMETERS")
RESULT = TypeVar("RESULT")
ENGLISH = "en"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')  # a part of a text in a gettext file
_language: ContextVar[str] = ContextVar("language")  # of this run of a page's script, or of this command
_choosers: list[Callable[[], str]] = []  # who says it where nobody has yet: the app


@cache_once
def languages(folder: Path = TEXTS) -> Mapping[str, str]:
    """The name that each language has for itself, by its code; English first."""
    codes = sorted({file.parent.relative_to(folder).parts[0] for file in folder.glob("*/**/*.po")})
    return {code: _own_name(code) for code in (ENGLISH, *codes)}


def _own_name(code: str) -> str:
    name = locale(code).get_display_name() or code
    return name[0].upper() + name[1:]


@cache
def locale(code: str) -> Locale:
    return Locale.parse(code, sep="-")


def current_language() -> str:
    """Of the visitor whose page is drawn, or of what is exported."""
    found = _language.get("")
    if not found:
        found = _choosers[-1]() if _choosers else ENGLISH
        set_language(found)
    return found


def set_language(code: str) -> None:
    """For the rest of this run of a script, or of this command; `code` is one of `languages`."""
    _language.set(code)


def find_language_by(chooser: Callable[[], str]) -> None:
    """Ask `chooser` for a language in each run of a script; it is asked once there."""
    _choosers[:] = [chooser]


def cache_by_language(function: Callable[PARAMETERS, RESULT]) -> Callable[PARAMETERS, RESULT]:
    """As cache_once, for what is made of texts."""
    in_language: Once[[str], Once[PARAMETERS, RESULT]] = Once(lambda _: Once(function))

    @wraps(function)
    def found(*given: PARAMETERS.args, **named: PARAMETERS.kwargs) -> RESULT:
        return in_language(current_language())(*given, **named)

    return found


def find_language(wanted: Iterable[str]) -> str | None:
    """The first that is there of those that a browser or a link names, as in es-MX or zh_CN."""
    known = {code.lower(): code for code in languages()}
    first = {code.partition("-")[0]: code for code in reversed(known)}
    for name in wanted:
        code = name.strip().lower().replace("_", "-")
        if found := known.get(code) or known.get(first.get(code.partition("-")[0], "")):
            return found
    return None


@dataclass(frozen=True, slots=True)
class Entry:
    place: str
    english: str  # the text that was translated
    text: str = ""  # empty: not yet translated
    outdated: bool = False  # marked as fuzzy: of another English text
    previous: str = ""  # that other text
    notes: Sequence[str] = ()  # what a translator wrote above it


Entries = Mapping[tuple[str, str], Entry]  # by place and English text


def translation(folder: Path, name: str, code: str) -> Entries:
    """The entries of one file of texts; none where the language has no such file.

    Raises:
        InputError: the file is no gettext file.
    """
    path = folder / code / f"{name}.po"
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            found = read_po(file, abort_invalid=True)
    except (OSError, ValueError, PoFileError) as error:
        raise InputError(f"{code}/{name}.po cannot be read as a gettext file: {error}.") from error
    entries = [
        Entry(each.context, str(each.id), str(each.string or ""), each.fuzzy, *_previous_and_notes(each.user_comments))
        for each in found
        if each.context
    ]
    return {(entry.place, entry.english): entry for entry in entries}


def _previous_and_notes(comments: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Babel reads as comments also the lines `#| msgid "…"`, of which a long text has several."""
    lines = [line.removeprefix("| ") for line in comments if line.startswith("| ")]
    at = next((i for i, line in enumerate(lines) if line.startswith("msgid ")), len(lines))
    # Babel writes all parts of a long text in one line, and gettext's own tools one part a line.
    said = "".join(map(denormalize, _QUOTED.findall("\n".join(lines[at:]))))
    return said, [line for line in comments if not line.startswith("|")]
