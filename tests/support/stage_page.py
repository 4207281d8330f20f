"""A bare page with the stage on it, made without a server: the address chooses the run, buttons change it.

It has what Streamlit gives a component: a shadow root, the theme's colours and its fonts.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import streamlit
from playwright.sync_api import BrowserContext, Page, Route

from specviz.core.files import ASSETS, BROWSER
from specviz.core.result import result_of, waiting
from specviz.core.trace import Trace
from specviz.data.texts import asset
from specviz.player.data import stage_data
from specviz.player.html_file import MARK, inline_json, program
from specviz.player.payload import SentStage
from tests.support.fake_traces import cut, draft_guesses_of, fake_trace, translated
from tests.support.fake_trees import fake_tree_trace
from tests.support.visitor import wait_until_drawn

HERE = Path(__file__).parent
ADDRESS = "https://stage.test/"  # answered here: no such host is asked
STYLES = ("stage", "tree", "diagram", "tour", "views", "paper")
FONTS = {"Source Sans": "SourceSansVF-Upright", "Source Code Pro": "SourceCodeVF-Upright"}
MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
THEME = tomllib.loads((ASSETS.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]


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
    elif asked.path.endswith(".js"):
        route.fulfill(body=program(asked.path[1:-3]), content_type="text/javascript")
    else:
        font = next(MEDIA.glob(f"{asked.path.removeprefix('/')}.*.woff2"))
        route.fulfill(path=font, content_type="font/woff2")


def _page(asked: Mapping[str, str]) -> str:
    parts = {
        "page-style": _page_style(),
        "style": "\n".join((BROWSER / f"stage/{name}.css").read_text(encoding="utf-8") for name in STYLES),
        "stage": asset("stage/stage.html"),
        "asked": inline_json(
            {
                "runs": _runs(asked),
                "place": int(asked["step"]) if "step" in asked else None,
                "latency": 1000 * float(asked.get("latency", 0)),
                "every": 1000 * float(asked.get("every", 0)),
            }
        ),
        "script": (HERE / "stage_page.js").read_text(encoding="utf-8"),
    }
    page = (HERE / "stage_page.html").read_text(encoding="utf-8")
    return MARK.sub(lambda mark: parts[mark[1]], page)


def _page_style() -> str:
    faces = "".join(
        f'@font-face {{ font-family: "{name}"; font-weight: 200 900; src: url("/{file}"); }}\n'
        for name, file in FONTS.items()
    )
    light, dark = (
        f"--st-text-color: {theme['textColor']}; --st-background-color: {theme['backgroundColor']};"
        for theme in (THEME["light"], THEME["dark"])
    )
    return f"""{faces}
    :root {{ {light} --st-font: "Source Sans", sans-serif; --st-code-font: "Source Code Pro", monospace; }}
    @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
    body {{ margin: 0; background: var(--st-background-color); color: var(--st-text-color); }}
    main {{ padding: 0 80px; }}
    h1 {{ font-size: 1rem; }}
    @media (max-width: 800px) {{ main {{ padding: 0 16px; }} }}"""


def _runs(asked: Mapping[str, str]) -> list[SentStage]:
    """The run, or each state of it while it grows."""
    trace = _trace(asked)
    if "every" in asked:
        return [_payload(trace, asked, rounds) for rounds in range(1, len(trace.rounds) + 1)]
    if "rounds" in asked:
        return [_payload(trace, asked, rounds) for rounds in range(int(asked["rounds"]), len(trace.rounds) + 1, 2)]
    return [_payload(trace, asked)]


def _payload(trace: Trace, asked: Mapping[str, str], growing: int = 0) -> SentStage:
    guesses = draft_guesses_of(trace, float(asked.get("sharpness", 6))) if "foresight" in asked else None
    made = stage_data(
        cut(trace, growing) if growing else trace,
        run_id="",
        source="live" if growing else "recorded",
        running=bool(growing),
        link={"target": "wren-base", "prompt": "a & b"},
        guesses=guesses,
    )
    made["view"] = "simple" if "simple" in asked else "full"
    if "bare" not in asked:
        result = waiting() if growing else result_of(trace, None, "recorded")
        made["result"] = asdict(result)  # type: ignore[typeddict-item]
    return made


def _trace(asked: Mapping[str, str]) -> Trace:
    sharpness, record = float(asked.get("sharpness", 6)), "unrecorded" not in asked
    greedy, hostile = "greedy" in asked, "hostile" in asked
    if "tree" in asked:
        return fake_tree_trace(
            asked["tree"],
            setting=asked.get("setting"),
            kind=asked.get("kind", "model"),
            greedy=greedy,
            sharpness=sharpness,
            hostile=hostile,
            record=record,
        )
    trace = fake_trace(greedy=greedy, sharpness=sharpness, hostile=hostile, record=record)
    trace = _cut_character(trace, int(asked["rounds"])) if "cut" in asked else trace
    trace = translated(trace) if "translated" in asked else trace
    return replace(trace, settings=replace(trace.settings, verification="block")) if "block" in asked else trace


def _cut_character(trace: Trace, rounds: int) -> Trace:
    """Two bytes of one character, the last token of so many rounds and the first one after them."""
    last, after = trace.rounds[rounds - 1 : rounds + 1]
    first = after.drafted[0]
    begins = replace(last, emitted=replace(last.emitted, text="⟨C3⟩"))
    if first.status == "accepted":
        ends = replace(after, drafted=[replace(first, text="⟨B6⟩"), *after.drafted[1:]])
    else:
        ends = replace(after, emitted=replace(after.emitted, text="⟨B6⟩"))
    return replace(trace, rounds=[*trace.rounds[: rounds - 1], begins, ends, *trace.rounds[rounds + 1 :]])
