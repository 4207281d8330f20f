"""How much visitors may upload: Streamlit bounds each file, this the files of a session, of an address and of all."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

from specviz.service.sessions import is_public, normal_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.pages import Application, Message, Receive, Send

PATH = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")
MOST_FILES = 12  # of a session
SESSION_BYTES = 12 * 10**6
ADDRESS_BYTES = 60 * 10**6  # of all sessions from one public address: a class behind one router has one
ALL_BYTES = 150 * 10**6
LARGEST = 5 * 10**6  # a file, and what is sent with it, where its size is not said before
FULL = "You have uploaded as much as this server keeps for one visitor. Remove a file, or load the page again."
FULL_ADDRESS = "Visitors from your network have uploaded as much as this server keeps. Try again in a minute."
FULL_SERVER = "Visitors have uploaded as much as this server keeps. Try again in a minute."

Held = Mapping[str, list[int]]  # session → the sizes of its files


def held_now() -> Held:
    """What Streamlit keeps of each session that is there or may come back."""
    manager: Any = runtime.get_instance().uploaded_file_mgr
    return {
        session: [len(file.data) for file in list(files.values())]
        for session, files in list(manager.file_storage.items())
    }


_REFUSED: WeakKeyDictionary[AppSession, str] = WeakKeyDictionary()  # why, until the page has said it


def _session_called(name: str) -> AppSession | None:
    manager: Any = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    found = manager.get_session_info(name) if hasattr(manager, "get_session_info") else None
    return found.session if found and isinstance(found.session, AppSession) else None


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


class Uploads:
    """ASGI middleware around Streamlit: an upload for which there is no room is answered by a sentence, unread."""

    def __init__(
        self,
        app: Application,
        held: Callable[[], Held] = held_now,
        tell: Callable[[str, str], None] = tell_page,
    ) -> None:
        self._app, self._held, self._tell = app, held, tell
        self._addresses: dict[str, str] = {}  # of the sessions that have uploaded something
        self._under_way: Counter[str] = Counter()  # bytes of each session that are being sent

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        session = _session_that_uploads(scope)
        if session is None:
            return await self._app(scope, receive, send)
        size, address = _size(scope), normal_address((scope.get("client") or ("",))[0])
        if problem := self._problem(session, address, size):
            self._tell(session, problem)
            return await _refuse(send, problem)
        self._addresses[session] = address
        self._under_way[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[session] -= size

    def _problem(self, session: str, address: str, size: int) -> str | None:
        files = self._held()
        self._under_way = +self._under_way  # without those that have nothing under way
        held = Counter({each: sum(sizes) for each, sizes in files.items()}) + self._under_way
        self._addresses = {each: known for each, known in self._addresses.items() if each in held}
        if held[session] + size > SESSION_BYTES or len(files.get(session, ())) >= MOST_FILES:
            return FULL
        nearby = sum(held[each] for each, known in self._addresses.items() if known == address)
        if is_public(address) and nearby + size > ADDRESS_BYTES:
            return FULL_ADDRESS
        return FULL_SERVER if held.total() + size > ALL_BYTES else None


def _session_that_uploads(scope: Message) -> str | None:
    if scope["type"] != "http" or scope["method"] not in ("PUT", "POST"):
        return None
    found = PATH.search(scope.get("path", ""))  # whatever stands before it, where the app is not at the root
    return found[1] if found else None


def _size(scope: Message) -> int:
    """What the browser says, at most what Streamlit would read; that much where it says nothing."""
    said = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"")
    return min(int(said), LARGEST) if re.fullmatch(rb"[0-9]{1,12}", said) else LARGEST


async def _refuse(send: Send, sentence: str) -> None:
    body = sentence.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
