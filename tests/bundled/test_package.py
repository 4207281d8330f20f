"""The installable package: `pip install .` must give everything that a checkout has."""

import ast
import json
import os
import re
import site
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from specviz.data.links.page_names import FORMER

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.full  # a package is built, and every example run


def said_by(*command: object, cwd: Path = ROOT, path: str = "") -> str:
    """The standard output of a command that succeeds and says nothing on standard error."""
    environment = {**os.environ, **({"PYTHONPATH": path} if path else {})}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    [file] = folder.glob("specviz-*.whl")
    return ZipFile(file)


def files(folder: str) -> set[str]:
    """All files of a folder of the checkout, without Python's caches."""
    found = {path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {str(path.relative_to(ROOT)) for path in found}


def test_the_wheel_holds_all_modules_assets_and_pages(wheel: ZipFile) -> None:
    names = set(wheel.namelist())
    modules, assets, pages = files("specviz"), files("assets"), files("pages")
    assert len(pages) == 8 + len(FORMER)
    app = {"app.py", "serve.py", ".streamlit/config.toml", *pages}
    packed = modules | {f"specviz/{name}" for name in assets} | {f"specviz/webapp/{name}" for name in app}
    assert len(packed) > 140
    assert packed - names == set()
    assert {"specviz/py.typed", "specviz/assets/models/wren-base/model.safetensors"} <= names
    [points] = [name for name in names if name.endswith("entry_points.txt")]
    assert "specviz = specviz.cli.main:main" in wheel.read(points).decode()


def test_an_installed_package_runs_outside_the_checkout(wheel: ZipFile, tmp_path: Path) -> None:
    installed, elsewhere = str(tmp_path / "installed"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    wheel.extractall(installed)
    run = ["run", "--target", "wren-base", "--draft", "wren-nano", "--max-new-tokens", "8", "--prompt", "Once"]
    shown = said_by(sys.executable, "-m", "specviz", *run, cwd=elsewhere, path=installed)
    assert "Identical: both wrote the same 8 tokens." in shown
    script = "from specviz.core.files import APP_FOLDER, ASSETS; print(APP_FOLDER, ASSETS)"
    folders = said_by(sys.executable, "-c", script, cwd=elsewhere, path=installed).split()
    assert folders == [f"{installed}/specviz/webapp", f"{installed}/specviz/assets"]


def test_the_command_of_a_checkout_runs_in_any_folder(tmp_path: Path) -> None:
    """In an environment of its own, which borrows the packages of this one."""
    venv = tmp_path / "venv"
    (tmp_path / "specviz.py").write_text("raise SystemExit('what lies there is another one')")
    said_by(sys.executable, "-m", "venv", "--without-pip", venv)
    said_by("make", f"VENV={venv}", f"{venv}/bin/specviz")
    show = [venv / "bin/specviz", "show", ROOT / "assets/traces/first.json"]
    assert "wren-base" in said_by(*show, cwd=tmp_path, path=os.pathsep.join(site.getsitepackages()))


SAID = {
    "own_drafter": r"accepted [1-9](.|\n)*acceptance rate (.|\n)*same output as the target alone: True",
    "read_trace": r"round 0: drafted (.|\n)*status(.|\n)*accepted",
}


def test_every_example_runs() -> None:
    """A drafter of one's own is lossless, and some of its guesses are accepted; a trace is printed, and is a frame."""
    assert {file.stem for file in (ROOT / "examples").glob("*.py")} - {"__init__"} == SAID.keys()
    for name, said in SAID.items():
        assert re.search(said, said_by(sys.executable, "-m", f"examples.{name}"))


def test_the_notebook_is_saved_without_outputs_runs_and_plays_its_run() -> None:
    notebook = json.loads((ROOT / "examples/notebook.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * 2
    names: dict[str, Any] = {"__name__": "__main__"}
    values = []
    for cell in code:  # it shows the value of its last line
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)
        exec(compile(tree, "cell", "exec"), names)
        values.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    shown, frame = values
    assert shown.title == "A run of wren-base with wren-nano"
    assert shown._repr_html_().startswith("<iframe srcdoc=")
    assert set(frame["status"]) <= {"accepted", "rejected", "discarded", "correction", "bonus"}
