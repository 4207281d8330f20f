"""plotly.js for the stage and the charts: copied from the installed package to the folder Streamlit serves. No CDN."""

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

FILE_NAME = "plotly.min.js"


def publish_plotly(static: Path) -> Path | None:
    """Copy plotly.js into `static` unless that very file is there already.

    Returns its path, or None where it cannot be had: the page then says that its figures could not load.
    """
    source = _packaged()
    if source is None:
        return None
    target = static / FILE_NAME
    try:
        if not (target.exists() and target.stat().st_size == source.stat().st_size):
            _copy_whole(source, target)
    except OSError:  # a read-only checkout
        return None
    return target


def _packaged() -> Path | None:
    """Found without importing plotly: the web server starts faster without it."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "package_data" / FILE_NAME
    return path if path.exists() else None


def _copy_whole(source: Path, target: Path) -> None:
    """Through a temporary file, so that a page never loads half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent)
    os.close(handle)
    shutil.copyfile(source, name)
    os.chmod(name, 0o644)
    os.replace(name, target)
