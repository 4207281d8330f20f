"""What stands between browsers and Streamlit: headers and titles of answers, bounds for messages and for files."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

from specviz.core.errors import InputError
from specviz.service.sessions import is_public, normal_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.pages import PROJECT, Page, page_at

TITLE = re.compile(rb"<title>.*?</title>", re.DOTALL)
AS_IT_IS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}  # without them: the whole, as text
OF_THE_FILE = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}  # no longer true of what is sent


FRAMES, METRICS = "SPECVIZ_FRAMES", "SPECVIZ_METRICS"
SITES = re.compile(r"(?:https?://)?[A-Za-z0-9*.\-]+(?::[0-9]{1,5})?")
WRONG = f"{FRAMES} is a list of sites with spaces between, such as https://moodle.example.org, or: none"


def frame_ancestors(text: str) -> bytes | None:
    """The value of the header that says who may show the app in a frame; None where anybody may."""
    sites = text.split()
    if sites == ["none"]:
        return b"frame-ancestors 'none'"
    if not all(map(SITES.fullmatch, sites)):
        raise InputError(WRONG)
    return f"frame-ancestors 'self' {' '.join(sites)}".encode() if sites else None


class Around:
    """ASGI middleware around Streamlit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app


class Guards(Around):
    """Headers on every answer: no address goes to another site, since a teacher's link holds a secret."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        frames = frame_ancestors(os.environ.get(FRAMES, ""))
        self._headers = [(b"referrer-policy", b"same-origin"), (b"x-content-type-options", b"nosniff")]
        self._headers += [(b"content-security-policy", frames)] if frames else []
        self._shows_metrics = os.environ.get(METRICS) == "1"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        if scope.get("path", "").rstrip("/").endswith("/_stcore/metrics") and not self._shows_metrics:
            return await Response(status_code=404)(scope, receive, sent)
        await self._app(scope, receive, sent)


MOST_WIDGETS = 2_000  # in one message; a page has about 200
MOST_VALUES = 2_000  # characters that a component sends outside of its texts, and quotes
FORGED = "No page of this app sends such a message."
POLICY = 1008  # the code of WebSocket for a message that is against the rules


def is_forged(data: bytes) -> bool:
    """Whether no page sends this, and Streamlit would make much of it. What is no message it refuses itself."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # of the library that Streamlit reads them with: it is no message
        return False
    widgets = message.rerun_script.widget_states.widgets
    if len(message.file_urls_request.file_names) > MOST_FILES or len(widgets) > MOST_WIDGETS:
        return True
    return any(_is_dense(each.json_value) or _is_dense(each.json_trigger_value) for each in widgets)


def _is_dense(value: str) -> bool:
    """Whether a component's JSON holds more than a few texts: values in memory take 30 times their text."""
    if len(value) <= MOST_VALUES:
        return False
    bare = value.replace("\\\\", "").replace('\\"', "")
    return bare.count('"') > MOST_VALUES or sum(map(len, bare.split('"')[::2])) > MOST_VALUES


class Messages(Around):
    """A connection that sends a forged message is closed, with the reason."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def received() -> Message:
            message = await receive()
            if is_forged(message.get("bytes") or b""):
                await send({"type": "websocket.close", "code": POLICY, "reason": FORGED})
                return {"type": "websocket.disconnect", "code": POLICY}
            return message

        await self._app(scope, received if scope["type"] == "websocket" else receive, send)


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
    manager: Any = runtime.get_instance().uploaded_file_mgr
    stored = list(manager.file_storage.items())
    return {session: [len(file.data) for file in list(files.values())] for session, files in stored}


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


class Uploads(Around):
    """An upload for which there is no room is answered by a sentence, unread."""

    def __init__(
        self, app: ASGIApp, held: Callable[[], Held] = held_now, tell: Callable[[str, str], None] = tell_page
    ) -> None:
        super().__init__(app)
        self._held, self._tell = held, tell
        self._addresses: dict[str, str] = {}  # of the sessions that have uploaded something
        self._under_way: Counter[str] = Counter()  # bytes of each session that are being sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sends = scope["type"] == "http" and scope["method"] in ("PUT", "POST")
        # whatever stands before it, where the app is not at the root
        found = PATH.search(scope.get("path", "")) if sends else None
        if found is None:
            return await self._app(scope, receive, send)
        # What the browser says, at most what Streamlit would read; that much where it says nothing.
        said = Headers(scope=scope).get("content-length", "")
        size = min(int(said), LARGEST) if re.fullmatch("[0-9]{1,12}", said) else LARGEST
        session, address = found[1], normal_address((scope.get("client") or ("",))[0])
        if problem := self._problem(session, address, size):
            self._tell(session, problem)
            return await PlainTextResponse(problem, 413)(scope, receive, send)
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


def with_preview(html: bytes, page: Page) -> bytes:
    title, words = escape(f"{page.title} · {PROJECT}"), escape(page.description)
    tags = (
        f'<title>{title}</title><meta name="description" content="{words}">'
        f'<meta property="og:title" content="{title}"><meta property="og:description" content="{words}">'
        '<meta property="og:type" content="website"><meta name="twitter:card" content="summary">'
    )
    return TITLE.sub(lambda _: tags.encode(), html, count=1)


class Previews(Around):
    """Everything but the pages' HTML passes as it is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks_for_text = scope["type"] == "http" and scope["method"] == "GET"
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        page = page_at(path) if asks_for_text else None
        if page is None:
            return await self._app(scope, receive, send)
        start: Message = {}  # of an answer that is HTML
        html = bytearray()

        async def changed(message: Message) -> None:
            kind = Headers(scope=message).get("content-type", "") if message.get("status") == 200 else ""
            if kind.startswith("text/html"):
                start.update(message)
            elif message["type"] == "http.response.body" and start:
                html.extend(message.get("body", b""))
                if not message.get("more_body"):
                    body = with_preview(bytes(html), page)
                    length = (b"content-length", str(len(body)).encode())
                    await send({**start, "headers": [*_without(OF_THE_FILE, start), length]})
                    await send({"type": "http.response.body", "body": body})
            else:
                await send(message)

        await self._app({**scope, "headers": _without(AS_IT_IS, scope)}, receive, changed)


def _without(names: set[bytes], message: Message) -> list[tuple[bytes, bytes]]:
    return [header for header in message["headers"] if header[0].lower() not in names]
