"""Settings: what goes together, one row of the table for a new one, and names and numbers in words."""

import pytest

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings, parse_tree, resize_tree

SHAPES = {"4,2,1": ((4, 2, 1), 20, 3), "2,2": ((2, 2), 6, 2), "1": ((1,), 1, 1), "dynamic:16": (None, 16, None)}


def test_a_shape_is_children_a_depth_or_a_budget() -> None:
    shapes = {text: parse_tree(text) for text in SHAPES}
    assert {text: (shape.children, shape.nodes, shape.depth) for text, shape in shapes.items()} == SHAPES


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((text, "children a depth") for text in ("", "4,", "0", "-1", "4, 2", "٤", "dynamic:")),
        *((text, "from 1 to 64") for text in ("8,8", "dynamic:0", "dynamic:65")),
        (",".join("1" * 17), "at most 16 depths"),
    ],
)
def test_what_is_no_shape_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_tree(text)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"draft_sampling": "beam"}, "draft_sampling must be sample or argmax, not beam"),
        ({"verification": "wild"}, "verification must be token or block, not wild"),
        ({"tree": "4,2,1"}, "tree 4,2,1 has 3 depths, so draft_length must be 3"),
        ({"tree": "dynamic:8", "draft_schedule": "heuristic"}, "draft_schedule must be fixed"),
        ({"tree": "dynamic:8", "verification": "block"}, "verification must be token"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        DecodeSettings(**settings)  # type: ignore[arg-type]


def test_what_is_unusual_is_named() -> None:
    assert (DecodeSettings().tree_shape, DecodeSettings().manner) == (None, "")
    assert len(DecodeSettings(draft_sampling="argmax", verification="block").manner.split(", ")) == 3
    assert DecodeSettings(draft_length=2, tree="2,2").manner == ", tree 2,2"


FITTED = {("4,2,1", 3): "4,2,1", ("4,2,1", 1): "4", ("4,2,1", 5): "4,2,1,1,1", ("2,2", 4): "2,2,1,1"}
FITTED |= {("dynamic:16", 7): "dynamic:16", ("4,2,1", 16): "2,2" + 14 * ",1"}


def test_a_tree_follows_the_draft_length() -> None:
    assert {(tree, depth): resize_tree(tree, depth) for tree, depth in FITTED} == FITTED
    assert all(DecodeSettings(draft_length=depth, tree=tree).tree_shape for (_, depth), tree in FITTED.items())
