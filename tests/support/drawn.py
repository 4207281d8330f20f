"""What the stage draws of a payload: node runs the stage's own modules."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specviz.core.files import BROWSER
from specviz.core.trace import Trace
from specviz.player.data import stage_data
from specviz.player.payload import SentStage

READ = (Path(__file__).parents[1] / "js" / "typescript.js").as_uri()
SCRIPT = f"""
import {{ readFileSync }} from "node:fs";
import {{ drawnRun }} from {json.dumps((BROWSER / "trace/drawn_run.js").as_uri())};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(drawnRun)));
"""


def drawn(*sent: SentStage) -> list[dict[str, Any]]:
    """Each payload as it is drawn; one start of node for all of them."""
    if not shutil.which("node"):
        pytest.skip("node draws the run")
    command = ["node", "--import", READ, "--input-type=module", "--eval", SCRIPT]
    made = subprocess.run(command, input=json.dumps(sent), capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(made.stdout)
    return found


def drawn_traces(*traces: Trace, **more: Any) -> list[dict[str, Any]]:
    """Each run as the stage draws it; `more` are arguments of `stage_data`, or what a page adds."""
    added = {name: more.pop(name) for name in ("notice", "link", "playhead", "gamma") if name in more}
    asked = {"run_id": "a", "source": "live", "running": False, **more}
    sent: list[Any] = [stage_data(trace, **asked) | added for trace in traces]
    return drawn(*sent)
