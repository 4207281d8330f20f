"""What visitors leave behind is forgotten by time, and its memory goes back to the machine.

Streamlit forgets an ended session only when another one ends. What a session held is a circle of objects, and the full
collection after every run of a script is switched off, because it costs 28 ms. So a timer looks after both.
"""

import gc
import logging
from threading import Event, Thread

from specviz.core.free_memory import give_back, map_large_blocks
from specviz.core.once import cache_once
from specviz.service.classes.registry import classes
from specviz.ui.shared.below_streamlit import forget_expired, session_manager
from specviz.ui.shared.engine import engine

_log = logging.getLogger(__name__)
EVERY = 10.0  # seconds; with `server.disconnectedSessionTTL` a visitor is forgotten after 20 to 30


def look_after_leftovers() -> None:
    """Begin, once for the server. Where a page is tested without a server, nothing is done."""
    if session_manager():
        _begin()


@cache_once
def _begin() -> None:
    map_large_blocks()

    def for_ever() -> None:
        pause, visited = Event(), True
        while True:
            pause.wait(EVERY)
            visited = tidy(visited)

    Thread(target=for_ever, name="leftovers", daemon=True).start()


def tidy(visited: bool) -> bool:
    """Forget the sessions whose time is over, and collect what they held; whether others are there or may come back.

    And their jobs, and the classes that are over.
    """
    manager = session_manager()
    try:
        classes().forget_old()
        known = engine().visitors  # first: who comes meanwhile is in both
        here = forget_expired(manager) if manager else known
        engine().forget(known - here)
    except Exception:  # else nobody would be forgotten any more
        _log.exception("A session whose time is over cannot be ended.")
        here = {"somebody"}
    if here or visited:
        gc.collect()
        give_back()
    return bool(here)
