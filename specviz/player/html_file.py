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

from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.core.languages import current_language
from specviz.core.once import cache_once
from specviz.data.texts import asset, browser_texts, page_texts

SAYS = page_texts("offline")
MOST_BYTES = 2_000_000
HEAD = "offline/head.html"  # with the policy, so that there is one
MARK = re.compile(r"\{\{([a-z-]+)\}\}")
DARK = "@media (prefers-color-scheme: dark)"

# auto: as the browser asks for
Scheme = Literal["auto", "light", "dark"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


def html_file(body: str, parts: Mapping[str, str], scheme: Scheme = "auto", *, policy: str = "", most: int = 0) -> str:
    """The head of all such files, then this body, with every mark replaced once: a mark inside a part stays text.

    Args:
        body: a file in assets/browser/.
        parts: by the name of their mark; `script` and `style` also give their hashes.
        policy: what else scripts may do, as the end of the content security policy.
        most: bytes that the file may have, 2 MB unless said. Raises InputError: it would be larger.
    """
    style = parts["style"]
    if scheme != "auto":  # the dark half of the style sheet is used always or never
        style = style.replace(DARK, "@media all" if scheme == "dark" else "@media not all")
    parts = {**parts, "style": style}
    digests = {name: sha256(parts[name].encode()).digest() for name in ("script", "style")}
    hashes = {f"{name}-hash": f"sha256-{b64encode(digest).decode()}" for name, digest in digests.items()}
    schemes = "light dark" if scheme == "auto" else scheme
    known = {**parts, **hashes, "policy": policy, "lang": current_language(), "schemes": schemes}
    page = MARK.sub(lambda mark: known[mark[1]], asset(HEAD) + asset(body))
    if (size := len(page.encode())) > (most := most or MOST_BYTES):
        raise InputError(SAYS["too_large"].format(size=size / 1e6, most=most / 1e6))
    return page


def inline_json(data: object) -> str:
    """JSON for a script element: no text in it can end the element."""
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def page_that_says(problem: str) -> str:
    """A page with one sentence, for a download that was asked for and cannot be made."""
    return f"<!doctype html><meta charset='utf-8'><title>specviz</title><p>{escape(problem)}</p>"


def program(part: str) -> str:
    """A part of assets/browser as `npm run build` wrote it, after its texts in the language of who is to see it."""
    return _program(part, current_language())


@cache_once
def _program(part: str, language: str) -> str:
    built = (BROWSER / f"dist/{part}.js").read_text(encoding="utf-8")
    tables, _, code = built.partition("\n")
    texts = {name: browser_texts(name).read(language=language).content for name in tables.removeprefix("//").split()}
    return f"const TEXTS={inline_json({'language': language, **texts})};\n{code}"
