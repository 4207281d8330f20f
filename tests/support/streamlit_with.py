"""Streamlit, with another engine behind the app: `python -m tests.support.streamlit_with "-m my.engine" run app.py`."""

import sys

from streamlit.web.cli import main

from specviz.service import EngineService
from specviz.service.run_store import store_wanted
from specviz.ui.shared import engine

if __name__ == "__main__":
    command = (sys.executable, *sys.argv.pop(1).split(" ", 1))
    engine.service_wanted = lambda: EngineService(command, store=store_wanted())  # type: ignore[attr-defined]
    main()
