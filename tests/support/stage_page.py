"""A page with the stage alone, without a server: `stage.put(sent)` gives it a run, `asked` is what it tells."""

import json

from playwright.sync_api import BrowserContext, Page, Route

from specviz.core.trace import Trace
from specviz.data.links.hidden import View
from specviz.data.texts import asset
from specviz.player.data import result_data, stage_data
from specviz.player.html_file import inline_json, program
from specviz.player.offline import STYLES
from specviz.ui.shared.components import to_json

ADDRESS = "https://stage.test/"  # answered here: no such host is asked
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>The stage</title><style>{style}</style>
<input aria-label="something to type in"><main>{stage}</main>
<script type="module">
import {{ Stage }} from "./stage.js";
const [asked, stage] = [{{ lengths: [] }}, new Stage(document.querySelector("main"))];
stage.askDraftLength = (length) => asked.lengths.push(length);
stage.reporter.send = (step) => (asked.step = step);
Object.assign(globalThis, {{ asked, stage, sent: {sent} }});
stage.put(sent);
</script>"""


def visit_stage(context: BrowserContext, trace: Trace, step: int | None = None, view: View = "full") -> Page:
    """The page with this run, drawn: else a key may come too early."""
    sent = stage_data(trace, run_id="run", source="recorded", running=False)
    sent |= {"playhead": step, "view": view, "result": json.loads(to_json(result_data(trace, "recorded", None)))}  # type: ignore[typeddict-item]
    style = "\n".join(map(asset, (*STYLES, "stage/views.css")))
    files = {
        "": PAGE.format(style=style, stage=asset("stage/stage.html"), sent=inline_json(sent)),
        "stage.js": program("stage/stage"),
    }

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        route.fulfill(body=files[name], content_type="text/javascript" if name else "text/html; charset=utf-8")

    context.route(f"{ADDRESS}**", answer)
    page = context.new_page()
    page.goto(ADDRESS)
    page.wait_for_selector(".stage .round .chip")
    return page
