"""What Watch hands to its stage. The costly part is made once for each state of the run, not at each drawing."""

from specviz.data.permalink import link_of
from specviz.ui.stage.data import stage_data
from specviz.ui.stage.payload import StagePayload
from specviz.ui.watch.state import RECORDED, Drawn, Shown, Watching

NOT_RUN = "Previous run shown: the new settings could not be run"


def stage_payload(watching: Watching, draft_length: int) -> StagePayload | None:
    """Everything the stage shows now; None where there is no run at all. `draft_length` is what the controls say."""
    shown = watching.shown
    if shown is None:
        return None
    watching.version += 1
    not_run = watching.refused or bool(watching.message)
    notice = watching.notice or (NOT_RUN if not_run else None)
    payload = _of_run(watching, shown)
    payload["stream"], payload["version"] = watching.stream, watching.version
    payload["notice"] = notice
    payload["idle"] = notice or payload["idle"]
    payload["link"] = _link(watching, shown)
    payload["playhead"] = watching.step
    payload["gamma"] = draft_length
    return payload


def _of_run(watching: Watching, shown: Shown) -> StagePayload:
    """The part that depends on the run alone, in a new dictionary; its rounds are not made again for each drawing."""
    running = watching.run.busy and not watching.shows_previous_run
    replay, drawn = watching.replay(), watching.drawn
    if drawn is None or drawn.shown is not shown or drawn.running != running or drawn.replay is not replay:
        payload = stage_data(
            shown.trace,
            run_id=shown.run_id,
            source=shown.source,
            running=running,
            replay=replay,
        )
        drawn = watching.drawn = Drawn(shown, running, replay, payload)
    return drawn.payload.copy()


def _link(watching: Watching, shown: Shown) -> dict[str, str]:
    """What reproduces the run on screen: its settings, and the run itself where this server has it."""
    request, preset = (watching.request, watching.preset) if watching.request else watching.form.current
    run = RECORDED if shown.run_id == RECORDED else shown.stored_id or None
    return link_of(request, preset=preset, run=run)
