"""Watch: a small model drafts, a big model checks the draft in one pass, and every token shows its result."""

from specviz.ui.shared.view import apply_view
from specviz.ui.watch.controls import controls, lead, view_choice
from specviz.ui.watch.page import show_run, watch

apply_view()
lead()
show_run(watch(controls()))
view_choice()
