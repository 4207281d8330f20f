"""What Watch hands to its stage. The costly part is made once for each state of the run, not at each drawing."""

from collections import OrderedDict
from collections.abc import Collection
from threading import Lock

from specviz.core.metrics import Costs
from specviz.data.hidden import PARAMETER, written
from specviz.data.permalink import link_of
from specviz.player.data import stage_data
from specviz.player.payload import StagePayload, View
from specviz.player.replay import replay_data
from specviz.ui.watch.state import Drawn, Shown, Watching
from specviz.ui.watch.tour import tour_on_stage

MOST_PAYLOADS = 32  # about half a megabyte each
NOT_RUN = "Previous run shown: the new settings could not be run"


def stage_payload(
    watching: Watching, draft_length: int, view: View = "full", hide: Collection[str] = ()
) -> StagePayload | None:
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
    payload["link"] = link_on_stage(watching, shown) | ({PARAMETER: written(hide)} if hide else {})
    payload["playhead"] = watching.step
    payload["gamma"] = draft_length
    payload["view"] = view
    if hide:
        payload["hide"] = sorted(hide)
    if tour := tour_on_stage(watching):
        payload["tour"] = tour
    return payload


def _of_run(watching: Watching, shown: Shown) -> StagePayload:
    """The part that depends on the run alone, in a new dictionary; its rounds are not made again for each drawing."""
    running = watching.run.busy and not watching.shows_previous_run
    if shown.stored_id and not running:
        watching.drawn = None
        return {**FINISHED.payload(shown, watching.shown_costs), "run_id": shown.run_id}
    drawn = watching.drawn
    if drawn is None or drawn.shown is not shown or drawn.running != running:
        drawn = watching.drawn = Drawn(shown, running, _made(shown, running, None))
    return drawn.payload.copy()


def _made(shown: Shown, running: bool, costs: Costs | None) -> StagePayload:
    guesses = shown.draft_guesses
    replay = replay_data(shown.trace, guesses, costs, running) if guesses else None
    return stage_data(shown.trace, run_id=shown.run_id, source=shown.source, running=running, replay=replay)


class SharedPayloads:
    """The payloads of finished runs, each made once for all visitors who see the run. Safe between threads."""

    def __init__(self) -> None:
        self._made: OrderedDict[object, tuple[Costs | None, StagePayload]] = OrderedDict()
        self._lock = Lock()

    def payload(self, shown: Shown, costs: Costs | None) -> StagePayload:
        """The payload of a run that has an id; nobody may change it."""
        key = shown.stored_id, shown.source
        with self._lock:
            found = self._made.pop(key, None)
            if found is None or found[0] is not costs:
                found = costs, _made(shown, False, costs)
            self._made[key] = found
            while len(self._made) > MOST_PAYLOADS:
                self._made.popitem(last=False)
        return found[1]


FINISHED = SharedPayloads()


def link_on_stage(watching: Watching, shown: Shown) -> dict[str, str]:
    """What reproduces the run on screen: its settings, and the run itself where this server has it; else nothing."""
    if not shown.linked:
        return {}
    request, preset = (watching.request, watching.preset) if watching.request else watching.form.current
    return link_of(request, preset=preset, run=shown.stored_id or None)
