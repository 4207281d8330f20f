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
