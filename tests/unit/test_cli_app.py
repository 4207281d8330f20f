"""`specviz app`: Streamlit takes the place of the command."""

import os
import sys
from pathlib import Path

import pytest

from specviz.cli import app
from specviz.cli.main import main
from specviz.core.assets import APP_FOLDER


@pytest.mark.parametrize(("given", "address"), [([], "localhost"), (["--host", "0.0.0.0"], "0.0.0.0")])
def test_streamlit_gets_the_app_the_address_and_the_port(
    given: list[str], address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append((program, arguments)))
    monkeypatch.setattr(app, "APP_FOLDER", tmp_path)
    assert main(["app", "--port", "9000", *given]) == 0
    where = ["--server.address", address, "--server.port", "9000"]
    [(program, arguments)] = calls
    assert program == sys.executable
    assert arguments[1:] == ["-m", "streamlit", "run", str(tmp_path / "serve.py"), *where]
    assert (tmp_path / "static").is_dir()


def test_a_port_must_be_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "--port", "high"]) == 2
    assert capsys.readouterr().err.startswith("specviz: argument --port: invalid int value: 'high'")


def test_the_app_is_where_the_command_looks() -> None:
    assert (APP_FOLDER / "serve.py").is_file()
    assert (APP_FOLDER / "app.py").is_file()
    assert (APP_FOLDER / "pages").is_dir()
