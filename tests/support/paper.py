"""Printing: the width of paper, what a printer would cut, and how many pages a PDF has."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from playwright.sync_api import Page, TimeoutError

MARGIN = 0.4  # inches, as browsers have it
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}  # inches
PIXELS = 96  # an inch in CSS
SETTLED = 120_000  # ms; only a page that fails needs so long
# Parts with more inside than they show, and parts that go beyond the paper, in shadow roots too.
CUT = """() => {
  const found = [];
  const inside = (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])];
  const all = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const seen = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest("svg *, .spoken, canvas");
  for (const node of all(document.body).filter(seen)) {
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || style.clipPath !== "none") continue;
    const name = `${node.tagName} ${node.getAttribute("class") ?? ""} “${node.textContent.trim().slice(0, 40)}”`;
    const cuts = (side, whole, shown) => style[`overflow-${side}`] !== "visible" && whole > shown + 1;
    if (cuts("x", node.scrollWidth, node.clientWidth)) found.push(`${name} is cut to ${node.clientWidth} px wide`);
    if (cuts("y", node.scrollHeight, node.clientHeight)) found.push(`${name} is cut to ${node.clientHeight} px high`);
    if (box.right > innerWidth + 1) found.push(`${name} is ${Math.round(box.right - innerWidth)} px off the paper`);
  }
  return found;
}"""


@contextmanager
def on_paper(page: Page, paper: str) -> Iterator[None]:
    """The page as a printer gets it: at the paper's width, with the print styles."""
    wide, high = (round((inches - 2 * MARGIN) * PIXELS) for inches in PAPERS[paper])
    before = page.viewport_size
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": wide, "height": high})
    yield
    page.emulate_media(media="null")
    if before:
        page.set_viewport_size(before)
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def expect_nothing_cut(page: Page) -> None:
    """Wait until a printer would cut nothing: a page that is being drawn again lacks its styles for a moment."""
    with suppress(TimeoutError):
        page.wait_for_function(f"() => ({CUT})().length === 0", timeout=SETTLED)
    cut = page.evaluate(CUT)
    assert cut == [], "\n".join(cut)


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def print_page(page: Page, paper: str) -> bytes:
    side = f"{MARGIN}in"
    return page.pdf(format=paper, margin={"top": side, "right": side, "bottom": side, "left": side})
