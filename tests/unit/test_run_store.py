"""The store of finished runs: bounded, on disk, whole, and safe from damaged files."""

import errno
import fnmatch
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import time
from unittest.mock import Mock

import pytest
from fsspec.core import url_to_fs

from specviz.core.errors import InputError
from specviz.core.files import write_whole
from specviz.core.request import RunRequest
from specviz.core.trace import Trace, drop_candidates
from specviz.service import run_store
from specviz.service.job import RunResult, tokens_in
from specviz.service.run_store import RunFiles, RunStore, StoredRun, answers, store_wanted
from specviz.ui.shared.theme import FILE_NAME, publish_plotly
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.unit.test_verdict import BUSY, in_turns

REQUEST = RunRequest("Once")
FULL = OSError(errno.ENOSPC, "No space left on device")


def a_result(created: str = "2026-01-01T00:00:00+00:00", run_id: str = "") -> RunResult:
    return RunResult(replace(fake_trace(), created=created), plain_text="text", id=run_id)


def put(store: RunStore, key: str = "key", created: str = "2026-01-01T00:00:00+00:00") -> str:
    """The id of a run that is put in, when it is on the disk too."""
    run_id = store.save(key, REQUEST, a_result(created)).id
    store._writer.submit(lambda: None).result()
    return run_id


def held(*ids: str, by: RunStore) -> list[bool]:
    """Which of these runs the store finds."""
    return [by.get(run_id) is not None for run_id in ids]


def test_a_run_of_a_busy_machine_answers_for_a_few_minutes_only() -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for trace, age, answer in ((in_turns(), 2, True), (BUSY, 2, False), (BUSY, 0.5, True), (fake_trace(), 2, True)):
        made = replace(trace, created=(now - age * run_store.BUSY_FOR).isoformat(timespec="seconds"))
        assert answers(RunResult(made), now) == answer


OF_ONE = tokens_in(fake_trace())


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"TOKENS_IN_MEMORY": 2 * OF_ONE}, [True, False, False, False, True]),
        ({"TOKENS_IN_MEMORY": 1}, [False, False, False, False, True]),  # the newest stays, however long
        ({"IN_MEMORY": 3}, [True, False, False, True, True]),  # the longest unused one goes
    ],
)
def test_memory_is_bounded_in_tokens_and_runs(
    limits: dict[str, int], kept: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: 64 of the longest runs took hundreds of megabytes."""
    for name, most in limits.items():
        monkeypatch.setattr(run_store, name, most)
    store, ids = RunStore(None), list[str]()
    for number in range(5):
        ids.append(put(store, f"key {number}", str(number)))
        store.get(ids[0])
    assert held(*ids, by=store) == kept
    assert [store.latest(f"key {number}") is not None for number in range(5)] == kept


def test_damaged_files_wrong_names_and_wrong_ids_are_no_runs_and_only_the_servers_user_can_read(tmp_path: Path) -> None:
    folder, other = tmp_path / "runs", "0" * 16
    store = RunStore(folder)
    run_id = put(store)
    assert not any(held("", "first", "../../etc/passwd", "*", "0" * 15, "0" * 17, "G" * 16, by=store))
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode | file.stat().st_mode) & 0o077 == 0, "prompts are the visitors' own"
    whole = file.read_bytes()
    for content in (b"", b"{", b'{"key": "key"}', b"\xff" * 100):
        file.write_bytes(content)
        assert RunStore(folder).latest("key") is RunStore(folder).get(run_id) is None
    file.write_bytes(whole)
    assert RunStore(folder).get(run_id)
    file.rename(file.with_name(file.name.replace(run_id, other)))
    assert RunStore(folder).get(other) is None, "a file of another run"


# ---- several servers share one store


class Shared:
    """A folder, or a path of fsspec's file system in memory."""

    def __init__(self, where: Path | str) -> None:
        self.where = where
        self.files, self.path = url_to_fs(str(where))

    def __call__(self) -> RunStore:
        """One more server."""
        return RunStore(self.where)

    @property
    def names(self) -> list[str]:
        return sorted(str(name).rsplit("/", 1)[-1] for name in self.files.ls(self.path, detail=False))

    def write(self, name: str, content: bytes) -> None:
        self.files.makedirs(self.path, exist_ok=True)
        self.files.pipe_file(f"{self.path}/{name}", content)

    def rename(self, name: str, other: str) -> None:
        self.files.mv(f"{self.path}/{name}", f"{self.path}/{other}")


@pytest.fixture(params=["folder", "object store"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    made = Shared(tmp_path / "runs" if request.param == "folder" else f"memory://{tmp_path.name}/runs")
    yield made
    if made.files.exists(made.path):
        made.files.rm(made.path, recursive=True)


def test_two_servers_see_each_others_runs_and_the_newest_is_the_latest(shared: Shared) -> None:
    one, two = shared(), shared()
    assert two.latest("key") is None
    stored = put(one)
    (name,) = shared.names
    shared.rename(name, "new-1")
    assert two.get(stored) is two.latest("key") is None, "a server still writes it"
    shared.rename("new-1", name)
    assert one.get(stored) == two.get(stored) == known(two.latest("key"))
    ids = [put(one, "key", created) for created in ("3", "4")]  # later than 2026
    for store in (one, shared()):
        for _ in range(2):  # before: the older run was then what everybody got who asked for its settings
            assert [known(store.get(run_id)).result.id for run_id in ids] == ids, "old links still open"
            assert known(store.latest("key")).result.id == ids[1]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that any store reads, in their order."""
    names, own = list[str](), RunFiles.read

    def noted(files: RunFiles, name: str) -> bytes:
        names.append(name)
        return own(files, name)

    monkeypatch.setattr(RunFiles, "read", noted)
    return names


def test_one_file_is_read_where_one_run_is_asked_for_and_three_of_one_request_are_stored(
    shared: Shared, read: list[str]
) -> None:
    """Before: every stored run of its request, for each link: 69 files, 739 MB and 17 s of a processor."""

    def found(run_id: str = "") -> tuple[str, int]:
        """The id of that run or of the latest, and how many files were read for it."""
        read.clear()
        store = shared()
        return known(store.get(run_id) if run_id else store.latest("key")).result.id, len(read)

    old = [f"{number:016x}" for number in range(9)]
    for run_id in old:  # as older versions named their files
        run = StoredRun("key", REQUEST, a_result(run_id, run_id))
        shared.write(f"{run_store._short('key')}-{run_id}.json", run_store._STORED.dump_json(run))
    assert found() in [(run_id, 1) for run_id in old]
    assert [found(run_id) for run_id in old] == [(run_id, 1) for run_id in old]
    new = put(shared())
    assert found() == (new, 1)
    damaged = next(name for name in shared.names if new in name)
    shared.write(damaged, b"{")
    assert found() in [(run_id, 2) for run_id in old]
    assert read[0] == damaged
    one, ids = shared(), list[str]()
    other = put(one, "other")
    for number in range(5):
        ids.append(put(one, "key", f"later {number}"))
        assert len(shared.names) == run_store.OF_ONE_REQUEST + 1
    assert all(held(other, *ids[-run_store.OF_ONE_REQUEST :], by=shared()))


def test_a_list_of_runs_is_read_one_after_the_other_within_its_bytes(
    shared: Shared, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: 50 runs of 2.9 MB were whole in memory together: half a gigabyte for a message of 849 bytes."""
    one = shared()
    ids = [put(one, f"key {number}", str(number)) for number in range(6)]
    store, whole = shared(), list[bool]()

    def reduced(trace: Trace) -> Trace:
        whole.append(store._reading.locked())  # nobody else has a whole run now
        return drop_candidates(trace)

    monkeypatch.setattr(run_store, "drop_candidates", reduced)
    files = known(store.files)
    sizes = {run_id: size for name, _, size in files.listed("", ".json") for run_id in ids if run_id in name}
    listed = Mock(side_effect=files.listed)
    monkeypatch.setattr(files, "listed", listed)
    found = list(store.each(["f" * 16, *ids], sum(sizes[run_id] for run_id in ids[:3])))
    assert [run and run.result.id for run in found] == [None, *ids[:3]]
    assert (len(read), listed.call_count, whole) == (3, 1, [True] * 3)
    slim = [run.result.trace for run in found if run]
    assert slim == [drop_candidates(trace) for trace in slim]
    assert not store._runs, "a list puts nothing in the memory of runs that are opened"
    assert [known(run).result.id for run in one.each(ids, 0)] == ids, "what is in memory costs no bytes"


@pytest.mark.parametrize("limit", ["ON_DISK", "DISK_BYTES"])
def test_a_shared_store_is_bounded_and_the_oldest_files_go(
    shared: Shared, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, ids = [shared(), shared()], list[str]()
    for number in range(6):
        ids.append(put(stores[number % 2], f"key {number}", str(number)))
        if number == 0:
            ((_, _, size),) = known(stores[0].files).listed("", ".json")
            monkeypatch.setattr(run_store, limit, 3 if limit == "ON_DISK" else 4 * size - 1)
    assert len(shared.names) == 3
    assert held(ids[0], ids[5], by=shared()) == [False, True]


def make_old(folder: Path, ids: list[str]) -> None:
    """As if these were written or used long ago, in this order."""
    for age, run_id in enumerate(ids, start=1):
        (file,) = folder.glob(f"*-{run_id}.json")
        os.utime(file, (age, age))


def test_a_run_that_is_opened_stays_longer_than_one_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_store, "ON_DISK", 3)
    ids = [put(RunStore(tmp_path), f"key {number}") for number in range(3)]
    make_old(tmp_path, ids)
    assert RunStore(tmp_path).get(ids[0])
    ids.append(put(RunStore(tmp_path), "new"))
    assert held(*ids, by=RunStore(tmp_path)) == [True, False, True, True]
    monkeypatch.setattr(os, "utime", Mock(side_effect=OSError(errno.EROFS, "Read-only file system")))
    assert known(RunStore(tmp_path).get(ids[0])).result.id == ids[0], "also where that cannot be noted"
    assert known(RunStore(tmp_path).latest("new")).result.id == ids[3]


def test_what_was_not_written_whole_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = Shared(f"memory://{tmp_path.name}/half")
    store = shared()
    with monkeypatch.context() as broken:
        broken.setattr(type(shared.files), "mv", Mock(side_effect=RuntimeError("the store is gone")))
        run_id = put(store)
    assert (shared.names, held(run_id, by=store)) == ([], [True]), "memory goes on"
    half = f"new-{time():.6f}-1"
    shared.write(half, b"{")
    put(store, "key", "1")
    assert half in shared.names
    monkeypatch.setattr(run_store, "time", lambda: time() + 3_601)
    put(store, "key", "2")
    assert half not in shared.names


def test_where_runs_are_stored_and_a_folder_that_cannot_be_made_and_a_disk_that_cannot_be_written_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wanted(named: object) -> RunStore:
        monkeypatch.setenv("SPECVIZ_RUNS", str(named))
        return store_wanted()

    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert [str(wanted(named).files) for named in ("memory", "")] == ["None", "/cache/specviz/runs"]
    (tmp_path / "runs").write_text("a file, not a folder")
    for named, says in (
        ("memory//x://y", r"Runs cannot be stored at [^\n]*: [^\n]*$"),
        (tmp_path / "runs" / "runs", r"SPECVIZ_RUNS: runs cannot be stored in .*runs \(Not a directory\)\."),
    ):
        with pytest.raises(InputError, match=says):
            wanted(named)
    store = wanted(tmp_path / "tried")
    assert not list((tmp_path / "tried").iterdir()), "what was tried is not left"
    monkeypatch.setattr(store.files, "remove_oldest", lambda *_: 1 // 0)
    put(store)
    assert "ZeroDivisionError" in caplog.text, "an error that nobody foresaw"
    store = RunStore(tmp_path / "runs")
    assert held(put(store), by=store) == [True]
    assert "cannot be stored" in caplog.text


def test_a_file_is_replaced_whole_or_stays_and_what_a_killed_process_left_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, old, fresh = (tmp_path / name for name in ("file", "new-old", "new-fresh"))
    for left in (old, fresh):
        left.write_bytes(b"half")
    os.utime(old, (0, 0))
    for content in (b"one", b"two"):
        write_whole(file, content)
    published = known(publish_plotly(tmp_path / "readable"))
    before = published.stat()
    assert before.st_mode & 0o444 == 0o444
    assert published.read_text(encoding="utf-8").rstrip().endswith("}));")
    assert publish_plotly(tmp_path / "readable") == published == tmp_path / "readable" / FILE_NAME
    assert published.stat().st_mtime_ns == before.st_mtime_ns, "it is copied once"
    assert list(published.parent.iterdir()) == [published]
    for owner in (os, Path):  # a file can begin and never end
        monkeypatch.setattr(owner, "replace", Mock(side_effect=FULL))
    with pytest.raises(OSError, match="No space"):
        write_whole(file, b"three")
    assert publish_plotly(tmp_path / "static") is None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "new-fresh", "readable", "static"]
    assert (file.read_bytes(), list((tmp_path / "static").iterdir())) == (b"two", [])


@pytest.mark.parametrize("ahead", [30, 86_400])
def test_files_from_tomorrow_do_not_remove_a_new_run(
    tmp_path: Path, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: once a clock was put back, each new run was the oldest, and was removed when it was written."""
    monkeypatch.setattr(run_store, "ON_DISK", 3)
    store = RunStore(tmp_path)
    for number in range(3):
        put(store, f"key {number}")
    for file in tmp_path.iterdir():
        os.utime(file, (time() + ahead, time() + ahead))
    store = RunStore(tmp_path)
    ids = [put(store, f"new {number}", str(number)) for number in range(2)]
    assert len(list(tmp_path.iterdir())) == 3
    found = held(*ids, by=RunStore(tmp_path))
    assert found[1]
    assert found[0] or ahead <= run_store.AHEAD, "such files go first"


def test_a_full_disk_makes_room_for_a_new_run_with_its_oldest_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before: nothing was stored any more, and the old runs stayed."""
    ids = [put(RunStore(tmp_path), f"key {number}") for number in range(6)]
    make_old(tmp_path, ids)
    room = len(ids)

    def write(target: Path, content: bytes) -> None:
        if len(list(tmp_path.iterdir())) >= room:
            raise FULL
        write_whole(target, content)

    monkeypatch.setattr(run_store, "write_whole", write)
    new = put(RunStore(tmp_path), "new")
    assert held(*ids, new, by=RunStore(tmp_path)) == [False, *[True] * 6]
    room = 0  # somebody else has filled it: not all runs go for one that cannot be stored
    put(RunStore(tmp_path), "newest")
    assert len(list(tmp_path.iterdir())) >= 3
    assert "cannot be stored" in caplog.text


def test_looking_for_runs_leaves_nothing_in_a_cache_of_patterns(tmp_path: Path) -> None:
    """Before: Python remembered 32,768 of them, 26 MB: one for each run that a link names."""
    run_id, compiled = put(RunStore(tmp_path)), vars(fnmatch)["_compile_pattern"]
    remembered = compiled.cache_info().misses
    store = RunStore(tmp_path)
    assert store.get(run_id)
    assert not any(store.get(f"{number:016x}") or store.latest(f"key {number}") for number in range(20))
    assert compiled.cache_info().misses == remembered
