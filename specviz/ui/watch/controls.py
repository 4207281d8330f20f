"""The controls of a run: widgets in, a RunRequest out, with an undo."""

from functools import partial
from typing import Any

import streamlit as st

from specviz.core.drafters import method_of
from specviz.core.request import RunRequest, prompt_problem
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.data.lessons.recorded_runs import linked_trace
from specviz.data.links.page_link import Params
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.measured.first_run import first_trace
from specviz.data.texts import join_choices, page_texts
from specviz.models.draft_menu import explain_refusal, is_allowed, is_offered
from specviz.ui.shared import address
from specviz.ui.shared.engine import engine
from specviz.ui.shared.form import Form, RunControls, pair_menu
from specviz.ui.shared.parts import button, headline
from specviz.ui.watch.on_stage import asked_place, link_on_stage
from specviz.ui.watch.watch_state import FIRST, Changes, ShownRun, WatchState, recorded_run

SAYS = page_texts("watch")
FORM = Form("watch", RunLink(), prefix="", writes=False)
CONTROLS = FORM.controls
MORE = (("top_k", "top_p", "tree", "draft_sampling", "verification", "draft_schedule"), ("max_new_tokens", "seed"))
# each group of controls: its width, and the names under which links hide its parts
COLUMNS: dict[str, tuple[float, set[str]]] = {
    "prompt": (2.3, {"prompt"}),
    "target": (1.8, {"target", "run"}),
    "draft": (2.1, {"draft", "run"}),  # the longest name is whole
    "sliders": (2.2, {"temperature", "pairs", "more"}),
}
# What a newcomer changes: the prompt and the two models; the draft length is on the stage.
FIRST_COLUMNS = {"prompt": (2.2, {"prompt"}), "target": (1, {"target"}), "draft": (1, {"draft"})}


def controls(watching: WatchState) -> None:
    """Draw a column for each group of controls that view and link show, and read all controls."""
    _open(watching)
    draw, columns = {"prompt": CONTROLS.prompt, "target": CONTROLS.target, "draft": CONTROLS.draft}, COLUMNS
    if address.view() != "full":
        run_own = partial(setattr, FORM.came, "acted", True)  # the text on screen needs no second run
        models = {"target": partial(CONTROLS.target, short=True), "draft": partial(CONTROLS.draft, short=True)}
        draw = {"prompt": partial(CONTROLS.prompt_line, run_own), **models}
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


def run_again_button(form: Changes, **look: Any) -> None:
    button(SAYS["run_again"], "again", setattr, form, "again", True, shortcut="Ctrl+Enter", **look)


def request_draft_length(watching: WatchState, length: int) -> None:
    CONTROLS.set_draft_length(length)
    watching.redraw = True


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
    wanted = (FORM.asked.target, FORM.asked.draft)
    for run in reversed(watching.past.finished):
        drafter = run.trace.drafter
        if drafter and (run.trace.target.name, drafter.asked_as) == wanted:
            verdict = verdict_of_run(run.trace, watching.costs.of(wanted))
            return headline(verdict) if verdict else None
    return None


def _open(watching: WatchState) -> None:
    """Take what the link asks for, once; what it opens or starts is decided there too."""

    def read(given: Params) -> tuple[RunLink, list[str]]:
        if at := asked_place():
            watching.tour.begin(at)
            given = {}  # the tour has a run of its own
        link, notes = RunLink.read(given, context=models)
        asked, named = link.request(), given.keys() & set(link.linked().values()) - {"step"}
        if named <= {"run"} and link.run in (None, FIRST):
            asked = first_asked()
        # An older link to the first run has its settings too; where another run was recorded since, it runs those.
        acts = bool(named) and (link.run != FIRST or asked != first_asked())
        if strangers := [name for name in dict.fromkeys([link.target, link.draft]) if not is_offered(name)]:
            acts = False  # a link alone loads nothing that is in no menu
            refused = [explain_refusal(name) for name in strangers if not is_allowed(name)]
            notes += refused or [SAYS["unknown_models"].format(names=join_choices(strangers, "and"))]
        watching.step = link.step
        if link.run not in (None, FIRST):
            if recorded := linked_trace(link.run):
                watching.shown, acts = recorded_run(recorded, link.run, link.run), False
                asked = request_of(recorded) or asked
            elif stored := engine().store.get(link.run):
                asked = stored.request
                watching.open_stored(stored)
            else:
                notes.append(SAYS["gone"])
        watching.form.current, FORM.came.acted = asked, acts
        return RunLink.of(asked), notes

    models = address.models_in(address.address())
    FORM.open(read)


def show_recorded(watching: WatchState, name: str) -> None:
    """Play a recorded run, and set the controls to what asks for it, where this server can run that."""
    trace = linked_trace(name)
    assert trace is not None, name
    if request := request_of(trace):
        change(watching.form, request)
    else:
        FORM.came.notes = [SAYS["not_here"].format(model=trace.target.name)]
    FORM.came.acted, watching.asked = False, None
    watching.open_recorded(recorded_run(trace, name, name))
    write_link(watching)


def change(form: Changes, request: RunRequest) -> None:
    """Ask for something else than the controls say; Undo brings that back."""
    form.change(request)
    FORM.take(RunLink.of(request))


def bring_back(watching: WatchState, run: ShownRun) -> None:
    """Show a run of this session again, and set the controls to what asked for it."""
    change(watching.form, run.asked or first_asked())
    _show_again(watching, run)


def _show_again(watching: WatchState, run: ShownRun) -> None:
    """The recorded first run was not asked for: nothing runs until the visitor acts again."""
    watching.bring_back(run)
    watching.asked = run.asked
    FORM.came.acted = run.asked is not None
    write_link(watching)


def write_link(watching: WatchState) -> None:
    """The address says what reproduces the run on screen, and how much of it is shown."""
    address.write_address(link_on_stage(watching) | address.view_in_link())


def fill_in_trace(form: Changes, trace: Trace) -> RunRequest | None:
    """Set the controls to the settings of a trace from a file; None, with nothing set, where they cannot."""
    if request := request_of(trace):
        change(form, request)
    return request


def request_of(trace: Trace) -> RunRequest | None:
    """What would run this again here, as the controls hold it; None where they cannot ask for it."""
    if trace.imported or trace.drafter is None or not method_of(trace.drafter.kind).askable:
        return None
    if {trace.target.dtype, trace.drafter.dtype} - {"float32", None}:
        return None
    request = RunRequest(trace.prompt.text, trace.target.name, trace.drafter.asked_as, trace.settings)
    link = link_of(request)
    models = address.models_in({name: [value] for name, value in link.items()})
    linked, problems = RunLink.read(link, context=models)
    return linked.fitted().request() if not problems and linked.request() == request else None


def first_asked() -> RunRequest:
    """What the recorded first run was asked for; where its models are not, what a link without settings asks for."""
    return request_of(first_trace()) or FORM.start.request()


def _undo(watching: WatchState) -> None:
    """Back to what was asked for before, and to its run where that is the one before."""
    asked, before = watching.form.undo(), watching.before
    if asked is None:
        return
    if before and (before.asked or first_asked()) == asked:
        _show_again(watching, before)
    FORM.take(RunLink.of(asked))


def _read(form: Changes) -> None:
    request = FORM.read().request()
    form.problem = prompt_problem(request.prompt)
    if request != form.current and not form.problem:
        form.change(request)
    FORM.came.acted = FORM.came.acted or form.again
