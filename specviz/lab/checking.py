"""A student's file, checked: every exercise that is in it, within a limit of time."""

import re
import runpy
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.core.errors import InputError
from specviz.core.files import content_of
from specviz.core.texts import join_choices
from specviz.data.lessons.lab_words import lab_words
from specviz.lab.exercise import FormulaExercise
from specviz.lab.formulas import FORMULAS
from specviz.lab.loop import LoopExercise
from specviz.lab.sampling import SamplingExercise

Exercise = FormulaExercise | SamplingExercise | LoopExercise
EXERCISES: Sequence[Exercise] = (*FORMULAS, SamplingExercise(), LoopExercise())
SECONDS = 20  # of one exercise
SECONDS_OF_A_RUN = 300  # with real models, which must be loaded first, and 2,000 draws of three tokens
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of one exercise."""

    exercise: str
    state: str  # "right", "wrong" or "not written"
    kind: str
    says: str

    @property
    def right(self) -> bool:
        return self.state == "right"


class TooLong(BaseException):
    """A student's function took longer than an exercise may."""


def exercise_files(path: Path) -> list[Path]:
    """This file, or those of this folder that define an exercise: nothing else in it is run."""
    if not path.is_dir():
        return [path]
    defines = re.compile(rf"^def ({'|'.join(each.name for each in EXERCISES)})\(".encode(), re.MULTILINE)
    if not (files := [file for file in sorted(path.glob("*.py")) if defines.search(content_of(file, MOST_BYTES))]):
        raise InputError(f"There is no file with exercises in {path}.")
    return files


def check_file(path: Path, names: Sequence[str] = ()) -> list[Mark]:
    """The marks of the exercises with these names, or of all. InputError: the file cannot be read or run."""
    found = functions_in(path)
    if unknown := sorted(set(names) - {each.name for each in EXERCISES}):
        raise InputError(
            f"There is no exercise {unknown[0][:60]!r}: use {join_choices([each.name for each in EXERCISES])}."
        )
    return [mark(each, found.get(each.name)) for each in EXERCISES if not names or each.name in names]


def functions_in(path: Path) -> dict[str, Any]:
    """What the file defines, by name; it is run for that."""
    if not path.is_file():
        raise InputError(f"{path} is not there.")
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path} is larger than {MOST_BYTES // 10**6} MB.")
    try:
        with limited(SECONDS):
            return runpy.run_path(str(path), run_name="lab")
    except TooLong:
        raise InputError(f"{path} does not end by itself within {SECONDS} s.") from None
    except SyntaxError as error:
        raise InputError(f"{path} is no Python, line {error.lineno}: {error.msg}.") from None
    except (Exception, SystemExit) as error:  # a student's file may do anything
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {str(error)[:200]}.") from None


def mark(exercise: Exercise, student: object) -> Mark:
    code, stub = getattr(student, "__code__", None), _stub.__code__  # of the file that the exercises come in
    is_stub = code is not None and (code.co_names, code.co_code) == (stub.co_names, stub.co_code)
    if not callable(student) or is_stub:
        return Mark(exercise.name, "not written", "", f"{exercise.name} is not written yet.")
    try:
        with limited(SECONDS):
            found = exercise.check(student)
    except TooLong:
        return Mark(exercise.name, "wrong", "too_slow", f"{exercise.name} takes longer than {SECONDS} s. Does it end?")
    if found.right:
        return Mark(exercise.name, "right", "", "Right.")
    says = lab_words()[exercise.name].kinds[found.kind] if found.kind else f"Not right: {found.example}."
    return Mark(exercise.name, "wrong", found.kind, says)


def _stub() -> None:
    raise NotImplementedError


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TooLong in the block after so many seconds, where the system can do that."""
    alarm = getattr(signal, "SIGALRM", None)
    if alarm is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TooLong

    before: Callable[..., Any] | int | None = signal.signal(alarm, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(alarm, before)
