"""Be the draft at its address of before. Streamlit looks here when this is the first that a new server sees."""

from specviz.ui.shared.theme import inside_app

inside_app()
