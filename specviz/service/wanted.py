"""The service as the operator's settings want it."""

import logging
import os
import re
from functools import partial
from urllib.parse import urlsplit

from specviz.core.errors import InputError
from specviz.service.limits import ServiceLimits
from specviz.service.run_store import store_wanted
from specviz.service.service import EngineService

ENGINES_VARIABLE, TOKEN_VARIABLE, STREAMS_VARIABLE = "SPECVIZ_ENGINES", "SPECVIZ_ENGINES_TOKEN", "SPECVIZ_STREAMS"
MOST_ENGINES = 64
STREAMS = 2
LEAST_TOKEN = 16  # characters
OLD_RAY = (
    f"{ENGINES_VARIABLE} takes no ray: addresses any more: start the engines on the cluster with "
    f"python -m specviz.service.serve_engines, and give their URL, such as http://HOST:8000."
)
OR_URL = ", or the URL of engines such as https://HOST:8000"

_log = logging.getLogger(__name__)


def service_wanted() -> EngineService:
    """A service that is not started yet; InputError: a setting is wrong."""
    text = os.environ.get(ENGINES_VARIABLE, "1")
    if text.startswith("ray:"):
        raise InputError(OLD_RAY)
    if re.match(r"https?://", text):
        return _connect(text)
    return EngineService(store=store_wanted(), engines=_count(ENGINES_VARIABLE, 1, OR_URL))


def _count(variable: str, default: int, or_else: str = "") -> int:
    text = os.environ.get(variable, str(default))
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ENGINES:
        raise InputError(f"{variable} must be a whole number from 1 to {MOST_ENGINES}{or_else}, not {text[:40]!r}.")
    return int(text)


def _connect(url: str) -> EngineService:
    from specviz.service.stream import EngineAddress, StreamEngine  # an HTTP client, which no other server needs

    try:
        parts = urlsplit(url)
        known = bool(parts.hostname) and parts.port != 0 and not (parts.username or parts.query or parts.fragment)
    except ValueError:
        known = False
    if not known:
        raise InputError(f"{ENGINES_VARIABLE} is no URL of engines such as https://HOST:8000: {url[:80]!r}.")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        _log.warning("%s is an http:// URL: whoever is on the way reads the token and the prompts.", ENGINES_VARIABLE)
    streams = _count(STREAMS_VARIABLE, STREAMS)
    return EngineService(
        partial(StreamEngine, EngineAddress(url, token_wanted())), stream_limits(streams), store_wanted(), streams
    )


def stream_limits(streams: int) -> ServiceLimits:
    """A stream has one job. Where the engines' server is gone, all streams end at once: that counts as one death."""
    return ServiceLimits(tokens_at_once=0, deaths=ServiceLimits().deaths * streams, shared=True)


def token_wanted() -> str:
    token = os.environ.get(TOKEN_VARIABLE, "")
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"{TOKEN_VARIABLE} must be the same text, of at least {LEAST_TOKEN} letters and digits, here and at the "
            "engines: openssl rand -hex 32 makes one."
        )
    return token
