"""A student's rule in the real loop, with two small models: what is said of each mistake."""

from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.trace import read_trace
from specviz.lab.draws import TESTED, read_draws
from specviz.lab.with_models import DRAFT, TARGET
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import Position
from tests.support.grids import grid
from tests.support.lab_solutions import PICK, RIGHT, VERIFIES, VERIFY
from tests.support.tiny_models import tiny_model


@pytest.fixture(autouse=True)
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    models = {
        TARGET: tiny_model(seed=1, name=TARGET, context=128),
        DRAFT: tiny_model(seed=1, name=DRAFT, context=128, sharpness=1.0),
    }
    monkeypatch.setattr("specviz.lab.with_models.load_model", models.__getitem__)
    monkeypatch.setattr("specviz.cli.lessons.DRAWS", 500)


def decode(tmp_path: Path, code: str) -> int:
    (tmp_path / "exercises.py").write_text(code)
    return main(["lab", "run", str(tmp_path / "exercises.py"), "--json", str(tmp_path / "run.json"), "--seed", "3"])


def states_of(tmp_path: Path) -> tuple[str, dict[Position, str]]:
    _, draws = read_draws((tmp_path / "run.json").read_bytes())
    return draws.kind, {each.position: finding(each.batches).state for each in draws.positions}


def test_a_right_rule_makes_draws_that_pass(tmp_path: Path) -> None:
    """The seed is fixed; with another one, a right rule would fail with a probability of at most 3 %."""
    assert decode(tmp_path, RIGHT) == 0
    trace, (request, _) = read_trace(tmp_path / "run.json"), read_draws((tmp_path / "run.json").read_bytes())
    assert (trace.target.name, trace.settings.temperature) == (TARGET, 1.0)
    assert (request.target, request.draft, request.prompt) == (TARGET, DRAFT, trace.prompt.text)
    assert states_of(tmp_path) == ("", dict.fromkeys(TESTED, "passes"))


WRONG = [("replaced_from_draft", "first"), ("most_probable_bonus", "third")]


@pytest.mark.parametrize(("kind", "at"), grid(WRONG, WRONG[1:]))
def test_a_wrong_rule_makes_draws_that_fail(kind: str, at: Position, tmp_path: Path) -> None:
    """The bonus is seen at the third token alone."""
    assert decode(tmp_path, VERIFIES[kind]) == 0
    named, states = states_of(tmp_path)
    assert named == kind
    assert states[at] == "fails"
    assert at == "first" or states["first"] == "passes"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            VERIFY.replace("return len(drafted), pick(p[len(drafted)], uniform)", "return len(drafted) + 1, 0"),
            "accepted",
        ),
        ("def judge(drafted, q, p, uniform):\n    return 0, -1\n", "gives -1 for token"),
        ("def judge(drafted, q, p, uniform):\n    return 0 / 0\n", "ZeroDivisionError"),
        ("def judge(drafted, q, p, uniform):\n    while True:\n        pass\n", "longer than 2 s"),
    ],
)
def test_a_rule_that_cannot_be_is_one_line(
    rule: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "while" in rule:
        monkeypatch.setattr("specviz.lab.checking.SECONDS_OF_A_RUN", 2)
    assert decode(tmp_path, PICK + rule) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
