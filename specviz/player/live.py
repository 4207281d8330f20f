"""The page that decodes in the visitor's own browser: as one file with two models inside, or as a static site with all.

Both are the same page. Its policy lets it load nothing but its own parts: in one file none, on a site the models.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.request import SHOWN
from specviz.core.settings import SETTINGS, DecodeSettings, Setting
from specviz.core.trace import DrafterInfo
from specviz.data.lessons.plans import OWN, Moment, all_plans
from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import first_trace
from specviz.data.prompts.workloads import OWN_TEXT, WORKLOADS, preset_label
from specviz.data.published import PUBLISHED
from specviz.data.texts import asset, page_texts
from specviz.models.draft_menu import draft_label, model_label
from specviz.player.data import PHASES, method_payload
from specviz.player.html_file import html_file, inline_json, program
from specviz.player.offline import STYLES as PAGE_STYLES
from specviz.player.offline import needs_in_words

SAYS = page_texts("live")
MODELS = ASSETS / "models"
IN_ONE_FILE = ("wren-base", "wren-nano")
ON_A_SITE = ("wren-base", "wren-small", "wren-mini", "wren-nano")
LOOKUP = "prompt-lookup"
CHECKS_ARE_CHEAP = ("T5-small 77M → T5-XXL 11B", "a 4B draft → Chinchilla 70B")  # on their machines
STYLES = (*PAGE_STYLES, "stage/tour.css", "stage/views.css", "live/live.css")
OFFERED = ("temperature", "max_new_tokens", "seed", "top_k", "top_p", "verification", "draft_length")  # by its engine
MOST_BYTES = 35_000_000  # of the one file
WEIGHTS = "model.safetensors"
WEIGHTS_BEGIN = '<div hidden id="weights-'  # assets/browser/live/take.ts puts the settings before them
PIECE = 1_000_000  # characters of a script element: WebKit is busy for a minute with one of 25 MB
AROUND_PIECES = 10_000  # characters of all elements around them, at most
POLICY = " 'wasm-unsafe-eval' blob:; worker-src blob: 'self'; connect-src {connect}; font-src data:"
FONTS = {"Source Sans": "SourceSansVF-Upright", "Source Code": "SourceCodeVF-Upright"}  # the app's own
FONT_FACE = '@font-face {{ font-family: "{name}"; font-weight: 200 900; src: url(data:font/woff2;base64,{content}); }}'


def live_file() -> str:
    """One HTML file with the target and the smallest draft inside.

    Raises:
        InputError: the file would be larger than 35 MB.
    """
    return "".join(live_pieces(*around_weights()))


def around_weights() -> tuple[str, str]:
    """What stands in the one file before its weights, and after them. It has the weights' checksums."""
    models = {name: _model(name) for name in IN_ONE_FILE}
    inside = sum(4 * (MODELS / name / WEIGHTS).stat().st_size // 3 + AROUND_PIECES for name in IN_ONE_FILE)
    page = _page(models, WEIGHTS_BEGIN, "'none'", SAYS["file_footer"], MOST_BYTES - inside)
    before, _, after = page.partition(WEIGHTS_BEGIN)
    return before, after


def live_pieces(before: str, after: str) -> Iterator[str]:
    """The one file, a piece after the other: a server need not hold all of it at once."""
    yield before
    for name in IN_ONE_FILE:
        yield f'{WEIGHTS_BEGIN}{name}">'
        with (MODELS / name / WEIGHTS).open("rb") as weights:
            while content := weights.read(PIECE * 3 // 4):
                yield f'<script type="text/plain">{b64encode(content).decode()}</script>'
        yield "</div>\n"
    yield after


def live_site() -> dict[str, bytes]:
    """The files of a static site by their paths in its folder: a page, its service worker, and all bundled models."""
    models = {name: _model(name) for name in ON_A_SITE}
    for name, model in models.items():
        model["weights"] = f"models/{name}.{model['sha256'][:16]}.safetensors"
    page, addresses = _page(models, "", "'self'", SAYS["site_footer"]), [model["weights"] for model in models.values()]
    # A browser fetches the files again only where its service worker has other bytes: here, another digest.
    digest = sha256("\n".join([page, *addresses]).encode()).hexdigest()[:16]
    return {
        "index.html": page.encode(),
        "service_worker.js": f'const DIGEST="{digest}";\n{program("live/service_worker")}'.encode(),
        "files.json": json.dumps(["./", *addresses]).encode(),
        **{model["weights"]: (MODELS / name / WEIGHTS).read_bytes() for name, model in models.items()},
    }


def _page(models: dict[str, Any], stored: str, connect: str, footer: str, most: int = MOST_BYTES) -> str:
    parts = {
        "title": SAYS["title"],
        "heading": re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(page_texts("watch")["heading"])),
        "stage": asset("stage/stage.html"),
        "weights": stored,
        "live": inline_json(_collect(models)),
        "engine": program("engine/worker").replace("</", "<\\/"),
        "footer": footer,
        "script": program("live/live"),
        "style": "\n".join([*map(asset, STYLES), *_fonts()]),
    }
    return html_file("live/page.html", parts, policy=POLICY.format(connect=connect), most=most)


def _fonts() -> Iterator[str]:
    """The fonts of the app, from the package that brings them; where they are not found, the system's are used."""
    package = find_spec("streamlit")
    folder = Path(package.origin).parent if package and package.origin else Path()
    for name, stem in FONTS.items():
        for file in sorted(folder.glob(f"static/static/media/{stem}.*.woff2"))[:1]:
            yield FONT_FACE.format(name=name, content=b64encode(file.read_bytes()).decode())


def _collect(models: dict[str, Any]) -> dict[str, Any]:
    """What the page is made with; see `Made` in assets/browser/live/live.ts."""
    presets = [each.prompts[0] for each in WORKLOADS if each.prompts[0].grammar is None]
    papers = {run.pair: run for run in reversed(PUBLISHED)}
    plans = [plan for plan in all_plans() if plan.name in OWN]
    lessons = [{"name": p.name, "title": p.title, "moments": [_moment(each) for each in p.moments]} for p in plans]
    tour = tour_of(first_trace())
    assert tour, "the first run has no place for it"
    runs = {each.screen.last("run") for plan in plans for each in plan.moments if each.screen.run}
    return {
        "models": models,
        "tokenizer": _stored(f"models/{IN_ONE_FILE[0]}/tokenizer.json"),
        "presets": [{"name": each.name, "text": each.text} for each in presets],
        "menus": {
            "preset": [(name, preset_label(name)) for name in (*(each.name for each in presets), OWN_TEXT)],
            "target": [(name, model_label(name)) for name in models],
            "draft": [(name, draft_label(name)) for name in (*[*models][1:], LOOKUP)],
        },
        "lookup": LOOKUP,
        "settings": asdict(DecodeSettings()),
        "unusual": {name: row.here.words for name, row in SETTINGS.items() if row.words},
        "rows": [_row(SHOWN[name].here) for name in (*OFFERED, *(name for name in SHOWN if name not in OFFERED))],
        "methods": {kind: method_payload(DrafterInfo(kind, "") if kind else None) for kind in ("", "model", LOOKUP)},
        "phases": list(PHASES),
        "published": [  # what a draft step costs in two papers, in passes of the target
            {"pair": run.pair, "machine": run.machine, "cost": run.cost_ratio, "source": run.source.split(",")[0]}
            for run in map(papers.__getitem__, CHECKS_ARE_CHEAP)
        ],
        "first": {"trace": _stored("traces/first.json"), "guesses": _stored("traces/first.draft-guesses.json")},
        "tour": asdict(replace(tour, next=())),  # without the pages where it goes on: there are none here
        "lessons": lessons,
        "runs": {name: _stored(f"traces/{name}.json") for name in sorted(filter(None, runs))},
    }


def _row(row: Setting) -> dict[str, Any]:
    """See `Row` in assets/browser/live/form.tsx."""
    least, most = row.limits
    return {
        **{name: getattr(row, name) for name in ("name", "link", "label", "help", "above", "typed")},
        "shown": row.shown(row.default),
        "least": row.least,
        "most": row.most,
        "offered": [row.step if row.above else least, None if row.typed and row.most is None else most],
        "whole": row.kind is int,
        "labels": dict(row.labels) or None,
        "rule": row.rule if row.name in OFFERED else "",
    }


def _moment(moment: Moment) -> dict[str, Any]:
    """See `Moment` in assets/browser/live/lesson.tsx."""
    screen = moment.screen
    return {
        "title": moment.title,
        "minutes": moment.minutes,
        "question": moment.question,
        "needs": "" if screen.run else needs_in_words(moment),
        "run": screen.last("run") if screen.run else "",
        "step": screen.step,
        "hide": sorted(screen.hides),
    }


def _stored(name: str) -> Any:
    return json.loads((ASSETS / name).read_text(encoding="utf-8"))


def _model(name: str) -> dict[str, Any]:
    """A site names the address of its weights; the one file has them inside."""
    with (MODELS / name / WEIGHTS).open("rb") as weights:
        digest = file_digest(weights, "sha256").hexdigest()
    return {"config": _stored(f"models/{name}/config.json"), "weights": None, "sha256": digest}


def write_site(folder: Path) -> int:
    """Write the site into a folder, which is made; returns its bytes. Raises InputError: it cannot be written."""
    files = live_site()
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from None
    return sum(map(len, files.values()))
