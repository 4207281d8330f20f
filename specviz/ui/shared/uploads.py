"""How much visitors may upload: Streamlit bounds each file, this the files of a session, of an address and of all."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from streamlit import runtime

from specviz.service.sessions import is_public, normal_address
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


class Uploads:
    """ASGI middleware around Streamlit: an upload for which there is no room is answered by a sentence, unread."""

    def __init__(self, app: Application, held: Callable[[], Held] = held_now) -> None:
        self._app, self._held = app, held
        self._addresses: dict[str, str] = {}  # of the sessions that have uploaded something
        self._under_way: Counter[str] = Counter()  # bytes of each session that are being sent

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        session = _session_that_uploads(scope)
        if session is None:
            return await self._app(scope, receive, send)
        size, address = _size(scope), normal_address((scope.get("client") or ("",))[0])
        if problem := self._problem(session, address, size):
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
