"""A student's rule in the real loop, with the bundled models."""

from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.metrics import count
from specviz.core.trace import read_trace
from specviz.lab.draws import TESTED, read_draws
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import Position
from tests.support.lab_solutions import PICK, RIGHT, VERIFIES, VERIFY


def decode(tmp_path: Path, code: str) -> int:
    (tmp_path / "exercises.py").write_text(code)
    return main(["lab", "run", str(tmp_path / "exercises.py"), "--json", str(tmp_path / "run.json"), "--seed", "3"])


def test_a_right_rule_makes_a_run_that_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specviz.cli.lab.DRAWS", 500)
    assert decode(tmp_path, RIGHT) == 0
    trace = read_trace(tmp_path / "run.json")
    request, draws = read_draws((tmp_path / "run.json").read_bytes())
    assert (request.target, request.draft, request.prompt) == (trace.target.name, "wren-nano", trace.prompt.text)
    assert {each.position: finding(each.batches).state for each in draws.positions} == dict.fromkeys(TESTED, "passes")
    assert draws.kind == ""
    counts = count(trace.rounds)
    assert counts.accepted
    assert counts.rejected
    assert trace.settings.temperature == 1.0
    assert "open it in Watch" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "at"), [("replaced_from_draft", "first"), ("most_probable_bonus", "third")])
def test_a_wrong_rule_makes_draws_that_fail(
    kind: str, at: Position, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bonus is seen at the third token alone."""
    monkeypatch.setattr("specviz.cli.lab.DRAWS", 1_000)
    assert decode(tmp_path, VERIFIES[kind]) == 0
    _, draws = read_draws((tmp_path / "run.json").read_bytes())
    states = {each.position: finding(each.batches).state for each in draws.positions}
    assert states[at] == "fails"
    assert draws.positions[0].position == at or states["first"] == "passes"
    assert draws.kind == kind


def test_a_rule_that_never_ends_is_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specviz.lab.checking.SECONDS_OF_A_RUN", 1)
    assert decode(tmp_path, "def judge(drafted, q, p, uniform):\n    while True:\n        pass\n") == 2
    assert "judge takes longer than 1 s with real models" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            VERIFY.replace("return len(drafted), pick(p[len(drafted)], uniform)", "return len(drafted) + 1, 0"),
            "for accepted",
        ),
        ("def judge(drafted, q, p, uniform):\n    return 0, -1\n", "gives -1 for token with real models"),
        ("def judge(drafted, q, p, uniform):\n    return 0 / 0\n", "ends in ZeroDivisionError with real models"),
    ],
)
def test_a_rule_that_cannot_be_is_one_line(
    rule: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decode(tmp_path, PICK + rule) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
