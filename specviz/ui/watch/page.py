"""Which run is on screen, how it got there, and everything drawn from it."""

from dataclasses import dataclass, field, replace

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses
from specviz.core.request import RunRequest
from specviz.core.trace import Trace, parse_trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.data.permalink import link_of
from specviz.models.catalogue import changed_weights
from specviz.service.protocol import Calibrate, Run
from specviz.service.results import CostsResult, RunResult
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import JobSlot, waiting_line
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import seconds_since_set
from specviz.ui.stage.component import stage
from specviz.ui.stage.data import Source, stage_data
from specviz.ui.stage.payload import NoReplay, Replays
from specviz.ui.stage.replay import replay_data
from specviz.ui.watch.controls import FormInput, ask_draft_length, fill_in_trace
from specviz.ui.watch.outcome import show_files, show_outputs, show_speedups, show_verdict

FIRST_ROUNDS_SECONDS = 0.25  # how long a script waits for a run's first rounds before it draws
POLL_RUNNING, POLL_WAITING = 0.4, 1.5  # seconds
HEARD_SECONDS = 2.5  # after which a browser on a slow phone has heard what the widgets were set to


@dataclass(frozen=True, slots=True)
class Shown:
    """The run on screen."""

    trace: Trace
    run_id: str
    source: Source
    plain_text: str | None  # what the target alone wrote; None where it is not kept
    draft_guesses: DraftGuesses | None = None  # what its draft would guess along the output


@dataclass(slots=True)
class Watching:
    """What one visitor is watching; lives in the session."""

    shown: Shown | None = None
    request: RunRequest | None = None  # the one last submitted
    preset: str | None = None  # where its prompt came from
    run: JobSlot[RunResult] = field(default_factory=lambda: JobSlot("run", RunResult))
    message: str = ""  # why the last run failed, or a file cannot be shown
    refused: bool = False  # what the controls ask for now cannot be run, so what is shown is an earlier run
    finished: list[Shown] = field(default_factory=list)  # measured here in this session
    # the replays last drawn, and what they were made of
    replayed: tuple[Trace, Costs | None, NoReplay | Replays] | None = None
    costing: JobSlot[CostsResult] = field(default_factory=lambda: JobSlot("costs", CostsResult))
    costing_pair: tuple[str, str, str] | None = None  # whose costs those are
    costs: dict[tuple[str, str, str], Costs] = field(default_factory=dict)  # by pair and number format
    formats: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)  # why these number formats


def watch(asked: FormInput) -> Watching:
    """Submit what was asked for, unless it is what runs already; nothing runs live before the visitor acts."""
    watching: Watching = st.session_state.setdefault("watching", Watching())
    if watching.shown is None and (recorded := first_trace()):
        watching.shown = replace(recorded_run(recorded, "first"), draft_guesses=first_draft_guesses())
    engine().heartbeat(visitor().id)
    if asked.acted and not asked.problem and (asked.again or asked.request != watching.request):
        _submit(watching, asked)
    watching.refused = asked.problem is not None
    notices([*st.session_state.notes, asked.problem])
    return watching


def recorded_run(trace: Trace, run_id: str) -> Shown:
    """A trace from a file. It keeps the target's own ids, and its text only where that is the output's."""
    same = trace.autoregressive is not None and trace.autoregressive.token_ids == trace.output.token_ids
    return Shown(trace, run_id, "recorded", trace.output.text if same else None)


def _submit(watching: Watching, asked: FormInput) -> None:
    if watching.request is not None:
        st.session_state.step = None  # a link's playhead belongs to the link's run
    watching.request, watching.preset, watching.message = asked.request, asked.preset, ""
    watching.run.start(lambda job: Run(job, asked.request))
    _take(watching, ended=watching.run.wait(rounds=1, timeout=FIRST_ROUNDS_SECONDS))
    st.query_params.from_dict(link_of(asked.request, st.session_state.step, asked.preset))


def _take(watching: Watching, ended: bool) -> None:
    """Bring what is shown up to date with the run. Until its first round, the previous run stays on screen."""
    slot, run = watching.run, watching.run.result
    if run and run.rounds:
        watching.shown = Shown(run.trace, f"live-{slot.job}", "live", run.plain_text or None, run.draft_guesses)
    if ended and slot.state == "failed":
        watching.message = slot.message
    if ended and slot.state == "done" and watching.shown:
        watching.finished.append(watching.shown)


def show_run(watching: Watching) -> None:
    """Draw the run; while something is under way the drawing repeats by itself.

    A change of pace needs the whole script again. Where that has just set its widgets (an undo, a preset), a slow
    browser would never hear of it. So the first drawing shows what was known before it, and later ones take their time.
    """
    known = [_refresh(watching)]
    every = _poll_seconds(watching)

    @st.fragment(run_every=every)
    def drawing() -> None:
        if st.session_state.pop("slider_released", False):
            st.rerun()  # the draft length is the page's business, not this drawing's alone
        notice = known.pop() if known else _refresh(watching)
        _draw(watching, notice)
        heard = seconds_since_set() > HEARD_SECONDS
        if _poll_seconds(watching) != every and (heard or every is None):  # without a pace no later drawing would come
            st.rerun()

    drawing()


def _poll_seconds(watching: Watching) -> float | None:
    if watching.run.busy:
        return POLL_RUNNING if watching.run.result else POLL_WAITING / 3
    return POLL_WAITING if watching.costing.busy else None


def _refresh(watching: Watching) -> str | None:
    """Ask the engine how far it is; returns a line for what is being waited for."""
    notice = None
    if watching.run.busy:
        _take(watching, ended=watching.run.refresh())
        notice = run_notice(watching.run)
    if not watching.run.busy and watching.request is not None:
        _measure_costs(watching, watching.request)
    return notice


def run_notice(slot: JobSlot[RunResult]) -> str | None:
    """What the run waits for or does; None while its rounds come, and when it is over."""
    if slot.view is None or not slot.busy:
        return None
    run = slot.result
    return f"now the target alone: {run.plain_tokens} tokens" if run and run.plain_tokens else waiting_line(slot.view)


def _measure_costs(watching: Watching, request: RunRequest) -> None:
    """Have the pair's costs measured once, after its run."""
    slot, pair = watching.costing, watching.costing_pair
    if slot.refresh() and pair and (found := slot.result):
        watching.costs[pair], watching.formats[pair] = found.costs, found.dtype_reasons
    wanted = pair_key(request)
    failed = pair == wanted and slot.state == "failed"  # it would fail again
    if not slot.busy and wanted not in watching.costs and not watching.message and not failed:
        watching.costing_pair = wanted
        slot.start(lambda job: Calibrate(job, request))


def pair_key(request: RunRequest) -> tuple[str, str, str]:
    """What the costs of a run depend on."""
    return request.target, request.draft, request.precision


def _draw(watching: Watching, notice: str | None) -> None:
    notices([watching.message], "error")
    notices([watching.run.message if watching.run.state == "lost" else None], "info")
    shown, not_run = watching.shown, watching.refused or bool(watching.message)
    if shown is None:
        st.info(plain(notice or "Change a setting, or press Run again, to see the first run."))
        return
    request = watching.request
    costs = watching.costs.get(pair_key(request)) if request and shown.source == "live" else None
    data = stage_data(
        shown.trace,
        run_id=shown.run_id,
        source=shown.source,
        running=watching.run.busy and not _is_before(watching, shown),
        notice=notice or ("Previous run shown: the new settings could not be run" if not_run else None),
        link=_link(watching),
        playhead=st.session_state.step,
        gamma=st.session_state.gamma,
        replay=_replay(watching, shown, costs),
    )
    with st.container(key="run"):
        step = stage(data, on_draft_length=ask_draft_length)
    if step is not None:
        st.session_state.step = step
    with st.container(key="outcome"):
        stale = not_run or _is_before(watching, shown)
        show_verdict(shown.trace, shown.source, costs, waiting=data["running"], stale=stale)
        show_outputs(shown.trace, shown.plain_text)
        formats = watching.formats.get(pair_key(request), ()) if request else ()
        show_speedups(shown.trace, shown.source, [run.trace for run in watching.finished], costs, formats)
        show_files(shown.trace, _open_file)
        for change in changed_weights(shown.trace):
            st.caption(plain(change))


def _replay(watching: Watching, shown: Shown, costs: Costs | None) -> NoReplay | Replays | None:
    """The run replayed at every draft length: made once, not at every drawing; None until there is a draft_guesses."""
    if shown.draft_guesses is None:
        return None
    made = watching.replayed
    if made is None or made[0] is not shown.trace or made[1] is not costs:
        made = watching.replayed = (
            shown.trace,
            costs,
            replay_data(shown.trace, shown.draft_guesses, costs, running=False),
        )
    return made[2]


def _is_before(watching: Watching, shown: Shown) -> bool:
    """Whether the run on screen is the one before that under way, which has no round yet."""
    return watching.run.busy and shown.run_id != f"live-{watching.run.job}"


def _link(watching: Watching) -> dict[str, str]:
    """What reproduces the run; before the first live one, the recorded run's settings, which the controls show."""
    if watching.request:
        return link_of(watching.request, preset=watching.preset)
    request, preset = st.session_state.current
    return link_of(request, preset=preset)


def _open_file() -> None:
    """Show the trace file the visitor picked; one that cannot be read changes nothing but a message."""
    watching: Watching = st.session_state.watching
    file = st.session_state.trace_file
    if file is None:
        return
    try:
        trace = parse_trace(file.getvalue())
    except InputError as error:
        watching.message = f"That file cannot be shown. {error}"
        return
    watching.run.reset()
    watching.message = ""
    watching.shown = recorded_run(trace, f"file-{file.file_id}")
    watching.request, watching.preset = fill_in_trace(trace) or watching.request, st.session_state.current[1]
    st.session_state.step = None
