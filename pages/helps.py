"""When it helps: sweeps over texts, drafts and settings, and where speculation pays."""

import streamlit as st

from specviz.ui.helps.controls import controls
from specviz.ui.helps.helps_page import show_sweeps
from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app

inside_app()
visit = session()
lead("helps")
outcome, choices = st.columns([8, 3.4], gap="large")
with choices:
    controls()
with outcome:
    show_sweeps(visit.sweeps, visit.by_draft)
