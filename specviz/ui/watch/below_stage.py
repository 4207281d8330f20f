"""Below the stage: what was tried, the tour, undo and run again, how much is shown, a task link, chats and replies."""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from specviz.core.conversation import read_messages, write_messages
from specviz.core.names import machine_in_words
from specviz.core.request import MAX_PROMPT_CHARACTERS, RunRequest
from specviz.core.trace import Trace
from specviz.data.lessons.recorded_runs import CHAT_RUNS, story_trace
from specviz.data.links.hidden import PARAMETER, hidden_texts, written
from specviz.data.links.permalink import RunLink
from specviz.data.texts import page_texts
from specviz.models.draft_menu import is_allowed
from specviz.ui.session import Session
from specviz.ui.shared import address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, button
from specviz.ui.watch.controls import (
    FORM,
    change,
    first_asked,
    request_of,
    run_again_button,
    show_recorded,
    undo_button,
)
from specviz.ui.watch.on_stage import button_label, first_tour, link_on_stage
from specviz.ui.watch.watch_state import WatchState, first_run

SAYS = page_texts("watch")
VIEWS = page_texts("views")
CHATS = page_texts("chat_model")


def view_choice(visit: Session) -> None:
    """Buttons that show more or less, and for a newcomer the tour; none in the frame of another page."""
    view, watching = address.view(), visit.watch
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
            if first_tour():
                look: Options = {"icon": "school", "type": "secondary" if watching.tour.open else "primary"}
                button(button_label(watching.tour), "tour", _begin_tour, watching, **look)
            if not address.is_hidden("run"):
                undo_button(watching)
                run_again_button(watching.form)
                chat_model_choice(watching)
            button(SAYS["show_everything"], "change_view", address.choose, "full", icon="unfold_more")
        if address.hidden() and not walked:
            button(SAYS["show_hidden"], "show_hidden", address.show_hidden, icon="visibility")
    address.remember_choice()


def _begin_tour(watching: WatchState) -> None:
    """Open the tour on the recorded first run, with the settings of that run; Undo brings the visitor's own back."""
    default = first_asked()
    at = 1 if watching.tour.open else watching.tour.at or 1
    if watching.form.current != default:
        watching.form.change(default)
    FORM.take(RunLink.of(default))
    FORM.came.acted, watching.asked = False, None
    if shown := first_run():
        watching.open_recorded(shown)
    watching.tour.begin(at)
    address.write_address({address.TOUR: str(at)} | address.view_in_link())


def _task_link(watching: WatchState) -> None:
    """A button that opens the choice of what to hide; nothing of it is drawn while it is closed."""
    alone = watching.shown is not None and not watching.shown.linked
    look: Options = {"icon": ":material/link:", "disabled": alone, "help": SAYS["task_alone"] if alone else None}
    popover = st.popover(SAYS["task"], key="task", on_change="rerun", **look)
    with popover:
        if popover.open:
            _draw_choice(watching)


def _draw_choice(watching: WatchState) -> None:
    st.caption(SAYS["task_choose"])
    view = st.radio(SAYS["task_view"], list(VIEWS), key="task_view", format_func=VIEWS.__getitem__, horizontal=True)
    columns = st.columns(2)
    names = [
        name
        for number, (name, what) in enumerate(hidden_texts().items())
        if columns[number % 2].checkbox(
            SAYS["task_hide"].format(what=what), key=f"task_{name}", value=address.is_hidden(name)
        )
    ]
    link = link_on_stage(watching, watching.shown) if watching.shown else {}
    link |= {"step": str(watching.step or 0), "view": view} | ({PARAMETER: written(names)} if names else {})
    query, here = urlencode(link, safe=","), address.own_address()
    app = f"{here.scheme}://{here.netloc}{here.path}" if here.scheme else "./"
    st.code(f"{app}?{query}", language=None, wrap_lines=True)
    st.link_button(SAYS["task_look"], f"./?{query}", icon=":material/open_in_new:")


def chat_model_choice(watching: WatchState) -> None:
    """Two recorded runs of a chat model that people know: what it costs nothing to see on any server."""

    def choose(name: str) -> None:
        watching.chats_chosen += 1
        show_recorded(watching, name)

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
    if shown is None or not is_answer(shown.trace) or watching.run.busy:
        return
    request = shown.asked or request_of(shown.trace)
    if request is None:
        return
    key = f"reply-{shown.run_id}"
    send: Options = {"on_submit": _send, "args": (watching, request, shown.trace, key)}
    with st.container(key="reply"):  # so that it stands here, not at the bottom of the window
        st.chat_input(SAYS["reply"], key=key, max_chars=MAX_PROMPT_CHARACTERS, **send)


def is_answer(trace: Trace) -> bool:
    return trace.settings.prompt_format == "chat" and trace.output.stopped_by is not None


def _send(watching: WatchState, request: RunRequest, trace: Trace, key: str) -> None:
    said = (("assistant", trace.output.text), ("user", st.session_state[key]))
    change(watching.form, replace(request, prompt=write_messages([*read_messages(request.prompt), *said])))
    FORM.came.acted = True
