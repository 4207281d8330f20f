"""Learn, part "Under load", in a real Chromium: sliders by mouse and keyboard, the verdict, the answers, a phone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import Visit
from tests.support.visitor import PHONE, expect_no_sideways_scroll

pytestmark = pytest.mark.visitor(reduced_motion="reduce")
ADDRESS = "learn?part=load", ".roofline .roof-line"
FIGURE = re.compile(r"\d+\.\d\d×")


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=re.compile(f"^{name}"))


def speedup(page: Page) -> float:
    found = FIGURE.search(page.locator(".roofline .headline").text_content() or "")
    assert found
    return float(found[0][:-1])


def test_a_larger_batch_turns_the_verdict_and_longer_texts_turn_it_back(visit: Visit) -> None:
    page = visit(*ADDRESS)
    headline = page.locator(".roofline .headline")
    expect(headline).to_have_text(re.compile(r"^Helps, .*, modelled$"))
    drawn = page.locator(".drawing .mark.matrices.check").get_attribute("cx")
    slider(page, "Batch size").focus()
    page.keyboard.press("End")
    expect(headline).to_have_text(re.compile("^Hurts"))
    expect(slider(page, "Batch size")).to_have_attribute("aria-valuetext", "512 texts")
    expect(page.locator(".drawing .mark.matrices.check")).not_to_have_attribute("cx", str(drawn))
    expect(page.locator(".roofline .why")).to_contain_text("its own time")
    slider(page, "Context length").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(headline).to_have_text(re.compile("^Helps"))
    expect(page.locator(".roofline .memory")).to_contain_text("several machines")  # the price


def test_an_answer_gives_the_figure_that_its_button_shows(visit: Visit) -> None:
    page = visit(*ADDRESS)
    for name in ("batch", "context", "experts"):
        asked = page.locator(f"details[data-question={name}]")
        asked.locator("summary").focus()
        page.keyboard.press("Enter")
        answer = asked.locator(".answer").text_content() or ""
        assert "{" not in answer
        buttons = asked.get_by_role("button").all()
        assert buttons
        for button in buttons:
            button.click()
            assert f"{speedup(page):.2f}×" in answer


def test_it_fits_a_phone_and_every_name_in_the_roof_is_inside(visit: Visit) -> None:
    page = visit(*ADDRESS, viewport=PHONE)
    for _ in range(10):
        inside = page.locator(".roof svg.drawing").evaluate(
            """(svg) => [...svg.querySelectorAll("text")].filter((text) => {
              const [own, all] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
              return own.left < all.left - 1 || own.right > all.right + 1;
            }).map((text) => text.textContent)"""
        )
        assert inside == []
        expect_no_sideways_scroll(page)
        slider(page, "Batch size").focus()
        page.keyboard.press("ArrowRight")
