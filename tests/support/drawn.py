"""What the stage draws of a payload: node runs the stage's own modules."""

import atexit
import json
import shutil
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from specviz.core.files import BROWSER
from specviz.core.trace import Trace
from specviz.player.data import stage_data
from specviz.player.payload import SentStage

READ = (Path(__file__).parents[1] / "js" / "typescript.js").as_uri()
SCRIPT = f"""
import {{ createInterface }} from "node:readline";
const {{ drawnRun }} = await import({json.dumps((BROWSER / "trace/drawn_run.js").as_uri())});
for await (const line of createInterface({{ input: process.stdin }})) {{
  try {{
    console.log(JSON.stringify(JSON.parse(line).map(drawnRun)));
  }} catch (error) {{
    console.log(JSON.stringify(error.stack));
  }}
}}
"""


@cache
def _node(language: str) -> Popen[str]:
    """One for all tests of this process, with figures as that language writes them."""
    script = f"globalThis.TEXTS = {json.dumps({'language': language})};{SCRIPT}"
    command = ["node", "--import", READ, "--input-type=module", "--eval", script]
    process = Popen(command, stdin=PIPE, stdout=PIPE, encoding="utf-8")
    atexit.register(process.communicate)
    return process


def drawn(*sent: SentStage, language: str = "en") -> list[dict[str, Any]]:
    """Each payload as it is drawn."""
    if not shutil.which("node"):
        pytest.skip("node draws the run")
    process = _node(language)
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(sent) + "\n")
    process.stdin.flush()
    found = json.loads(process.stdout.readline())
    assert isinstance(found, list), found
    return found


def drawn_traces(*traces: Trace, **more: Any) -> list[dict[str, Any]]:
    """Each run as the stage draws it; `more` are arguments of `stage_data`, or what a page adds."""
    added = {name: more.pop(name) for name in ("notice", "link", "playhead", "gamma") if name in more}
    asked = {"run_id": "a", "source": "live", "running": False, **more}
    sent: list[Any] = [stage_data(trace, **asked) | added for trace in traces]
    return drawn(*sent)
