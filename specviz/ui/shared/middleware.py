"""What stands between browsers and Streamlit: headers of answers, and titles and the look in the HTML of pages."""

import re
from html import escape

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specviz.core.files import BROWSER
from specviz.core.once import cache_once
from specviz.core.operator_settings import operator_setting
from specviz.data.links.page_names import FORMER
from specviz.ui.shared.pages import PROJECT, page_at

TITLE = re.compile(rb"<title>.*?</title>", re.DOTALL)
BODY_END = b"</body>"
AS_IT_IS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}  # without them: the whole, as text
OF_THE_FILE = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}  # no longer true of what is sent

LONGEST_NAME = 255  # bytes of a file's name


class Middleware:
    """ASGI middleware around Streamlit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app


class Guards(Middleware):
    """Headers on every answer: no address goes to another site, since a teacher's link holds a secret.

    Files of static/ go out as they are: Streamlit would compress them again for every visitor.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        sites = operator_setting("SPECVIZ_FRAMES").split()
        frames = "'none'" if sites == ["none"] else f"'self' {' '.join(sites)}"
        self._headers = [(b"referrer-policy", b"same-origin"), (b"x-content-type-options", b"nosniff")]
        self._headers += [(b"content-security-policy", f"frame-ancestors {frames}".encode())] if sites else []
        self._shows_metrics = operator_setting("SPECVIZ_METRICS") == "1"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        path = scope.get("path", "")
        if self._is_hidden(path):
            return await Response(status_code=404)(scope, receive, sent)
        if "/app/static/" in path:
            scope = {**scope, "headers": _drop_headers({b"accept-encoding"}, scope)}
        await self._app(scope, receive, sent)

    def _is_hidden(self, path: str) -> bool:
        """Streamlit's figures, and names that no file can have: Streamlit would log a traceback for each."""
        if any(len(name.encode()) > LONGEST_NAME for name in path.split("/")):
            return True
        return path.rstrip("/").endswith("/_stcore/metrics") and not self._shows_metrics


@cache_once
def _look() -> bytes:
    return b'<style id="first-look">%s</style>' % (BROWSER / "styles" / "app.css").read_bytes()


def add_look(html: bytes) -> bytes:
    """The app's style is there before the first part of a page is. After the head: Streamlit's own comes before it.

    The page brings the same again, before the styles of its view; then assets/browser/components/frame.ts takes this
    away.
    """
    return html.replace(BODY_END, _look() + BODY_END, 1)


def add_preview(html: bytes, title: str, description: str) -> bytes:
    title, words = escape(f"{title} · {PROJECT}"), escape(description)
    tags = (
        f'<title>{title}</title><meta name="description" content="{words}">'
        f'<meta property="og:title" content="{title}"><meta property="og:description" content="{words}">'
        '<meta property="og:type" content="website"><meta name="twitter:card" content="summary">'
    )
    return TITLE.sub(lambda _: tags.encode(), html, count=1)


def to_today(scope: Scope, path: str) -> Response:
    """From an address of before to that of today, with the whole query. Relative: a proxy may have a folder before."""
    query = scope["query_string"].decode("latin-1")
    today = f"{'../' * path.endswith('/')}{FORMER[path.strip('/')]}{'?' * bool(query)}{query}"
    return Response(status_code=307, headers={"location": today})


class Previews(Middleware):
    """Titles and the look in the pages' HTML, and the way from their addresses of before; all else passes as it is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks_for_text = scope["type"] == "http" and scope["method"] == "GET"
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if asks_for_text and path.strip("/") in FORMER:
            return await to_today(scope, path)(scope, receive, send)
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
                    body = add_look(add_preview(bytes(html), page.title, page.description))
                    length = (b"content-length", str(len(body)).encode())
                    await send({**start, "headers": [*_drop_headers(OF_THE_FILE, start), length]})
                    await send({"type": "http.response.body", "body": body})
            else:
                await send(message)

        await self._app({**scope, "headers": _drop_headers(AS_IT_IS, scope)}, receive, changed)


def _drop_headers(names: set[bytes], message: Message) -> list[tuple[bytes, bytes]]:
    return [header for header in message["headers"] if header[0].lower() not in names]
