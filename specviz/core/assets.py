"""Where the files are that belong to the app but are not Python modules.

In a checkout they are at the top of the repository. An installed package has copies inside itself (see pyproject.toml).
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = (_PACKAGE / "assets").is_dir()

# Bundled models, recorded runs, and the components' JavaScript and styles.
ASSETS = (_PACKAGE if _INSTALLED else _PACKAGE.parent) / "assets"
# What benchmarks measured, where a page shows it.
RESULTS = _PACKAGE / "results" if _INSTALLED else _PACKAGE.parent / "benchmarks" / "results"
# The folder that Streamlit runs: app.py, pages/, .streamlit/config.toml, and static/, which the app fills.
APP_FOLDER = _PACKAGE / "webapp" if _INSTALLED else _PACKAGE.parent
