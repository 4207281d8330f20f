"""Class board: a teacher opens a class, students join, and what they did stands on one board."""

from specviz.ui.classes.page import lead, show_class
from specviz.ui.shared.theme import inside_app
from specviz.ui.shared.view import apply_view

inside_app()
apply_view()
lead()
show_class()
