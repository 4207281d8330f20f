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
from specviz.service.job import JobView
from specviz.ui.helps.state import take_results
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import seconds_since_set
from specviz.ui.stage.component import stage
from specviz.ui.stage.data import Json, Source, stage_data
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
    job: int | None = None  # its run, until it is over
    message: str = ""  # why the last run failed
    refused: bool = False  # what the controls ask for now cannot be run, so what is shown is an earlier run
    finished: list[Shown] = field(default_factory=list)  # measured here in this session
    replayed: tuple[Trace, Costs | None, Json] | None = None  # the replays last drawn, and what they were made of
    costing: int | None = None  # the calibration under way
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
    engine().start()
    watching.job = engine().submit(visitor().id, asked.request)
    _take(watching, engine().wait(watching.job, rounds=1, timeout=FIRST_ROUNDS_SECONDS))
    st.query_params.from_dict(link_of(asked.request, st.session_state.step, asked.preset))


def _take(watching: Watching, view: JobView) -> None:
    """Bring what is shown up to date with the job's view. Until its first round, the previous run stays on screen."""
    if view.trace and view.trace.rounds:
        watching.shown = Shown(view.trace, f"live-{view.job}", "live", view.plain_text or None, view.draft_guesses)
    if view.finished:
        watching.job, watching.message = None, view.message
    if view.state == "done" and watching.shown:
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
    if watching.job is not None:
        return POLL_RUNNING if engine().view(watching.job).trace else POLL_WAITING / 3
    return POLL_WAITING if watching.costing is not None else None


def _refresh(watching: Watching) -> str | None:
    """Ask the engine how far it is; returns a line for what is being waited for."""
    notice = None
    if watching.job is not None:
        view = engine().view(watching.job)
        notice = _notice(view)
        _take(watching, view)
    if watching.job is None and watching.request is not None:
        _measure_costs(watching, watching.request)
    return notice


def _notice(view: JobView) -> str | None:
    if view.state == "waiting":
        return view.message or f"waiting: place {view.place} in the queue"
    if view.state == "loading" and view.bytes_total:
        done, total = view.bytes_done / 1e6, view.bytes_total / 1e6
        return f"downloading {view.model}: {done:.0f} of {total:.0f} MB"
    if view.state == "loading":
        return f"loading {view.model}" if view.model else "starting"
    if view.state == "comparing":
        return f"now the target alone: {view.plain_tokens} tokens"
    return None


def _measure_costs(watching: Watching, request: RunRequest) -> None:
    """Have the pair's costs measured once, when nothing else of this visitor's is under way."""
    if watching.costing is not None:
        view = engine().view(watching.costing)
        if view.finished:
            watching.costing = None
            if view.costs:
                watching.costs[pair_key(request)] = view.costs
                watching.formats[pair_key(request)] = view.dtype_reasons
    elif pair_key(request) not in watching.costs and not watching.message and not _engaged():
        watching.costing = engine().submit_background(visitor().id, request)


def _engaged() -> bool:
    """Whether work of this visitor's goes on in the background, from another page: a calibration would replace it."""
    busy = engine().busy(visitor().id, "background")
    take_results()  # a finished sweep is forgotten by the engine once a calibration takes its place
    return busy


def pair_key(request: RunRequest) -> tuple[str, str, str]:
    """What the costs of a run depend on."""
    return request.target, request.draft, request.precision


def _draw(watching: Watching, notice: str | None) -> None:
    notices([watching.message], "error")
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
        running=watching.job is not None and not _is_before(watching, shown),
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


def _replay(watching: Watching, shown: Shown, costs: Costs | None) -> Json | None:
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
    return watching.job is not None and shown.run_id != f"live-{watching.job}"


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
    if watching.job is not None:
        engine().cancel(visitor().id)
        watching.job = None
    watching.message = ""
    watching.shown = recorded_run(trace, f"file-{file.file_id}")
    watching.request, watching.preset = fill_in_trace(trace) or watching.request, st.session_state.current[1]
    st.session_state.step = None
