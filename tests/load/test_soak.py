"""Two minutes of `tests/load/soak.py` with the real engine: nothing is lost, nobody is told a lie, memory stays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.load.attacks import ATTACKS

ROOT = Path(__file__).parents[2]


@pytest.mark.soak
@pytest.mark.parametrize("entry", ["serve.py"])  # app.py: `python -m tests.load.soak --entries app.py`
def test_thirty_harmful_visitors_lose_nothing_and_leave_no_memory(entry: str, tmp_path: Path) -> None:
    """No limit in it is one of time, so a slow machine only needs longer."""
    out = tmp_path / "soak.json"
    command = [sys.executable, "-m", "tests.load.soak", "--seconds", "120", "--kill-every", "30", "--entries", entry]
    subprocess.run([*command, "--out", out, "--logs", tmp_path], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text(encoding="utf-8"))["by_entry"][entry]
    assert [each for each in found["held_to"] if not each["holds"]] == [], (found["log_faults"], found["page_errors"])
    assert found["done"]["the engine was killed"] >= 3
    assert found["done"]["leaves without a word"] > 5
    assert found["runs"] > 10
    assert found["runs_decoded_again"] > 0
    assert sum(found["done"].get(each.__name__, 0) for each in ATTACKS) > 5
