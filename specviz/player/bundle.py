"""The components' JavaScript modules as the one text that Streamlit takes.

Streamlit gives a component one module and serves no others, and the app runs where there is no node. So the modules
are joined here, when the app starts: each becomes a function that returns what it exports. Only the forms in use are
understood: `import { a, b } from "./c.js";`, `export` before a function, class or const, and `export default` in the
entry. Any other form raises an error. Comments stay behind: a browser is sent the text at every drawing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.\.?/[^"]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
OTHER = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[(.].*", re.MULTILINE)

COMMENT = re.compile(r"^[ ]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)  # on lines of its own


class BundleError(Exception):
    """The modules cannot be joined; says which file and why."""


@dataclass(frozen=True, slots=True)
class Module:
    """One file, without its imports and exports."""

    path: Path
    imports: tuple[tuple[tuple[str, ...], Path], ...]  # names, and the file they come from
    exports: tuple[str, ...]
    body: str


@cache
def bundle(entry: Path) -> str:
    """One module: the entry's `export default`, after every module it needs, each before those that import it.

    Raises:
        BundleError: a file is missing, imports itself in a circle, imports what is not exported or uses another form.
    """
    order: dict[Path, Module] = {}
    _collect(entry.resolve(), (), order)
    names = {path: f"module{number}" for number, path in enumerate(order)}
    *parts, last = (_written(module, order, names) for module in order.values())
    functions = [f"const {name} = (() => {{\n{part}}})();\n" for name, part in zip(names.values(), parts, strict=False)]
    return "\n".join([*functions, last])


def _collect(path: Path, above: tuple[Path, ...], order: dict[Path, Module]) -> None:
    """Add a file and what it needs to `order`; `above` are the files that led here."""
    if path in above:
        raise BundleError(f"A circle of imports: {' → '.join(_short(file) for file in (*above, path))}.")
    if path in order:
        return
    module = _read(path, is_entry=not above)
    for _, source in module.imports:
        if not source.is_file():
            raise BundleError(f"{_short(path)} imports {_short(source)}, which does not exist.")
        _collect(source, (*above, path), order)
    order[path] = module


def _read(path: Path, is_entry: bool) -> Module:
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    imports = tuple((tuple(_names(found[1])), (path.parent / found[2]).resolve()) for found in IMPORT.finditer(text))
    body = EXPORT.sub("", IMPORT.sub("", text))
    if len(DEFAULT.findall(body)) != is_entry:
        raise BundleError(f"{_short(path)}: the entry, and no other file, has one `export default`.")
    if found := OTHER.search(DEFAULT.sub("", body)):
        raise BundleError(f"{_short(path)}: this form is not supported: {found[0].strip()}")
    return Module(path, imports, tuple(EXPORT.findall(text)), body.strip() + "\n")


def _names(listed: str) -> Iterator[str]:
    yield from (name.strip() for name in listed.split(",") if name.strip())


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
