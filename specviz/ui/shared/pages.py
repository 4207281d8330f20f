"""The pages of the app: one list, in the order of the menu, for the menu and for previews of links."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from html import escape
from typing import Any

from specviz.data.texts import page_texts

PROJECT = "specviz"


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # of its file in pages/, and its path; the first page is also at "/"
    title: str
    description: str  # one or two sentences for someone who has not opened it
    in_menu: bool = True

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"

    @property
    def full_title(self) -> str:
        return f"{self.title} · {PROJECT}"


HIDDEN = {"class"}  # reached from other pages and by its address
_ABOUT = page_texts("descriptions")
PAGES = tuple(Page(name, title, _ABOUT[name], name not in HIDDEN) for name, title in page_texts("titles").items())


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

TITLE = re.compile(rb"<title>.*?</title>", re.DOTALL)
AS_IT_IS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}  # without them: the whole, as text
OF_THE_FILE = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}  # no longer true of what is sent


def page_at(path: str) -> Page | None:
    """The page with this path; None for a file or an address of Streamlit's own."""
    name = path.strip("/") or PAGES[0].name
    return next((page for page in PAGES if page.name == name), None)


def with_preview(html: bytes, page: Page) -> bytes:
    title, words = escape(page.full_title), escape(page.description)
    tags = (
        f"<title>{title}</title>"
        f'<meta name="description" content="{words}">'
        f'<meta property="og:title" content="{title}">'
        f'<meta property="og:description" content="{words}">'
        '<meta property="og:type" content="website">'
        '<meta name="twitter:card" content="summary">'
    )
    return TITLE.sub(lambda _: tags.encode(), html, count=1)


class Previews:
    """ASGI middleware around Streamlit: everything but the pages' HTML passes as it is."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "")
        asks_for_text = scope["type"] == "http" and scope["method"] == "GET"
        page = page_at(scope.get("path", "").removeprefix(root)) if asks_for_text else None
        if page is None:
            return await self._app(scope, receive, send)
        headers = [header for header in scope["headers"] if header[0].lower() not in AS_IT_IS]
        await self._app({**scope, "headers": headers}, receive, _Changed(send, page))


class _Changed:
    """Sends one answer on, with the preview in it where it is HTML."""

    def __init__(self, send: Send, page: Page) -> None:
        self._send, self._page = send, page
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_html(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self._start)
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        body = with_preview(self._body, self._page)
        headers = [header for header in start["headers"] if header[0].lower() not in OF_THE_FILE]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})


def _is_html(start: Message) -> bool:
    headers = {name.lower(): value for name, value in start["headers"]}
    return bool(start["status"] == 200 and headers.get(b"content-type", b"").startswith(b"text/html"))
