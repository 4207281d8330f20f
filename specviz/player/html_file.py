"""An HTML file that needs nothing else: its scripts, styles and data are inside, and it may load nothing.

Its content security policy lets only its own script and style run, by their hashes.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Literal, get_args

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError

MOST_BYTES = 2_000_000
HEAD = "offline/head.html"  # with the policy, so that there is one
MARK = re.compile(r"\{\{([a-z-]+)\}\}")
DARK = "@media (prefers-color-scheme: dark)"

# auto: as the browser asks for
Scheme = Literal["auto", "light", "dark"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


def html_file(body: str, parts: Mapping[str, str], scheme: Scheme = "auto") -> str:
    """The head of all such files, then this body, with every mark replaced once: a mark inside a part stays text.

    Args:
        body: a file in assets/.
        parts: by the name of their mark; `script` and `style` also give their hashes.
        scheme: light or dark, whatever the browser asks for.

    Raises:
        InputError: the file would be larger than 2 MB.
    """
    parts = {**parts, "style": _in_scheme(parts["style"], scheme)}
    hashes = {f"{name}-hash": _hash(parts[name]) for name in ("script", "style")}
    known = {**parts, **hashes, "schemes": "light dark" if scheme == "auto" else scheme}
    page = MARK.sub(lambda mark: known[mark[1]], asset(HEAD) + asset(body))
    if (size := len(page.encode())) > MOST_BYTES:
        raise InputError(f"The page would have {size / 1e6:.1f} MB, and at most {MOST_BYTES / 1e6:g} MB are written.")
    return page


def asset(name: str) -> str:
    """The text of a file in assets/."""
    return (ASSETS / name).read_text(encoding="utf-8")


def inline_json(data: object) -> str:
    """JSON for a script element: no text in it can end the element."""
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def page_that_says(problem: str) -> str:
    """A page with one sentence, for a download that was asked for and cannot be made."""
    return f"<!doctype html><meta charset='utf-8'><title>specviz</title><p>{escape(problem)}</p>"


def _in_scheme(style: str, scheme: Scheme) -> str:
    """The style sheet with its dark half used always or never."""
    if scheme == "auto":
        return style
    return style.replace(DARK, "@media all" if scheme == "dark" else "@media not all")


def _hash(text: str) -> str:
    """As a content security policy names what may run."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
