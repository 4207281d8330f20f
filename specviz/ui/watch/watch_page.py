"""The Watch page: the run on screen, and everything drawn from it."""

from functools import partial

import streamlit as st

from specviz.core.metrics import Costs
from specviz.core.trace import Trace
from specviz.data.lessons.glossary import explained
from specviz.data.links.page_link import explain_left_out
from specviz.data.links.permalink import link_of
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.data.texts import page_texts
from specviz.figures.parts import BLUE, GREY, Figure, axis, figure, level, scatter
from specviz.models.catalogue import changed_weights
from specviz.player.payload import SentStage
from specviz.ui.session import Session
from specviz.ui.shared import address
from specviz.ui.shared.components import to_json
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.job_slot import draw_progress, waiting_line, while_busy
from specviz.ui.shared.parts import notices, offer_download, two_texts
from specviz.ui.shared.stage import feed, news, sent_with, stage
from specviz.ui.watch.controls import FORM, bring_back, request_draft_length
from specviz.ui.watch.files import describe_run, show_files
from specviz.ui.watch.on_stage import link_on_stage, move_tour, stage_payload, unknown_place, write_place
from specviz.ui.watch.tried import show_tried
from specviz.ui.watch.watch_state import FIRST, ShownRun, WatchState, first_run, pair_key

SAYS = page_texts("watch")
POLL_RUN, POLL_COSTS = 0.5, 1.5  # seconds


def watch(watching: WatchState) -> None:
    """Submit what is asked for, unless it runs already; nothing runs live before the visitor acts."""
    watching.shown = watching.shown or first_run()
    form, request, again, came = watching.form, watching.form.current, watching.form.again, FORM.came
    form.again = False
    rest = address.view_in_link() | address.hidden_in_link()
    if came.acted and not form.problem and (again or request != watching.asked):
        watching.submit(request, fresh=again)
        address.write_address(link_of(request, watching.step) | rest)
    elif watching.shown and "target" not in address.address() and (came.acted or watching.shown.run_id != FIRST):
        # another page was shown meanwhile, and the address lost what a reload needs
        address.write_address(link_on_stage(watching, watching.shown) | rest)
    own = explain_left_out(FORM.asked.prompt) if FORM.asked.preset == OWN_TEXT else None
    notices([*address.unknown(), unknown_place(), *came.notes, form.problem, own])


def _payload(watching: WatchState) -> SentStage | None:
    return stage_payload(watching, FORM.asked.request().settings.draft_length, address.view(), address.hidden())


def show_run(visit: Session) -> None:
    """Draw the stage once the first rounds are there: most runs are over within a second. So the script waits for the
    rest, and nothing polls; what lasts longer is polled, and a poll hands the stage only what is new.
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
        notices([None if watching.form.problem else watching.message, watching.file_problem], "error")
        notices([watching.run.message if watching.run.state == "lost" else None, describe_run(watching)], "info")
        offer_download(watching.run)
        bar = partial(draw_progress, watching.run, lambda view: waiting_line(view) or "")
        while_busy(lambda: watching.run.downloading, bar, watching.refresh)
    if not watching.run.downloading:
        _follow(watching)
    if (shown := watching.shown) and address.view() == "full":
        with st.container(key="outcome"):
            show_outcome(watching, shown)
            if not address.is_hidden("files"):
                show_files(watching, shown, link_on_stage(watching, shown))
            for change in changed_weights(shown.trace):
                st.caption(plain(change))


@st.fragment
def _draw_stage(watching: WatchState, key: str) -> None:
    if watching.form.slider_released:
        watching.form.slider_released = False
        st.rerun()  # the draft length is the page's business, not the stage's alone
    if watching.tour.left:
        watching.tour.left = False
        st.rerun()  # the button says where the tour goes on
    write_place(watching.tour)
    payload = _payload(watching)
    if payload is None:
        st.info(plain(watching.notice or SAYS["no_run"]))
        return
    watching.feed.sent, watching.feed.last = sent_with(payload), None
    with st.container(key="run"):
        ask, tour = partial(request_draft_length, watching.form), partial(move_tour, watching.tour)
        step = stage(payload, key=key, on_draft_length=ask, on_tour=tour)
    watching.step = watching.step if step is None else step


def _follow(watching: WatchState) -> None:
    """Hand the stage what is new, now and while something is under way; after it the page is drawn once more."""
    job = watching.run if watching.run.busy else watching.costs.slot
    if job.busy:
        every = POLL_RUN if job is watching.run else POLL_COSTS
        while_busy(lambda: job.busy, lambda: _feed(watching), watching.refresh, every=every)
    else:
        _feed(watching)


def _feed(watching: WatchState) -> None:
    """Streamlit drops what one look drew if the next begins before it was sent. So each look sends again what is not
    known to have come, and the first one after a drawing says what the stage must have by now.
    """
    payload, sent = _payload(watching), watching.feed.sent
    if payload and (watching.feed.last is None or sent != sent_with(payload)):
        watching.feed.last, watching.feed.sent = to_json(news(payload, sent)), sent_with(payload)
    if watching.feed.last:
        feed(watching.feed.last)


def show_list(watching: WatchState) -> None:
    """What was tried, in a box over the page, until the visitor closes it or chooses a run."""

    def close() -> None:
        watching.listed = False

    def choose(run: ShownRun) -> None:
        close()
        bring_back(watching, run)

    if watching.listed:
        box = st.dialog(SAYS["tried_title"], width="large", on_dismiss=close)
        box(lambda: show_tried(watching, address.page_address(""), choose))()


def verification_figure(costs: Costs) -> Figure:
    """v(k), the target's time for k tokens at once in single-token steps, beside free and one-by-one checking."""
    lengths = sorted(costs.verification)
    measured = [costs.verification[k] for k in lengths]
    one_by_one = scatter(SAYS["check_one_by_one"], lengths, lengths, mode="lines", line={"dash": "dash", "color": GREY})
    line = {"color": BLUE, "width": 2}
    here = scatter(SAYS["measured_here"], lengths, measured, SAYS["check_hover"], line=line)
    x = axis(SAYS["check_tokens"], dtick=2 if lengths[-1] <= 20 else 8)
    y = axis(SAYS["check_steps"], range=[0, max(3.0, 1.2 * max(measured))])
    return figure([one_by_one, here], 300, x=x, y=y, **level(1, SAYS["check_free"]))


def show_outcome(watching: WatchState, shown: ShownRun) -> None:
    """What a run's figures say that the stage does not: both texts, and what its costs are."""
    request, running = watching.asked, watching.run.busy and not watching.shows_previous_run
    with st.container():  # one place on the page, whatever it holds: what is below stays open
        if not address.is_hidden("texts"):
            _show_outputs(shown.trace, shown.plain_text, waiting=running)
            _show_template(shown.trace)
        if not address.is_hidden("costs") and not shown.trace.imported:  # its pair can never be measured here
            _show_costs(watching.shown_costs, watching.costs.notes.get(pair_key(request), "") if request else "")


def _show_outputs(trace: Trace, plain_text: str | None, *, waiting: bool) -> None:
    st.markdown(SAYS["the_text"])
    if trace.imported and trace.autoregressive is None:
        st.text(trace.output.text)
        return
    if plain_text is None and (waiting or not trace.output.stopped_by):
        plain_text = "…"
    elif trace.autoregressive is None:
        plain_text = SAYS["text_unknown"]
    two_texts(trace.output.text, SAYS["only_ids"] if plain_text is None else plain_text)


def _show_template(trace: Trace) -> None:
    """The prompt of a chat as the model read it, with the marks around each message."""
    if trace.settings.prompt_format == "chat":
        tokens = trace.prompt.tokens
        with st.expander(SAYS["read"].format(count=len(tokens))):
            st.code("".join(tokens), language=None, wrap_lines=True)


def _show_costs(costs: Costs | None, note: str) -> None:
    st.markdown(SAYS["costs"])
    if costs is None:
        st.caption(SAYS["no_costs"])
        return
    chart(verification_figure(costs), "verification")
    step, check = 1000 * costs.step_seconds, costs.verification.get(5, 1.0)
    said = SAYS["costs_here"].format(step=step, draft=costs.cost_ratio, check=check, overhead=costs.overhead)
    st.caption(f"{explained(said, 'costs')} {plain(note)}", unsafe_allow_html=True)
