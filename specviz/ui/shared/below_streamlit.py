"""All that the app takes from below Streamlit's public names, in one file: an upgrade of Streamlit begins here.

Each function has its test in tests/unit/test_below_streamlit.py, which fails when Streamlit has changed what it needs.
A test of the structure keeps these names out of every other file.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any
from weakref import WeakSet

from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from streamlit import runtime
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_gzip_middleware as compression
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

__all__ = ["AppSession", "BackMsg", "DeltaGenerator", "UploadedFile"]

# ---- the script that runs


def session_id() -> str:
    """Of the visitor whose script runs; empty where none does."""
    context = get_script_run_ctx()
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
        context.script_requests.request_rerun(
            RerunData(
                query_string=context.query_string,
                page_script_hash=context.page_script_hash,
                fragment_id_queue=context.fragment_storage.resolve_target([key]),
                cached_message_hashes=context.cached_message_hashes,
                context_info=context.context_info,
            )
        )


def let_callbacks_end() -> None:
    """From now on, a callback runs to its end, so that no click and no file is lost.

    Once something else of the same visitor comes (a second click, what a component reports, a poll), Streamlit ends a
    script where it next reads the session's state or draws, in a callback too. What the visitor did then counts as
    seen, and nobody has acted on it. Here what comes meanwhile waits until the callbacks are over.
    """
    call = SessionState._call_callbacks

    @wraps(call)
    def call_whole(state: SessionState, **replayed: Any) -> None:
        context = get_script_run_ctx()
        requests: Any = context.script_requests if context else None
        if requests is None:
            return call(state, **replayed)
        requests.on_scriptrunner_yield = lambda: None
        try:
            call(state, **replayed)
        finally:
            del requests.on_scriptrunner_yield

    SessionState._call_callbacks = call_whole  # type: ignore[method-assign, assignment]


# ---- sessions


def session_called(name: str) -> AppSession | None:
    """A visitor who is there."""
    return runtime.get_instance().get_app_session(name) if runtime.exists() else None


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


def forget_expired(manager: WebsocketSessionManager) -> int:
    """Forget the sessions whose time to come back is over; returns how many are there or may come back."""
    storage: Any = manager._session_storage
    with manager._storage_lock:
        len(storage._cache)  # counting makes Streamlit forget those whose time is over
        here = {each.session for each in manager.list_sessions()}
    for session in set(_known) - here:
        empty(session)
    _known.clear()
    _known.update(here)
    return len(here)


def empty(session: AppSession) -> None:
    """End a session that nobody can come back to, and let go of what it holds.

    The loop that sends to browsers keeps the last session that it looked at, until it looks at another visitor's.
    """
    session.shutdown()
    session._client_state, session._session_state = ClientState(), SessionState()
    session._browser_queue.clear()


def store_only_who_saw_a_page() -> None:
    """From now on, a session whose script never ran ends with its connection: 128 may wait for their visitor."""
    disconnect = WebsocketSessionManager.disconnect_session

    @wraps(disconnect)
    def checked(self: WebsocketSessionManager, session_id: str) -> None:
        found = self.get_active_session_info(session_id)
        ran = found is None or found.script_run_count or found.session._scriptrunner is not None
        return disconnect(self, session_id) if ran else self.close_session(session_id)

    WebsocketSessionManager.disconnect_session = checked  # type: ignore[method-assign]


# ---- what comes, and what goes out

AGAINST_THE_RULES = 1008  # WebSocket's code


def refuse_messages(is_forged: Callable[[BackMsg], bool]) -> None:
    """From now on, such a message ends its connection before a session sees it."""
    take = Runtime.handle_backmsg

    @wraps(take)
    def checked(self: Runtime, session_id: str, msg: BackMsg, **more: Any) -> None:
        if is_forged(msg):
            raise WebSocketDisconnect(AGAINST_THE_RULES)
        take(self, session_id, msg, **more)

    Runtime.handle_backmsg = checked  # type: ignore[method-assign]


Held = Mapping[str, Mapping[str, int]]  # session → the sizes of its files, by their ids


def look_at_files(check: Callable[[Held, str, str, int], None]) -> None:
    """From now on, `check` sees each file before it is stored, and raises what is to be answered.

    Args:
        check: takes what is stored, the session, the file's id, and its bytes.
    """
    add = MemoryUploadedFileManager.add_file

    @wraps(add)
    def checked(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        stored = [(session, dict(files)) for session, files in list(self.file_storage.items())]
        held = {session: {name: len(each.data) for name, each in files.items()} for session, files in stored}
        check(held, session_id, file.file_id, len(file.data))
        add(self, session_id, file)

    MemoryUploadedFileManager.add_file = checked  # type: ignore[method-assign]


def bound_what_waits(most: int) -> None:
    """From now on, a browser for which more than so many bytes wait is left alone; Streamlit counts messages."""
    write = StarletteSessionClient.write_forward_msg

    @wraps(write)
    def checked(self: Any, msg: Any) -> None:
        write(self, msg)
        if sum(map(len, self._send_queue._queue)) > most:
            self._closed.set()
            self._send_queue._queue.clear()

    StarletteSessionClient.write_forward_msg = checked  # type: ignore[method-assign]


def compress_no_static_file() -> None:
    """From now on, files of static/ go out as they are. Streamlit compresses them again for every visitor."""
    bypass = compression._should_bypass_gzip
    compression._should_bypass_gzip = lambda path, *more: "/app/static/" in path or bypass(path, *more)


def serve_files_through(around: Callable[[ASGIApp], ASGIApp]) -> None:
    """From now on, files go through this middleware, the HTML of the pages too."""
    serve = StaticFiles.__call__

    @wraps(serve)
    async def served(self: StaticFiles, scope: Scope, receive: Receive, send: Send) -> None:
        await around(partial(serve, self))(scope, receive, send)

    StaticFiles.__call__ = served  # type: ignore[method-assign]
