"""A run in a notebook's cell: the frame plays by itself, in light and dark, and reaches nothing outside."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import specviz
from specviz.data.measured.first_run import first_trace
from specviz.player.html_file import Scheme
from tests.conftest import NewContext
from tests.support.fake_traces import fake_trace
from tests.support.from_disk import open_from_disk
from tests.support.known import known

AROUND = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{cell}</body>"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_frame_plays_in_the_theme_that_was_asked_for(
    new_context: NewContext, tmp_path: Path, theme: Scheme
) -> None:
    other = "light" if theme == "dark" else "dark"
    context = new_context(offline=True, color_scheme=other, reduced_motion="no-preference")
    page, heard = open_from_disk(
        context, tmp_path / "cell.html", AROUND.format(cell=specviz.show(known(first_trace()), theme)._repr_html_())
    )
    frame = page.frame_locator("iframe")
    expect(frame.locator(".stage .chip").first).to_be_visible()
    expect(frame.locator(f"[data-scheme={theme}]").first).to_be_attached()
    expect(frame.locator(".round-number")).to_contain_text("Round 2 of")  # it plays by itself
    assert heard == []


def test_a_hostile_run_does_nothing_to_the_notebook(new_context: NewContext, tmp_path: Path) -> None:
    context = new_context(offline=True)
    cell = specviz.show(fake_trace(hostile=True))._repr_html_()
    page, heard = open_from_disk(context, tmp_path / "cell.html", AROUND.format(cell=cell))
    expect(page.frame_locator("iframe").locator(".stage .chip").first).to_be_visible()
    assert page.locator("body > *").count() == 1
    assert heard == []
