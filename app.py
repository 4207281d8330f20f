"""The app: one title, one look, one page after another. No logic."""

import streamlit as st

from specviz.ui.shared.engine import start_engine_soon, visitor
from specviz.ui.shared.theme import apply_look

st.set_page_config(page_title="specviz: speculative decoding, token by token", page_icon="🐦", layout="wide")
pages = [
    st.Page("pages/watch.py", title="Watch", default=True),
    st.Page("pages/race.py", title="Race", url_path="race"),
    st.Page("pages/helps.py", title="When it helps", url_path="helps"),
    st.Page("pages/worksheet.py", title="Worksheet", url_path="worksheet"),
    st.Page("pages/learn.py", title="Learn", url_path="learn"),
    st.Page("pages/proof.py", title="Same quality", url_path="proof"),
    st.Page("pages/play.py", title="Be the draft", url_path="play"),
]
page = st.navigation(pages, position="top")
apply_look()
page.run()
visitor()  # known to the engine from the first page on, and missed when the connection ends
start_engine_soon()
