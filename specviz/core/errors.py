"""The only kind of error that a visitor sees: a sentence about the input."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from pydantic import ValidationError

FOLDERS = re.compile(
    r"(?<![\w.:/\\~])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"`,;:()<>/\\]+[/\\])*(?=[^\s'\"`,;:()<>/\\])"
)  # of an absolute path, up to its last part; an address (https://...) and owner/name are none


class InputError(ValueError):
    """Some input cannot be used; `str(error)` is one clear sentence for a person.

    The command line prints it and exits with status 2. A page shows it and changes nothing else.
    """


class UnmetError(InputError):
    """The input is good, but what was asked for did not come of it; the command line exits with status 1."""


class DisturbedError(UnmetError):
    """The machine was too busy to be measured."""


def hide_folders(sentence: str) -> str:
    """The sentence with the last part of each absolute path only: visitors need not know the server's folders."""
    return FOLDERS.sub("", sentence)


MOST_PROBLEMS = 10  # are named; a file with more is probably another kind of file
LONGEST_PLACE, LONGEST_REASON = 120, 200  # characters
LONGEST = 800  # characters of a list of problems
WHOLE = "the file"  # the place of a problem that no field has


class Problem(NamedTuple):
    where: str  # a path like rounds.0.drafted
    what: str


def problems_of(error: ValidationError, before: str = "") -> list[Problem]:
    """What pydantic found; `before` is the path of the value it read."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    problems = []
    for each in found:
        path = ".".join(filter(None, (before, *map(str, each["loc"])))) or WHOLE
        problems.append(Problem(path, each["msg"].removeprefix("Value error, ").rstrip(".")))
    return problems


def join_problems(kind: str, problems: Iterable[Problem]) -> str:
    """ "The trace is not valid at a: …." or, of several, "The trace is not valid at 2 places: a: …; b: …." """
    named = list(islice(dict.fromkeys(problems), MOST_PROBLEMS + 1))
    if len(named) == 1:
        return f"The {kind} is not valid at {_describe(named[0])}."
    shown = [_describe(problem) for problem in named[:MOST_PROBLEMS]]
    while len("; ".join(shown)) > LONGEST:
        shown.pop()
    places = f"more than {MOST_PROBLEMS}" if len(named) > MOST_PROBLEMS else str(len(named))
    rest = "; and so on" if len(shown) < len(named) else ""
    return f"The {kind} is not valid at {places} places: {'; '.join(shown)}{rest}."


def _describe(problem: Problem) -> str:
    return f"{problem.where[:LONGEST_PLACE]}: {problem.what[:LONGEST_REASON]}"
