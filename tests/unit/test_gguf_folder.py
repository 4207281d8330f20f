"""The operator's folder of GGUF files, and the chat model that may be fetched into it: what the menus offer."""

import os
from pathlib import Path

import pytest

from specviz.core.request import RunRequest
from specviz.service.protocol import Run
from specviz.service.service import sharing_key

CONTENT = b"GGUF" + bytes(2_000_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    return tmp_path


def test_a_file_that_is_replaced_under_its_name_shares_no_run(folder: Path) -> None:
    (folder / "chat.gguf").write_bytes(CONTENT)
    command = Run(1, RunRequest("a", "chat", "lookup"))
    first = sharing_key(command)
    assert sharing_key(command) == first
    for number, other in enumerate((CONTENT + b"more", CONTENT[:-1] + b"x"), start=1):  # one of the same size
        (folder / "chat.gguf").write_bytes(other)
        os.utime(folder / "chat.gguf", ns=(0, number))
        assert sharing_key(command) != first
