"""A class in another language, in Chromium: from the first screen to the quiz, without a sentence of English."""

import re

import pytest
from playwright.sync_api import expect

from tests.conftest import Visit

# What is seen and what screen readers say, also inside components; not what models wrote, code, or Streamlit's own.
SAID = """() => {
    const said = [];
    const skipped = "script, style, noscript, code, pre, textarea, input, [translate=no], .chip, bdi, .tokens";
    const own = ["stHeader", "stSidebar", "stToolbar", "stSelectbox", "stMultiSelect", "stTooltipIcon"]
        .map((name) => `[data-testid=${name}]`).join();
    const read = (root) => {
        const nodes = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        while (nodes.nextNode()) {
            const node = nodes.currentNode, element = node.nodeType === 1 ? node : node.parentElement;
            if (element?.shadowRoot && node === element) read(element.shadowRoot);
            if (!element || element.closest(skipped) || element.closest(own)) continue;
            if (node === element) said.push(...["title", "aria-label"].map((name) => node.getAttribute(name)));
            else if (element.checkVisibility()) said.push(node.textContent);
        }
    };
    read(document.querySelector("[data-testid=stMain]"));
    return said.filter((text) => text && text.trim());
}"""
ENGLISH = re.compile(r"\b(the|of|and|are|is|with|from|this|that|which|each|was|were|have|by)\b", re.IGNORECASE)
PLACES = ("", "?view=full", "learn?step=round", "learn?part=quiz", "learn?part=words", "race", "be_the_draft")
TOKENS = re.compile(r"(^|; )[^:;]*(?=: )")  # of a list for screen readers: each with what became of it


@pytest.mark.full  # tests/pages reads what Python sends
@pytest.mark.parametrize("code", ["es", "zh-Hans"])
def test_a_class_reads_no_english_sentence(visit: Visit, code: str) -> None:
    for place in PLACES:
        page = visit(f"{place}{'&' if '?' in place else '?'}lang={code}")
        expect(page.locator("html")).to_have_attribute("lang", code)
        assert [text for text in page.evaluate(SAID) if ENGLISH.search(TOKENS.sub("", text))] == [], place


def test_the_choice_in_the_header_changes_the_page_and_is_in_the_link_and_remembered(visit: Visit) -> None:
    page = visit("learn")
    menu = page.get_by_role("combobox", name="Language")
    menu.click()
    page.get_by_role("option", name="Español").click()
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page).to_have_url(re.compile("lang=es"))
    expect(page).to_have_title(re.compile("^Aprende"))
    page.wait_for_function("document.cookie.includes('specviz_lang=es')")
    page.goto(page.url.partition("?")[0])
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Idioma")).to_have_value("Español")
