"""Learn, part "Under load", in a real Chromium: sliders by keyboard turn the verdict."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import Visit

pytestmark = pytest.mark.visitor(reduced_motion="reduce")
ADDRESS = "learn?part=load", ".roofline .roof-line"


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=re.compile(f"^{name}"))


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
