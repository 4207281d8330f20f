"""Where the app's own files are, and how a file is replaced in one step."""

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_PREFIX = "new-"
_ABANDONED = 3_600  # seconds after which a process that began such a file has surely ended


def write_whole(target: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file through a temporary one beside it, so that nobody reads half of it.

    Where that fails, the temporary file is removed; those of processes that were killed go with the next write.

    Raises:
        OSError: it cannot be written, because the disk is full for example; an older file stays as it was.
    """
    for other in target.parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _ABANDONED:
                other.unlink()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PREFIX)
    new = Path(name)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        new.chmod(mode)
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = (PACKAGE / "assets").is_dir()

# Bundled models, recorded runs, and the components' JavaScript and styles.
ASSETS = (PACKAGE if _INSTALLED else PACKAGE.parent) / "assets"
# What benchmarks measured, where a page shows it.
RESULTS = PACKAGE / "results" if _INSTALLED else PACKAGE.parent / "benchmarks" / "results"
# The loop that decodes several texts at once, as a page shows it; the app does not run it.
BATCH_CODE = (PACKAGE if _INSTALLED else PACKAGE.parent) / "benchmarks" / "batching" / "rounds.py"
# The folder that Streamlit runs: app.py, pages/, .streamlit/config.toml, and static/, which the app fills.
APP_FOLDER = PACKAGE / "webapp" if _INSTALLED else PACKAGE.parent
