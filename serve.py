"""The app, with an engine from the start: streamlit run serve.py."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.short_log import keep_log_short
from specviz.ui.shared.engine import engine, start_engine
from specviz.ui.shared.guard import guard_the_doors
from specviz.ui.shared.leftovers import look_after_leftovers
from specviz.ui.shared.parts import report_failure


@asynccontextmanager
async def engine_beside(_: st.App) -> AsyncIterator[None]:
    """Start the engine with the server, so that the first visitor does not wait for it; end it and write the last runs.

    This server ends by the signal itself, which runs no exit handlers.
    """
    start_engine()
    look_after_leftovers()
    yield
    engine().close()


keep_log_short()
try:  # both read the operator's settings
    guard_the_doors()
    engine()
except InputError as error:
    sys.exit(str(error))
app = st.App(
    Path(__file__).with_name("app.py"),
    lifespan=engine_beside,
    on_script_error=report_failure,
)
