"""Bounds for what browsers send, around Streamlit's runtime: the same under serve.py and under app.py.

Streamlit itself ends a connection whose message is larger than `server.maxWidgetStateSize`, before it reads it. What a
smaller message holds is looked at here, before anything acts on it. Files are counted when they have arrived.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocketDisconnect
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_gzip_middleware as compression
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from specviz.service.sessions import is_public, normal_address
from specviz.ui.shared.escaping import plain


@cache
def guard_the_doors() -> None:
    """Begin, once for the server, before the first page is drawn."""
    _guard_messages()
    _guard_uploads()
    _store_only_who_saw_a_page()
    _bound_what_waits()
    _compress_no_static_file()


# ---- messages

SENT = {"rerun_script", "file_urls_request", "app_heartbeat", "stop_script", "backend_operation_request"}
MOST_ITEMS = 2_000  # of all lists in one message; a page has about 200 widgets
MOST_CHARACTERS = 2_000  # of an address, and of each name beside it
MOST_VALUES = 2_000  # characters that a component sends outside of its texts, and quotes
AGAINST_THE_RULES = 1008  # WebSocket's code for such a message


def _guard_messages() -> None:
    take = Runtime.handle_backmsg

    @wraps(take)
    def checked(self: Runtime, session_id: str, msg: BackMsg, **more: Any) -> None:
        if is_forged(msg):
            raise WebSocketDisconnect(AGAINST_THE_RULES)  # ends the connection, and Streamlit forgets the message
        take(self, session_id, msg, **more)

    Runtime.handle_backmsg = checked  # type: ignore[method-assign]


def is_forged(message: BackMsg) -> bool:
    """Whether no page of this app sends this."""
    if message.WhichOneof("type") not in SENT:
        return True
    run = message.rerun_script
    here = run.context_info
    names = (here.url, here.timezone, here.locale, run.fragment_id, run.page_name, run.page_script_hash)
    if max(map(len, names)) > MOST_CHARACTERS or items_in(message) > MOST_ITEMS:
        return True
    if len(message.file_urls_request.file_names) > MOST_FILES:
        return True
    values = (value for each in run.widget_states.widgets for value in (each.json_value, each.json_trigger_value))
    return any(map(_is_dense, values))


def items_in(message: Any, room: int = MOST_ITEMS) -> int:
    """The items of all lists in a protobuf message, at any depth; one more than `room` where there are more."""
    found = 0
    for field, value in message.ListFields():
        parts = value if field.is_repeated else [value]
        found += len(value) if field.is_repeated else 0
        if found <= room and field.message_type:
            found += sum(items_in(part, room - found) for part in parts)
        if found > room:
            return room + 1
    return found


def _is_dense(value: str) -> bool:
    """Whether a component's JSON holds more than a few texts: values in memory take 30 times their text."""
    if len(value) <= MOST_VALUES:
        return False
    bare = value.replace("\\\\", "").replace('\\"', "")
    return bare.count('"') > MOST_VALUES or sum(map(len, bare.split('"')[::2])) > MOST_VALUES


# ---- files

MOST_FILES = 12  # of a session
SESSION_BYTES = 12 * 10**6
ADDRESS_BYTES = 60 * 10**6  # of all sessions from one public address: a class behind one router has one
ALL_BYTES = 150 * 10**6
FULL = "You have uploaded as much as this server keeps for one visitor. Remove a file, or load the page again."
FULL_ADDRESS = "Visitors from your network have uploaded as much as this server keeps. Try again in a minute."
FULL_SERVER = "Visitors have uploaded as much as this server keeps. Try again in a minute."

Held = Mapping[str, Mapping[str, int]]  # session → the sizes of its files, by their ids


def _guard_uploads() -> None:
    add = MemoryUploadedFileManager.add_file

    @wraps(add)
    def checked(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        held = {session: {each: len(rec.data) for each, rec in files.items()} for session, files in _stored(self)}
        if problem := no_room(held, session_id, file.file_id, len(file.data), address_of):
            tell_page(session_id, problem)
            raise HTTPException(413, problem)
        add(self, session_id, file)

    MemoryUploadedFileManager.add_file = checked  # type: ignore[method-assign]


def _stored(manager: MemoryUploadedFileManager) -> list[tuple[str, dict[str, UploadedFileRec]]]:
    return [(session, dict(files)) for session, files in list(manager.file_storage.items())]


def no_room(held: Held, session: str, file: str, size: int, address_of: Callable[[str], str]) -> str | None:
    """Why a file of so many bytes has no place beside those that are held; None: it has one."""
    own = {name: bytes_ for name, bytes_ in held.get(session, {}).items() if name != file}  # sent again, it is replaced
    sums = Counter({each: sum(files.values()) for each, files in held.items()} | {session: sum(own.values()) + size})
    if sums[session] > SESSION_BYTES or len(own) >= MOST_FILES:
        return FULL
    address = address_of(session)
    if is_public(address) and sum(sums[each] for each in sums if address_of(each) == address) > ADDRESS_BYTES:
        return FULL_ADDRESS
    return FULL_SERVER if sums.total() > ALL_BYTES else None


def address_of(session: str) -> str:
    """The internet address of a visitor who is there; empty where it is not known."""
    client: Any = runtime.get_instance().get_client(session)
    return normal_address(client.client_context.remote_ip or "") if client else ""


_REFUSED: WeakKeyDictionary[AppSession, str] = WeakKeyDictionary()  # why, until the page has said it


def tell_page(session: str, sentence: str) -> None:
    """Have the visitor's page say it: its uploader knows only the number 413."""
    if found := _session_called(session):
        _REFUSED[found] = sentence
        found.request_rerun(found._client_state)


def say_refusal() -> None:
    """Say why the file that this visitor has just sent was refused; once, above whatever is on the page."""
    context = get_script_run_ctx()
    found = _session_called(context.session_id) if context and _REFUSED else None
    if found and (sentence := _REFUSED.pop(found, None)):
        st.toast(plain(sentence), icon=":material/error:", duration="infinite")


def _session_called(name: str) -> AppSession | None:
    return runtime.get_instance().get_app_session(name) if runtime.exists() else None


# ---- what Streamlit keeps, and what it sends


def _store_only_who_saw_a_page() -> None:
    """Sessions of closed connections have 128 places: one that never ran the script takes none from a visitor."""
    disconnect = WebsocketSessionManager.disconnect_session

    @wraps(disconnect)
    def checked(self: WebsocketSessionManager, session_id: str) -> None:
        found = self.get_active_session_info(session_id)
        ran = found is None or found.script_run_count or found.session._scriptrunner is not None
        return disconnect(self, session_id) if ran else self.close_session(session_id)

    WebsocketSessionManager.disconnect_session = checked  # type: ignore[method-assign]


MOST_WAITING = 16 * 10**6  # bytes that wait for a browser that does not read them: the largest message twice


def _bound_what_waits() -> None:
    """A browser that reads nothing is left alone before it holds much; Streamlit counts 500 messages of any size."""
    write = StarletteSessionClient.write_forward_msg

    @wraps(write)
    def checked(self: Any, msg: Any) -> None:
        write(self, msg)
        if sum(map(len, self._send_queue._queue)) > MOST_WAITING:
            self._closed.set()
            self._send_queue._queue.clear()

    StarletteSessionClient.write_forward_msg = checked  # type: ignore[method-assign]


def _compress_no_static_file() -> None:
    """Streamlit compresses a static file again for every visitor: 1.5 s for the weights of a model."""
    bypass = compression._should_bypass_gzip
    compression._should_bypass_gzip = lambda path, *more: "/app/static/" in path or bypass(path, *more)
