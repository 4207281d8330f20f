"""Where Streamlit Community Cloud starts: the app of app.py, with the packages of this folder's requirements.txt.

Community Cloud runs `streamlit run cloud/streamlit_app.py` in the folder of the repository.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEFAULTS = {"SPECVIZ_MODELS": "bundled", "SPECVIZ_JOB_SECONDS": "300"}  # little memory, and anyone may come

if str(ROOT) not in sys.path:  # Streamlit adds only the folder of this file
    sys.path.insert(0, str(ROOT))
for name, value in DEFAULTS.items():
    os.environ.setdefault(name, value)  # the app's secrets go first: Streamlit has put them there

from specviz.ui.shared.theme import publish_plotly  # noqa: E402  (it needs the path)

publish_plotly(HERE / "static")  # Streamlit serves the folder beside this file

# Not by an import: Streamlit runs this file again and again, and so must app.py run.
spec = spec_from_file_location("specviz_app", ROOT / "app.py")
assert spec is not None
assert spec.loader is not None
spec.loader.exec_module(module_from_spec(spec))
