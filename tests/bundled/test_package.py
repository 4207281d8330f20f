"""The installable package: `pip install .` must give everything that a checkout has."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [file] = folder.glob("specviz-*.whl")
    return file


def files(folder: str) -> set[str]:
    """All files of a folder of the checkout, without Python's caches."""
    found = {path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {str(path.relative_to(ROOT)) for path in found}


def test_the_wheel_holds_all_modules_assets_and_pages(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    modules, assets, pages = files("specviz"), files("assets"), files("pages")
    assert len(modules) > 100
    assert len(assets) > 30
    assert len(pages) == 8
    assert modules - names == set()
    assert {f"specviz/{name}" for name in assets} - names == set()
    app = {"app.py", "serve.py", ".streamlit/config.toml", *pages}
    assert {f"specviz/webapp/{name}" for name in app} - names == set()
    assert {
        "specviz/py.typed",
        "specviz/assets/models/wren-base/model.safetensors",
    } <= names


def test_the_wheel_gives_the_specviz_command(wheel: Path) -> None:
    [name] = [name for name in ZipFile(wheel).namelist() if name.endswith("entry_points.txt")]
    assert "specviz = specviz.cli.main:main" in ZipFile(wheel).read(name).decode()


def test_an_installed_package_runs_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    ZipFile(wheel).extractall(installed)

    def python(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(installed)}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    pair = ["--target", "wren-base", "--draft", "wren-nano", "--max-new-tokens", "8"]
    shown = python("-m", "specviz", "run", *pair, "--prompt", "Once upon a time")
    assert "Identical: both wrote the same 8 tokens." in shown
    folders = python("-c", "from specviz.core.assets import APP_FOLDER, ASSETS; print(APP_FOLDER, ASSETS)").split()
    assert folders == [str(installed / "specviz/webapp"), str(installed / "specviz/assets")]
