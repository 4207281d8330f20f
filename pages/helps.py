"""When it helps at its address of before, which app.py leads on from; Streamlit looks here when it is a new server's first."""

from specviz.ui.shared.theme import inside_app

inside_app()
