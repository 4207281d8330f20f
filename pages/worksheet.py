"""Worksheet: counts and costs in, break-even and speedup out; then runs, machines, production and exercises."""

import streamlit as st

from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app
from specviz.ui.worksheet.worksheet_page import (
    calculator,
    known_runs,
    show_exercises,
    show_gaps,
    show_machines,
    show_production,
)

inside_app()
visit = session()
known = known_runs(visit)
lead("worksheet")
calculator(visit.worksheet, known)
runs, machines, production, sheet = st.tabs(
    ["Predicted against measured", "Machines to compare", "From production", "Exercise sheet"]
)
with runs:
    show_gaps(known)
with machines:
    show_machines(known.costs, known.finished)
with production:
    show_production(visit.worksheet, known.starts)
with sheet:
    show_exercises(known)
