"""What visitors leave behind is forgotten by time, and its memory goes back to the machine.

Streamlit forgets an ended session only when another one ends. What a session held is a circle of objects, and the full
collection after every run of a script is switched off, because it costs 28 ms. So a timer looks after both.
"""

import gc
from functools import cache
from threading import Event, Thread
from typing import Any

from streamlit import runtime
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from specviz.core.free_memory import give_back, map_large_blocks

EVERY = 10.0  # seconds; with `server.disconnectedSessionTTL` a visitor is forgotten after 20 to 30


def look_after_leftovers() -> None:
    """Begin, once for the server. Where a page is tested without a server, nothing is done."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    if isinstance(manager, WebsocketSessionManager):
        _begin(manager)


@cache
def _begin(manager: WebsocketSessionManager) -> None:
    map_large_blocks()

    def for_ever() -> None:
        pause, visited = Event(), True
        while True:
            pause.wait(EVERY)
            visited = tidy(manager, visited)

    Thread(target=for_ever, name="leftovers", daemon=True).start()


def tidy(manager: WebsocketSessionManager, visited: bool) -> bool:
    """Forget the sessions whose time is over, and collect what they held; whether others are there or may come back."""
    storage: Any = manager._session_storage
    with manager._storage_lock:
        waiting = len(storage._cache)  # counting makes Streamlit forget those whose time is over
    sessions = waiting + len(manager.list_active_sessions())
    if sessions or visited:
        gc.collect()
        give_back()
    return bool(sessions)
