"""Files are written whole or not at all; a full disk leaves nothing behind."""

import ctypes
import errno
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specviz.core.files import write_whole
from specviz.service import engine
from specviz.service.run_store import RunStore
from specviz.ui.shared.plotly_static import FILE_NAME, publish_plotly
from tests.unit.test_run_store import REQUEST, a_result


def full(*_: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk on which a file can begin and never end."""
    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, b"one")
    write_whole(file, b"two")
    assert file.read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_older_file_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            write_whole(file, b"two")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"one"]


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path: Path) -> None:
    old, fresh = tmp_path / "new-old", tmp_path / "new-fresh"
    old.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(old, (0, 0))
    write_whole(tmp_path / "file", b"one")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "new-fresh"]


@pytest.mark.usefixtures("full_disk")
def test_each_start_on_a_full_disk_leaves_nothing_in_static(tmp_path: Path) -> None:
    for _ in range(3):
        assert publish_plotly(tmp_path / "static") is None
    assert list((tmp_path / "static").iterdir()) == []


def test_plotly_is_readable_for_the_servers_user(tmp_path: Path) -> None:
    published = publish_plotly(tmp_path / "static")
    assert published == tmp_path / "static" / FILE_NAME
    assert published.stat().st_mode & 0o444 == 0o444


@pytest.mark.usefixtures("full_disk")
def test_runs_on_a_full_disk_leave_nothing_in_the_store(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    for number in range(3):
        store.put(f"key-{number}", REQUEST, a_result())
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError], ids=["no library", "macOS", "Windows"])
def test_an_engine_without_glibc_only_keeps_its_memory(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    engine.give_memory_back()
