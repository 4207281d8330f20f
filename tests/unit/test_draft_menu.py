"""The Draft menu, which models a visitor may name, and the tokenizer that reads a record."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.core.drafters import PROMPT_LOOKUP, typed_name
from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.settings import SETTINGS, DecodeSettings
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.models import draft_menu
from specviz.models.catalogue import HUB_MODELS, MODELS_FOLDER, PAIRS, Pair, bundled_heads, bundled_names
from specviz.models.draft_menu import (
    draft_for,
    draft_groups,
    draft_label,
    linked_names,
    model_label,
    offered_drafts,
    to_download,
)
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.record_tokenizer import list_tokenizers, tokenizer_file, tokenizer_here
from specviz.service.protocol import Run
from specviz.service.service import admit
from specviz.ui.shared.run_controls import (
    draft_help,
    pair_label,
    tree_label,
)
from tests.support.known import known

CATALOGUED, ON_HUB = HUB_MODELS[0].name, "somebody/something"


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
        (CATALOGUED, "wren-nano", "lookup"),
        (CATALOGUED, CATALOGUED, CATALOGUED),
        ("somebody/something", "wren-eagle", "lookup"),
    ],
)
def test_a_draft_that_cannot_help_a_target_gives_its_place_to_one_that_can(target: str, draft: str, other: str) -> None:
    assert draft_for(target, draft) == other


def test_the_menu_offers_each_draft_once_and_what_needs_no_download_first() -> None:
    names = offered_drafts()
    assert len(set(names)) == len(names)
    heads = {head.name for head in bundled_heads() if head.target in bundled_names()}
    ours = {*bundled_names(), *heads, PROMPT_LOOKUP, *(name for name in names if name.startswith("early-exit:"))}
    assert set(names[: len(ours)]) == ours
    assert not to_download([*ours, "early-exit:3"])
    first, *lines = draft_help().split("\n\n")
    assert lines == [f"**{group.title}:** {group.about}" for group in draft_groups()]
    assert all(len(line) <= 110 and line.endswith(".") for line in [first, *lines]), "one line of the tip each"


def test_a_head_on_a_model_that_does_not_ship_is_offered_with_that_target_alone() -> None:
    own = {head.name for head in bundled_heads() if head.target == SMOLLM2}
    assert own == {"smol-eagle", "lookup-smol-eagle"}
    assert not own & {*offered_drafts(), *offered_drafts(bundled_names()[0])}
    assert set(offered_drafts(SMOLLM2)) == {*offered_drafts(), *own}
    assert own <= {*linked_names()}, "a link may hold it before its target is chosen"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("lookup-wren-eagle", "wren-eagle · lookup and head · 1.8 M"),
        ("wren-eagle", "wren-eagle · head · 1.8 M"),
        ("early-exit:1", "early exit, 1 layer · no model"),
        ("early-exit:**", "early exit, ** layers · no model"),  # a typed name is no reason to fail
        ("/srv/models/wren-base", "wren-base · folder"),  # it is not the model that ships
        ("somebody/something", "somebody/something"),
    ],
)
def test_a_name_in_the_menu_says_what_it_is(name: str, label: str) -> None:
    assert model_label(name) == label
    assert draft_label("wren-nano") == "wren-nano · model · 1.9 M"


def test_in_each_group_the_draft_that_gains_most_comes_first() -> None:
    measured = known(known(stored_methods()).greedy)
    number = 0
    for group in draft_groups():
        found = [measured.find(typed_name(name)) for name in group.names]
        gains = [method.kinds[ALL].best.speedup if method else 0 for method in found]
        assert gains == sorted(gains, reverse=True), group.title
        number += sum(gain > 0 for gain in gains)
    assert number >= 6


@pytest.mark.parametrize("tree", SETTINGS["tree"].offered[1:])
def test_every_tree_of_the_menu_is_a_setting(tree: str) -> None:
    depth = tree.count(",") + 1 if "," in tree else 4
    shape = known(DecodeSettings(draft_length=depth, tree=tree).tree_shape)
    assert str(shape.nodes) in tree_label(tree)


def test_what_cannot_draft_is_refused_before_the_engine_in_one_sentence() -> None:
    for target, draft, why in (
        ("wren-mini", "wren-eagle", "wren-eagle drafts from the hidden states of wren-base"),
        ("wren-medusa", "wren-nano", "wren-medusa is a head"),
        ("wren-base", "early-exit:0", "An early exit takes a number of layers"),
        ("wren-base", "early-exit:two", "An early exit takes a number of layers"),
        ("early-exit:2", "wren-nano", "There is no model named 'early-exit:2'"),
    ):
        with pytest.raises(InputError, match=why) as refused:
            admit(Run(1, RunRequest("a", target, draft)))
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.draft}-{pair.target}")
def test_a_pair_says_before_it_is_chosen_how_much_it_downloads(pair: Pair) -> None:
    ships = {pair.target, pair.draft} <= {*bundled_names()}
    assert ("downloads" in pair_label(pair)) != ships


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
    ],
)
def test_each_word_opens_what_it_says_and_a_refusal_names_what_can_be_typed_but_no_folder(
    setting: str | None, catalogued: bool, on_hub: bool, folder: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SPECVIZ_MODELS", raising=False)
    if setting is not None:
        monkeypatch.setenv("SPECVIZ_MODELS", setting)
    assert all(map(draft_menu.is_allowed, bundled_names()))
    assert draft_menu.is_allowed(CATALOGUED) == catalogued
    assert draft_menu.is_allowed(ON_HUB) == on_hub
    assert draft_menu.is_allowed(str(tmp_path)) == folder
    assert (CATALOGUED in draft_menu.offered_names()) == catalogued
    named = ["a Hub id"] * on_hub + ["a folder", "a GGUF file"] * folder
    typed = " or ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
    assert (draft_menu.typed_names(), draft_menu.allows_typing()) == (typed, bool(typed))
    last = f"or {named[-1]}" if named else "or one from the catalogue" if catalogued else bundled_names()[-1]
    assert draft_menu.explain_refusal("mine").endswith(f"{last}.")
    there, gone = str(tmp_path), str(tmp_path / "gone")
    same = draft_menu.explain_refusal(there).replace(there, "") == draft_menu.explain_refusal(gone).replace(gone, "")
    assert same or folder, "it does not tell which folders there are"


def test_a_folder_that_looks_like_a_hub_id_is_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "somebody" / "something").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert not draft_menu.is_allowed(ON_HUB)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../..", "/etc", "a/b/c", "../x/y", "a/../b", "*/*", "a b/c", "é/x", "~/models", "a" * 5_000],
)
def test_what_is_no_hub_id_leads_nowhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hub").mkdir()
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert not draft_menu.is_allowed(name)
    assert tokenizer_file(name) is None


def test_a_refusal_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting, name, sentence in (
        (
            "any",
            "/no/such/folder",
            "There is no model named '/no/such/folder' here: use wren-base",
        ),
        ("any", "mine", "There is no model named 'mine' here: use wren-base"),
        ("hub", "/etc", "'/etc' is a path, and this server reads no folders and files: use wren-base"),
        ("folders", "somebody/something", "There is no model named 'somebody/something' here: use wren-base"),
        ("bundled", CATALOGUED, f"{CATALOGUED} is not on this server, which downloads no models: use wren-base"),
        ("catalogue", "/etc", "There is no model named '/etc' here: use wren-base"),
    ):
        monkeypatch.setenv("SPECVIZ_MODELS", setting)
        assert not draft_menu.is_allowed(name)
        assert draft_menu.explain_refusal(name).startswith(sentence)


def test_a_tokenizer_is_read_where_the_operator_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizer_here("wren-base")
    ids = tokenizer.encode("Once upon a time")
    assert len(ids) > 1
    assert "".join(tokenizer.texts(ids)) == "Once upon a time"
    assert tokenizer.texts([10**6]) == ["⟨token 1000000⟩"]
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", tmp_path)
    monkeypatch.setenv("SPECVIZ_MODELS", "catalogue")
    with pytest.raises(InputError, match="is not on this server") as refused:
        tokenizer_here(str(tmp_path))
    assert str(tmp_path.parent) not in str(refused.value)
    monkeypatch.setenv("SPECVIZ_MODELS", "folders")
    assert tokenizer_here(str(tmp_path)).encode("Once") == tokenizer_here("wren-base").encode("Once")


def test_a_downloaded_model_lends_its_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = HUB_MODELS[0].name
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert name not in list_tokenizers()
    folder = tmp_path / "specviz" / f"models--{name.replace('/', '--')}" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", folder)
    assert name in list_tokenizers()
    assert tokenizer_here(name).encode("Once") == tokenizer_here("wren-base").encode("Once")
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    with pytest.raises(InputError, match="is not on this server"):
        tokenizer_here(name)


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"])
def test_the_cache_is_where_the_hubs_client_has_it(variable: str, tmp_path: Path) -> None:
    names = ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HUGGINGFACE_HUB_CACHE")
    where = {name: value for name, value in os.environ.items() if name not in names} | {variable: str(tmp_path)}
    script = (
        "from huggingface_hub import constants; from specviz.models.record_tokenizer import hub_cache;"
        "print(constants.HF_HUB_CACHE == str(hub_cache()), hub_cache())"
    )
    done = subprocess.run([sys.executable, "-c", script], env=where, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"True {tmp_path}")


@pytest.mark.parametrize("content", ["", "{}", "[", '{"model": {"type": "BPE"}}'])
def test_a_broken_tokenizer_is_one_sentence(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_text(content, encoding="utf-8")
    monkeypatch.setenv("SPECVIZ_MODELS", "any")
    with pytest.raises(InputError, match=r"The tokenizer\.json of .* cannot be read\."):
        tokenizer_here(str(tmp_path))


def test_the_web_server_reads_a_tokenizer_without_torch() -> None:
    script = (
        "import sys; from specviz.models.record_tokenizer import tokenizer_here;"
        "tokenizer_here('wren-base').encode('a');"
        "print([name for name in ('torch', 'transformers', 'huggingface_hub') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr
