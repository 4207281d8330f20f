"""An HTML file that needs nothing else: its scripts, styles and data are inside, and it may load nothing.

Its content security policy lets only its own script and style run, by their hashes.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Literal, get_args

from jinja2 import Environment, StrictUndefined

from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.core.languages import cache_by_language, current_language
from specviz.data.texts import asset, browser_texts, page_texts

SAYS = page_texts("offline")
MOST_BYTES = 2_000_000
HEAD = "offline/head.html"  # with the policy, so that there is one
TEMPLATES = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
DARK = "@media (prefers-color-scheme: dark)"

# auto: as the browser asks for
Scheme = Literal["auto", "light", "dark"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


def html_file(
    body: str, parts: Mapping[str, object], scheme: Scheme = "auto", *, policy: str = "", most: int = MOST_BYTES
) -> str:
    """The head of all such files, then this body: templates of Jinja, which escape all but what they call safe.

    Args:
        body: a file in assets/browser/.
        parts: what the templates name; `script` and `style` also give their hashes.
        policy: what else scripts may do, as the end of the content security policy.
        most: bytes that the file may have. Raises InputError: it would be larger.
    """
    script, style = str(parts.get("script", "")), str(parts["style"])
    if scheme != "auto":  # the dark half of the style sheet is used always or never
        style = style.replace(DARK, "@media all" if scheme == "dark" else "@media not all")
    hashes = {f"{name}_hash": _digest(content) for name, content in (("script", script), ("style", style))}
    look = {"style": style, "schemes": "light dark" if scheme == "auto" else scheme}
    known = {**parts, **hashes, **look, "policy": policy, "lang": current_language()}
    page = TEMPLATES.from_string(asset(HEAD) + asset(body)).render(known)
    if (size := len(page.encode())) > most:
        raise InputError(SAYS["too_large"].format(size=size / 1e6, most=most / 1e6))
    return page


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def inline_json(data: object) -> str:
    """JSON for a script element: no text in it can end the element."""
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def page_that_says(problem: str) -> str:
    """A page with one sentence, for a download that was asked for and cannot be made."""
    return f"<!doctype html><meta charset='utf-8'><title>specviz</title><p>{escape(problem)}</p>"


@cache_by_language
def program(part: str) -> str:
    """A part of assets/browser as `npm run build` wrote it, after its texts in the language of who is to see it."""
    built = (BROWSER / f"dist/{part}.js").read_text(encoding="utf-8")
    tables, _, code = built.partition("\n")
    texts = {name: browser_texts(name)() for name in tables.removeprefix("//").split()}
    return f"const TEXTS={inline_json({'language': current_language(), **texts})};\n{code}"
