"""plotly.js for the stage and the charts: copied from the installed package to the folder Streamlit serves. No CDN."""

from importlib.util import find_spec
from pathlib import Path

from specviz.core.files import write_whole

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
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, source.read_bytes(), mode=0o644)
    except OSError:  # a read-only checkout, or a full disk
        return None
    return target


def _packaged() -> Path | None:
    """Found without importing plotly: the web server starts faster without it."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "package_data" / FILE_NAME
    return path if path.exists() else None
