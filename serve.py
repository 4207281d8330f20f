"""The app, with a title and a description in each page's HTML for previews of links: streamlit run serve.py."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from specviz.ui.shared.engine import engine
from specviz.ui.shared.previews import Previews


@asynccontextmanager
async def ended_with_the_server(_: st.App) -> AsyncIterator[None]:
    """End the engines and write the last runs: this server ends by the signal itself, which runs no exit handlers."""
    yield
    engine().close()


app = st.App(Path(__file__).with_name("app.py"), middleware=[Middleware(Previews)], lifespan=ended_with_the_server)
