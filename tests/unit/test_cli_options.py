"""How the command line's options become settings."""

import argparse

import pytest

from specviz import InputError
from specviz.cli.options import add_pair, settings_of


@pytest.mark.parametrize(
    ("options", "length"),
    [([], 4), (["--tree", "4,2,1"], 3), (["--tree", "dynamic:9"], 4), (["--tree", "2,2", "--draft-length", "2"], 2)],
)
def test_a_tree_of_fixed_shape_sets_the_draft_length(options: list[str], length: int) -> None:
    parser = argparse.ArgumentParser()
    add_pair(parser)
    parsed = parser.parse_args(["--target", "t", "--draft", "d", *options])
    assert settings_of(parsed).draft_length == length


def test_a_tree_of_another_depth_than_the_draft_length_is_refused() -> None:
    parser = argparse.ArgumentParser()
    add_pair(parser)
    with pytest.raises(InputError, match="tree 2,2 has 2 depths, so draft_length must be 2"):
        settings_of(parser.parse_args(["--target", "t", "--draft", "d", "--tree", "2,2", "--draft-length", "3"]))
