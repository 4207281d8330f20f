"""What is wrong with a file from outside, as one sentence with its places. What pydantic says is English."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from pydantic import ValidationError

from specviz.core.texts import AppTexts, NonEmptyText, Sentences

say = Sentences("problems")
file_kinds = AppTexts("tables/file_kinds", dict[str, NonEmptyText])
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
        return say("one", kind=file_kinds()[kind], problem=_describe(named[0]))
    shown = [_describe(problem) for problem in named[:MOST_PROBLEMS]]
    while len("; ".join(shown)) > LONGEST:
        shown.pop()
    shown += [say("and_so_on")] if len(shown) < len(named) else []
    listed, file = "; ".join(shown), file_kinds()[kind]
    if len(named) > MOST_PROBLEMS:
        return say("more", kind=file, count=MOST_PROBLEMS, problems=listed)
    return say("several", kind=file, count=len(named), problems=listed)


def _describe(problem: Problem) -> str:
    where = say("whole") if problem.where == WHOLE else problem.where[:LONGEST_PLACE]
    return f"{where}: {problem.what[:LONGEST_REASON]}"
