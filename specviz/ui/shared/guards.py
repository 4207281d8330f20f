"""What every answer of the server carries for a visitor's safety, and what it gives to nobody."""

import os
import re

from specviz.core.errors import InputError
from specviz.ui.shared.pages import Application, Message, Receive, Send

FRAMES, METRICS = "SPECVIZ_FRAMES", "SPECVIZ_METRICS"
SITES = re.compile(r"(?:https?://)?[A-Za-z0-9*.\-]+(?::[0-9]{1,5})?")
WRONG = f"{FRAMES} is a list of sites with spaces between, such as https://moodle.example.org, or: none"


def frame_ancestors(text: str) -> bytes | None:
    """The value of the header that says who may show the app in a frame; None where anybody may.

    Raises:
        InputError: it is something else.
    """
    if not text.strip():
        return None
    if text.strip() == "none":
        return b"frame-ancestors 'none'"
    if not all(map(SITES.fullmatch, text.split())):
        raise InputError(WRONG)
    return f"frame-ancestors 'self' {' '.join(text.split())}".encode()


class Guards:
    """ASGI middleware: headers on every answer, and no figures about the server for everybody.

    A teacher's link holds a secret, so no address goes to another site.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        frames = frame_ancestors(os.environ.get(FRAMES, ""))
        self._headers = [(b"referrer-policy", b"same-origin"), (b"x-content-type-options", b"nosniff")]
        self._headers += [(b"content-security-policy", frames)] if frames else []
        self._shows_metrics = os.environ.get(METRICS) == "1"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        if scope.get("path", "").rstrip("/").endswith("/_stcore/metrics") and not self._shows_metrics:
            await sent({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            return await sent({"type": "http.response.body", "body": b""})
        await self._app(scope, receive, sent)
