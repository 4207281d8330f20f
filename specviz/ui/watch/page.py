"""The Watch page: the run on screen, and everything drawn from it."""

import streamlit as st

from specviz.data.permalink import left_out_of_link, link_of
from specviz.models.catalogue import changed_weights
from specviz.ui.session import session
from specviz.ui.shared.address import address, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.hiding import hidden, hidden_in_link, is_hidden, unknown_hidden
from specviz.ui.shared.notices import notices
from specviz.ui.shared.polling import while_busy
from specviz.ui.shared.view import unknown_view, view, view_in_link
from specviz.ui.stage.component import feed, stage
from specviz.ui.stage.growth import news, sent_with
from specviz.ui.watch.controls import FormInput, ask_draft_length
from specviz.ui.watch.files import show_files
from specviz.ui.watch.opening import whose_run
from specviz.ui.watch.outcome import show_outcome, show_result_line, show_verdict
from specviz.ui.watch.payload import link_on_stage, stage_payload
from specviz.ui.watch.state import FIRST, Shown, Watching, first_run
from specviz.ui.watch.tour import take_place, unknown_place, write_place

POLL_RUN, POLL_COSTS = 0.5, 1.5  # seconds


def watch(asked: FormInput) -> Watching:
    """Submit what was asked for, unless it runs already; nothing runs live before the visitor acts."""
    watching = session().watch
    watching.shown = watching.shown or first_run()
    if asked.acted and not asked.problem and (asked.again or asked.request != watching.request):
        watching.submit(asked.request, asked.preset, fresh=asked.again)
        write_address(link_of(asked.request, watching.step, asked.preset) | view_in_link() | hidden_in_link())
    elif watching.shown and "target" not in address() and (asked.acted or watching.shown.run_id != FIRST):
        # another page was shown meanwhile, and the address lost what a reload needs
        write_address(link_on_stage(watching, watching.shown) | view_in_link() | hidden_in_link())
    watching.refused = asked.problem is not None
    own = None if asked.preset else left_out_of_link(asked.request.prompt)
    notices([unknown_view(), unknown_hidden(), unknown_place(), *watching.form.notes, asked.problem, own])
    return watching


def show_run(watching: Watching) -> None:
    """Draw the run.

    Most runs are over within a second: the stage is drawn as soon as the first rounds are there, the script waits for
    the rest, and nothing polls. What lasts longer is polled, and a poll hands the stage only what is new.
    """
    watching.wait_for_first_round()
    watching.refresh()
    above = st.container()
    _draw_stage(watching)
    watching.wait_for_end()
    watching.refresh()
    with above:
        notices([watching.message, watching.file_problem], "error")
        notices([watching.run.message if watching.run.state == "lost" else None, whose_run(watching)], "info")
    _follow(watching)
    if watching.shown and view() != "stage":
        with st.container(key="outcome"):
            _draw_outcome(watching, watching.shown) if view() == "full" else _draw_result(watching, watching.shown)


@st.fragment
def _draw_stage(watching: Watching) -> None:
    """The stage, whole. Its reports run only this again."""
    if watching.form.slider_released:
        watching.form.slider_released = False
        st.rerun()  # the draft length is the page's business, not the stage's alone
    if watching.tour.left:
        watching.tour.left = False
        st.rerun()  # the button says where the tour goes on
    write_place(watching.tour)
    payload = stage_payload(watching, st.session_state.gamma, view(), hidden())
    if payload is None:
        st.info(plain(watching.notice or "Change a setting, or press Run again, to see the first run."))
        return
    watching.sent = sent_with(payload)
    with st.container(key="run"):
        step = stage(payload, key=_key_of_stage(), on_draft_length=ask_draft_length, on_tour=take_place)
    watching.step = watching.step if step is None else step


def _key_of_stage() -> str:
    """Each moment of a lesson has a stage of its own, which begins at the moment's step."""
    walk = session().walk
    return f"stage-{walk.times}" if walk and walk.here else "stage"


def _follow(watching: Watching) -> None:
    """Hand the stage what is new, now and while something is under way; after it the page is drawn once more."""
    job = watching.run if watching.run.busy else watching.costing
    if job.busy:
        every = POLL_RUN if job is watching.run else POLL_COSTS
        while_busy(lambda: job.busy, lambda: _feed(watching), watching.refresh, every=every)
    else:
        _feed(watching)


def _feed(watching: Watching) -> None:
    payload = stage_payload(watching, st.session_state.gamma, view(), hidden())
    if payload and (new := news(payload, watching.sent)):  # without, nothing is drawn: that costs least
        feed(new)
        watching.sent = sent_with(payload)


def _draw_result(watching: Watching, shown: Shown) -> None:
    """One line of result; for a room, without the reason."""
    running, stale = _state(watching)
    if is_hidden("result"):
        return
    show = show_result_line if view() == "projector" else show_verdict
    show(shown.trace, shown.source, watching.shown_costs, waiting=running, stale=stale)


def _state(watching: Watching) -> tuple[bool, bool]:
    """Whether the run on screen still goes on, and whether it is another one than what was asked for."""
    running = watching.run.busy and not watching.shows_previous_run
    return running, watching.refused or bool(watching.message) or watching.shows_previous_run


def _draw_outcome(watching: Watching, shown: Shown) -> None:
    running, stale = _state(watching)
    show_outcome(watching, shown, running=running, stale=stale)
    if not is_hidden("files"):
        show_files(shown, watching.shown_costs, link_on_stage(watching, shown))
    for change in changed_weights(shown.trace):
        st.caption(plain(change))
