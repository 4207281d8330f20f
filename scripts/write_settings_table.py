"""Write docs/settings.md from the table of settings: python -m scripts.write"""

from pathlib import Path

from specviz.core.files import APP_FOLDER
from specviz.core.settings import SETTINGS, Setting

PAGE = APP_FOLDER / "docs" / "settings.md"
HEAD = """# Settings of a run

Written by `python -m scripts.write`; [CONTRIBUTING.md](../CONTRIBUTING.md#how-to-add-a-setting) says how
to add one. The name is that of `DecodeSettings`, trace files and a sweep's columns.

| name | values | default | in a link | option | what it does |
| --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    return HEAD + "".join(map(_line, SETTINGS.values()))


def pages() -> dict[Path, str]:
    return {PAGE: page()}


def _line(row: Setting) -> str:
    link = f"`{row.link}={row.shown(row.default)}`" if row.link else "–"
    lock = f" With a {row.locked_by} it is {row.default}." if row.locked_by else ""
    cells = (f"`{row.name}`", _values(row), f"`{row.default}`", link, f"`{row.flag}`" if row.flag else "–")
    return f"| {' | '.join(cells)} | {row.help}{lock} |\n"


def _values(row: Setting) -> str:
    if row.kind is bool:
        return "`True`, `False`"
    texts = row.choices or [text for text in row.offered if text != row.unset]
    values = f"{'' if row.choices else 'like '}{', '.join(f'`{text}`' for text in texts)}"
    if row.least is not None:
        values = row.rule
    if row.offered and row.kind is not str and row.limits != (row.least, row.most):
        values += f"; links and controls: {row.limits[0]:g} to {row.limits[1]:{'d' if row.kind is int else 'g'}}"
    return values + ("" if row.unset is None else f"; `None`: {row.unset} in links")
