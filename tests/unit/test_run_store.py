"""The store of finished runs: bounded, on disk, and safe from damaged files."""

import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.service.fleet import engines_wanted
from specviz.service.results import RunResult, tokens_in
from specviz.service.run_store import RunStore, default_folder
from tests.support.fake_traces import fake_trace

REQUEST = RunRequest("Once")


def a_result(created: str = "2026-01-01T00:00:00+00:00") -> RunResult:
    return RunResult(replace(fake_trace(), created=created), plain_text="text")


def filled(folder: Path | None, runs: int, **bounds: int) -> tuple[RunStore, list[str]]:
    """A store with that many runs of different keys; on disk each is a second younger than the one before."""
    store = RunStore(folder, **bounds)
    ids = []
    for number in range(runs):
        ids.append(store.put(f"key {number}", REQUEST, a_result(str(number))).id)
        store._writer.submit(lambda: None).result()
        for file in folder.glob(f"*-{ids[-1]}.json") if folder else []:
            os.utime(file, (number, number))
    return store, ids


def test_a_run_is_found_by_what_was_asked_for_and_by_its_id(tmp_path: Path) -> None:
    for folder in (None, tmp_path / "runs"):
        store, ids = filled(folder, 2)
        found = store.latest("key 1")
        assert found
        assert found == store.get(ids[1])
        assert found.result == replace(a_result("1"), id=ids[1])
        assert store.latest("key 2") is None


def test_a_newer_run_replaces_the_older_one_whose_own_link_still_opens(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    old, new = (store.put("key", REQUEST, a_result(created)).id for created in ("1", "2"))
    assert old != new
    for again in (store, RunStore(tmp_path)):
        store._writer.submit(lambda: None).result()
        latest, older = again.latest("key"), again.get(old)
        assert latest
        assert older
        assert (latest.result.id, older.result.trace.created) == (new, "1")


def test_the_tokens_in_memory_are_bounded_whatever_the_number_of_runs() -> None:
    """Found: 64 of the longest runs took hundreds of megabytes."""
    each = tokens_in(a_result().trace)
    store, ids = filled(None, 4, tokens=2 * each)
    assert [store.get(run_id) is not None for run_id in ids] == [False, False, True, True]
    store, ids = filled(None, 2, tokens=1)
    assert [store.get(run_id) is not None for run_id in ids] == [False, True], "the newest stays, however long"


def test_memory_is_bounded_and_the_least_used_run_goes_first() -> None:
    store, ids = filled(None, 3, in_memory=3)
    assert store.get(ids[0])
    store.put("one more", REQUEST, a_result("9"))
    assert store.get(ids[0])
    assert store.get(ids[1]) is None
    assert store.latest("key 1") is None
    assert store.latest("key 2")


def test_the_disk_is_bounded(tmp_path: Path) -> None:
    filled(tmp_path, 6, on_disk=4)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("content", [b"", b"{", b'{"key": "key 0"}', b"\xff" * 100])
def test_a_damaged_file_is_no_run(tmp_path: Path, content: bytes) -> None:
    store, (run_id,) = filled(tmp_path, 1)
    store.close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    fresh = RunStore(tmp_path)
    assert fresh.latest("key 0") is None
    assert fresh.get(run_id) is None


@pytest.mark.parametrize("text", ["", "first", "../../etc/passwd", "*", "0" * 15, "0" * 17, "G" * 16])
def test_what_is_no_id_finds_nothing(tmp_path: Path, text: str) -> None:
    store, _ = filled(tmp_path, 1)
    assert store.get(text) is None


def test_a_file_of_another_run_under_this_name_is_not_taken(tmp_path: Path) -> None:
    store, ids = filled(tmp_path, 1)
    store.close()
    (file,) = tmp_path.iterdir()
    other = "0" * 16
    file.rename(file.with_name(file.name.replace(ids[0], other)))
    assert RunStore(tmp_path).get(other) is None


def test_a_disk_that_cannot_be_written_is_said_once_a_run_and_memory_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "runs").write_text("a file, not a folder")
    with caplog.at_level(logging.WARNING):
        store = RunStore(tmp_path / "runs")
        run_id = store.put("key", REQUEST, a_result()).id
        store.close()
    assert store.get(run_id)
    assert "cannot be stored" in caplog.text


def test_only_the_servers_own_user_can_read_the_prompts(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "runs", 1)
    store.close()
    assert (tmp_path / "runs").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "runs").iterdir())


def test_where_runs_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_RUNS", "memory")
    assert default_folder() is None
    monkeypatch.setenv("SPECVIZ_RUNS", "/var/runs")
    assert default_folder() == Path("/var/runs")
    monkeypatch.delenv("SPECVIZ_RUNS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert default_folder() == Path("/cache/specviz/runs")


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "65", "1.5"])
def test_a_number_of_engines_that_cannot_be_is_one_sentence(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", text)
    with pytest.raises(InputError, match="SPECVIZ_ENGINES must be a whole number from 1 to 64"):
        engines_wanted()
    monkeypatch.setenv("SPECVIZ_ENGINES", "3")
    assert engines_wanted() == 3


def test_an_error_that_nobody_foresaw_is_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = RunStore(tmp_path)
    monkeypatch.setattr(store, "_remove_oldest", lambda folder: 1 // 0)
    store.put("key", REQUEST, a_result())
    store.close()
    assert "ZeroDivisionError" in caplog.text
