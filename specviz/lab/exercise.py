"""What an exercise is, and how a student's function is compared with the right one and with usual mistakes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

StudentFunction = Callable[..., Any]
Arguments = tuple[Any, ...]
TOLERANCE = 1e-6
SHOWN = 160  # characters of a value


@dataclass(frozen=True, slots=True)
class LabFinding:
    """What a check found. A wrong solution has a usual mistake's kind, or an example."""

    right: bool = False
    kind: str = ""
    example: str = ""  # what the function was given and what it did, where no usual mistake explains it


@dataclass(frozen=True, slots=True)
class Raised:
    """A call that ended in an error, by the error's type."""

    error: str


@dataclass(frozen=True)
class FormulaExercise:
    """A function without chance: for the same arguments it gives the same value."""

    name: str
    right: StudentFunction
    wrong: Mapping[str, StudentFunction]  # by the kind of mistake
    cases: Sequence[Arguments]

    def check(self, student: StudentFunction) -> LabFinding:
        given = [outcome(student, case) for case in self.cases]
        expected = [outcome(self.right, case) for case in self.cases]
        differs = [not same(one, other) for one, other in zip(given, expected, strict=True)]
        if not any(differs):
            return LabFinding(right=True)
        for kind, mistake in self.wrong.items():
            if all(same(outcome(mistake, case), one) for case, one in zip(self.cases, given, strict=True)):
                return LabFinding(kind=kind)
        at = differs.index(True)
        return LabFinding(example=describe(self.name, self.cases[at], given[at], expected[at]))


def outcome(function: StudentFunction, case: Arguments) -> Any:
    """What a call gives, or which error it raises; the arguments are copies, as a function may change them."""
    try:
        return function(*map(_copied, case))
    except (Exception, SystemExit) as error:  # a student's function may do anything
        return Raised(type(error).__name__)


def _copied(value: Any) -> Any:
    """A list of its own for each sequence: a function may change what it is given."""
    return [*map(_copied, value)] if isinstance(value, list | tuple) else value


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same: numbers up to rounding, lists and tuples alike."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(abs(one - other) <= TOLERANCE)
    return type(one) is type(other) and bool(one == other)


def describe(name: str, case: Arguments, given: Any, expected: Any) -> str:
    """ "leftover([0.5, 0.5], [1.0, 0.0]) gives None, and not [0.0, 1.0]" """
    arguments = ", ".join(map(written, case))
    gives = f"ends in {given.error}" if isinstance(given, Raised) else f"gives {written(given)}"
    return f"{name}({arguments}) {gives}, and not {written(expected)}"


def written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written, value))
        text = f"[{inside}]" if isinstance(value, list) else f"({inside})"
    else:
        text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
