"""All that the app takes from below Streamlit's public names: an upgrade begins here.

A test of each function fails when Streamlit has changed what it needs: in tests/unit/test_below_streamlit.py,
test_connections.py, or in a browser. A test of the structure keeps these names out of every other file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from threading import Lock, RLock
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from starlette.types import ASGIApp, Message
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import runtime
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.widgets.multiselect import MultiSelectSerde
from streamlit.elements.widgets.radio import RadioSerde
from streamlit.elements.widgets.selectbox import SelectboxSerde
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import FragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value as is_click
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["AppSession", "BackMsg", "DeltaGenerator", "UploadedFile"]

Function = Callable[..., Any]


def instead(owner: Any, name: str) -> Callable[[Function], None]:
    """Put a function in place of one of Streamlit's own, which it gets before the arguments. Their names stay."""
    own = getattr(owner, name)

    def replace_own(ours: Function) -> None:
        setattr(owner, name, wraps(own)(lambda *given, **named: ours(own, *given, **named)))

    return replace_own


# ---- the script that runs


def session_id() -> str:
    """Of the visitor whose script runs; empty where none does."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def came_by_history() -> bool:
    """Whether the visitor pressed Back or Forward in the browser."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def main_script() -> Path | None:
    """The file that Streamlit runs; None where no server does, as in a page's test."""
    context = get_script_run_ctx()
    served = context and runtime.exists() and type(runtime.get_instance()) is Runtime
    return Path(context.main_script_path) if context and served else None


def page_runs_alone() -> bool:
    """Whether Streamlit runs a file of pages/ by itself; it does so once at most.

    A folder of that name is its old way to make an app of several pages, until `st.navigation` was called.
    """
    alone = bool(PagesManager.uses_pages_directory)
    PagesManager.uses_pages_directory = False
    return alone


def run_part_next(key: str) -> None:
    """Run a fragment after this one. Streamlit's own `st.rerun` does it from a widget's callback only."""
    context = get_script_run_ctx()
    if context and context.script_requests:
        _run_next(context, context.fragment_storage.resolve_target([key]))


def _run_next(context: Any, parts: list[str]) -> None:
    """Run these fragments after this script; the whole page where there are none."""
    context.script_requests.request_rerun(
        RerunData(
            query_string=context.query_string,
            page_script_hash=context.page_script_hash,
            fragment_id_queue=parts,
            cached_message_hashes=context.cached_message_hashes,
            context_info=context.context_info,
        )
    )


_locks: WeakKeyDictionary[FragmentStorage, RLock] = WeakKeyDictionary()  # by what each session has one of


def let_callbacks_end() -> None:
    """From now on, a callback runs to its end, so that no click and no file is lost.

    Once something else of the same visitor comes (a second click, what a component reports, a poll), Streamlit ends a
    script where it next reads the session's state or draws, in a callback too. What the visitor did then counts as
    seen, and nobody has acted on it. Here what comes meanwhile waits until the callbacks are over. A script that
    another one of the same session has taken the place of may be in a callback: so both have one lock for the state.

    A browser that has two things to send at once sends one message for both. If that is for a fragment, and what
    changed is not in it, as a file is that was opened while a component reported, the whole page is drawn.

    And what came is there under its key, also where it came from a page before, and the page that is drawn now has a
    widget of that key too.
    """

    @instead(SessionState, "_call_callbacks")
    def call_whole(call: Function, state: SessionState, **replayed: Any) -> None:
        context: Any = get_script_run_ctx()
        requests: Any = getattr(context, "script_requests", None) or SimpleNamespace()
        if getattr(context, "fragment_ids_this_run", None) and _changed_elsewhere(state, context.fragment_ids_this_run):
            _run_next(context, [])
        requests.on_scriptrunner_yield = lambda: None
        ids, keys = state._key_id_mapper._key_id_mapping, state._key_id_mapper._id_key_mapping
        came = {keys[widget]: widget for widget in state._new_widget_state if widget in keys}
        drawn = {key: ids[key] for key in came if ids.get(key, came[key]) not in state._new_widget_state.states}
        ids.update({key: came[key] for key in drawn})
        try:
            call(state, **replayed)
        finally:
            ids.update(drawn)
            del requests.on_scriptrunner_yield

    @instead(ScriptRunner, "start")
    def start_behind_one_lock(start: Function, runner: ScriptRunner) -> None:
        lock = _locks.setdefault(runner._fragment_storage, runner._session_state._lock)
        object.__setattr__(runner._session_state, "_lock", lock)
        start(runner)


def _changed_elsewhere(state: SessionState, parts: list[str]) -> bool:
    """Whether a widget that came with another value is in none of these fragments."""
    known = state._new_widget_state.widget_metadata
    changed = [each for each in state._new_widget_state if each in known and state._widget_changed(each)]
    return any(known[each].fragment_id not in parts for each in changed)


def hand_over_once() -> None:
    """From now on, the script that begins first takes all that its browser has sent, and no other takes it again.

    Streamlit gives each script what came in one message. If the next message came before that script had begun, or just
    as it began, its clicks were lost; and a script that began late put older values in place of newer ones, so that a
    file that had just been opened was closed again.
    """
    came: WeakKeyDictionary[FragmentStorage, WidgetStates] = WeakKeyDictionary()  # by what each session has one of
    lock = Lock()

    @instead(AppSession, "request_rerun")
    def note(ask: Function, session: AppSession, client_state: ClientState | None) -> None:
        if client_state and (not client_state.fragment_id or session.has_fragment(client_state.fragment_id)):
            with lock:
                waiting = came.get(session._fragment_storage, WidgetStates())
                came[session._fragment_storage] = _both(waiting, client_state.widget_states)
        ask(session, client_state)

    @instead(ScriptRunner, "start")
    def start(begin: Function, runner: ScriptRunner) -> None:
        object.__setattr__(runner._session_state, "_storage", runner._fragment_storage)
        begin(runner)

    @instead(SafeSessionState, "on_script_will_rerun")
    def begun(_: Function, state: Any, fresh_widget_states: WidgetStates | None, **replayed: Any) -> None:
        state._yield_callback()  # the next message may end the script here: it has taken nothing yet
        with state._lock:
            taken = fresh_widget_states
            with lock:
                if taken is not None and state._storage in came:  # a page's test starts its scripts itself
                    taken, came[state._storage] = came[state._storage], WidgetStates()
            state._state.on_script_will_rerun(taken, **replayed)


def _both(older: WidgetStates, newer: WidgetStates) -> WidgetStates:
    """What the newer message says, and what only the older one says: a click is sent once."""
    states: dict[str, WidgetState] = {each.id: each for each in older.widgets}
    clicked = {id for id, each in states.items() if is_click(each)}
    states.update({each.id: each for each in newer.widgets if each.id not in clicked or is_click(each)})
    return WidgetStates(widgets=states.values())


def send_what_was_drawn() -> None:
    """From now on, what a script has drawn goes to its browser, also where the server's loop has not looked at it yet
    when the next script begins.

    Streamlit drops it where a poll comes right after a script's end. On a busy server that was one poll in seven. If
    the whole page had been drawn, the browser lost the timer by which it polls: it never showed the end of its run.
    """
    ended: WeakSet[ScriptRunner] = WeakSet()  # whose last words the loop has still to hear

    @instead(AppSession, "_create_scriptrunner")
    def note_the_one_before(create: Function, session: AppSession, initial_rerun_data: RerunData) -> None:
        if before := session._scriptrunner:
            ended.add(before)
            session._event_loop.call_soon_threadsafe(ended.discard, before)  # the loop gets to it after what was drawn
        create(session, initial_rerun_data)

    @instead(AppSession, "_handle_scriptrunner_event_on_event_loop")
    def heard(take: Function, session: AppSession, sender: ScriptRunner | None, event: Any, *more: Any) -> None:
        now = session._scriptrunner
        if sender not in ended or event is ScriptRunnerEvent.SHUTDOWN:
            take(session, sender, event, *more)
            return
        session._scriptrunner = sender
        try:
            take(session, sender, event, *more)
        finally:
            session._scriptrunner = now


def poll_one_at_a_time() -> None:
    """From now on, a poll is left out while the answer to the last one is on its way: the next one comes soon.

    Browsers poll by the clock. A server that answers more slowly than they poll has more and more to send, and its loop
    sends one message a turn: a class waited for minutes for what was there.
    """

    @instead(AppSession, "request_rerun")
    def unless_busy(ask: Function, session: AppSession, client_state: ClientState | None) -> None:
        is_poll = client_state is not None and client_state.is_auto_rerun
        if not is_poll or (session._scriptrunner is None and session._browser_queue.is_empty()):
            ask(session, client_state)


# ---- sessions


def session_called(name: str) -> AppSession | None:
    """A visitor who is there."""
    return runtime.get_instance().get_app_session(name) if runtime.exists() else None


def visitor_left() -> bool:
    """Whether the browser whose script runs is gone; a callback runs to its end all the same."""
    return runtime.exists() and session_called(session_id()) is None


def run_again(session: AppSession) -> None:
    """Run its script with what its browser sent last."""
    session.request_rerun(session._client_state)


def remote_address(session: str) -> str:
    """Where its browser connects from, as the server sees it; empty where that is not known."""
    client: Any = runtime.get_instance().get_client(session) if runtime.exists() else None
    return (client.client_context.remote_ip or "") if client else ""


def session_manager() -> WebsocketSessionManager | None:
    """What keeps the sessions; None where no server runs."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    return manager if isinstance(manager, WebsocketSessionManager) else None


_known: WeakSet[AppSession] = WeakSet()  # those that were there, or could come back, at the last look


def forget_expired(manager: WebsocketSessionManager) -> set[str]:
    """Forget the sessions whose time to come back is over; returns those that are there or may come back."""
    storage: Any = manager._session_storage
    with manager._storage_lock:
        len(storage._cache)  # counting makes Streamlit forget those whose time is over
        here = {each.session for each in manager.list_sessions()}
    gone = set(_known) - here
    _known.clear()
    _known.update(here)
    for session in gone:
        empty(session)
    return {session.id for session in here}


def empty(session: AppSession) -> None:
    """End a session that nobody can come back to, and let go of what it holds.

    The loop that sends to browsers keeps the last session that it looked at, until it looks at another visitor's.
    """
    session.shutdown()
    session._client_state, session._session_state = ClientState(), SessionState()
    session._browser_queue.clear()


def store_only_who_saw_a_page() -> None:
    """From now on, a session whose script never ran ends with its connection: 128 may wait for their visitor."""

    @instead(WebsocketSessionManager, "disconnect_session")
    def checked(disconnect: Function, manager: WebsocketSessionManager, session_id: str) -> None:
        found = manager.get_active_session_info(session_id)
        if found is None or found.script_run_count or found.session._scriptrunner is not None:
            disconnect(manager, session_id)
        else:
            manager.close_session(session_id)


# ---- what comes, and what goes out

AGAINST_THE_RULES = 1008  # WebSocket's code


def refuse_messages(is_forged: Callable[[BackMsg], bool]) -> None:
    """From now on, such a message ends its connection before Streamlit sees it, which acts on some kinds by itself.

    So does what is no message. One that is too large to be read goes on: Streamlit ends its connection by its size.
    Under app.py the first visitor is already waited for: what is looked up when a message has come holds for it too.
    """

    @instead(WebSocket, "_raise_on_disconnect")
    def checked(check: Function, socket: WebSocket, message: Message) -> None:
        check(socket, message)
        data = message.get("bytes") or b""
        try:
            refused = len(data) <= get_max_widget_state_size_bytes() and is_forged(BackMsg.FromString(data))
        except Exception:  # of protobuf
            refused = True
        if refused:
            raise WebSocketDisconnect(AGAINST_THE_RULES)


def end_connections_quietly() -> None:
    """From now on, a browser that is gone ends its connection; Streamlit logs a traceback."""

    @instead(WebSocket, "receive_bytes")
    async def received(receive: Function, socket: WebSocket) -> bytes:
        try:
            return bytes(await receive(socket))
        except RuntimeError:
            raise WebSocketDisconnect(AGAINST_THE_RULES) from None


def answer_through(around: Callable[[ASGIApp], ASGIApp]) -> None:
    """From now on, what browsers ask for goes through this middleware, also on a connection that is open.

    `st.App(middleware=)` is for serve.py alone: under app.py Streamlit has begun before any of our code runs.
    """
    made = cache(around)

    @instead(AutoHTTPProtocol, "data_received")
    def received(take: Function, connection: Any, data: bytes) -> None:
        connection.app = made(connection.config.loaded_app)
        take(connection, data)


def end_half_sent_requests(patience: float) -> None:
    """From now on, a connection ends after so many seconds without the whole head of a request, or the next part of its
    body. Neither uvicorn nor Streamlit has a limit for them.
    """

    def wait(connection: Any) -> None:
        connection.rest_due = connection.loop.call_later(patience, connection.transport.abort)

    @instead(AutoHTTPProtocol, "connection_made")
    def connected(connect: Function, connection: Any, transport: Any) -> None:
        connect(connection, transport)
        wait(connection)

    @instead(AutoHTTPProtocol, "data_received")
    def received(take: Function, connection: Any, data: bytes) -> None:
        take(connection, data)
        request, due = connection.cycle, getattr(connection, "rest_due", None)
        at_work = request is not None and not request.response_complete
        is_socket = connection.transport.get_protocol() is not connection
        if due and (at_work or is_socket):
            due.cancel()
            due = connection.rest_due = None
        is_whole = is_socket or (at_work and not request.more_body)
        if not due and not is_whole:
            wait(connection)


Held = Mapping[str, Sequence[int]]  # session → the bytes of each of its files


def look_at_files(check: Callable[[Held, str, int], None]) -> None:
    """From now on, `check` sees each file before it is stored, and raises what is to be answered.

    It takes what is stored, without the file that this one replaces, the session, and the file's bytes.
    """

    @instead(MemoryUploadedFileManager, "add_file")
    def checked(add: Function, files: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        same = session_id, file.file_id
        with files._lock:
            stored = files.file_storage.items()
            held = {name: [len(each.data) for id, each in own.items() if (name, id) != same] for name, own in stored}
        check(held, session_id, len(file.data))
        add(files, session_id, file)


def bound_what_waits(most: int) -> None:
    """From now on, a browser for which more than so many bytes wait is left alone; Streamlit counts messages."""

    @instead(StarletteSessionClient, "write_forward_msg")
    def checked(write: Function, client: Any, msg: Any) -> None:
        write(client, msg)
        if sum(map(len, client._send_queue._queue)) > most:
            client._closed.set()
            client._send_queue._queue.clear()


# ---- menus

# Pills and segmented controls drop a name that is no option's.
MENUS: tuple[Any, ...] = SelectboxSerde, RadioSerde, MultiSelectSerde


def let_menus_hold_options() -> None:
    """From now on, the value of a menu is one of its options, or what was typed where that is allowed.

    A browser sends what the chosen option is called there. Once it is called something else (a model that was fetched,
    another language), Streamlit takes the older name for a new value, and nobody corrects the browser. Here a menu
    knows every name that its options had, and its browser is sent the new one until it says that.
    """

    @instead(SessionState, "register_widget")
    def register(take: Function, state: Any, metadata: Any, user_key: str | None) -> Any:
        menu = getattr(metadata.deserializer, "__self__", None)
        if not isinstance(menu, MENUS):
            return take(state, metadata, user_key)
        before: Any = state._new_widget_state.widget_metadata.get(metadata.id)
        _inherit(menu, before and before.deserializer.__self__, metadata.formatted_options is None)
        found = take(state, metadata, user_key)
        corrected = menu.sent not in (None, metadata.serializer(found.value))
        return replace(found, value_changed=found.value_changed or corrected)

    for kind in MENUS:
        instead(kind, "deserialize")(_options_named)


def _inherit(menu: Any, before: Any, is_typed: bool) -> None:
    """What the menu that was drawn before knows; options that are gone are forgotten."""
    now = dict(zip(menu.formatted_options, menu.options, strict=True))
    older = before.options_by_name.items() if before else ()
    menu.options_by_name = {name: it for name, it in older if name not in now and it in menu.options} | now
    menu.is_typed, menu.sent = is_typed, before and before.sent


def _options_named(read: Function, menu: Any, ui_value: Any) -> Any:
    """What a browser means by what it sends; by what no option is called, the default."""
    menu.sent, known = ui_value, menu.options_by_name
    names = [ui_value] if isinstance(ui_value, str) else ui_value or []
    found = [known.get(name, name) for name in names if name in known or menu.is_typed]
    if ui_value is None or (isinstance(ui_value, str) and not found):
        return read(menu, None)
    return found[0] if isinstance(ui_value, str) else found
