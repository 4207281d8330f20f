"""The controls of a run: widgets in, a RunRequest out, with an undo."""

from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.core.prompts import prompt_problem
from specviz.core.request import RunRequest
from specviz.core.trace import NAMED, Trace
from specviz.core.verdict import verdict_of_run
from specviz.data.first_run import first_trace
from specviz.data.lessons.recorded_runs import linked_trace
from specviz.data.permalink import link_of, request_from_link
from specviz.data.workloads import WORKLOADS
from specviz.models.draft_menu import is_offered
from specviz.ui.session import session
from specviz.ui.shared.address import address, models_in
from specviz.ui.shared.engine import engine
from specviz.ui.shared.heading import heading
from specviz.ui.shared.hiding import hidden, is_hidden, show_hidden
from specviz.ui.shared.pair_menu import pair_menu
from specviz.ui.shared.persistent_widgets import restore_widgets, set_widgets
from specviz.ui.shared.run_controls import OWN_TEXT, RunControls
from specviz.ui.shared.verdict import headline
from specviz.ui.shared.view import TOUR, choose, present, remember_choice, stop_presenting, view, view_in_link
from specviz.ui.watch.state import FIRST, Asked, Form, first_run, recorded_run
from specviz.ui.watch.task_link import task_link
from specviz.ui.watch.tour import asked_place, button_label, first_tour

CONTROLS = RunControls()
# each group of controls: its width, and the names under which links hide its parts
COLUMNS = {
    "prompt": (3, {"prompt"}),
    "target": (1.5, {"target", "run"}),
    "draft": (1.5, {"draft", "run"}),
    "sliders": (2.4, {"temperature", "pairs", "more"}),
}
PRESENT = "This run, large enough for a room: only the tokens, the playback and one line of result."
GONE = "This server no longer has the run of this link, so its settings run again here, with times of their own."


@dataclass(frozen=True, slots=True)
class FormInput:
    """What the visitor asks for in this run of the script."""

    request: RunRequest
    preset: str | None
    problem: str | None  # why the request cannot be run
    acted: bool  # the visitor changed something or opened a link: from now on runs are live
    again: bool  # run the same again


def lead() -> None:
    """One sentence that says what is on screen."""
    with st.container(key="lead"):
        heading(
            "A **small model drafts** a few tokens. The **big model checks them all in one pass**, accepts the right "
            "start and corrects the first mistake."
        )


def controls() -> FormInput:
    """Draw the controls that the view shows, and read all of them."""
    _take_link_once()
    return _all_controls() if view() == "full" else _read(again=False)


def _all_controls() -> FormInput:
    pressed = False
    with st.container(key="controls"):
        places = _columns()
        for name, place in places.items():
            with place:
                pressed = _draw_column(name) or pressed
        asked = _read(pressed)
        if "draft" in places and not is_hidden("run"):
            with places["draft"]:  # after reading: this very change can be undone
                nothing = not session().watch.form.past
                st.button("Undo", key="undo", icon=":material/undo:", on_click=_undo, disabled=nothing, width="stretch")
    return asked


def _columns() -> dict[str, DeltaGenerator]:
    """A place for each group of controls, without those that the link hides."""
    widths = {name: width for name, (width, controls) in COLUMNS.items() if not hidden() >= controls}
    return dict(zip(widths, st.columns([*widths.values()], gap="medium"), strict=True)) if widths else {}


def _draw_column(name: str) -> bool:
    """The controls of a group. Returns whether "Run again" was pressed."""
    if name == "sliders":
        _slider_controls()
    elif not is_hidden(name):
        {"prompt": CONTROLS.prompt, "target": CONTROLS.target, "draft": CONTROLS.draft}[name]()
    if name != "target" or is_hidden("run"):
        return False
    return st.button("Run again", key="again", shortcut="Ctrl+Enter", width="stretch")


def view_choice() -> None:
    """Buttons that show more or less, and for a newcomer the tour; none in the frame of another page."""
    if view() == "stage" or is_hidden("views"):
        return
    walked = session().walk is not None  # its bar has the way out
    with st.container(key="view_choice", horizontal=True):
        if view() == "projector" and walked:
            pass
        elif view() == "projector":
            st.button("Leave the projector view", key="leave", icon=":material/close:", on_click=stop_presenting)
        elif view() == "full":
            st.button("Show less", key="change_view", icon=":material/unfold_less:", on_click=choose, args=("simple",))
            st.button("Projector", key="present", icon=":material/present_to_all:", on_click=present, help=PRESENT)
            task_link()
        else:
            _tour_button()
            more = ":material/unfold_more:"
            st.button("Show everything", key="change_view", icon=more, on_click=choose, args=("full",))
        if hidden() and not walked:
            st.button("Show hidden controls", key="show_hidden", icon=":material/visibility:", on_click=show_hidden)
    remember_choice()


def _tour_button() -> None:
    if first_tour():
        place = session().watch.tour
        kind: Literal["primary", "secondary"] = "secondary" if place.open else "primary"
        st.button(button_label(place), key="tour", icon=":material/school:", type=kind, on_click=_begin_tour)


def _begin_tour() -> None:
    """Open the tour on the recorded first run, with the settings of that run; Undo brings the visitor's own back."""
    watching, default = session().watch, first_asked()
    at = 1 if watching.tour.open else watching.tour.at or 1
    form = watching.form
    if form.current != default:
        form.change(*default)
    form.acted, form.notes, watching.request = False, [], None
    set_widgets(_values(*default))
    if shown := first_run():
        watching.open_recorded(shown)
    watching.tour.begin(at)
    st.query_params.from_dict({TOUR: str(at)} | view_in_link())


def ask_draft_length(length: int) -> None:
    """Take the draft length from the stage: its slider is the only one on the page."""
    CONTROLS.set_draft_length(length)
    session().watch.form.slider_released = True


def _slider_controls() -> None:
    if not is_hidden("temperature"):
        CONTROLS.temperature()
    left, right = st.columns(2, gap="medium")
    if not is_hidden("pairs"):
        with left.popover("Pairs", icon=":material/join:", width="stretch"):
            pair_menu(_measured_here())
    if not is_hidden("more"):
        with right.popover("More", icon=":material/tune:", width="stretch"):
            _more_settings(RunControls(popover=True))


def _more_settings(more: RunControls) -> None:
    more.top_k()
    more.top_p()
    more.tree()
    more.draft_sampling()
    more.verification()
    more.schedule()
    more.tokens()
    more.seed()
    more.precision()


def _measured_here() -> str | None:
    """The verdict on this session's last run of the pair that the menus show."""
    watching, wanted = session().watch, (st.session_state.target, st.session_state.draft)
    for run in reversed(watching.finished):
        drafter = run.trace.drafter
        if drafter and (run.trace.target.name, drafter.asked_as) == wanted:
            verdict = verdict_of_run(run.trace, watching.costs.get((*wanted, st.session_state.precision)))
            return headline(verdict) if verdict else None
    return None


def _take_link_once() -> None:
    watching = session().watch
    form = watching.form
    if not form.link_read:
        at = asked_place()
        given = {} if at else address()  # the tour has a run of its own
        if at:
            watching.tour.begin(at)
        linked = request_from_link(given, models_in(given))
        form.current, form.notes, watching.step = (linked.request, linked.preset), linked.problems, linked.step
        asked = given.keys() & {*link_of(linked.request, preset=linked.preset), "prompt", "run"}
        if asked <= {"run", "step"} and linked.run in (None, FIRST):
            form.current = first_asked()
        # An older link to the first run has its settings too; where another run was recorded since, it runs those.
        form.acted = bool(asked) and (linked.run != FIRST or form.current != first_asked())
        if strangers := _strangers(linked.request):
            form.acted = False  # a link alone starts no download
            form.notes.append(f"The link names {' and '.join(strangers)}: press Run again to load it.")
        form.link_read = True
        if linked.run not in (None, FIRST):
            _open_run(linked.run)
    restore_widgets(_values(*form.current))


def _strangers(request: RunRequest) -> list[str]:
    """The models that are in no menu."""
    return [name for name in dict.fromkeys([request.target, request.draft]) if not is_offered(name)]


def _open_run(run_id: str) -> None:
    """Show the one run that the link names, with its settings; where it is gone, the link's settings run again."""
    watching = session().watch
    form = watching.form
    if recorded := linked_trace(run_id):
        watching.shown, form.acted = recorded_run(recorded, run_id, run_id), False
        request = request_of(recorded)
        form.current = (request, _preset_of(request)) if request else form.current
    elif stored := engine().stored_run(run_id):
        form.current = (stored.request, _preset_of(stored.request))
        watching.open_stored(stored, form.current[1])
    else:
        form.notes.append(GONE)


def _values(request: RunRequest, preset: str | None) -> dict[str, object]:
    """What the widgets must hold to ask for this."""
    return {"preset": preset or OWN_TEXT, "prompt": request.prompt, **CONTROLS.values_of(request)}


def fill_in_trace(trace: Trace) -> Asked | None:
    """Set the controls to the settings of a trace from a file; None, with nothing set, where they cannot."""
    request = request_of(trace)
    if request is None:
        return None
    asked = session().watch.form.current = (request, _preset_of(request))
    set_widgets(_values(*asked))
    return asked


def request_of(trace: Trace) -> RunRequest | None:
    """What would run this again here; None where the controls cannot ask for it."""
    if trace.imported or trace.drafter is None or trace.drafter.kind not in (*NAMED, "prompt-lookup"):
        return None
    exact = trace.target.dtype == "float32" and trace.drafter.dtype in (None, "float32")
    draft = trace.drafter.asked_as
    request = RunRequest(trace.prompt.text, trace.target.name, draft, "exact" if exact else "fast", trace.settings)
    link = link_of(request)
    linked = request_from_link(link, models_in({name: [value] for name, value in link.items()}))
    return request if not linked.problems and linked.request == request else None


def first_asked() -> Asked:
    """What the recorded first run was asked for; where it is missing, what a link without settings asks for."""
    trace = first_trace()
    request = request_of(trace) if trace else None
    return (request, _preset_of(request)) if request else Form().current


def _preset_of(request: RunRequest) -> str | None:
    """The name of the preset that the prompt is; None for the visitor's own text."""
    named = (preset.name for workload in WORKLOADS for preset in workload.prompts if preset.text == request.prompt)
    return next(named, None)


def _undo() -> None:
    if asked := session().watch.form.undo():
        set_widgets(_values(*asked))


def _read(again: bool) -> FormInput:
    state, form = st.session_state, session().watch.form
    problem = prompt_problem(state.prompt)
    preset = None if state.preset == OWN_TEXT else state.preset
    request = CONTROLS.request(state.prompt)
    changed = request != form.current[0]
    if changed and not problem:
        form.change(request, preset)
    form.acted = form.acted or changed or again
    return FormInput(request, preset, problem, form.acted, again)
