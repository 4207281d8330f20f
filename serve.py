"""The app, with a title and a description in each page's HTML for previews of links: streamlit run serve.py."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from specviz.ui.shared.previews import Previews

app = st.App(Path(__file__).with_name("app.py"), middleware=[Middleware(Previews)])
