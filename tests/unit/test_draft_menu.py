"""The catalogue, the Draft menu, which models a visitor may name, and the tokenizer that reads a record."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from specviz.core.request import RunRequest
from specviz.models import draft_menu
from specviz.models.catalogue import HUB_MODELS, MODELS_FOLDER, PAIRS, known_names
from specviz.models.draft_menu import draft_for
from specviz.models.record_tokenizer import tokenizer_file, tokenizer_here
from specviz.service.protocol import Run
from specviz.service.service import admit
from tests.support.strategies import refusal

HUB = HUB_MODELS[0].name


def test_every_model_has_a_commit_every_pair_known_models_and_every_statement_a_source() -> None:
    commits = {model.commit or "" for model in HUB_MODELS}
    assert len(commits) == len(HUB_MODELS)
    assert all(len(commit) == 40 and int(commit, 16) for commit in commits)
    assert len({(pair.target, pair.draft) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        assert {pair.target, pair.draft} <= set(known_names())
        assert all(each.text.endswith(".") and len(each.source) > 10 for each in pair.statements)


@pytest.mark.parametrize(
    ("target", "draft", "other"),
    [
        ("wren-base", "wren-nano", "wren-nano"),
        ("wren-base", "wren-eagle", "wren-eagle"),
        ("wren-mini", "wren-eagle", "wren-nano"),
        ("wren-base", "lookup-smol-eagle", "wren-nano"),
        ("smollm2", "wren-nano", "lookup-smol-eagle"),
        ("smollm2", "smol-eagle", "smol-eagle"),
        ("smollm2", "early-exit:2", "early-exit:2"),
        (HUB, "wren-nano", "lookup"),
        (HUB, HUB, HUB),
        ("somebody/something", "wren-eagle", "lookup"),
    ],
)
def test_a_draft_that_cannot_help_a_target_gives_its_place_to_one_that_can(target: str, draft: str, other: str) -> None:
    assert draft_for(target, draft) == other


def test_what_cannot_draft_is_refused_before_the_engine_in_one_sentence() -> None:
    for target, draft, why in (
        ("wren-mini", "wren-eagle", "wren-eagle drafts from the hidden states of wren-base"),
        ("wren-medusa", "wren-nano", "wren-medusa is a head"),
        ("wren-base", "early-exit:0", "An early exit takes a number of layers"),
        ("wren-base", "early-exit:two", "An early exit takes a number of layers"),
        ("early-exit:2", "wren-nano", "There is no model named 'early-exit:2'"),
    ):
        assert why in refusal(partial(admit, Run(1, RunRequest("a", target, draft))))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that a visitor may name, with a tokenizer."""
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", tmp_path)
    monkeypatch.setenv("SPECVIZ_MODELS", "any")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../..",
        "/etc",
        "a/b/c",
        "../x",
        "a--b/c",
        "../x/y",
        "a/../b",
        "*/*",
        "a b/c",
        "é/x",
        "~/models",
        "a" * 5_000,
    ],
)
def test_what_is_no_hub_id_leads_nowhere(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "hub").mkdir()
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "hub"))
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert not draft_menu.is_allowed(name)
    assert tokenizer_file(name) is None


def test_a_tokenizer_is_read_where_the_operator_allows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizer_here("wren-base")
    ids = tokenizer.encode("Once upon a time")
    assert len(ids) > 1
    assert "".join(tokenizer.texts(ids)) == "Once upon a time"
    assert tokenizer.texts([10**6]) == ["⟨token 1000000⟩"]
    for allowed in ("any", "folders"):
        monkeypatch.setenv("SPECVIZ_MODELS", allowed)
        assert tokenizer_here(str(folder)).encode("Once upon a time") == ids
    monkeypatch.setenv("SPECVIZ_MODELS", "catalogue")
    said = refusal(lambda: tokenizer_here(str(folder)))
    assert ("is not on this server" in said, str(folder.parent) in said) == (True, False)


@pytest.mark.parametrize("content", ["", "{}", "[", '{"model": {"type": "BPE"}}'])
def test_a_broken_tokenizer_is_one_sentence(content: str, folder: Path) -> None:
    (folder / "tokenizer.json").write_text(content, encoding="utf-8")
    said = refusal(lambda: tokenizer_here(str(folder)))
    assert (said[:22], said[-16:]) == ("The tokenizer.json of ", " cannot be read.")
