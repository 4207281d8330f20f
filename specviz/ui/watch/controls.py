"""The controls of a run: widgets in, a RunRequest out, with an undo."""

from functools import partial
from typing import Any

import streamlit as st

from specviz.core.drafters import method_of
from specviz.core.request import RunRequest, prompt_problem
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.data.lessons.recorded_runs import linked_trace
from specviz.data.links.permalink import link_of, request_from_link
from specviz.data.measured.first_run import first_trace
from specviz.data.prompts.workloads import ALL_WORKLOADS, OWN_TEXT
from specviz.data.texts import join_choices, page_texts
from specviz.models.draft_menu import explain_refusal, is_allowed, is_offered
from specviz.ui.shared import address
from specviz.ui.shared.engine import engine
from specviz.ui.shared.parts import button, heading, headline
from specviz.ui.shared.persistent_widgets import restore_widgets, set_widgets
from specviz.ui.shared.run_controls import RunControls, pair_menu
from specviz.ui.watch.on_stage import asked_place, link_on_stage
from specviz.ui.watch.watch_state import FIRST, Asked, Form, ShownRun, WatchState, recorded_run

SAYS = page_texts("watch")


CONTROLS = RunControls()
MORE = (
    ("top_k", "top_p", "tree", "draft_sampling", "verification", "draft_schedule"),
    ("max_new_tokens", "seed"),
)
# each group of controls: its width, and the names under which links hide its parts
COLUMNS: dict[str, tuple[float, set[str]]] = {
    "prompt": (2.3, {"prompt"}),
    "target": (1.8, {"target", "run"}),
    "draft": (2.1, {"draft", "run"}),  # the longest name is whole
    "sliders": (2.2, {"temperature", "pairs", "more"}),
}
# What a newcomer changes: the prompt and the two models; the draft length is on the stage.
FIRST_COLUMNS = {"prompt": (2.2, {"prompt"}), "target": (1, {"target"}), "draft": (1, {"draft"})}


def lead() -> None:
    with st.container(key="lead"):
        heading(SAYS["heading"])


def controls(watching: WatchState) -> None:
    """Draw a column for each group of controls that view and link show, and read all controls."""
    _read_link_once(watching)
    draw, columns = {"prompt": CONTROLS.prompt, "target": CONTROLS.target, "draft": CONTROLS.draft}, COLUMNS
    if address.view() != "full":
        run_own = partial(setattr, watching.form.came, "acted", True)  # the text on screen needs no second run
        draw = {
            "prompt": partial(CONTROLS.prompt_line, run_own),
            "target": CONTROLS.first_targets,
            "draft": CONTROLS.first_drafts,
        }
        columns = FIRST_COLUMNS if address.view() == "simple" else {}
    widths = {name: width for name, (width, controls) in columns.items() if not address.hidden() >= controls}
    if not widths:
        return _read(watching.form)
    runs = address.view() == "full" and not address.is_hidden("run")
    with st.container(key="controls"):
        places = dict(zip(widths, st.columns([*widths.values()], gap="medium"), strict=True))
        for name, place in places.items():
            with place:
                if name == "sliders":
                    _slider_controls(watching)
                elif not address.is_hidden(name):
                    draw[name]()
                if name == "target" and runs:
                    run_again_button(watching.form, width="stretch")
        _read(watching.form)
        if "draft" in places and runs:
            with places["draft"]:  # after reading: this very change can be undone
                undo_button(watching, width="stretch")


def undo_button(watching: WatchState, **look: Any) -> None:
    button(SAYS["undo"], "undo", _undo, watching, icon="undo", disabled=not watching.form.past, **look)


def run_again_button(form: Form, **look: Any) -> None:
    button(SAYS["run_again"], "again", setattr, form, "again", True, shortcut="Ctrl+Enter", **look)


def request_draft_length(form: Form, length: int) -> None:
    CONTROLS.set_draft_length(length)
    form.slider_released = True


def _slider_controls(watching: WatchState) -> None:
    if not address.is_hidden("temperature"):
        CONTROLS.draw("temperature")
    left, right = st.columns(2, gap="medium")
    if not address.is_hidden("pairs"):
        with left.popover(SAYS["pairs"], icon=":material/join:", width="stretch"):
            pair_menu(_measured_here(watching))
    if not address.is_hidden("more"):
        with right.popover(SAYS["more"], icon=":material/tune:", width="stretch"):
            RunControls(popover=True).more(MORE, elsewhere=("draft_length", "temperature"))


def _measured_here(watching: WatchState) -> str | None:
    """The verdict on this session's last run of the pair that the menus show."""
    wanted = (st.session_state.target, st.session_state.draft)
    for run in reversed(watching.past.finished):
        drafter = run.trace.drafter
        if drafter and (run.trace.target.name, drafter.asked_as) == wanted:
            verdict = verdict_of_run(run.trace, watching.costs.known.get(wanted))
            return headline(verdict) if verdict else None
    return None


def _read_link_once(watching: WatchState) -> None:
    form, came = watching.form, watching.form.came
    if not came.read:
        at = asked_place()
        given = {} if at else address.address()  # the tour has a run of its own
        if at:
            watching.tour.begin(at)
        linked = request_from_link(given, address.models_in(given))
        form.current, came.notes, watching.step = (linked.request, linked.preset), linked.problems, linked.step
        asked = given.keys() & {*link_of(linked.request, preset=linked.preset), "prompt", "run"}
        if asked <= {"run", "step"} and linked.run in (None, FIRST):
            form.current = first_asked()
        # An older link to the first run has its settings too; where another run was recorded since, it runs those.
        came.acted = bool(asked) and (linked.run != FIRST or form.current != first_asked())
        models = dict.fromkeys([linked.request.target, linked.request.draft])
        if strangers := [name for name in models if not is_offered(name)]:
            came.acted = False  # a link alone loads nothing that is in no menu
            refused = [explain_refusal(name) for name in strangers if not is_allowed(name)]
            came.notes += refused or [SAYS["unknown_models"].format(names=join_choices(strangers, "and"))]
        came.read = True
        if linked.run not in (None, FIRST):
            _open_run(watching, linked.run)
    restore_widgets(form.unusable or widget_values(*form.current))


def _open_run(watching: WatchState, run_id: str) -> None:
    """Show the one run that the link names, with its settings; where it is gone, the link's settings run again."""
    form = watching.form
    if recorded := linked_trace(run_id):
        watching.shown, form.came.acted = recorded_run(recorded, run_id, run_id), False
        request = request_of(recorded)
        form.current = (request, preset_of(request)) if request else form.current
    elif stored := engine().stored_run(run_id):
        form.current = (stored.request, preset_of(stored.request))
        watching.open_stored(stored, form.current[1])
    else:
        form.came.notes.append(SAYS["gone"])


def show_recorded(watching: WatchState, name: str) -> None:
    """Play a recorded run, and set the controls to what asks for it, where this server can run that."""
    trace = linked_trace(name)
    assert trace is not None, name
    form, request = watching.form, request_of(trace)
    if request:
        form.change(request, preset_of(request))
        set_widgets(widget_values(*form.current))
    elsewhere = SAYS["not_here"].format(model=trace.target.name)
    form.came.acted, form.came.notes, watching.asked = False, [] if request else [elsewhere], None
    watching.open_recorded(recorded_run(trace, name, name))
    link = link_on_stage(watching, watching.shown) if watching.shown else {}
    address.write_address(link | address.view_in_link() | address.hidden_in_link())


def widget_values(request: RunRequest, preset: str | None) -> dict[str, object]:
    return {"preset": preset or OWN_TEXT, "prompt": request.prompt, **CONTROLS.values_of(request)}


def bring_back(watching: WatchState, run: ShownRun) -> None:
    """Show a run of this session again, and set the controls to what asked for it."""
    asked = run.asked or first_asked()
    watching.form.change(*asked)
    _show_again(watching, run)
    set_widgets(widget_values(*asked))


def _show_again(watching: WatchState, run: ShownRun) -> None:
    """The recorded first run was not asked for: nothing runs until the visitor acts again."""
    watching.bring_back(run)
    watching.asked = run.asked
    watching.form.came.acted = run.asked is not None
    address.write_address(link_on_stage(watching, run) | address.view_in_link() | address.hidden_in_link())


def fill_in_trace(form: Form, trace: Trace) -> Asked | None:
    """Set the controls to the settings of a trace from a file; None, with nothing set, where they cannot."""
    request = request_of(trace)
    if request is None:
        return None
    asked = form.current = (request, preset_of(request))
    set_widgets(widget_values(*asked))
    return asked


def request_of(trace: Trace) -> RunRequest | None:
    """What would run this again here; None where the controls cannot ask for it."""
    if trace.imported or trace.drafter is None or not method_of(trace.drafter.kind).askable:
        return None
    if {trace.target.dtype, trace.drafter.dtype} - {"float32", None}:
        return None
    request = RunRequest(trace.prompt.text, trace.target.name, trace.drafter.asked_as, trace.settings)
    link = link_of(request)
    linked = request_from_link(link, address.models_in({name: [value] for name, value in link.items()}))
    return request if not linked.problems and linked.request == request else None


def request_run(form: Form, request: RunRequest) -> None:
    """Ask for a run as the visitor does; Undo brings back what was asked before."""
    asked = request, preset_of(request)
    form.change(*asked)
    form.came.acted = True
    set_widgets(widget_values(*asked))


def first_asked() -> Asked:
    """What the recorded first run was asked for; where it is missing, what a link without settings asks for."""
    trace = first_trace()
    request = request_of(trace) if trace else None
    return (request, preset_of(request)) if request else Form().current


def preset_of(request: RunRequest) -> str | None:
    """The name of the preset that the prompt is; None for the visitor's own text."""
    named = (preset.name for workload in ALL_WORKLOADS for preset in workload.prompts if preset.text == request.prompt)
    return next(named, None)


def _undo(watching: WatchState) -> None:
    """Back to what was asked for before, and to its run where that is the one before."""
    asked, before = watching.form.undo(), watching.before
    if asked is None:
        return
    if before and (before.asked or first_asked()) == asked:
        _show_again(watching, before)
    set_widgets(widget_values(*asked))


def _read(form: Form) -> None:
    state, form.problem = st.session_state, prompt_problem(st.session_state.prompt)
    asked = CONTROLS.request(state.prompt), None if state.preset == OWN_TEXT else state.preset
    changed = asked[0] != form.current[0]
    form.unusable = {key: state[key] for key in widget_values(*asked)} if form.problem else {}
    if changed and not form.problem:
        form.change(*asked)
    form.came.acted = form.came.acted or changed or form.again
