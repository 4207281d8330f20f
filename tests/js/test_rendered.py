"""What the browser's modules compute and say, in node, as a snapshot: `rendered.js` has the inputs."""

import json
import shutil
import subprocess
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.conftest import ROOT


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the modules")
def test_what_comes_of_each_input_is_what_came_of_it(snapshot: SnapshotAssertion) -> None:
    command = ["node", "--import", "./tests/js/typescript.js", "tests/js/rendered.js"]
    rendered = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    assert len(rendered) > 40
    for what, cases in rendered.items():
        assert {case: in_lines(made) for case, made in cases.items()} == snapshot(name=what)


def in_lines(made: Any) -> Any:
    """Each part of it on a line of its own."""
    if isinstance(made, dict):
        return [f"{name}: {json.dumps(part, ensure_ascii=False)}" for name, part in made.items()]
    return [json.dumps(part, ensure_ascii=False) for part in made] if isinstance(made, list) else made
