"""A model's folder on this machine. Apart from `places`, because the web server must not import the Hub's client."""

from pathlib import Path


def find_folder(name: str) -> Path | None:
    """The folder of that name, if there is one."""
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # a name that is too long for a file, or a missing home folder
        return None
