"""What the feed of a page sends to its stage while a run grows: only what the stage does not have."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import cast

from specviz.player.payload import FeedPayload, RunPart, StageGrowth, StageMount, StagePayload
from specviz.ui.shared.components import as_json


@dataclass(frozen=True, slots=True)
class Sent:
    """What of a run the browser was sent."""

    run_id: str
    rounds: int
    plain: int  # steps of the target alone
    running: bool
    notice: str | None


def sent_with(payload: StagePayload) -> Sent:
    """What a browser has that received this."""
    return Sent(
        payload["run_id"], len(payload["rounds"]), len(payload["plain"] or []), payload["running"], payload["notice"]
    )


def news(payload: StagePayload, sent: Sent | None) -> FeedPayload | None:
    """What is new for a browser that was `sent` something before; None where nothing is.

    A run that it does not have is sent whole, and so is a run that has ended: its figures are final only then.
    """
    if sent == sent_with(payload):
        return None
    known = sent is not None and sent.run_id == payload["run_id"]
    ended = known and sent is not None and sent.running and not payload["running"]
    if sent is None or not known or ended:
        return {"stream": payload["stream"], "version": payload["version"], "whole": payload, "growth": None}
    return {
        "stream": payload["stream"],
        "version": payload["version"],
        "whole": None,
        "growth": _growth(payload, sent),
    }


def _growth(payload: StagePayload, sent: Sent) -> StageGrowth:
    return {
        "run_id": payload["run_id"],
        "running": payload["running"],
        "more": payload["more"],
        "notice": payload["notice"],
        "badge": payload["badge"],
        "idle": payload["idle"],
        "start": sent.rounds,
        "rounds": payload["rounds"][sent.rounds :],
        "plain_start": sent.plain,
        "plain": (payload["plain"] or [])[sent.plain :],
    }


def split(payload: StagePayload) -> tuple[bytes, StageMount]:
    """A payload in two: a `HeldRun` as JSON, the same bytes as long as the run is, and the rest.

    Streamlit sends bytes that a browser has only once, so drawing a page again costs the rest: a run of 2,000 rounds
    is 2 MB.
    """
    run = as_json({name: payload[name] for name in RunPart.__annotations__})  # type: ignore[literal-required]
    key = blake2b(run, digest_size=8).hexdigest()
    rest = {name: value for name, value in payload.items() if name not in RunPart.__annotations__}
    return b'{"key": "%s", "run": %s}' % (key.encode(), run), cast(StageMount, rest | {"part": key})
