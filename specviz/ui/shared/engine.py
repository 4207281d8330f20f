"""The one engine behind all visitors, and the name by which it knows this visitor."""

from dataclasses import dataclass
from threading import Timer
from uuid import uuid4

import streamlit as st

from specviz.service import EngineService

SIGN_OF_LIFE_SECONDS = 4.0
HEAD_START_SECONDS = 2.0  # importing torch takes a whole core for seconds, and small machines have two


@dataclass(frozen=True)
class Visitor:
    """One browser session, as the engine's queue knows it."""

    id: str


@st.cache_resource(show_spinner=False)
def engine() -> EngineService:
    """The server's one engine; `start()` makes it run and returns at once."""
    return EngineService()


def start_engine_soon() -> None:
    """Start the engine once the first page has had the processor to itself for a moment."""
    _starting()


def stay_while_busy() -> None:
    """Tell the engine that the visitor is still there while the visitor's job goes on, on every page."""

    @st.fragment(run_every=SIGN_OF_LIFE_SECONDS if engine().busy(visitor().id) else None)
    def beat() -> None:
        engine().heartbeat(visitor().id)

    beat()


@st.cache_resource(show_spinner=False)
def _starting() -> None:
    timer = Timer(HEAD_START_SECONDS, engine().start)
    timer.daemon = True
    timer.start()


@st.cache_resource(show_spinner=False, scope="session", on_release=lambda visitor: engine().leave(visitor.id))
def visitor() -> Visitor:
    """This visitor; when the session ends, what it asked for is ended too."""
    return Visitor(uuid4().hex)
