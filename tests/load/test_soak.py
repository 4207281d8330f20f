"""Two minutes of `tests/load/soak.py` with the real engine: nothing is lost, nobody is told a lie, memory stays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.load.attacks import ATTACKS

ROOT = Path(__file__).parents[2]


@pytest.mark.soak
def test_thirty_harmful_visitors_lose_nothing_and_leave_no_memory(tmp_path: Path) -> None:
    """No limit in it is one of time, so a slow machine only needs longer. `--entries app.py` is for another time."""
    command = [sys.executable, "-m", "tests.load.soak", "--seconds", "120", "--kill-every", "30"]
    out = tmp_path / "soak.json"
    subprocess.run([*command, "--entries", "serve.py", "--out", out], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text(encoding="utf-8"))["by_entry"]["serve.py"]
    assert [each for each in found["held_to"] if not each["holds"]] == [], (found["log_faults"], found["page_errors"])
    assert found["done"]["the engine was killed"] >= 3
    assert found["done"]["leaves without a word"] > 5
    assert found["runs"] > 10
    assert found["runs_decoded_again"] > 0
    assert sum(found["done"].get(each.__name__, 0) for each in ATTACKS) > 5
