"""How every `write_*` script writes what is made of stored figures or of types; with --check it only compares."""

import sys
from collections.abc import Mapping
from pathlib import Path


def write(pages: Mapping[Path, str]) -> None:
    """Each file with its text. With --check: status 1, and a line for each file that holds something else."""
    other = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(f"{path} is not what {sys.argv[0]} writes." for path in other) or None)
    for path in other:
        path.write_text(pages[path], encoding="utf-8")
