"""The exercises: right solutions are never refused, and each usual mistake is called by its name."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.data.lessons.lab_words import lab_words
from specviz.lab.checking import EXERCISES, MOST_BYTES, check_file
from specviz.lab.exercise import FormulaExercise
from specviz.lab.loop import LoopExercise, speculative_decode
from specviz.lab.sampling import WRONG, SamplingExercise
from tests.support.lab_solutions import LOOP_START, LOOPS, OTHER_LOOP, RIGHT, VERIFIES

NAMES = [exercise.name for exercise in EXERCISES]
FORMULAS = {exercise.name: exercise for exercise in EXERCISES if isinstance(exercise, FormulaExercise)}
MISTAKES = {(name, kind): wrong for name, each in FORMULAS.items() for kind, wrong in each.wrong.items()}
CODES = {("judge", kind): code for kind, code in VERIFIES.items()}
CODES |= {("speculative_decode", kind): LOOP_START.replace(*change) for kind, change in LOOPS.items()}

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(code: str) -> Path:
        (tmp_path / "exercises.py").write_text(code)
        return tmp_path / "exercises.py"

    return written


def test_right_solutions_are_right(write: Write) -> None:
    marks = check_file(write(RIGHT))
    assert [mark.exercise for mark in marks] == NAMES
    marks += check_file(write(OTHER_LOOP), ["speculative_decode"])
    assert [mark.says for mark in marks if not mark.right] == []
    assert LoopExercise().check(speculative_decode).right


@pytest.mark.parametrize("seed", range(5))
def test_a_right_verdict_is_right_with_every_seed(seed: int) -> None:
    """A false alarm has a probability of some 1e-9 each."""
    functions: dict[str, object] = {}
    exec(RIGHT, functions)
    assert SamplingExercise(seed=seed).check(functions["judge"]).right  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "kind"), [*MISTAKES, *CODES], ids="-".join)
def test_the_kind_of_a_mistake_is_named(name: str, kind: str, write: Write) -> None:
    if wrong := MISTAKES.get((name, kind)):
        assert FORMULAS[name].check(wrong).kind == kind
    else:
        assert CODES[name, kind] != LOOP_START
        (mark,) = check_file(write(CODES[name, kind]), [name])
        assert (mark.state, mark.kind, mark.says) == ("wrong", kind, lab_words()[name].kinds[kind])


def test_every_exercise_has_ten_mistakes_and_each_its_own_sentence() -> None:
    assert list(lab_words()) == NAMES
    mistakes = {name: {*each.wrong} for name, each in FORMULAS.items()}
    mistakes |= {"judge": {*WRONG}, "speculative_decode": {*LOOPS, "row_late"}}
    assert {name: {*words.kinds} for name, words in lab_words().items()} == mistakes
    for words in lab_words().values():
        assert len({*words.kinds.values()}) == len(words.kinds) >= 10


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise KeyError(3)", "ends in KeyError"),
        ("exit()", "ends in SystemExit"),
        ("return 'all'", "gives 'all'"),
        ("return 1, 2, 3", "gives"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_function_does_is_said(name: str, body: str, says: str, write: Write) -> None:
    (mark,) = check_file(write(f"def {name}(*_):\n    {body}\n"), [name])
    assert mark.state == "wrong"
    assert says in mark.says or mark.kind


def test_a_function_that_refuses_one_case_is_written(write: Write) -> None:
    """Before: it was "not written", as it names nothing but NotImplementedError."""
    code = "def acceptance_chance(p, q, token):\n    if q[token] == 0:\n        raise NotImplementedError\n    return 2"
    assert [mark.state for mark in check_file(write(code), ["acceptance_chance"])] == ["wrong"]


def test_the_file_that_students_get_has_every_exercise_and_nothing_is_written_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "lab"
    assert main(["lab", "new", str(folder)]) == 0
    assert main(["lab", "new", str(folder)]) == 2
    assert "is already there" in capsys.readouterr().err
    assert {mark.state for mark in check_file(folder / "exercises.py")} == {"not written"}
    assert json.loads((folder / "lab.ipynb").read_text())["nbformat"] == 4
    (folder / "app.py").write_text("raise SystemExit('this is no exercise')")
    (folder / "second.py").write_text(RIGHT)
    capsys.readouterr()
    assert main(["lab", "check", str(folder)]) == 1, "before: the folder that lab new made was no file"
    out, err = capsys.readouterr()
    assert err == "specviz: 8 of 16 exercises are right.\n"
    read = [str(folder / name) for name in ("exercises.py", "second.py")]
    assert [line for line in out.splitlines() if ".py" in line] == read
    assert (out.count("· not written"), out.count("✓ right")) == (8, 8)
    (folder / "first.py").write_text("def judge(\n")
    assert main(["lab", "check", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert ("second.py" in out, "first.py is no Python" in err) == (True, True), "before: no file was checked"
    assert main(["lab", "check", str(tmp_path)]) == 2
    assert "There is no file with exercises in" in capsys.readouterr().err


def test_marks_for_programs_that_grade(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(RIGHT.replace("min(1.0, p[token] / q[token])", "p[token] / q[token]"))
    assert main(["lab", "check", str(file), "--json", "-"]) == 1
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == "specviz: 7 of 8 exercises are right.\n"
    said = {"says": lab_words()["acceptance_chance"].kinds["not_limited"], "file": str(file)}
    first = {"exercise": "acceptance_chance", "state": "wrong", "kind": "not_limited"} | said
    assert (told["right"], told["of"], told["exercises"][0]) == (7, 8, first)
    assert main(["lab", "check", str(write(RIGHT)), "leftover"]) == 0
    assert capsys.readouterr().out.count("✓ right") == 1


ENDLESS = "    while True:\n        try:\n            x = 1\n        except Exception:\n            pass\n"


def test_a_function_or_a_file_that_never_ends_is_stopped(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it catches everything."""
    monkeypatch.setattr("specviz.lab.checking.SECONDS", 1)
    (mark,) = check_file(write(f"def leftover(p, q):\n{ENDLESS}"), ["leftover"])
    assert mark.kind == "too_slow"
    with pytest.raises(InputError, match="does not end by itself within 1 s"):
        check_file(write(f"if True:\n{ENDLESS}"))


@pytest.mark.parametrize(
    ("code", "names", "says"),
    [
        ("def leftover(", [], "is no Python, line 1"),
        ("raise SystemExit('gone')", [], "cannot be run: SystemExit: gone"),
        ("#" * (MOST_BYTES + 1), [], "is larger than 1 MB"),
        ("", ["judge", "nothing"], "There is no exercise 'nothing': use acceptance_chance"),
    ],
)
def test_a_file_that_cannot_be_checked_is_one_sentence(code: str, names: list[str], says: str, write: Write) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        check_file(write(code), names)
