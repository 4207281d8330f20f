"""What a visitor's choice may download: from where, which version, how much, with whose token, and for how long."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from huggingface_hub import HfApi, hf_hub_download

from specviz import InputError, load_model
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import without_folders
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.models import downloads, memory
from specviz.models import hub as hub_module
from specviz.models.catalogue import HUB_MODELS, KnownModel, bundled_names, known_names
from specviz.models.hub import CONNECT_SECONDS, MOST_SMALL_BYTES, MOST_SMALL_FILES, fetch, find_cached, look_up
from specviz.service.child import _environment
from specviz.service.handlers import job_steps
from specviz.service.protocol import Done, Run
from specviz.service.service import admit
from specviz.service.workshop import Workshop
from tests.support.hub_server import COMMIT, NAME, OTHER, THIRD, HubServer, refusal, serve, use

ROOT = Path(__file__).parents[2]
SIZE = 23_768  # bytes of the tiny model's weights


def disk_with(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))


def run_of(target: str) -> Run:
    return Run(1, RunRequest("w1 w2", target, PROMPT_LOOKUP, settings=DecodeSettings(max_new_tokens=4)))


# Whose token


DOWNLOAD = f"from specviz.models.hub import fetch; list(fetch({NAME!r}))"


def test_the_engine_never_sends_the_operators_token(hub: HubServer, tmp_path: Path) -> None:
    """In a process of its own, with the environment that the server gives the engine; a person's own does send it."""
    own = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_secret", "HF_HUB_DISABLE_XET": "1"}
    for environment, sent in ((_environment(), False), (dict(os.environ), True)):
        home = {"HF_HOME": str(tmp_path / f"home-{sent}"), "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", DOWNLOAD], env=environment | own | home, check=True, cwd=ROOT)
        assert bool(hub.tokens) is sent
    assert set(hub.tokens) == {"Bearer hf_secret"}


# How much


@pytest.mark.parametrize("how", ["too many", "too large together"])
def test_small_files_are_bounded_before_any_is_downloaded(
    how: str, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = how == "too many"
    for number in range(MOST_SMALL_FILES + 1 if many else 3):
        (hub.models[NAME] / f"{number}.txt").write_bytes(b" " * (2 if many else 1_000))
    assert MOST_SMALL_BYTES >= 100 * 2**20, "room for the largest vocabularies"
    if not many:
        monkeypatch.setattr(hub_module, "MOST_SMALL_BYTES", 3_000)
    said = "files of configuration and vocabulary" if many else f"at most {MOST_SMALL_FILES} with 1 MB are downloaded"
    assert said in refusal(lambda: look_up(NAME))
    assert not [path for _, path, _ in hub.requests if "/resolve/" in path]


def test_a_reserve_of_the_disk_stays_free(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up(NAME)
    disk_with(downloads.RESERVE_BYTES + SIZE - downloads._bytes(downloads._model(NAME)) - 1, monkeypatch)
    sentence = refusal(lambda: list(fetch(NAME)))
    assert sentence.startswith(f"The disk is too full for {NAME}: ")
    assert "reserve of 2.0 GB" in sentence
    assert "" not in hub.ranges(), "no weights were sent"
    disk_with(downloads.RESERVE_BYTES + SIZE, monkeypatch)
    list(fetch(NAME))
    assert find_cached(NAME)


def test_the_least_recently_used_model_makes_room(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for when, name in enumerate((NAME, OTHER)):
        list(fetch(name))
        downloads.release()
        os.utime(downloads._model(name), (1_000 + when, 1_000 + when))
    one = downloads._bytes(downloads._model(NAME))
    downloads.hold(NAME)  # used again, so that the other one is the older
    downloads.release()
    monkeypatch.setattr(downloads, "limit_bytes", lambda: int(2.5 * one))
    list(fetch(THIRD))
    assert find_cached(OTHER) is None
    assert find_cached(NAME)
    assert find_cached(THIRD)
    assert downloads._bytes(downloads.folder()) <= 2.5 * one


def test_a_model_in_use_is_never_removed_by_any_process(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    list(fetch(NAME))
    one = downloads._bytes(downloads._model(NAME))
    monkeypatch.setattr(downloads, "limit_bytes", lambda: int(1.5 * one))
    expected = f"There is no room for {OTHER} beside the models that are in use: try again later."
    assert refusal(lambda: list(fetch(OTHER))) == expected
    downloads.release()
    with downloads.lock(f"{downloads._model(NAME).name}.1"):  # as another process holds it
        assert refusal(lambda: list(fetch(OTHER))) == expected
    assert find_cached(NAME)
    list(fetch(OTHER))
    assert find_cached(NAME) is None


def test_a_lock_of_a_process_that_has_ended_holds_nothing(hub: HubServer) -> None:
    list(fetch(NAME))
    downloads.release()
    left = downloads.folder() / ".locks" / f"{downloads._model(NAME).name}.1.lock"
    left.touch()
    assert downloads._removable(OTHER) == [downloads._model(NAME)]
    assert not left.exists()


def test_what_other_programs_downloaded_is_read_and_never_removed(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [Path(hf_hub_download(NAME, file.name)) for file in hub.models[NAME].iterdir()]
    theirs = files[0].parent
    assert find_cached(NAME) == theirs
    hub.requests.clear()
    assert load_model(NAME).name == NAME
    assert hub.requests == []
    monkeypatch.setattr(downloads, "limit_bytes", lambda: 4 * SIZE)
    disk_with(downloads.RESERVE_BYTES, monkeypatch)
    assert "too full" in refusal(lambda: list(fetch(OTHER)))
    assert find_cached(NAME) == theirs


def test_a_model_that_is_larger_than_all_downloads_may_be(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "limit_bytes", lambda: SIZE - 1)
    assert "set SPECVIZ_CACHE_GB higher" in refusal(lambda: list(fetch(NAME)))
    assert "" not in hub.ranges(), "no weights were sent"


@pytest.mark.parametrize(
    ("text", "gigabytes"), [("5", 5), ("0", 0), ("", 20), ("-1", 20), ("much", 20), ("9" * 5000, 20)]
)
def test_the_bound_is_a_number_of_gigabytes(text: str, gigabytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_CACHE_GB", text)
    assert downloads.limit_bytes() == gigabytes * 10**9


CATALOGUED = HUB_MODELS[-1].name


@pytest.mark.parametrize("short_of", ["memory", "disk", "budget"])
def test_known_sizes_are_checked_before_the_network(
    short_of: str, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if short_of == "memory":
        monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    elif short_of == "disk":
        disk_with(downloads.RESERVE_BYTES + 10**9, monkeypatch)
        monkeypatch.setattr(memory, "available_bytes", lambda: 10**12)
    budget = "1000" if short_of == "budget" else "100000"
    monkeypatch.setenv("SPECVIZ_MODEL_MB", budget)
    sentence = refusal(lambda: list(job_steps(Workshop(), run_of(CATALOGUED))))
    assert sentence.startswith("The disk is too full" if short_of == "disk" else f"{CATALOGUED} ")
    if short_of != "budget":  # which only an engine has
        assert refusal(lambda: load_model(CATALOGUED)) == sentence
    assert hub.requests == []


# Which version


def catalogued(monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    model = KnownModel(NAME, 1_000, 2, 64, 7, "the test", commit)
    monkeypatch.setattr(hub_module, "known_models", lambda: {NAME: model})


def test_a_model_of_the_catalogue_is_downloaded_at_its_commit(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogued(monkeypatch, COMMIT)
    assert load_model(NAME).info.weights_hash == COMMIT[:16]
    assert [path for _, path, _ in hub.requests if path.startswith("/api/models/")] == [
        f"/api/models/{NAME}/revision/{COMMIT}"
    ] * len([path for _, path, _ in hub.requests if path.startswith("/api/models/")])
    assert {path.split("/")[4] for _, path, _ in hub.requests if "/resolve/" in path} == {COMMIT}
    catalogued(monkeypatch, "feed" + "0" * 36)  # what was published since is not used
    assert find_cached(NAME) is None
    assert "the version that this app knows is gone" in refusal(lambda: look_up(NAME))


def test_every_model_of_the_catalogue_has_a_commit() -> None:
    commits = [model.commit or "" for model in HUB_MODELS]
    assert all(len(commit) == 40 and int(commit, 16) for commit in commits)
    assert len(set(commits)) == len(commits)


# A Hub that does not answer


def test_a_hub_that_does_not_answer_is_asked_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        use(server.url, tmp_path, monkeypatch)
    asked: list[httpx2.Timeout] = []
    real, now = HfApi.model_info, [1_000.0]

    def model_info(api: HfApi, *arguments: object, **options: object) -> object:
        asked.append(options["timeout"])  # type: ignore[arg-type]
        return real(api, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(HfApi, "model_info", model_info)
    monkeypatch.setattr(hub_module, "monotonic", lambda: now[0])
    first = refusal(lambda: look_up(NAME))
    assert first.startswith(f"The Hub cannot be reached from here, and {NAME} is not downloaded yet: ")
    assert refusal(lambda: look_up(OTHER)) == first.replace(NAME, OTHER)
    assert [wait.connect for wait in asked] == [CONNECT_SECONDS]
    now[0] += hub_module.SILENT_SECONDS
    refusal(lambda: look_up(NAME))
    assert len(asked) == 2


# SPECVIZ_MODELS=bundled


def test_with_bundled_models_only_nothing_is_ever_asked_of_the_hub(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    for name in [*{*known_names()}.difference(bundled_names()), NAME, str(tmp_path)]:
        known = name in known_names()
        reason = "is not on this server, which downloads no models" if known else "^There is no model named "
        with pytest.raises(InputError, match=reason):
            admit(run_of(name))
    for name in bundled_names():
        admit(run_of(name))
    events = list(job_steps(Workshop(), run_of("wren-nano")))
    assert isinstance([event for event in events if event][-1], Done)
    assert hub.requests == []


# What visitors are told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("'/home/ada/.cache/x/config.json' is not JSON.", "'config.json' is not JSON."),
        ("/srv/models/mine has no config.json.", "mine has no config.json."),
        (r"C:\Users\me\x.json is broken.", "x.json is broken."),
        ("~/models/mine has no weights.", "mine has no weights."),
        ("See https://huggingface.co/owner/name: 3 tokens/s, and/or owner/name.", None),
        ("1/2 of it, at 10 / 3, or 2 // 3", None),
    ],
)
def test_a_sentence_names_no_folder_of_the_server(sentence: str, told: str | None) -> None:
    assert without_folders(sentence) == (told or sentence)


BROKEN = [("hub", "config.json"), ("hub", "model.safetensors"), ("folder", "config.json"), ("folder", "tokenizer.json")]


@pytest.mark.parametrize(("place", "file"), BROKEN)
def test_a_broken_model_tells_nothing_about_the_servers_folders(
    place: str, file: str, hub: HubServer, tmp_path: Path
) -> None:
    folder = hub.models[NAME]
    (folder / file).write_text("{")
    name = str(folder) if place == "folder" else NAME
    with pytest.raises(InputError) as refused:
        list(job_steps(Workshop(), run_of(name)))
    sentence = without_folders(str(refused.value))  # as the bench says it
    assert not [each for each in (str(tmp_path), "/tmp", "cache/") if each in sentence]
