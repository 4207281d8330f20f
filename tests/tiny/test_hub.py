"""Models from the Hub: the real client against a server on loopback, in each of the ways that can fail."""

import errno
from collections.abc import Iterator
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest
from huggingface_hub import constants

from specviz import DecodeSettings, load_model
from specviz.core.request import RunRequest
from specviz.decoding import autoregressive_decode
from specviz.models.hub import Progress, fetch, find_cached, look_up
from specviz.models.loading import download
from specviz.models.pairing import check_pair
from specviz.service import JobView
from specviz.service import workshop as workshop_module
from specviz.service.handlers import job_steps
from specviz.service.job import advance
from specviz.service.protocol import Done, JobEvent, Loading, Run, Steps, dump_event, parse_event
from specviz.service.workshop import Workshop
from tests.support.hub_server import CHUNK, COMMIT, NAME, HubServer, Trouble, refusal
from tests.support.tiny_models import save, tiny_model


def blobs(name: str = NAME) -> list[Path]:
    return sorted(Path(constants.HF_HUB_CACHE).glob(f"specviz/models--{name.replace('/', '--')}/blobs/*"))


# What works


def test_a_downloaded_model_is_the_one_that_was_served_and_its_progress_counts_bytes(
    hub: HubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    size = (hub.models[NAME] / "model.safetensors").stat().st_size
    seen: list[Progress] = []
    loaded = load_model(NAME, progress=seen.append)
    assert (loaded.name, loaded.info.weights_hash) == (NAME, COMMIT[:16])
    settings = DecodeSettings(max_new_tokens=20)
    expected = autoregressive_decode(tiny_model(seed=1), [1, 2, 3], settings).output.token_ids
    assert autoregressive_decode(loaded, [1, 2, 3], settings).output.token_ids == expected
    assert capfd.readouterr() == ("", "")
    done = [step.bytes_done for step in seen]
    assert len(set(done)) > 3
    assert done == sorted(done)
    assert seen[-1] == Progress(NAME, size, size, 1, 1)
    assert {step.bytes_total for step in seen} == {size}


def test_a_cached_model_is_loaded_without_a_request(hub: HubServer) -> None:
    reported: list[Progress] = []
    load_model(NAME, progress=reported.append)
    assert reported
    hub.trouble, hub.requests[:], reported[:] = "down", [], []
    load_model(NAME, progress=reported.append)
    assert (hub.requests, reported) == ([], [])


def test_a_model_in_several_files_is_counted_as_such(hub: HubServer) -> None:
    folder = hub.models[NAME]
    save(tiny_model(seed=1), folder, "6KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    files = len(list(folder.glob("*.safetensors")))
    assert files > 1
    seen = list(fetch(NAME))
    assert (seen[-1].files_done, seen[-1].files_total) == (files, files)
    assert [step.files_done for step in seen] == sorted(step.files_done for step in seen)
    assert load_model(NAME).info.parameters == tiny_model(seed=1).info.parameters


def test_only_the_files_of_a_model_are_downloaded(hub: HubServer) -> None:
    for name in ("pytorch_model.bin", "training_args.bin", "custom.py", "README.md", "model.onnx"):
        (hub.models[NAME] / name).write_bytes(b"x")
    load_model(NAME)
    fetched = {Path(path).name for method, path, _ in hub.requests if method == "GET" and "/resolve/" in path}
    assert fetched <= {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
                       "special_tokens_map.json", "model.safetensors"}  # fmt: skip


def test_a_pair_is_checked_before_any_weights_are_downloaded(hub: HubServer) -> None:
    report = check_pair(NAME, NAME)
    assert (report.problems, report.notes) == ([], [])
    assert report.sizes == {NAME: tiny_model(seed=1).info.parameters}
    assert all(wanted.startswith("bytes=0-") and not wanted.endswith("-") for wanted in hub.ranges())
    assert find_cached(NAME) is None


# What breaks off


@pytest.mark.parametrize("trouble", ["cut", "no ranges"])
def test_a_download_that_was_cut_continues_from_there_or_starts_again_where_the_server_has_no_ranges(
    hub: HubServer, trouble: Trouble
) -> None:
    hub.trouble = trouble
    weights = (hub.models[NAME] / "model.safetensors").read_bytes()
    list(fetch(NAME))
    assert hub.ranges() == ["", f"bytes={len(weights) // 2 // CHUNK * CHUNK}-"]
    folder = find_cached(NAME)
    assert folder
    assert (folder / "model.safetensors").read_bytes() == weights


def test_an_interrupted_download_says_so_and_is_resumed_later(hub: HubServer) -> None:
    hub.trouble = "cut always"
    sentence = refusal(lambda: list(fetch(NAME)))
    assert sentence.startswith(f"The download of {NAME} was interrupted after ")
    assert sentence.endswith("load it again to continue from there.")
    assert find_cached(NAME) is None
    size = (hub.models[NAME] / "model.safetensors").stat().st_size
    hub.trouble, hub.requests[:] = "none", []
    first = next(iter(fetch(NAME)))
    stored = size // 2 // CHUNK * CHUNK
    assert first.bytes_done == stored + CHUNK
    assert hub.ranges() == [f"bytes={stored}-"]


def test_two_programs_never_write_one_file_at_once(hub: HubServer) -> None:
    first = fetch(NAME)
    next(first)
    assert "is being downloaded by another program" in refusal(lambda: list(fetch(NAME)))
    list(first)
    assert find_cached(NAME)


def test_a_file_of_another_size_than_listed_is_not_stored(hub: HubServer) -> None:
    hub.trouble = "wrong size"
    assert " instead of " in refusal(lambda: list(fetch(NAME)))
    assert find_cached(NAME) is None
    hub.trouble = "none"
    list(fetch(NAME))
    assert find_cached(NAME)


# What cannot be had


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (
            "gated",
            f"{NAME} is gated: accept its terms on https://huggingface.co/{NAME}, then log in with `hf auth login`",
        ),
        ("gated weights", f"{NAME} is gated: accept its terms on"),
        ("down", f"The Hub refuses {NAME}: it answered 503."),
        ("nonsense", f"The Hub's answer about {NAME} cannot be understood."),
    ],
)
def test_each_refusal_of_the_hub_has_its_own_sentence(hub: HubServer, trouble: Trouble, sentence: str) -> None:
    hub.trouble = trouble
    assert sentence in refusal(lambda: load_model(NAME))
    assert sentence in check_pair("wren-base", NAME).problems[0]


def test_one_refusal_is_for_one_model(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "There is no model named nobody/nothing on the Hub; if it is private, log in with `hf auth login`."
    assert refusal(lambda: load_model("nobody/nothing")) == expected
    assert look_up(NAME).commit == COMMIT
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)  # as on a server
    assert "this server downloads public models only" in refusal(lambda: look_up("nobody/nothing"))


def test_offline_by_choice_is_no_network(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    from huggingface_hub import close_session

    close_session()  # the client looks when it is made
    assert "cannot be reached" in refusal(lambda: load_model(NAME))
    assert hub.requests == []
    monkeypatch.undo()
    close_session()


def test_a_disk_that_fills_up_on_the_way(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def full(path: Path, mode: str = "r", *arguments: object, **options: object) -> object:
        if path.suffix == ".specviz" and "a" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, mode, *arguments, **options)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", full)
        assert refusal(lambda: list(fetch(NAME))) == f"The disk is full: free some space and load {NAME} again."
    list(fetch(NAME))
    assert find_cached(NAME)


@pytest.mark.parametrize(
    "name", ["nonsense", "", " ", "wren-base/", "../wren-base", "a/b/c", "a/..", "a//b", "-/-", "a/b?x=1", "a/b#c",
             "a\\b/c", "a/b/", "a/b\n", "a\x00b", "x" * 5_000,
             "~nobody-of-that-name/model", "/etc/hostname", "<b>x</b>"]
)  # fmt: skip
def test_a_name_that_is_none_sends_no_request_and_the_message_lists_the_known_ones(hub: HubServer, name: str) -> None:
    sentence = refusal(lambda: load_model(name))
    assert sentence.startswith("There is no model named ")
    assert "wren-base" in sentence
    assert hub.requests == []


def test_an_index_that_names_files_outside_the_model_is_refused(hub: HubServer) -> None:
    folder = hub.models[NAME]
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../../../etc/passwd"}}')
    assert "names files outside the model" in refusal(lambda: look_up(NAME))


# In the engine


class Pace:
    """Lets a download in a thread go on by one part at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._parts = Semaphore(0)
        monkeypatch.setattr(workshop_module, "download", self._download)

    def go_on(self) -> None:
        self._parts.release()

    def _download(self, name: str) -> Iterator[Progress]:
        for step in download(name):
            yield step
            assert self._parts.acquire(timeout=300)


def all_steps(workshop: Workshop, target: str, draft: str = "lookup", **settings: Any) -> Steps:
    request = RunRequest("w1 w2", target, draft, settings=DecodeSettings(max_new_tokens=4, **settings))
    return job_steps(workshop, Run(1, request))


def steps(workshop: Workshop, target: str, draft: str = "lookup", **settings: Any) -> list[JobEvent]:
    return [event for event in all_steps(workshop, target, draft, **settings) if event]


def until_bytes(job: Steps) -> Loading:
    """Go on until the first bytes are here."""
    return next(event for event in job if isinstance(event, Loading) and event.bytes_total)


def test_the_engine_sends_the_progress_of_a_download(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workshop_module, "DOWNLOAD_MESSAGE_SECONDS", 0)
    size = (hub.models[NAME] / "model.safetensors").stat().st_size
    pace = Pace(monkeypatch)
    events: list[JobEvent] = []
    for event in all_steps(Workshop(), NAME):
        events += [event] if event else []
        if isinstance(event, Loading) and event.bytes_total:
            pace.go_on()
    loading = [event for event in events if isinstance(event, Loading)]
    assert loading[0] == Loading(1, NAME)
    done = [event.bytes_done for event in loading if event.bytes_total == size]
    assert len(done) > 3
    assert done == sorted(done)
    assert done[-1] == size
    assert isinstance(events[-1], Done)
    view = advance(JobView(1), loading[2])
    assert (view.state, view.loading) == ("loading", Loading(1, NAME, done[1], size))
    assert parse_event(dump_event(loading[2])) == loading[2]


def test_a_stopped_job_stops_its_download(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soon: a job that only makes way for another one finds it further on."""
    pace, workshop = Pace(monkeypatch), Workshop()
    job = all_steps(workshop, NAME)
    until_bytes(job)
    job.close()
    pace.go_on()
    under_way = workshop._downloads._at_work[NAME]
    again = all_steps(workshop, NAME)
    assert until_bytes(again).bytes_done >= CHUNK
    assert workshop._downloads._at_work[NAME] is under_way
    monkeypatch.setattr(workshop_module, "PATIENCE_SECONDS", 0)
    again.close()
    pace.go_on()
    under_way.done.result(60)
    assert find_cached(NAME) is None
    assert [blob for blob in blobs() if blob.suffix == ".specviz"]


def test_two_jobs_share_one_download(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pace, workshop = Pace(monkeypatch), Workshop()
    one, other = all_steps(workshop, NAME), all_steps(workshop, NAME)
    assert until_bytes(one).bytes_done == until_bytes(other).bytes_done == CHUNK
    for _ in range(50):
        pace.go_on()
    assert isinstance([event for event in one if event][-1], Done)
    assert isinstance([event for event in other if event][-1], Done)
    assert hub.ranges().count("") == 1, "the weights were sent once"


def test_other_jobs_go_on_while_the_hub_is_asked(hub: HubServer) -> None:
    """The thread that works never waits for the network: each step of the job returns at once."""
    hub.answers.clear()
    job = all_steps(Workshop(), NAME)
    assert next(job) == Loading(1, NAME)
    assert [next(job) for _ in range(20)] == [None] * 20  # the Hub has said nothing yet
    hub.answers.set()
    assert isinstance([event for event in job if event][-1], Done)
