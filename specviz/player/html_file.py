"""An HTML file that needs nothing else: its scripts, styles and data are inside, and it may load nothing.

Its content security policy lets only its own script and style run, by their hashes.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Literal, get_args

from specviz.core.errors import InputError
from specviz.core.languages import ENGLISH, current_language
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


IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.\.?/[^"]+\.js)";$', re.MULTILINE)
WORDS = re.compile(r'^import (\w+) from "\.\./\.\./texts/browser/(\w+)\.json" with \{ type: "json" \};$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
OTHER = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[(.].*", re.MULTILINE)
# On lines of its own, or at the end of one: there without a quote, so that it is no part of a string.
COMMENT = re.compile(r"^[ ]*(?:/\*\*.*?\*/|//[^\n]*)\n|(?<=[;,{]) //[^\n\"'`]*$", re.MULTILINE | re.DOTALL)


class BundleError(Exception):
    """The modules cannot be joined; says which file and why."""


@dataclass(frozen=True, slots=True)
class Module:
    path: Path
    imports: tuple[tuple[tuple[str, ...], Path], ...]  # names, and the file they come from
    exports: tuple[str, ...]
    body: str


def bundle(entry: Path) -> str:
    """One module: the entry's `export default`, after every module it needs, each before those that import it.

    What it says is in the language of who is to see it.

    Not esbuild: the app makes these pages on machines without node, and esbuild's output in the repository would be a
    second copy of the program, which every change of a module has to write again.

    Raises:
        BundleError: a file is missing, imports itself in a circle, imports what is not exported or uses another form.
    """
    return _joined(entry, current_language())


@cache_once
def _joined(entry: Path, language: str) -> str:
    order: dict[Path, Module] = {}
    _collect(entry.resolve(), (), order, language)
    names = {path: f"module{number}" for number, path in enumerate(order)}
    *parts, last = (_written(module, order, names) for module in order.values())
    functions = [f"const {name} = (() => {{\n{part}}})();\n" for name, part in zip(names.values(), parts, strict=False)]
    return "\n".join([*functions, last])


def _collect(path: Path, above: tuple[Path, ...], order: dict[Path, Module], language: str) -> None:
    """Add a file and what it needs to `order`; `above` are the files that led here."""
    if path in above:
        raise BundleError(f"A circle of imports: {' → '.join(_short(file) for file in (*above, path))}.")
    if path in order:
        return
    module = _read(path, not above, language)
    for _, source in module.imports:
        if not source.is_file():
            raise BundleError(f"{_short(path)} imports {_short(source)}, which does not exist.")
        _collect(source, (*above, path), order, language)
    order[path] = module


def _read(path: Path, is_entry: bool, language: str) -> Module:
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    text = text.replace(f'LANGUAGE = "{ENGLISH}"', f'LANGUAGE = "{language}"')
    text = WORDS.sub(lambda found: f"const {found[1]} = {_table(found[2], language)};", text)
    imports = tuple(
        (tuple(filter(None, map(str.strip, found[1].split(",")))), (path.parent / found[2]).resolve())
        for found in IMPORT.finditer(text)
    )
    body = EXPORT.sub("", IMPORT.sub("", text))
    if len(DEFAULT.findall(body)) != is_entry:
        raise BundleError(f"{_short(path)}: the entry, and no other file, has one `export default`.")
    if found := OTHER.search(DEFAULT.sub("", body)):
        raise BundleError(f"{_short(path)}: this form is not supported: {found[0].strip()}")
    return Module(path, imports, tuple(EXPORT.findall(text)), body.strip() + "\n")


def _table(part: str, language: str) -> str:
    return json.dumps(browser_texts(part).read(language=language).content, ensure_ascii=False, separators=(",", ":"))


def _written(module: Module, order: dict[Path, Module], names: dict[Path, str]) -> str:
    """The module's own code between what it takes from others and what it gives."""
    lines = [f"// {_short(module.path)}\n"]
    for wanted, source in module.imports:
        if missing := set(wanted) - set(order[source].exports):
            raise BundleError(f"{_short(module.path)}: {_short(source)} does not export {', '.join(sorted(missing))}.")
        lines.append(f"const {{ {', '.join(wanted)} }} = {names[source]};\n")
    lines.append(module.body)
    if module.exports:
        lines.append(f"return {{ {', '.join(module.exports)} }};\n")
    return "".join(lines)


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:])
