"""The app with an engine that never starts: what the visitor sees who wakes a sleeping server."""

import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from specviz.service import EngineService  # noqa: E402
from specviz.ui.shared import engine  # noqa: E402

SILENT = (sys.executable, "-c", "import sys; sys.stdin.read()")
engine.EngineService = partial(EngineService, SILENT)  # type: ignore[assignment,misc]

spec = spec_from_file_location("specviz_app", ROOT / "app.py")
assert spec is not None
assert spec.loader is not None
spec.loader.exec_module(module_from_spec(spec))
