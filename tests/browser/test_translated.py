"""The app while the browser translates it: all texts are those of now, and a model's text stays as it is."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_every_page import MENU
from tests.conftest import ROOT, Visit
from tests.support.visitor import wait_until_still

CHIP = ".stage .round .chip"
TRANSLATOR = (ROOT / "tests" / "support" / "translator.js").read_text(encoding="utf-8")
# Every text that can be seen, but for those of drawings, with what a translator puts around it taken for nothing.
SHOWN = """() => {
  const found = [];
  let last = null;
  const read = (node) => {
    if (node.shadowRoot) read(node.shadowRoot);
    for (const child of node.childNodes) {
      const left = "svg, style, script, .chart, [data-testid=stMultiSelect]";
      if (child instanceof Element && !child.matches(left)) read(child);
      if (!(child instanceof Text) || !child.data.trim()) continue;
      const parent = (child.parentElement ?? child.parentNode.host).closest(":not(font)");
      if (!parent.checkVisibility({ visibilityProperty: true })) continue;
      if (parent === last) found[found.length - 1] += child.data;
      else found.push(child.data);
      last = parent;
    }
  };
  read(document.querySelector("[data-testid=stApp]"));
  return found;
}"""
FAILURE = re.compile("removeChild|insertBefore|NotFoundError")
BY_A_MODEL = "() => window.translated.map(([text]) => text.data).filter((text) => /␣|loved|“Lily”/.test(text))"
LOOKS = 300


def expect_the_same(pages: Sequence[Page]) -> None:
    """All visitors see the same texts, at the latest once everything that loads has come."""
    for _ in range(LOOKS):
        for page in pages:
            wait_until_still(page)
        seen = [page.evaluate(SHOWN) for page in pages]
        if all(one == other for one, other in pairwise(seen)):
            break
    assert len(seen[0]) > 10
    assert not FAILURE.search(" ".join(seen[0]))
    for one, other in pairwise(seen):
        assert one == other


def choose(page: Page, menu: str, option: str) -> None:
    shown = page.locator(".stage").get_attribute("data-run")
    field = page.get_by_role("combobox", name=menu, exact=True)
    field.fill(option)  # the list is then short: a list that scrolls under the pointer loses the click
    expect(page.get_by_role("option").first).to_contain_text(option)
    field.press("Enter")
    page.wait_for_selector(f".stage[data-run^=live]:not([data-run='{shown}'])[data-done]")


def journey(page: Page) -> Iterator[str]:
    """What a student does first, then every page; says where they are now."""
    yield "the first view"
    choose(page, "Prompt", "Structured")
    yield "another prompt"
    page.get_by_role("button", name="Show everything").click()
    expect(page.locator(".stage[data-view=full]")).to_be_visible()
    page.locator(CHIP, has_text="Lily").first.click()
    expect(page.locator(".inspector")).to_contain_text("“Lily”")
    yield "everything, and a token explained"
    for title in MENU.values():
        page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
        expect(page).to_have_title(f"{title} · specviz")
        yield title
        if title == "Learn":  # texts are removed
            page.locator(".st-key-learn-next button").click()
            expect(page.locator(".progress-dots")).to_have_attribute("aria-label", re.compile("^Step 2 of"))
            yield "the next step"
        if title == "Worksheet":  # texts change
            page.get_by_role("slider").first.press("ArrowRight")
            yield "another acceptance"


@pytest.mark.full
@pytest.mark.parametrize("way", ["replaced", "moved"])
def test_a_translated_page_shows_the_texts_of_now_and_leaves_the_models_texts(visit: Visit, way: str) -> None:
    first = visit("", CHIP)  # has the runs made: the others see the same ones, from before
    choose(first, "Prompt", "Structured")
    first.close()
    pages = [visit("", CHIP, once=False) for _ in range(2)]  # each in a browser of its own
    failed: list[str] = []
    plain, translated = pages
    translated.on("console", lambda message: failed.append(message.text) if FAILURE.search(message.text) else None)
    translated.evaluate(f"way => ({TRANSLATOR})(way)", way)
    assert translated.evaluate("window.translated.length") > 20
    for _ in zip(*(journey(page) for page in pages), strict=True):
        expect_the_same(pages)
        assert translated.evaluate(BY_A_MODEL) == []
    assert failed == []
    assert "native code" in plain.evaluate("Node.prototype.removeChild.toString()")  # nobody translates this one
