"""A new way to draft is an entry and a module: with these alone it is in the menu, links, commands, page and stage.

This module is one that exists in tests alone: it repeats the last token.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from specviz import DecodeSettings
from specviz.cli.main import main
from specviz.core.drafters import METHODS, Method, method_of
from specviz.core.request import RunRequest
from specviz.core.trace import DrafterInfo, read_trace
from specviz.data.links.permalink import RunLink, link_of
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.models.draft_menu import draft_groups, linked_names
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.player.offline import offline_page
from tests.support.app_pages import opened
from tests.support.drawn import drawn_traces

TOY = Method(
    kind="toy",
    label="toy",
    module=__name__,
    names=("toy",),
    group=method_of("prompt-lookup").group,
    about="The toy repeats the last token.",
    trees=False,
    samples=False,
    at_once=True,
    subject="the toy",
    title="toy",
    certain="The toy repeats it (q = 1).",
    lead="A <b>toy drafts</b> a few tokens.",
)


class ToyDrafter(Drafter, Proposer):
    """Has no state, so it is its own proposer."""

    info = DrafterInfo("toy", "toy")

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        return Draft([token_ids[-1]] * count, None)


def load(name: str, target: LoadedModel, dtype: Dtype) -> None:
    return None


def fit(target: LoadedModel, loaded: object, settings: DecodeSettings) -> Drafter:
    return ToyDrafter()


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    METHODS.append(TOY)
    yield
    METHODS.remove(TOY)


def test_it_is_in_the_menu_a_link_holds_it_and_the_watch_page_opens_that() -> None:
    (about,) = (group.about for group in draft_groups() if "toy" in group.names)
    assert about.endswith("The toy repeats the last token.")
    request = RunRequest("Once", draft="toy")
    linked, problems = RunLink.read(link_of(request), context=linked_names())
    assert (linked.request(), problems) == (request, [])
    draft = opened(view="full", draft="toy", tokens="8").selectbox(key="draft")
    assert (draft.value, "toy · no model" in draft.options) == ("toy", True)


def test_the_command_line_decodes_with_it_and_the_stage_and_the_offline_page_say_what_it_does(tmp_path: Path) -> None:
    asked = ["--target", "wren-base", "--draft", "toy", "--max-new-tokens", "8", "--prompt", "Once upon a time"]
    assert main(["run", *asked, "--json", str(tmp_path / "run.json")]) == 0
    trace = read_trace(tmp_path / "run.json")
    (data,) = drawn_traces(trace)
    assert (data["drafter"], data["method"]["certain"]) == ("toy", "The toy repeats it (q = 1).")
    assert "The toy guesses 4 tokens, all at once." in json.dumps(data["rounds"])
    assert "A <b>toy drafts</b> a few tokens." in offline_page(trace)
