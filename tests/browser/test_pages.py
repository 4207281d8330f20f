"""What holds for every page: the frame around it, whichever is opened first."""

import re
import time
import urllib.request
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_every_page import MENU, TITLES
from tests.conftest import PATIENCE, ROOT, AppServer
from tests.support.app_server import SILENT, serving
from tests.support.grids import grid
from tests.support.visitor import PHONE, wait_until_drawn


@pytest.mark.full
def test_a_phones_menu_closes_after_a_choice_and_the_class_board_is_reached_by_its_link_and_is_not_in_it(
    app_server: AppServer, page: Page
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{app_server.url}/learn?part=teach")
    page.get_by_role("button", name="Class board").click()
    expect(page).to_have_url(re.compile(r"/class(\?|$)"))
    for come in (lambda: page.goto(f"{app_server.url}/class"), page.reload):
        come()
        expect(page.get_by_role("button", name="Open a class")).to_be_visible()
        expect(page).to_have_title("Class board · specviz")
    wait_until_drawn(page)
    handle = page.get_by_role("button", name="Menu", exact=True)
    large = "(node) => Math.min(node.getBoundingClientRect().width, node.getBoundingClientRect().height) >= 44"
    page.wait_for_function(large, arg=handle.element_handle())  # the app's style may come after the handle
    assert "Menu" in handle.evaluate("node => getComputedStyle(node, '::before').content")
    for title in ("Learn", "Race"):
        handle.click()
        expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")
        expect(page.get_by_test_id("stSidebarNavLink")).to_have_text(list(MENU.values()))
        page.get_by_test_id("stSidebarNavLink").filter(has_text=title).click()
        expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
        expect(page).to_have_title(f"{title} · specviz")
        expect(handle).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize("entry", grid(["serve.py", "cloud/streamlit_app.py"], ("serve.py",)))
def test_every_way_to_start_the_app_shows_its_pages_and_ends_with_its_engine(
    entry: str, page: Page, tmp_path: Path
) -> None:
    with serving(ROOT / entry, tmp_path / "server.log", engine=None) as server:
        if entry == "serve.py":
            expect_an_engine_and_previews(server)
        page.goto(f"{server.url}/race")  # the first one opened is not the app's first page
        wait_until_drawn(page, "[data-testid=stMain] h1")
        expect(page).to_have_title("Race · specviz")
        expect(page.get_by_test_id("stTopNavLink")).to_have_text(list(MENU.values()))
        with urllib.request.urlopen(f"{server.url}/app/static/plotly.min.js") as answer:
            assert len(answer.read()) > 1_000_000
        page.goto(f"{server.url}/?preset=story-1&tokens=16")
        page.wait_for_selector(".stage[data-run^=live][data-done]")  # the engine works, and the visitor stays
        (engine,) = server.engine_pids()
        processes = [psutil.Process(pid) for pid in (server.pid, engine)]
        server.freeze(engine)  # so that it cannot end by itself
        processes[0].terminate()
        _, left = psutil.wait_procs(processes, timeout=PATIENCE / 1000)
        assert left == []
        assert "Traceback" not in server.log.read_text()


def expect_an_engine_and_previews(server: AppServer) -> None:
    """Before anyone comes."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not server.engine_pids():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for path, title in TITLES.items():
        with urllib.request.urlopen(f"{server.url}{path}?view=full") as answer:
            html = answer.read().decode()
        assert f"<title>{title} · specviz</title>" in html
        assert '<meta property="og:description"' in html


@pytest.mark.full
def test_after_waking_up_the_first_page_has_its_frame_and_watch_a_recorded_run_without_the_engine(
    page: Page, tmp_path: Path
) -> None:
    """A hosted server that slept starts with its first visitor, and the engine needs the processor for seconds."""
    with serving(ROOT / "app.py", tmp_path / "server.log", SILENT) as server:
        page.goto(f"{server.url}/learn?lesson=3")
        expect(page.get_by_test_id("stTopNavLink")).to_have_text(list(MENU.values()))
        expect(page.get_by_test_id("stSidebar")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/learn\?.*lesson=(3|round)"))
        page.goto(server.url)
        wait_until_drawn(page, ".stage[data-run=first] .round .chip")
        page.get_by_role("button", name="Last step").click()
        expect(page.locator(".stage .round .chip.accepted").first).to_be_visible()


MOVE = """() => document.querySelector("[data-testid=stMain]").prepend(
  Object.assign(document.createElement("p"), { style: "height: 300px" }))"""
REPLACE = "(button) => { const { parentElement } = button; button.remove(); parentElement.append(button); }"


def test_a_press_is_a_click_also_where_a_redraw_moves_or_replaces_the_button(page: Page, app_server: AppServer) -> None:
    """Before: the browser made no click of it, and the page did nothing."""
    page.goto(f"{app_server.url}/learn?part=quiz")
    wait_until_drawn(page)
    for question, redraw in enumerate((MOVE, REPLACE), start=1):
        button = page.locator(f".st-key-quiz-{question}-0 button")
        button.hover()
        page.mouse.down()
        button.evaluate(redraw)
        page.mouse.up()
        expect(page.locator(f".st-key-reveal-quiz-{question}")).to_be_visible()
