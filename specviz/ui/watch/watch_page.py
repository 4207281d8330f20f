"""The Watch page: the run on screen, and everything drawn from it."""

from functools import partial

import streamlit as st

from specviz.data.permalink import left_out_of_link, link_of
from specviz.models.catalogue import changed_weights
from specviz.player.payload import SentStage
from specviz.ui.session import Session
from specviz.ui.shared import address
from specviz.ui.shared.components import as_json
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import while_busy
from specviz.ui.shared.parts import notices
from specviz.ui.shared.stage import feed, news, sent_with, stage
from specviz.ui.watch.controls import FormInput, ask_draft_length, bring_back
from specviz.ui.watch.files import show_files, whose_run
from specviz.ui.watch.on_stage import link_on_stage, stage_payload, take_place, unknown_place, write_place
from specviz.ui.watch.outcome import show_outcome
from specviz.ui.watch.tried import show_tried
from specviz.ui.watch.watch_state import FIRST, Shown, Watching, first_run

POLL_RUN, POLL_COSTS = 0.5, 1.5  # seconds


def watch(watching: Watching, asked: FormInput) -> None:
    """Submit what was asked for, unless it runs already; nothing runs live before the visitor acts."""
    watching.shown = watching.shown or first_run()
    rest = address.view_in_link() | address.hidden_in_link()
    if asked.acted and not asked.problem and (asked.again or asked.request != watching.request):
        watching.submit(asked.request, asked.preset, fresh=asked.again)
        address.write_address(link_of(asked.request, watching.step, asked.preset) | rest)
    elif watching.shown and "target" not in address.address() and (asked.acted or watching.shown.run_id != FIRST):
        # another page was shown meanwhile, and the address lost what a reload needs
        address.write_address(link_on_stage(watching, watching.shown) | rest)
    watching.refused = asked.problem is not None
    own = None if asked.preset else left_out_of_link(asked.request.prompt)
    unknown = address.unknown_view(), address.unknown_hidden(), unknown_place()
    notices([*unknown, *watching.form.came.notes, asked.problem, own])


def _payload(watching: Watching) -> SentStage | None:
    return stage_payload(watching, st.session_state.gamma, address.view(), address.hidden())


def show_run(visit: Session) -> None:
    """Draw the run.

    Most runs are over within a second: the stage is drawn as soon as the first rounds are there, the script waits for
    the rest, and nothing polls. What lasts longer is polled, and a poll hands the stage only what is new.
    """
    watching, walk = visit.watch, visit.walk
    watching.wait_for_first_round()
    watching.refresh()
    above = st.container()
    # Each moment of a lesson has a stage of its own, which begins at the moment's step.
    _draw_stage(watching, f"stage-{walk.times}" if walk and walk.here else "stage")
    watching.wait_for_end()
    watching.refresh()
    with above:
        notices([None if watching.refused else watching.message, watching.file_problem], "error")
        notices([watching.run.message if watching.run.state == "lost" else None, whose_run(watching)], "info")
    _follow(watching)
    if (shown := watching.shown) and address.view() == "full":
        with st.container(key="outcome"):
            show_outcome(watching, shown, running=watching.run.busy and not watching.shows_previous_run)
            if not address.is_hidden("files"):
                show_files(watching, shown, link_on_stage(watching, shown))
            for change in changed_weights(shown.trace):
                st.caption(plain(change))


@st.fragment
def _draw_stage(watching: Watching, key: str) -> None:
    if watching.form.slider_released:
        watching.form.slider_released = False
        st.rerun()  # the draft length is the page's business, not the stage's alone
    if watching.tour.left:
        watching.tour.left = False
        st.rerun()  # the button says where the tour goes on
    write_place(watching.tour)
    payload = _payload(watching)
    if payload is None:
        st.info(plain(watching.notice or "Change a setting, or press Run again, to see the first run."))
        return
    watching.feed.sent, watching.feed.last = sent_with(payload), None
    with st.container(key="run"):
        ask, tour = partial(ask_draft_length, watching.form), partial(take_place, watching.tour)
        step = stage(payload, key=key, on_draft_length=ask, on_tour=tour)
    watching.step = watching.step if step is None else step


def _follow(watching: Watching) -> None:
    """Hand the stage what is new, now and while something is under way; after it the page is drawn once more."""
    job = watching.run if watching.run.busy else watching.costs.slot
    if job.busy:
        every = POLL_RUN if job is watching.run else POLL_COSTS
        while_busy(lambda: job.busy, lambda: _feed(watching), watching.refresh, every=every)
    else:
        _feed(watching)


def _feed(watching: Watching) -> None:
    """Streamlit drops what one look drew if the next begins before it was sent. So each look sends again what is not
    known to have come, and the first one after a drawing says what the stage must have by now.
    """
    payload, sent = _payload(watching), watching.feed.sent
    if payload and (watching.feed.last is None or sent != sent_with(payload)):
        watching.feed.last, watching.feed.sent = as_json(news(payload, sent)), sent_with(payload)
    if watching.feed.last:
        feed(watching.feed.last)


def show_list(watching: Watching) -> None:
    """What was tried, in a box over the page, until the visitor closes it or chooses a run."""

    def close() -> None:
        watching.listed = False

    def choose(run: Shown) -> None:
        close()
        bring_back(watching, run)

    if watching.listed:
        box = st.dialog("What you tried", width="large", on_dismiss=close)
        box(lambda: show_tried(watching, address.page_address(""), choose))()
