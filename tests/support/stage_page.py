"""A bare page with the stage on it, made without a server: the address chooses the run, buttons change it.

It has what Streamlit gives a component: a shadow root, and the theme's colours.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import BrowserContext, Page, Route

from specviz.core.files import ASSETS, BROWSER
from specviz.data.texts import asset
from specviz.player.data import result_data, stage_data
from specviz.player.html_file import inline_json, program
from specviz.player.payload import SentStage
from specviz.ui.shared.components import to_json
from tests.support.fake_traces import fake_trace
from tests.support.records import tree_run
from tests.support.visitor import wait_until_drawn

HERE = Path(__file__).parent
ADDRESS = "https://stage.test/"  # answered here: no such host is asked
STYLES = ("stage", "tree", "diagram", "tour", "views", "paper")
THEME = tomllib.loads((ASSETS.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]["light"]
LOOK = f":host {{ --st-text-color: {THEME['textColor']}; --st-background-color: {THEME['backgroundColor']}; }}"


def visit_stage(context: BrowserContext, query: str) -> Page:
    """The page with this run, drawn: else a key may come too early."""
    context.route(f"{ADDRESS}**", _answer)
    page = context.new_page()
    page.goto(f"{ADDRESS}?{query}")
    wait_until_drawn(page, ".stage .round .chip")
    return page


def _answer(route: Route) -> None:
    asked = urlsplit(route.request.url)
    if asked.path == "/":
        html = _page(dict(parse_qsl(asked.query, keep_blank_values=True)))
        route.fulfill(body=html, content_type="text/html; charset=utf-8")
    else:
        route.fulfill(body=program(asked.path[1:-3]), content_type="text/javascript")


def _page(asked: Mapping[str, str]) -> str:
    place = int(asked["step"]) if "step" in asked else None
    parts = {
        "style": "\n".join([LOOK, *((BROWSER / f"stage/{name}.css").read_text(encoding="utf-8") for name in STYLES)]),
        "stage": asset("stage/stage.html"),
        "asked": inline_json({"run": _run(asked), "place": place, "latency": 1000 * float(asked.get("latency", 0))}),
        "script": (HERE / "stage_page.js").read_text(encoding="utf-8"),
    }
    page = (HERE / "stage_page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{([a-z]+)\}\}", lambda mark: parts[mark[1]], page)


def _run(asked: Mapping[str, str]) -> SentStage:
    how = {"greedy": "greedy" in asked, "hostile": "hostile" in asked, "sharpness": float(asked.get("sharpness", 6))}
    trace = tree_run() if "tree" in asked else fake_trace(**how)  # type: ignore[arg-type]
    link = {"target": "wren-base", "prompt": "a & b"}
    made = stage_data(trace, run_id="", source="recorded", running=False)
    made["link"] = link
    made["view"] = "simple" if "simple" in asked else "full"
    made["result"] = json.loads(to_json(result_data(trace, "recorded", None)))
    return made
