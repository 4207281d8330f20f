"""A new way to draft is an entry and a module: with these alone it is in the menu, links, commands, page and stage."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import DecodeSettings, autoregressive_decode, load_model, make_drafter, speculative_decode
from specviz.cli.main import main
from specviz.core.request import RunRequest
from specviz.data.links.permalink import RunLink, link_of
from specviz.models.draft_menu import draft_groups, linked_names, model_label, offered_drafts, to_download
from specviz.player.offline import offline_page
from tests.support.app_pages import opened
from tests.support.drawn import drawn_traces
from tests.support.toy_drafter import registered

ASKED = ["--target", "wren-base", "--draft", "toy", "--max-new-tokens", "6"]


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with registered():
        yield


def test_it_is_in_the_menu_a_link_holds_it_and_the_watch_page_opens_that() -> None:
    assert "toy" in offered_drafts()
    assert not to_download(["toy"])
    assert model_label("toy") == "toy · no model"
    group = next(group for group in draft_groups() if "toy" in group.names)
    assert group.title == "No model"
    assert group.about.endswith("The toy repeats the last token.")
    request = RunRequest("Once", draft="toy")
    linked, problems = RunLink.read(link_of(request), context=linked_names())
    assert (linked.request(), problems) == (request, [])
    page = opened(view="full", draft="toy", tokens="8")
    assert page.selectbox(key="draft").value == "toy"
    assert "toy · no model" in page.selectbox(key="draft").options


def test_the_command_line_decodes_and_sweeps_with_it(tmp_path: Path) -> None:
    trace, table = tmp_path / "run.json", tmp_path / "sweep.csv"
    assert main(["run", *ASKED, "--prompt", "Once upon a time", "--json", str(trace)]) == 0
    assert json.loads(trace.read_text())["drafter"]["kind"] == "toy"
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Once upon a time\nThe dog\n")
    sweep = ["sweep", *ASKED, "--prompts-file", str(prompts), "--draft-lengths", "2", "--csv", str(table)]
    assert main(sweep) == 0
    with table.open() as file:
        assert {row["draft"] for row in csv.DictReader(file)} == {"toy"}


def test_the_stage_and_the_offline_page_say_what_it_does() -> None:
    target, settings = load_model("wren-base"), DecodeSettings(max_new_tokens=8)
    trace = speculative_decode(target, make_drafter("toy", target), "Once upon a time", settings)
    assert trace.output == autoregressive_decode(target, "Once upon a time", settings).output
    (data,) = drawn_traces(trace)
    assert data["drafter"] == "toy"
    assert data["method"]["certain"] == "The toy repeats it (q = 1)."
    assert "The toy guesses 4 tokens, all at once." in json.dumps(data["rounds"])
    assert "A <b>toy drafts</b> a few tokens." in offline_page(trace)
