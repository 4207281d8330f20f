"""Models from the Hub: the real client against a server on loopback, in each of the ways that can fail.

And what a visitor's choice may download: which version, how much, with whose token, and for how long.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest
import torch
from huggingface_hub import HfApi, hf_hub_download
from safetensors.torch import load_file, save_file

from specviz import DecodeSettings, InputError, load_model
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import hide_folders
from specviz.core.request import RunRequest
from specviz.decoding import autoregressive_decode
from specviz.models import downloads
from specviz.models import hub as hub_module
from specviz.models.catalogue import ModelEntry, bundled_names, known_names
from specviz.models.hub import Progress, fetch, find_cached, look_up
from specviz.models.pairing import check_pair
from specviz.service.child import _environment
from specviz.service.handlers import job_steps
from specviz.service.protocol import EngineAlive, JobSteps, Loading, Run, RunDone
from specviz.service.service import admit
from specviz.service.workshop import Workshop
from tests.conftest import ROOT
from tests.support.hub_server import CHUNK, COMMIT, NAME, OTHER, THIRD, HubServer, Trouble, serve, use
from tests.support.strategies import refusal
from tests.support.tiny_models import tiny_model

SIZE = 23_768  # bytes of the tiny model's weights


def steps(target: str) -> JobSteps:
    request = RunRequest("w1 w2", target, PROMPT_LOOKUP, settings=DecodeSettings(max_new_tokens=4))
    return job_steps(Workshop(), Run(1, request))


def refused(name: str = NAME) -> str:
    """Why its weights are not downloaded."""
    return refusal(lambda: list(fetch(name)))


def disk_with(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))


# What works


def test_a_model_is_downloaded_once_and_progress_is_bytes(hub: HubServer, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("pytorch_model.bin", "training_args.bin", "custom.py", "README.md", "model.onnx"):
        (hub.models[NAME] / name).write_bytes(b"x")
    seen: list[Progress] = []
    loaded = load_model(NAME, progress=seen.append)
    assert (loaded.name, loaded.info.weights_hash) == (NAME, COMMIT[:16])
    runs = [autoregressive_decode(each, [1, 2, 3], DecodeSettings(20)) for each in (loaded, tiny_model(seed=1))]
    assert runs[0].output.token_ids == runs[1].output.token_ids
    assert capfd.readouterr() == ("", "")
    done = [step.bytes_done for step in seen]
    assert len(set(done)) > 3
    assert done == sorted(done)
    assert seen[-1] == Progress(NAME, SIZE, SIZE, 1, 1)
    assert {step.bytes_total for step in seen} == {SIZE}
    fetched = {Path(path).name for method, path, _ in hub.requests if method == "GET" and "/resolve/" in path}
    tokenizer = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
    assert fetched <= {"config.json", "generation_config.json", "model.safetensors", *tokenizer}
    hub.trouble, hub.requests[:], seen[:] = "down", [], []
    load_model(NAME, progress=seen.append)
    assert (hub.requests, seen) == ([], []), "it is here"


def test_a_pair_is_checked_by_its_headers_before_any_weights_are_downloaded(hub: HubServer) -> None:
    assert check_pair(NAME, NAME) == ({NAME: tiny_model(seed=1).info.parameters}, "")
    file = hub.models[NAME] / "model.safetensors"
    save_file({name: weight.to(torch.int8) for name, weight in load_file(file).items()}, file)
    assert "is stored as I8, without scales" in refusal(lambda: check_pair(NAME, NAME))
    assert all(wanted.startswith("bytes=0-") and not wanted.endswith("-") for wanted in hub.ranges())
    assert find_cached(NAME) is None


def test_other_jobs_go_on_while_the_hub_is_asked(hub: HubServer) -> None:
    """The thread that works never waits for the network: each step of the job returns at once."""
    hub.answers.clear()
    job = steps(NAME)
    assert next(job) == Loading(1, NAME)
    assert [next(job) for _ in range(20)] == [EngineAlive(1)] * 20  # the Hub has said nothing yet
    hub.answers.set()
    assert isinstance([event for event in job if event][-1], RunDone)


# What breaks off


@pytest.mark.parametrize("trouble", ["cut", "no ranges"])
def test_a_download_that_was_cut_continues_or_starts_again_without_ranges(hub: HubServer, trouble: Trouble) -> None:
    hub.trouble = trouble
    weights = (hub.models[NAME] / "model.safetensors").read_bytes()
    list(fetch(NAME))
    assert hub.ranges() == ["", f"bytes={len(weights) // 2 // CHUNK * CHUNK}-"]
    assert (find_cached(NAME) / "model.safetensors").read_bytes() == weights


def test_an_interrupted_download_says_so_and_is_resumed_later_by_one_program_at_a_time(hub: HubServer) -> None:
    hub.trouble = "cut always"
    sentence = refused()
    assert sentence.startswith(f"The download of {NAME} was interrupted after ")
    assert sentence.endswith("load it again to continue from there.")
    assert find_cached(NAME) is None
    hub.trouble, hub.requests[:] = "none", []
    stored, going = SIZE // 2 // CHUNK * CHUNK, fetch(NAME)
    assert next(going).bytes_done == stored + CHUNK
    assert hub.ranges() == [f"bytes={stored}-"]
    assert "is being downloaded by another program" in refused()
    list(going)
    assert find_cached(NAME)


@pytest.mark.parametrize("continued", [False, True])
@pytest.mark.parametrize("trouble", ["wrong size", "wrong bytes"])
def test_other_weights_than_the_hub_lists_are_not_stored(hub: HubServer, trouble: Trouble, continued: bool) -> None:
    if continued:
        hub.trouble = "cut always"
        refused()
    hub.trouble = trouble
    assert "is not the file that the Hub lists" in refused()
    assert find_cached(NAME) is None
    hub.trouble, hub.requests[:] = "none", []
    list(fetch(NAME))
    assert hub.ranges() == [""], "from its beginning"


# What cannot be had


REFUSALS: dict[Trouble, str] = {
    "gated": f"{NAME} is gated: accept its terms on https://huggingface.co/{NAME}, then log in with `hf auth login`",
    "gated weights": f"{NAME} is gated: accept its terms on",
    "down": f"The Hub refuses {NAME}: it answered 503.",
    "files gone": f"The Hub refuses {NAME}: it answered 410.",
    "nonsense": f"The Hub's answer about {NAME} cannot be understood.",
    "no commit": f"The Hub's answer about {NAME} cannot be understood.",
    "no size": f"The Hub's answer about {NAME} cannot be understood.",
}


@pytest.mark.parametrize("trouble", REFUSALS)
def test_each_refusal_of_the_hub_has_its_own_sentence(hub: HubServer, trouble: Trouble) -> None:
    hub.trouble = trouble
    for ask in (lambda: load_model(NAME), lambda: check_pair("wren-base", NAME)):
        assert REFUSALS[trouble] in refusal(ask)


OUTSIDE = {"model.safetensors": None, "model.safetensors.index.json": '{"weight_map": {"a": "../../../etc/passwd"}}'}


@pytest.mark.parametrize(
    ("files", "says"),  # what is written into the model's folder; None: removed
    [
        (OUTSIDE, "incomplete or broken (model.safetensors.index.json)"),
        ({"model.safetensors": None}, "has no weights in safetensors"),
        ({"config.json": None}, "has no config.json"),
        ({"config.json": None, "a.Q4_K.gguf": "GGUF"}, "GGUF"),
        ({f"{number}.txt": " " for number in range(41)}, "more than 40 or 1 MB"),
        ({"vocab.txt": " " * 2**20}, "more than 40 or 1 MB"),
    ],
)
def test_files_that_cannot_be_used_are_refused_before_any_is_downloaded(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, files: dict[str, str | None], says: str
) -> None:
    assert hub_module.MOST_SMALL_BYTES >= 100 * 2**20, "room for the largest vocabularies"
    monkeypatch.setattr(hub_module, "MOST_SMALL_BYTES", 2**20)
    for name, content in files.items():
        file = hub.models[NAME] / name
        file.unlink() if content is None else file.write_text(content)
    assert says in refusal(lambda: look_up(NAME))
    assert hub.ranges() == []
    assert files is OUTSIDE or not any("/resolve/" in path for _, path, _ in hub.requests)


def test_a_hub_that_does_not_answer_is_asked_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        use(server.url, tmp_path, monkeypatch)
    now, asked = [1_000.0], create_autospec(HfApi.model_info, side_effect=HfApi.model_info)
    monkeypatch.setattr(HfApi, "model_info", asked)
    monkeypatch.setattr(hub_module, "monotonic", lambda: now[0])
    first = refusal(lambda: look_up(NAME))
    assert first.startswith(f"The Hub cannot be reached, and {NAME} is not downloaded yet: ")
    assert refusal(lambda: look_up(OTHER)) == first.replace(NAME, OTHER)
    assert [call.kwargs["timeout"].connect for call in asked.call_args_list] == [hub_module.CONNECT_SECONDS]
    now[0] += hub_module.SILENT_SECONDS
    refusal(lambda: look_up(NAME))
    assert asked.call_count == 2


# Whose token, and which version


def test_the_engine_never_sends_the_operators_token(hub: HubServer, tmp_path: Path) -> None:
    """In a process of its own, with the environment that the server gives the engine; a person's own does send it."""
    download = f"from specviz.models.hub import fetch; list(fetch({NAME!r}))"
    own = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_secret", "HF_HUB_DISABLE_XET": "1", "PYTHONPATH": str(ROOT)}
    for environment, sent in ((_environment(), set()), (dict(os.environ), {"Bearer hf_secret"})):
        home = {"HF_HOME": str(tmp_path / f"home-{len(sent)}")}
        subprocess.run([sys.executable, "-c", download], env=environment | own | home, check=True, cwd=ROOT)
        assert set(hub.tokens) == sent


def catalogued(monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    model = ModelEntry(NAME, 1_000, "the test", 2, 64, 7, commit)
    monkeypatch.setattr(hub_module, "known_models", lambda: {NAME: model})


def test_a_model_of_the_catalogue_is_downloaded_at_its_commit(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogued(monkeypatch, COMMIT)
    assert load_model(NAME).info.weights_hash == COMMIT[:16]
    paths = {path for _, path, _ in hub.requests}
    assert {path for path in paths if path.startswith("/api/models/")} == {f"/api/models/{NAME}/revision/{COMMIT}"}
    assert {path.split("/")[4] for path in paths if "/resolve/" in path} == {COMMIT}
    catalogued(monkeypatch, "feed" + "0" * 36)  # what was published since is not used
    assert find_cached(NAME) is None
    assert "that this app knows is gone" in refusal(lambda: look_up(NAME))


# How much


def test_a_reserve_stays_free_and_all_downloads_have_a_limit(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up(NAME)
    with monkeypatch.context() as patch:
        patch.setattr(downloads, "limit_bytes", lambda: SIZE - 1)
        assert "set SPECVIZ_CACHE_GB higher" in refused()
    disk_with(downloads.RESERVE_BYTES + SIZE - downloads._bytes(downloads._model(NAME)) - 1, monkeypatch)
    sentence = refused()
    assert sentence.startswith(f"The disk is too full for {NAME}: ")
    assert "reserve of 2.0 GB" in sentence
    assert "" not in hub.ranges(), "no weights were sent"
    disk_with(downloads.RESERVE_BYTES + SIZE, monkeypatch)
    list(fetch(NAME))
    assert find_cached(NAME)


def test_the_oldest_model_makes_room_and_one_in_use_never_does(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    list(fetch(NAME))
    one, model = downloads._bytes(downloads._model(NAME)), downloads._model(NAME)
    monkeypatch.setattr(downloads, "limit_bytes", lambda: int(1.5 * one))
    expected = f"There is no room for {OTHER} beside the models that are in use: try again later."
    assert refused(OTHER) == expected
    downloads.release()
    with downloads.lock(f"{model.name}.1"):  # as another process holds it
        assert refused(OTHER) == expected
    assert find_cached(NAME)
    left = downloads.folder() / ".locks" / f"{model.name}.1.lock"
    left.touch()  # of a process that has ended
    assert downloads._removable(OTHER) == [model]
    assert not left.exists()
    list(fetch(OTHER))
    assert find_cached(NAME) is None
    monkeypatch.setattr(downloads, "limit_bytes", lambda: int(2.5 * one))
    list(fetch(NAME))
    downloads.release()
    for when, name in enumerate((OTHER, NAME)):
        os.utime(downloads._model(name), (1_000 + when, 1_000 + when))
    downloads.acquire(OTHER)  # used again, so that the other one is the older
    downloads.release()
    list(fetch(THIRD))
    assert [bool(find_cached(name)) for name in (NAME, OTHER, THIRD)] == [False, True, True]
    assert downloads._bytes(downloads.folder()) <= 2.5 * one


def test_what_others_downloaded_is_read_and_never_removed(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    [theirs] = {Path(hf_hub_download(NAME, file.name)).parent for file in hub.models[NAME].iterdir()}
    assert find_cached(NAME) == theirs
    hub.requests.clear()
    assert load_model(NAME).name == NAME
    assert hub.requests == []
    monkeypatch.setattr(downloads, "limit_bytes", lambda: 4 * SIZE)
    disk_with(downloads.RESERVE_BYTES, monkeypatch)
    assert "too full" in refused(OTHER)
    assert find_cached(NAME) == theirs


# What visitors read


def test_bundled_alone_asks_nothing(hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    for name in [*{*known_names()}.difference(bundled_names()), NAME, str(tmp_path)]:
        known = name in known_names()
        reason = "is not on this server, which downloads no models" if known else "^There is no model named "
        with pytest.raises(InputError, match=reason):
            admit(Run(1, RunRequest("w1", name, PROMPT_LOOKUP)))
    for name in bundled_names():
        admit(Run(1, RunRequest("w1", name, PROMPT_LOOKUP)))
    assert hub.requests == []


def test_a_sentence_names_no_folder_of_the_server() -> None:
    same = "https://huggingface.co/owner/name: 3 tokens/s, and/or owner/name, 1/2 of it, at 10 / 3, or 2 // 3."
    folders = r"'/home/ada/.cache/x/config.json', /srv/models/mine, C:\Users\me\x.json and ~/models/yours: "
    assert hide_folders(folders + same) == "'config.json', mine, x.json and yours: " + same
