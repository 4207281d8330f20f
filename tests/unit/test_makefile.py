"""What make is asked for is what it runs."""

import subprocess

from tests.conftest import ROOT


def test_make_run_listens_where_it_is_asked_to() -> None:
    asked = ["make", "--dry-run", "run", "PORT=8765", "HOST=0.0.0.0"]
    command = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--server.port 8765" in command
    assert "--server.address 0.0.0.0" in command
