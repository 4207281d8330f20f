"""Watch: a small model drafts, a big model checks the draft in one pass, and every token shows its result."""

import streamlit as st

from specviz.ui.session import session
from specviz.ui.shared.address import apply_view
from specviz.ui.watch.below_stage import reply_field, view_choice
from specviz.ui.watch.controls import controls, lead
from specviz.ui.watch.tried import keep_list
from specviz.ui.watch.watch_page import show_list, show_run, watch

# Places of their own for what not every view has: the stage keeps its place among them, and with it its playhead.
with st.container():
    apply_view()
lead()
visit = session()
with st.container():
    controls(visit.watch)
watch(visit.watch)
run = st.container(key="run_place", gap=None)  # its room is there before it
view_choice(visit)  # drawn before the run, for which the script waits: the buttons below it stay as they are
with run:
    show_run(visit)
reply_field(visit.watch)
show_list(visit.watch)
keep_list(visit.watch)
