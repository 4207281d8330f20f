"""The Watch page: the run on screen, everything drawn from it, and the buttons, the task link and the chats below."""

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from specviz.core.conversation import read_messages, write_messages
from specviz.core.metrics import Costs
from specviz.core.names import machine_in_words
from specviz.core.request import MAX_PROMPT_CHARACTERS
from specviz.core.trace import Trace
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.recorded_runs import CHAT_RUNS, story_trace
from specviz.data.links.hidden import PARAMETER, hidden_texts, written
from specviz.data.links.page_link import explain_left_out
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.data.texts import page_texts
from specviz.figures.parts import BLUE, GREY, Figure, axis, figure, level, scatter
from specviz.models.catalogue import changed_weights
from specviz.models.draft_menu import is_allowed
from specviz.player.payload import SentStage
from specviz.ui.session import Session, session
from specviz.ui.shared import address
from specviz.ui.shared.components import remember, to_json
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import draw_progress, waiting_line, while_busy
from specviz.ui.shared.parts import Options, button, chart, heading, notices, offer_download, two_texts
from specviz.ui.shared.stage import feed, news, sent_with, stage
from specviz.ui.watch import controls, on_stage
from specviz.ui.watch.files import describe_run, show_files
from specviz.ui.watch.tried import keep_list, show_tried
from specviz.ui.watch.watch_state import FIRST, ShownRun, WatchState, first_run, pair_key

SAYS = page_texts("watch")
POLL_RUN, POLL_COSTS = 0.5, 1.5  # seconds


def watch() -> None:
    # Places of their own for what not every view has: the stage keeps its place among them, and with it its playhead.
    with st.container():
        address.apply_view()
    with st.container(key="lead"):
        heading(SAYS["heading"])
    visit = session()
    watching = visit.of(WatchState)
    with st.container():
        controls.controls(watching)
    submit(watching)
    run = st.container(key="run_place", gap=None)  # its room is there before it
    view_choice(visit)  # drawn before the run, for which the script waits: the buttons below it stay as they are
    with run:
        show_run(visit)
    reply_field(watching)
    show_list(watching)
    keep_list(watching)


def submit(watching: WatchState) -> None:
    """Submit what is asked for, unless it runs already; nothing runs live before the visitor acts."""
    form, request, again, came = watching.form, watching.form.current, watching.form.again, controls.FORM.came
    form.again = False
    if came.acted and not form.problem and (again or request != watching.asked):
        watching.submit(request, fresh=again)
        address.write_address(link_of(request, watching.step) | address.view_in_link())
    elif "target" not in address.address() and (came.acted or watching.shown.run_id != FIRST):
        # another page was shown meanwhile, and the address lost what a reload needs
        controls.write_link(watching)
    own = explain_left_out(controls.FORM.asked.prompt) if controls.FORM.asked.preset == OWN_TEXT else None
    notices([*address.unknown(), on_stage.unknown_place(), *came.notes, form.problem, own])


def _payload(watching: WatchState) -> SentStage:
    length = controls.FORM.asked.request().settings.draft_length
    return on_stage.stage_payload(watching, length, address.view(), address.hidden())


def show_run(visit: Session) -> None:
    """Draw the stage once the first rounds are there: most runs are over within a second. So the script waits for the
    rest, and nothing polls; what lasts longer is polled, and a poll hands the stage only what is new.
    """
    watching, walk = visit.of(WatchState), visit.walk
    watching.wait_for_first_round()
    watching.refresh()
    above = st.container()
    # Each moment of a lesson has a stage of its own, which begins at the moment's step.
    _draw_stage(watching, f"stage-{walk.times}" if walk and walk.here else "stage")
    watching.wait_for_end()
    watching.refresh()
    with above:
        notices([None if watching.form.problem else watching.message, watching.file_problem], "error")
        seen = watching.run.view
        notices([seen.message if seen.state == "lost" else None, describe_run(watching)], "info")
        offer_download(watching.run)
        bar = partial(draw_progress, watching.run, lambda view: waiting_line(view) or "")
        while_busy(lambda: watching.run.downloading, bar, watching.refresh)
    if not watching.run.downloading:
        _follow(watching)
    if address.view() == "full":
        with st.container(key="outcome"):
            show_outcome(watching)
            if not address.is_hidden("files"):
                show_files(watching, on_stage.link_on_stage(watching))
            for change in changed_weights(watching.shown.trace):
                st.caption(plain(change))


@st.fragment
def _draw_stage(watching: WatchState, key: str) -> None:
    if watching.redraw:
        watching.redraw = False
        st.rerun()
    on_stage.write_place(watching.tour)
    payload = _payload(watching)
    watching.feed.sent, watching.feed.last = sent_with(payload), None
    with st.container(key="run"):
        ask, tour = partial(controls.request_draft_length, watching), partial(on_stage.move_tour, watching)
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
    payload, sent, last = _payload(watching), watching.feed.sent, watching.feed.last
    if last is None or sent != sent_with(payload):
        last = watching.feed.last = to_json(news(payload, sent))
        watching.feed.sent = sent_with(payload)
    feed(last)


def show_list(watching: WatchState) -> None:
    """What was tried, in a box over the page, until the visitor closes it or chooses a run."""

    def close() -> None:
        watching.listed = False

    def choose(run: ShownRun) -> None:
        close()
        controls.bring_back(watching, run)

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


def show_outcome(watching: WatchState) -> None:
    """What a run's figures say that the stage does not: both texts, and what its costs are."""
    shown, request = watching.shown, watching.asked
    running = watching.run.busy and not watching.shows_previous_run
    with st.container():  # one place on the page, whatever it holds: what is below stays open
        if not address.is_hidden("texts"):
            _show_outputs(shown.trace, shown.plain_text, waiting=running)
            if shown.trace.settings.prompt_format == "chat":  # as the model read it, with the marks around each message
                tokens = shown.trace.prompt.tokens
                with st.expander(SAYS["read"].format(count=len(tokens))):
                    st.code("".join(tokens), language=None, wrap_lines=True)
        if not address.is_hidden("costs") and not shown.trace.imported:  # its pair can never be measured here
            st.markdown(SAYS["costs"])
            if costs := watching.costs_of(shown):
                chart(verification_figure(costs), "verification")
                step, check = 1000 * costs.step_seconds, costs.verification.get(5, 1.0)
                said = SAYS["costs_here"].format(
                    step=step, draft=costs.cost_ratio, check=check, overhead=costs.overhead
                )
                note = plain(watching.costs.note(pair_key(request))) if request else ""
                st.caption(f"{explained(said, 'costs')} {note}", unsafe_allow_html=True)
            else:
                st.caption(SAYS["no_costs"])


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


VIEWS = page_texts("views")
CHATS = page_texts("chat_model")


def view_choice(visit: Session) -> None:
    """Buttons that show more or less, and for a newcomer the tour; none in the frame of another page."""
    view, watching = address.view(), visit.of(WatchState)
    if view == "stage" or address.is_hidden("views"):
        return
    walked = visit.walk is not None  # its bar has the way out
    with st.container(key="view_choice", horizontal=True):
        if view != "projector" and not address.is_hidden("result"):
            button(SAYS["tried_title"], "list", setattr, watching, "listed", True, icon="list")  # see `tried.py`
        if view == "projector" and not walked:
            address.leave_button()
        elif view == "full":
            button(SAYS["show_less"], "change_view", address.choose, "simple", icon="unfold_less")
            address.projector_button(help=SAYS["present"])
            _task_link(watching)
            if not address.is_hidden("run"):
                chat_model_choice(watching)
        elif view == "simple":
            place, steps = watching.tour, len(on_stage.first_tour().beats)
            says = "tour_again" if place.open else "tour_on" if place.at > 1 else "tour_new"
            look: Options = {"icon": "school", "type": "secondary" if place.open else "primary"}
            button(SAYS[says].format(at=place.at, steps=steps), "tour", _begin_tour, watching, **look)
            if not address.is_hidden("run"):
                controls.undo_button(watching)
                controls.run_again_button(watching.form)
                chat_model_choice(watching)
            button(SAYS["show_everything"], "change_view", address.choose, "full", icon="unfold_more")
        if address.hidden() and not walked:
            button(SAYS["show_hidden"], "show_hidden", address.show_hidden, icon="visibility")
    if chosen := visit.chosen_view:
        remember(address.COOKIE, chosen)


def _begin_tour(watching: WatchState) -> None:
    """Open the tour on the recorded first run, with the settings of that run; Undo brings the visitor's own back."""
    default = controls.first_asked()
    at = 1 if watching.tour.open else watching.tour.at or 1
    if watching.form.current != default:
        watching.form.change(default)
    controls.FORM.take(RunLink.of(default))
    controls.FORM.came.acted, watching.asked = False, None
    watching.open_recorded(first_run())
    watching.tour.begin(at)
    address.write_address({address.TOUR: str(at)} | address.view_in_link())


def _task_link(watching: WatchState) -> None:
    """A button that opens the choice of what to hide; nothing of it is drawn while it is closed."""
    alone = not watching.shown.linked
    look: Options = {"icon": ":material/link:", "disabled": alone, "help": SAYS["task_alone"] if alone else None}
    popover = st.popover(SAYS["task"], key="task", on_change="rerun", **look)
    if not popover.open:
        return
    with popover:
        st.caption(SAYS["task_choose"])
        view = st.radio(SAYS["task_view"], list(VIEWS), key="task_view", format_func=VIEWS.__getitem__, horizontal=True)
        columns, names = st.columns(2), []
        for number, (name, what) in enumerate(hidden_texts().items()):
            hides: Options = {"key": f"task_{name}", "value": address.is_hidden(name)}
            if columns[number % 2].checkbox(SAYS["task_hide"].format(what=what), **hides):
                names.append(name)
        link = on_stage.link_on_stage(watching) | {"step": str(watching.step or 0), "view": view}
        link |= {PARAMETER: written(names)} if names else {}
        query, here = urlencode(link, safe=","), address.own_address()
        app = f"{here.scheme}://{here.netloc}{here.path}" if here.scheme else "./"
        st.code(f"{app}?{query}", language=None, wrap_lines=True)
        st.link_button(SAYS["task_look"], f"./?{query}", icon=":material/open_in_new:")


def chat_model_choice(watching: WatchState) -> None:
    """Two recorded runs of a chat model that people know: what it costs nothing to see on any server."""

    def choose(name: str) -> None:
        watching.chats_chosen += 1
        controls.show_recorded(watching, name)

    with st.popover(CHATS["label"], icon=":material/forum:", key=f"chat_model-{watching.chats_chosen}"):
        st.markdown(CHATS["about"])
        for name in CHAT_RUNS:
            button(CHATS[name], name, choose, name, icon="play_circle", width="stretch")
        trace = story_trace(CHAT_RUNS[0])
        there = CHATS["here" if is_allowed(trace.target.name) else "elsewhere"]
        recorded = CHATS["recorded"].format(machine=plain(machine_in_words(trace.recorded_on.machine)))
        st.caption(f"{there} {recorded}")


def reply_field(watching: WatchState) -> None:
    """A field for it, below a finished run of a chat that can be run here."""
    shown = watching.shown
    if watching.run.busy or shown.trace.settings.prompt_format != "chat":
        return
    output, key, request = shown.trace.output, f"reply-{shown.run_id}", shown.asked or controls.request_of(shown.trace)
    if request is None or output.stopped_by is None:
        return

    def send() -> None:
        messages = [*read_messages(request.prompt), ("assistant", output.text), ("user", st.session_state[key])]
        controls.change(watching.form, replace(request, prompt=write_messages(messages)))
        controls.FORM.came.acted = True

    with st.container(key="reply"):  # so that it stands here, not at the bottom of the window
        st.chat_input(SAYS["reply"], key=key, max_chars=MAX_PROMPT_CHARACTERS, on_submit=send)
