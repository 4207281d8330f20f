"""Every page through axe-core, in light and dark: no violation of our making.

axe comes with axe-playwright-python, a development dependency pinned like any other; nothing of it is committed.
"""

from importlib import resources

import pytest
from playwright.sync_api import Browser

from tests.conftest import AppServer
from tests.support.visitor import wait_until_drawn

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
LONG = 60_000  # ms, for a loaded machine
PAGES = {  # address, and what is there once it is drawn
    "/": ".stage .round .chip",
    "/race": "[data-testid=stDataFrame]",
    "/helps": "[data-testid=stTabs]",
    "/worksheet": "[data-testid=stMetric]",
    "/learn?lesson=rejection": ".stage .round .chip",
    "/learn?part=quiz": "[data-testid=stMain] button",
    "/learn?part=words": ".words .entry",
    "/learn?part=why": ".explained",
    "/proof": "[data-testid=stPlotlyChart]",
    "/play": ".stage",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_of_our_making(browser: Browser, app_server: AppServer, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 720},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",  # the stage then stands at its end; a chip that fades in has no colour yet
    )
    context.set_default_timeout(LONG)
    found: list[str] = []
    for path, drawn in PAGES.items():
        page = context.new_page()
        page.goto(f"{app_server.url}{path}")
        wait_until_drawn(page, drawn)
        page.wait_for_timeout(1_000)  # Streamlit's own parts fade in all the same
        page.evaluate(AXE)
        violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((done) => done.violations)")
        found += [f"{path}: {one['id']}: {node['html'][:120]}" for one in violations for node in one["nodes"]]
        page.close()
    context.close()
    assert found == []
