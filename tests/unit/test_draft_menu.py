"""The Draft menu: its groups, its labels, and what is refused before the engine sees it."""

import pytest

from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP, RunRequest
from specviz.core.settings import DecodeSettings
from specviz.models.catalogue import bundled_names, head_names
from specviz.models.draft_menu import draft_groups, is_offered, linked_names, offered_drafts
from specviz.models.pairs import PAIRS, Pair
from specviz.service.admission import admit
from specviz.service.protocol import Run
from specviz.ui.shared.pair_menu import model_label, pair_label, what_it_downloads
from specviz.ui.shared.run_controls import TREES, draft_help, tree_label


def test_the_menu_has_three_groups_and_each_name_once() -> None:
    titles = [group.title for group in draft_groups()]
    assert titles == ["Small models", "Heads on the target", "No model"]
    names = offered_drafts()
    assert len(set(names)) == len(names)
    ours = [
        *bundled_names(),
        "wren-eagle",
        "wren-medusa",
        PROMPT_LOOKUP,
        "early-exit:1",
        "early-exit:2",
        "early-exit:4",
    ]
    assert names[: len(ours)] == ours, "what needs no download comes first"


def test_each_group_says_how_it_guesses_and_who_uses_it() -> None:
    for group in draft_groups():
        assert f"**{group.title}.** {group.about} {group.used}" in draft_help()
        assert all(sentence.endswith(".") for sentence in (group.about, group.used))


def test_a_draft_in_the_menu_says_what_it_is() -> None:
    assert model_label("wren-eagle") == "wren-eagle · head · 1.8 M"
    assert model_label("early-exit:1") == "early exit, 1 layer · no model"
    assert model_label("early-exit:12") == "early exit, 12 layers · no model"
    assert model_label("early-exit:**") == "early exit, ** layers · no model", "a typed name is no reason to fail"


def test_a_link_may_hold_heads_and_nothing_else_is_new() -> None:
    assert set(linked_names()) - set(offered_drafts()) == set()
    assert set(head_names()) <= set(linked_names())
    assert all(map(is_offered, [*linked_names(), PROMPT_LOOKUP, "early-exit:3"]))
    assert not is_offered("somebody/something")


@pytest.mark.parametrize("tree", TREES[1:])
def test_every_tree_of_the_menu_is_a_setting(tree: str) -> None:
    depth = tree.count(",") + 1 if "," in tree else 4
    shape = DecodeSettings(draft_length=depth, tree=tree).tree_shape
    assert shape
    assert str(shape.nodes) in tree_label(tree)


@pytest.mark.parametrize(
    ("target", "draft", "why"),
    [
        ("wren-mini", "wren-eagle", "wren-eagle drafts from the hidden states of wren-base"),
        ("wren-medusa", "wren-nano", "wren-medusa is a head"),
        ("wren-base", "early-exit:0", "An early exit takes a number of layers"),
        ("wren-base", "early-exit:two", "An early exit takes a number of layers"),
        ("early-exit:2", "wren-nano", "There is no model named 'early-exit:2'"),
    ],
)
def test_what_cannot_draft_is_refused_before_the_engine_in_one_sentence(target: str, draft: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        admit(Run(1, RunRequest("a", target, draft)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("draft", ["wren-eagle", "wren-medusa", "early-exit:2", PROMPT_LOOKUP, "wren-nano"])
def test_what_can_draft_is_let_in(draft: str) -> None:
    admit(Run(1, RunRequest("a", "wren-base", draft)))


def test_an_own_folder_is_shown_by_its_last_part() -> None:
    assert model_label("/srv/models/mine") == "mine · folder"
    assert model_label("/srv/models/wren-base") == "wren-base · folder", "it is not the model that ships"
    assert model_label("somebody/something") == "somebody/something"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.draft}-{pair.target}")
def test_a_pair_says_before_it_is_chosen_how_much_it_downloads(pair: Pair) -> None:
    ships = {pair.target, pair.draft} <= {*bundled_names()}
    assert ("downloads" in pair_label(pair)) != ships
    assert what_it_downloads(pair).startswith("Both ship with this app" if ships else "The first run downloads ")


def test_a_download_is_never_smaller_than_was_said() -> None:
    """Files hold at least 2 bytes a parameter: what has fewer is refused as quantized."""
    pair = next(pair for pair in PAIRS if pair.target == "EleutherAI/pythia-410m")
    assert pair_label(pair) == "pythia-70m → pythia-410m · find out · downloads 0.95 GB or more"
    assert "at least 0.95 GB" in what_it_downloads(pair)
