"""Watch: a small model drafts, a big model checks the draft in one pass, and every token shows its result."""

import streamlit as st

from specviz.ui.session import session
from specviz.ui.shared.address import apply_view
from specviz.ui.watch.controls import controls, lead
from specviz.ui.watch.tried import keep_list
from specviz.ui.watch.watch_page import reply_field, show_list, show_run, view_choice, watch
from specviz.ui.watch.watch_state import WatchState

# Places of their own for what not every view has: the stage keeps its place among them, and with it its playhead.
with st.container():
    apply_view()
lead()
visit = session()
watching = visit.of(WatchState)
with st.container():
    controls(watching)
watch(watching)
run = st.container(key="run_place", gap=None)  # its room is there before it
view_choice(visit)  # drawn before the run, for which the script waits: the buttons below it stay as they are
with run:
    show_run(visit)
reply_field(watching)
show_list(watching)
keep_list(watching)
