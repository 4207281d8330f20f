"""A student's rule in the real loop, with the bundled models; tests/tiny/test_lab.py has the wrong rules."""

from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.metrics import count
from specviz.core.trace import read_trace
from specviz.lab.draws import TESTED, read_draws
from tests.support.lab_solutions import RIGHT


def test_a_right_rule_makes_a_run_that_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specviz.cli.lab.DRAWS", 20)
    monkeypatch.setattr("specviz.measure.proof.draws.PILOT", 10)
    (tmp_path / "exercises.py").write_text(RIGHT)
    assert main(["lab", "run", str(tmp_path / "exercises.py"), "--json", str(tmp_path / "run.json")]) == 0
    trace = read_trace(tmp_path / "run.json")
    request, draws = read_draws((tmp_path / "run.json").read_bytes())
    assert (request.target, request.draft, request.prompt) == (trace.target.name, "wren-nano", trace.prompt.text)
    assert [each.position for each in draws.positions] == list(TESTED)
    counts = count(trace.rounds)
    assert counts.accepted
    assert counts.rejected
    assert "open it in Watch" in capsys.readouterr().out
