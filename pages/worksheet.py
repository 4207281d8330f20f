"""Worksheet: counts and costs in, break-even and speedup out; then runs, machines, production and exercises."""

import streamlit as st

from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app
from specviz.ui.worksheet import worksheet_page as shown
from specviz.ui.worksheet.controls import Worksheet

inside_app()
visit = session()
worksheet = visit.of(Worksheet)
known = shown.known_runs(visit)
lead("worksheet")
shown.calculator(worksheet, known)
runs, machines, production, sheet = st.tabs(
    [shown.SAYS[f"tab_{name}"] for name in ("gaps", "machines", "production", "exercises")]
)
with runs:
    shown.show_gaps(known)
with machines:
    shown.show_machines(known)
with production:
    shown.show_production(worksheet, known.starts)
with sheet:
    shown.show_exercises(known)
