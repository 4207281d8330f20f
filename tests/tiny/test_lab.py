"""A student's rule in the real loop, with two small models: what is said of each mistake."""

from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.trace import read_trace
from specviz.lab.draws import TESTED, read_draws
from specviz.lab.with_models import DRAFT, TARGET
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import Position
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


Found = tuple[str, dict[Position, str]]  # the kind of mistake, and how the draws of each token come out
RULES: dict[str, tuple[str, Found]] = {
    "right": (RIGHT, ("", dict.fromkeys(TESTED, "passes"))),
    # the bonus is seen at the third token alone
    "wrong": (
        VERIFIES["most_probable_bonus"],
        ("most_probable_bonus", dict.fromkeys(TESTED, "passes") | {"third": "fails"}),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_the_draws_of_a_right_rule_pass_and_those_of_a_wrong_one_fail(name: str, tmp_path: Path) -> None:
    """The seed is fixed; with another one, a right rule would fail with a probability of at most 3 %."""
    code, found = RULES[name]
    assert decode(tmp_path, code) == 0
    trace, (request, draws) = read_trace(tmp_path / "run.json"), read_draws((tmp_path / "run.json").read_bytes())
    assert (trace.target.name, trace.settings.temperature) == (TARGET, 1.0)
    assert (request.target, request.draft, request.prompt) == (TARGET, DRAFT, trace.prompt.text)
    assert (draws.kind, {each.position: finding(each.batches).state for each in draws.positions}) == found


BONUS = "return len(drafted), pick(p[len(drafted)], uniform)"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (VERIFY.replace(BONUS, "return len(drafted) + 1, 0"), "for accepted"),
        (VERIFY.replace(BONUS, "return len(drafted), -1"), "gives -1 for token"),
        (VERIFY.replace(BONUS, "return 0 / 0"), "ZeroDivisionError"),
        (VERIFY.replace(BONUS, "exit()"), "SystemExit"),
        (VERIFY.replace(BONUS, "while True: pass"), "longer than 2 s"),
    ],
)
def test_a_rule_that_cannot_be_is_one_line(
    rule: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "while" in rule:
        monkeypatch.setattr("specviz.lab.checking.SECONDS_OF_A_RUN", 2)
    assert decode(tmp_path, PICK + rule) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
