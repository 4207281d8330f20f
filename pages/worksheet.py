"""Worksheet: counts and costs in, break-even and speedup out; then runs, machines, production and exercises."""

import streamlit as st

from specviz.ui.shared.theme import inside_app
from specviz.ui.worksheet.machines import show_machines
from specviz.ui.worksheet.page import calculator, known_runs, lead, show_exercises, show_gaps
from specviz.ui.worksheet.production import show_production

inside_app()
known = known_runs()
lead()
calculator(known)
runs, machines, production, sheet = st.tabs(
    ["Predicted against measured", "Machines to compare", "From production", "Exercise sheet"]
)
with runs:
    show_gaps(known)
with machines:
    show_machines(known.costs, known.finished)
with production:
    show_production(known.starts)
with sheet:
    show_exercises(known)
