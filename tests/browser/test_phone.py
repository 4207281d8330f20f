"""Pages on a phone in a real Chromium: nothing lies over a text, and what is cut off says so."""

import pytest
from playwright.sync_api import expect

from tests.conftest import Visit
from tests.support.visitor import PHONE

pytestmark = pytest.mark.visitor(viewport=PHONE, has_touch=True, is_mobile=True)
# the buttons of each table in sight, and what ends above the table
TOOLBARS = """() => [...document.querySelectorAll("[data-testid=stElementToolbar]")].flatMap((bar) => {
  const own = bar.closest("[data-testid=stElementContainer]");
  const above = own.previousElementSibling;
  const [{ top, height }, low] = [bar.getBoundingClientRect(), above?.getBoundingClientRect().bottom];
  return height && above ? [[low, top]] : [];
})"""
FADE = """(it) => {
  it.scrollLeft = it.scrollWidth;
  const [box, last] = [it, it.querySelector("[role=tab]:last-of-type")].map((one) => one.getBoundingClientRect());
  return [getComputedStyle(it).maskImage, box.right - last.right, parseFloat(getComputedStyle(it).fontSize)];
}"""

IN_ITS_TABLE = "it => it.getBoundingClientRect().right <= it.closest('.tried').getBoundingClientRect().right + 0.5"


@pytest.mark.parametrize("path", ["when_it_helps", "race"])
def test_the_buttons_of_a_table_cover_no_text_above_it(visit: Visit, path: str) -> None:
    page = visit(path, "[data-testid=stDataFrame]")
    expect(page.get_by_test_id("stElementToolbar").first).to_be_visible()
    found = page.evaluate(TOOLBARS)
    assert found
    assert [(low, top) for low, top in found if low > top + 1] == []


@pytest.mark.parametrize(("path", "row"), [("when_it_helps", 1), ("worksheet", 0)])
def test_tabs_that_do_not_fit_fade_where_they_are_cut_and_the_last_one_can_be_read(
    visit: Visit, path: str, row: int
) -> None:
    page = visit(path, "[role=tablist]")
    tabs = page.get_by_role("tablist").nth(row)
    assert tabs.evaluate("it => it.scrollWidth > it.clientWidth")
    mask, room, letter = tabs.evaluate(FADE)
    assert mask.startswith("linear-gradient(to right")
    assert room >= 3.5 * letter - 1


def test_the_list_of_what_was_tried_shows_share_and_speedup_without_scrolling(visit: Visit) -> None:
    """Found: both stood to the right of what a phone shows."""
    page = visit("?target=wren-base&draft=wren-small&max_new_tokens=32", ".stage[data-done]")
    page.get_by_role("button", name="What you tried").click()
    table = page.get_by_role("region", name="The runs of this visit")
    for name in ("pair", "draft length", "accepted %", "speedup"):
        head = table.get_by_role("columnheader", name=name)
        expect(head).to_be_in_viewport(ratio=0.99)
        assert head.evaluate(IN_ITS_TABLE), name
