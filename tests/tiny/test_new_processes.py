"""What the program says and does in a process of its own, from its first import on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specviz.core.files import BROWSER
from specviz.core.operator_settings import OPERATOR_SETTINGS

ROOT = Path(__file__).parents[2]


def said(*command: str, **more: Any) -> str:
    """What it prints; it ends well, and says nothing of an error."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    return done.stdout


WRONG = {
    "SPECVIZ_JOB_SECONDS=5m": "SPECVIZ_JOB_SECONDS must be a whole number of seconds, at least 1.",
    "SPECVIZ_MODEL=bundled": f"There is no setting SPECVIZ_MODEL. The settings are {', '.join(OPERATOR_SETTINGS)}.",
    "SPECVIZ_RUNS=nothing://here": "Runs cannot be stored at 'nothing://here': Protocol not known: nothing",
    "SPECVIZ_ENGINES=https://engines.example": (
        f"SPECVIZ_ENGINES_TOKEN must be {OPERATOR_SETTINGS['SPECVIZ_ENGINES_TOKEN'].rule}."
    ),
}
# Prints what is said with each of these settings, of which each is wrong.
START_EACH = """
import os, sys
from streamlit.testing.v1 import AppTest
def serve():
    try:
        import serve
    except SystemExit as ended:
        return ended.code
def draw():
    page = AppTest.from_file(sys.argv[1]).run(timeout=600)
    assert not page.exception
    return " ".join(each.value for each in page.main if hasattr(each, "value"))
for setting in sys.argv[2:]:
    name, _, text = setting.partition("=")
    os.environ[name] = text
    print(serve() if sys.argv[1] == "serve.py" else draw())
    del os.environ[name]
"""


@pytest.mark.parametrize("entry", ["serve.py", "app.py", "cloud/streamlit_app.py"])
def test_no_entry_starts_and_each_says_why_and_nothing_else(entry: str) -> None:
    """Before, under app.py: a page without the limit, or Streamlit's box for an error."""
    environment = {name: text for name, text in os.environ.items() if name not in OPERATOR_SETTINGS}
    environment |= {"PYTHONPATH": str(ROOT), "SPECVIZ_GGUF": os.devnull}
    printed = said(sys.executable, "-c", START_EACH, entry, *WRONG, env=environment)
    shown = re.sub(r"[\\\u2060]", "", printed)  # on a page, what Markdown must not act on is marked
    assert shown.splitlines() == [*WRONG.values()]


AT_IMPORT = """
import importlib, pkgutil, specviz, specviz.core.languages as languages
asked = []
languages.find_language_by(lambda: asked.append(1) or "en")
for module in pkgutil.walk_packages(specviz.__path__, "specviz."):
    if module.name.rpartition(".")[2] not in ("__main__", "serve_engines"):
        importlib.import_module(module.name)
print(len(asked))
"""


@pytest.mark.full
def test_no_module_asks_for_a_language_while_it_is_imported() -> None:
    """The first visitor's page imports it: what it kept would be in that visitor's language for all."""
    assert said(sys.executable, "-c", AT_IMPORT) == "0\n"


@pytest.mark.parametrize(
    ("imports", "absent"),
    [
        ("specviz.service, specviz.core.trace, specviz.core.metrics", "torch transformers pandas streamlit"),
        ("specviz.ui.watch.watch_page, specviz.models.catalogue", "torch transformers pandas"),
        ("specviz.service.handlers, specviz.measure.sweep.measure, specviz.measure.race", "pandas streamlit"),
    ],
)
def test_what_a_process_does_not_need_it_does_not_import(imports: str, absent: str) -> None:
    script = f"import sys, {imports}; print([name for name in {absent.split()} if name in sys.modules])"
    assert said(sys.executable, "-c", script) == "[]\n"


@pytest.mark.full
def test_a_new_setting_is_everywhere() -> None:
    said(sys.executable, "-m", "tests.support.new_setting")


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("node"), reason="node compiles it")
def test_the_kernel_that_ships_is_the_one_that_arithmetic_ts_gives() -> None:
    write = 'import("./scripts/build_kernel.js").then(({ written }) => process.stdout.write(written()))'
    shipped = (BROWSER / "engine/kernel_bytes.js").read_text(encoding="utf-8")
    assert said("node", "--eval", write) == shipped, "npm run kernel"
