"""The stage: the one moving component of the Watch page. Its HTML, CSS and JavaScript live in assets/browser/stage/."""

from collections.abc import Callable
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, cast

import streamlit as st

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.player.html_file import inline_json
from specviz.player.payload import FeedPayload, SentStage, StageGrowth, StageMount
from specviz.ui.shared.components import component, ignore_change


class SentSoFar(NamedTuple):
    """What a browser has of a run. Not the payload: with its run that is a megabyte."""

    run_id: str
    rounds: int
    plain: int  # steps of the target alone
    running: bool
    notice: str | None


def sent_with(payload: SentStage) -> SentSoFar:
    rounds, plain = len(payload["run"]["trace"]["rounds"]), len(_plain(payload))
    return SentSoFar(payload["run_id"], rounds, plain, payload["running"], payload["notice"])


def news(payload: SentStage, sent: SentSoFar | None) -> FeedPayload:
    """What is new for a browser that was `sent` something before.

    A run that it does not have is sent whole, and so is a run that has ended: its figures are final only then. Where
    nothing is new, the place where more would begin is sent: a stage that missed something asks for it.
    """
    stream, version = payload["stream"], payload["version"]
    if sent is None or sent.run_id != payload["run_id"] or (sent.running and not payload["running"]):
        return {"stream": stream, "version": version, "whole": payload, "growth": None}
    growth: StageGrowth = {
        "run_id": payload["run_id"],
        "running": payload["running"],
        "notice": payload["notice"],
        "badge": payload["badge"],
        "idle": payload["idle"],
        "start": sent.rounds,
        "rounds": payload["run"]["trace"]["rounds"][sent.rounds :],
        "plain_start": sent.plain,
        "plain": _plain(payload)[sent.plain :],
    }
    return {"stream": stream, "version": version, "whole": None, "growth": growth}


def _plain(payload: SentStage) -> list[float]:
    alone = payload["run"]["trace"]["autoregressive"]
    return alone["seconds_per_token"] if alone else []


class LastingRun(dict[str, Any]):
    """A `SentRun` that nobody changes: what a browser gets of it is made once, however often it is drawn."""

    @cached_property
    def held(self) -> tuple[str, bytes]:
        """Its key, and the `HeldRun` as JSON."""
        run = inline_json(self).encode()
        key = blake2b(run, digest_size=8).hexdigest()
        return key, b'{"key": "%s", "run": %s}' % (key.encode(), run)


def split(payload: SentStage) -> tuple[bytes, StageMount]:
    """A payload in two: a `HeldRun` as JSON, the same bytes as long as the run is, and the rest.

    Streamlit sends bytes that a browser has only once, so drawing a page again costs the rest: a run of 2,000 rounds
    is 2 MB.
    """
    rest: dict[str, Any] = {**payload}
    run = rest.pop("run")
    key, held = (run if isinstance(run, LastingRun) else LastingRun(run)).held
    return held, cast(StageMount, rest | {"part": key})


MAX_STEP = 3 * 65_536
_STYLES = ("stage", "tree", "diagram", "tour", "views", "paper")
_STAGE = component("specviz_stage", "stage/stage.html", tuple(f"stage/{name}.css" for name in _STYLES), "stage/stage")
_RUN = component("specviz_run", '<div class="run-part" hidden></div>', (), "stage/feed")
_FEED = component("specviz_feed", '<div class="feed" hidden></div>', (), "stage/feed")


def stage(
    data: SentStage,
    key: str = "stage",
    on_draft_length: Callable[[int], None] | None = None,
    on_tour: Callable[[object], None] | None = None,
) -> int | None:
    """Mount the stage with what `stage_data` made.

    Before the script runs again, `on_draft_length` is called with the length at which the slider was released, and
    `on_tour` with a new place in the tour. Returns the sub-step at which the visitor last stopped, None before that:
    it is reported on pause, at the end of a scrub and on a click, never while playing.
    """

    def released() -> None:
        asked = st.session_state[key].get("gamma")
        if on_draft_length and type(asked) is int and 1 <= asked <= MAX_DRAFT_LENGTH:
            on_draft_length(asked)

    def moved() -> None:
        if on_tour:
            on_tour(st.session_state[key].get("tour"))

    changes = {"on_gamma_change": released, "on_tour_change": moved}
    run, rest = split(data)
    _RUN(key=f"{key}-run", data=run)
    result = _STAGE(key=key, data=rest, on_step_change=ignore_change, on_gap_change=ignore_change, **changes)
    step = result.get("step")
    return step if type(step) is int and 0 <= step < MAX_STEP else None


def feed(data: bytes) -> None:
    """Hand the stage of this page what is new, a `FeedPayload` as JSON; a stage that missed something asks."""
    _FEED(key="feed", data=data)
