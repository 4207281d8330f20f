"""The app, with a title and a description in each page's HTML for previews of links: streamlit run serve.py."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from specviz.core.errors import InputError
from specviz.ui.shared.engine import engine, start_engine
from specviz.ui.shared.previews import Previews


@asynccontextmanager
async def engine_beside(_: st.App) -> AsyncIterator[None]:
    """Start the engine with the server, so that the first visitor does not wait for it; end it and write the last runs.

    This server ends by the signal itself, which runs no exit handlers.
    """
    start_engine()
    yield
    engine().close()


try:
    engine()  # reads the operator's settings
except InputError as error:
    sys.exit(str(error))
app = st.App(Path(__file__).with_name("app.py"), middleware=[Middleware(Previews)], lifespan=engine_beside)
