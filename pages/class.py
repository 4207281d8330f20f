"""Class board: a teacher opens a class, students join, and what they did stands on one board."""

from specviz.ui.classes.classes_page import lead, show_class
from specviz.ui.shared.address import apply_view
from specviz.ui.shared.theme import inside_app

inside_app()
apply_view()
lead()
show_class()
