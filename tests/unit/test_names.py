"""How models are named on screen."""

from dataclasses import replace

import pytest

from specviz.core.names import pair_name, short_name
from tests.support.fake_traces import fake_trace


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("wren-base", "wren-base"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),  # the owner is a part of an id on the Hub
        ("/srv/models/mine", "mine"),
        ("/srv/models/mine/", "mine"),
        ("~/mine", "mine"),
        ("./models/mine", "mine"),
        ("../mine", "mine"),
        (r"C:\models\mine.gguf", "mine.gguf"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_folder_is_shown_by_its_last_part(name: str, shown: str) -> None:
    assert short_name(name) == shown


def test_a_pair_is_named_draft_first() -> None:
    trace = fake_trace(tokens=12)
    assert trace.drafter
    own = replace(trace, target=replace(trace.target, name="/srv/models/mine"))
    assert pair_name(own) == f"{trace.drafter.name} → mine"
    assert pair_name(replace(own, drafter=None)) == "no draft → mine"
