"""Pages on a phone in a real Chromium: nothing lies over a text, and what is cut off says so."""

from itertools import pairwise

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
SEEN_AT = """(it, at) => {
  it.scrollLeft = at * it.scrollWidth;
  const drawn = () => new Promise((done) => requestAnimationFrame(done));
  return drawn().then(drawn).then(() => getComputedStyle(it).maskImage);
}"""


@pytest.mark.parametrize("path", ["helps", "race"])
def test_the_buttons_of_a_table_cover_no_text_above_it(visit: Visit, path: str) -> None:
    page = visit(path, "[data-testid=stDataFrame]")
    expect(page.get_by_test_id("stElementToolbar").first).to_be_visible()
    found = page.evaluate(TOOLBARS)
    assert found
    assert [(low, top) for low, top in found if low > top + 1] == []


def test_tabs_that_do_not_fit_fade_at_the_side_where_there_are_more(visit: Visit) -> None:
    page = visit("helps", "[role=tablist]")
    tabs = page.get_by_role("tablist").first
    assert tabs.evaluate("it => it.scrollWidth > it.clientWidth")
    masks = [tabs.evaluate(SEEN_AT, at) for at in (0, 0.25, 1)]
    assert "none" not in masks
    assert all(one != other for one, other in pairwise(masks))
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_function("it => getComputedStyle(it).maskImage === 'none'", arg=tabs.element_handle())
