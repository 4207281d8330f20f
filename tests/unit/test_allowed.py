"""Which models a visitor may name, by the operator's setting."""

from pathlib import Path

import pytest

from specviz.models import allowed
from specviz.models.catalogue import bundled_names
from specviz.models.pairs import HUB_MODELS

CATALOGUED, ON_HUB = HUB_MODELS[0].name, "somebody/something"


@pytest.mark.parametrize(
    ("setting", "catalogued", "on_hub", "folder"),
    [
        (None, True, False, False),
        ("bundled", False, False, False),
        ("catalogue", True, False, False),
        ("hub", True, True, False),
        ("folders", True, False, True),
        ("hub, folders", True, True, True),
        ("any", True, True, True),
        ("everything", True, False, False),
        ("hub,", True, False, False),  # a word that is not known opens nothing
    ],
)
def test_each_word_opens_what_it_says(
    setting: str | None, catalogued: bool, on_hub: bool, folder: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SPECVIZ_MODELS", raising=False)
    if setting is not None:
        monkeypatch.setenv("SPECVIZ_MODELS", setting)
    assert all(map(allowed.is_allowed, bundled_names()))
    assert allowed.is_allowed(CATALOGUED) == catalogued
    assert allowed.is_allowed(ON_HUB) == on_hub
    assert allowed.is_allowed(str(tmp_path)) == folder
    assert allowed.may_be_typed() == (on_hub or folder)
    assert (CATALOGUED in allowed.offered_names()) == catalogued


def test_a_folder_that_looks_like_a_hub_id_is_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "somebody" / "something").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert not allowed.is_allowed(ON_HUB)


@pytest.mark.parametrize("name", ["", ".", "..", "/etc", "a/b/c", "../x/y", "a b/c", "é/x", "~/models", "a" * 5_000])
def test_what_is_no_hub_id_is_not_asked_of_the_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert not allowed.is_allowed(name)


@pytest.mark.parametrize(
    ("setting", "name", "sentence"),
    [
        ("any", "/no/such/folder", "There is no folder '/no/such/folder' on this server: use wren-base"),
        ("any", "mine", "There is no model named 'mine' here: use wren-base"),
        ("hub", "/etc", "'/etc' is a folder, and this server reads none: use wren-base"),
        ("folders", "somebody/something", "There is no model named 'somebody/something' here: use wren-base"),
        ("bundled", CATALOGUED, f"{CATALOGUED} is not on this server, which downloads no models: use wren-base"),
        ("catalogue", "/etc", "There is no model named '/etc' here: use wren-base"),
    ],
)
def test_a_name_is_refused_with_a_reason(
    setting: str, name: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", setting)
    assert not allowed.is_allowed(name)
    assert allowed.why_refused(name).startswith(sentence)


@pytest.mark.parametrize("setting", ["bundled", "catalogue", "hub"])
def test_a_refusal_does_not_tell_which_folders_there_are(
    setting: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", setting)
    there, gone = str(tmp_path), str(tmp_path / "gone")
    assert allowed.why_refused(there).replace(there, "") == allowed.why_refused(gone).replace(gone, "")


@pytest.mark.parametrize(
    ("setting", "typed"),
    [("catalogue", ""), ("hub", "a Hub id"), ("folders", "a folder"), ("any", "a Hub id or a folder")],
)
def test_it_says_what_can_be_typed(setting: str, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", setting)
    assert allowed.typed_names() == typed
    assert allowed.why_refused("mine").endswith(f"or {typed}." if typed else "or one from the catalogue.")
