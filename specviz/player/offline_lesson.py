"""A lesson as one HTML file for students: its moments with their runs, played without a server.

The answers and the notes for the teacher are not in it: they are in the key (`specviz.player.sheet.key_html`).
"""

from html import escape
from typing import TypedDict, cast

from specviz.core.files import ASSETS
from specviz.core.trace import Trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.data.hidden import PARAMETER as HIDE
from specviz.data.hidden import hidden_in
from specviz.data.lessons.plan import Moment, Plan
from specviz.player.data import stage_data
from specviz.player.html_file import asset, bundle, html_file, inline_json
from specviz.player.offline import PROJECT, STYLES, result_html
from specviz.player.payload import SentRun, SentStage, StageState, View
from specviz.player.sheet import PAGE_NAMES

NOT_RECORDED = "This moment is a run that the server makes. It needs the server."


class OfflineMoment(TypedDict):
    """A moment that plays a run: the run's name, and what else its stage needs."""

    run: str
    state: StageState


class OfflineLesson(TypedDict):
    """What the page plays. Moments of the same run share it; a moment without a run is null."""

    runs: dict[str, SentRun]
    moments: list[OfflineMoment | None]


def lesson_page(plan: Plan, address: str | None = None) -> str:
    """The HTML of a page with all moments of a plan.

    Args:
        plan: the lesson.
        address: of Watch on a server that students can reach; what does not work offline then links there.

    Raises:
        InputError: the page would be larger than 2 MB.
    """
    payloads = [_payload(number, moment) for number, moment in enumerate(plan.moments)]
    goals = "".join(f"<li>{escape(goal)}</li>" for goal in plan.goals)
    parts = {
        "title": escape(plan.title),
        "goals": f"<h2>Goals</h2><ul>{goals}</ul>" if goals else "",
        "list": "".join(_entry(number, moment) for number, moment in enumerate(plan.moments, start=1)),
        "moments": "".join(_section(plan, number, address) for number in range(len(plan.moments))),
        "footer": escape(f"Made with {PROJECT}. This file needs no network."),
        "stage": asset("stage/stage.html"),
        "lesson": inline_json(_shared(plan, payloads)),
        "script": bundle(ASSETS / "offline/lesson.js"),
        "style": "\n".join(map(asset, (*STYLES, "stage/views.css", "offline/lesson.css"))),
    }
    return html_file("offline/lesson.html", parts)


def _payload(number: int, moment: Moment) -> SentStage | None:
    trace, screen = moment.screen.run, moment.screen
    if trace is None:
        return None
    guesses = first_draft_guesses() if trace is first_trace() else None
    run_id = f"moment-{number}"
    data = stage_data(trace, run_id=run_id, source="recorded", running=False, playhead=screen.step, guesses=guesses)
    data["view"] = _view(screen.last("view"))
    data["hide"] = sorted(hidden_of(moment))
    return data


def hidden_of(moment: Moment) -> frozenset[str]:
    return hidden_in(moment.screen.params.get(HIDE, []))[0]


def _view(asked: str | None) -> View:
    """A room's view and a frame's are for a room and a frame: a student gets the tokens and what explains them."""
    return "full" if asked in (None, "full") else "simple"


def _shared(plan: Plan, payloads: list[SentStage | None]) -> OfflineLesson:
    """Each run once, and for each moment what is its own."""
    runs: dict[str, SentRun] = {}
    moments: list[OfflineMoment | None] = []
    for moment, payload in zip(plan.moments, payloads, strict=True):
        name = moment.screen.last("run") or ""
        if payload is None:
            moments.append(None)
            continue
        runs[name] = payload["run"]
        own = {key: value for key, value in payload.items() if key != "run"}
        moments.append({"run": name, "state": cast(StageState, own)})
    return {"runs": runs, "moments": moments}


def _entry(number: int, moment: Moment) -> str:
    needs = "" if moment.screen.run else " (needs the server)"
    minutes = f'<span class="minutes">{moment.minutes} min{needs}</span>'
    return f'<li><a href="#moment-{number}">{escape(moment.title)}</a> {minutes}</li>'


def _section(plan: Plan, at: int, address: str | None) -> str:
    moment = plan.moments[at]
    trace = moment.screen.run
    body = _player(moment, trace) if trace else _needs_server(moment, address)
    return (
        f'<section class="moment" id="moment-{at + 1}" data-moment="{at}" hidden>'
        f'<h2 tabindex="-1">{at + 1}. {escape(moment.title)}</h2>'
        f'<p class="question">{escape(moment.question)}</p>{body}{_way(plan, at)}</section>'
    )


def _player(moment: Moment, trace: Trace) -> str:
    place = '<div class="place"></div>'
    if "result" in hidden_of(moment):
        return place
    return f'{place}<section aria-label="Result">{result_html(trace, None, None)}</section>'


def _needs_server(moment: Moment, address: str | None) -> str:
    said = needs_in_words(moment)
    if address is None:
        return f'<p class="needs">{escape(said)}</p>'
    link = address + moment.screen.link.removeprefix("./")
    return f'<p class="needs">{escape(said)} <a href="{escape(link)}" rel="noreferrer">Open it there</a></p>'


def needs_in_words(moment: Moment) -> str:
    page = PAGE_NAMES.get(moment.screen.page)
    return f"This moment is the page “{page}”. It needs the server." if page else NOT_RECORDED


def _way(plan: Plan, at: int) -> str:
    """Links to the moment before, to the list and to the moment after."""
    links = [(f"#moment-{at}", "← Previous moment")] if at else []
    links.append(("#", "All moments"))
    if at + 1 < len(plan.moments):
        links.append((f"#moment-{at + 2}", "Next moment →"))
    return f'<nav class="way">{"".join(f"<a href={link!r}>{name}</a>" for link, name in links)}</nav>'
