"""The service as the operator's settings want it."""

import logging
from functools import partial
from urllib.parse import urlsplit

from specviz.core.operator_settings import operator_setting
from specviz.service.limits import ServiceLimits
from specviz.service.run_store import store_wanted
from specviz.service.service import EngineService

_log = logging.getLogger(__name__)


def service_wanted() -> EngineService:
    """A service that is not started yet; InputError: a setting is wrong."""
    engines = operator_setting("SPECVIZ_ENGINES")
    if engines.isdecimal():
        return EngineService(store=store_wanted(), engines=int(engines))
    return _connect(engines)


def _connect(url: str) -> EngineService:
    from specviz.service.stream import EngineAddress, StreamEngine  # an HTTP client, which no other server needs

    if urlsplit(url).scheme == "http" and urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
        _log.warning("SPECVIZ_ENGINES is an http:// URL: whoever is on the way reads the token and the prompts.")
    streams = int(operator_setting("SPECVIZ_STREAMS"))
    address = EngineAddress(url, operator_setting("SPECVIZ_ENGINES_TOKEN", needed=True))
    return EngineService(partial(StreamEngine, address), stream_limits(streams), store_wanted(), streams)


def stream_limits(streams: int) -> ServiceLimits:
    """A stream has one job. Where the engines' server is gone, all streams end at once: that counts as one death."""
    return ServiceLimits(tokens_at_once=0, deaths=ServiceLimits().deaths * streams, shared=True)
