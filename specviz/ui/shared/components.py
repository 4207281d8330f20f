"""Streamlit components from the files in assets/browser/, and those that show nothing: cookies, what a tab holds."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import streamlit as st

from specviz.core.files import APP_FOLDER, write_whole
from specviz.core.languages import ENGLISH, cache_by_language, current_language
from specviz.data.texts import asset
from specviz.player.html_file import program
from specviz.ui.shared.below_streamlit import main_script

LONG_SCRIPT = 20_000  # characters: a shorter one is not worth a request of its own
STATIC = APP_FOLDER / "static"  # Streamlit serves it, see .streamlit/config.toml


def component(name: str, html: str | Callable[[], str], styles: tuple[str, ...], part: str) -> Callable[..., Any]:
    """A component; call what is returned to mount it, with its payload as `data`. It is registered then, once.

    The payload goes as the bytes of one JSON text, which `payloadOf` in assets/browser/shared/mounting.ts reads. In
    anything else Streamlit looks for data frames: it would import pandas for that, and send what is not JSON as a text
    without an error. Bytes are such a text already.

    `html` is HTML, a function that makes it where it has texts, or a file in assets/browser/. So are `styles`.
    `part` is a built program.
    """

    @cache_by_language
    def registered() -> Any:
        code, language = program(part), current_language()
        text = html() if callable(html) else asset(html) if html.endswith(".html") else html
        css = "\n".join(map(asset, styles))
        called = name if language == ENGLISH else f"{name}_{language.replace('-', '_')}"
        return st.components.v2.component(called, html=text, css=css, js=_link_script(name, code) or code)

    def mount(data: object, **options: Any) -> Any:
        return registered()(data=data if isinstance(data, bytes) else to_json(data), **options)

    return mount


def _link_script(name: str, code: str) -> str | None:
    """A script that loads this one from the server's static files: Streamlit sends a component's script with each
    drawing of it, and the stage's has 150 kB. None for a short one, and where the file cannot be written: then the
    code itself is sent.
    """
    file = f"{name}-{blake2b(code.encode(), digest_size=8).hexdigest()}.js"
    if len(code) < LONG_SCRIPT or publish(served_folder() / file, code.encode) is None:
        return None
    address = f'new URL("app/static/{file}", document.baseURI).href'
    return f"const made = await import({address});\nexport default made.default;\n"


def served_folder() -> Path:
    """Streamlit serves the folder beside the script that it runs: on Community Cloud that is another one."""
    script = main_script()
    return script.parent / STATIC.name if script else STATIC


def publish(target: Path, content: Callable[[], bytes | Iterator[bytes]], size: int | None = None) -> Path | None:
    """Write one of the server's static files, unless it is there already; None where that cannot be done.

    One without a size has a name for its content.
    """
    try:
        if not (target.exists() and size in (None, target.stat().st_size)):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, content(), mode=0o644)
    except OSError:  # a read-only checkout, or a full disk
        return None
    return target


def to_json(data: object) -> bytes:
    """JSON without NaN; a dataclass is an object with its fields."""
    return json.dumps(data, allow_nan=False, default=asdict).encode()


def ignore_change() -> None:
    """A callback that does nothing: Streamlit keeps a component's state only where one is given."""


_MEMORY = component("specviz_memory", '<div class="memory" hidden></div>', (), "components/memory")
_KEEP = component("specviz_keep", '<div class="keep" hidden></div>', (), "components/keep")
_SECRET = component("specviz_secret", '<div class="secret" hidden></div>', (), "components/secret")
YEAR = 31_536_000  # seconds


def remembered(name: str) -> str:
    """What the browser has sent under this name; empty where it has not, and where there is no browser."""
    sent: object = st.context.cookies.get(name, "")
    return sent if isinstance(sent, str) else ""


def remember(name: str, value: str, seconds: int = YEAR) -> None:
    """Hand the browser a cookie for so long; for 0 seconds, it forgets it. Nothing is to be seen of it."""
    _MEMORY(key=f"memory_{name}", data={"name": name, "value": value, "seconds": seconds})


MOST = 2_000_000  # characters: more than any page holds, less than a browser refuses


def keep(name: str, text: str | None, take: Callable[[str], None]) -> None:
    """Hold a text in the browser tab. Nothing is to be seen of it."""
    _mount_taking(_KEEP, f"kept-{name}", {"name": f"specviz-{name}", "text": text}, take)


def receive_secret(name: str, take: Callable[[str], None]) -> None:
    """Take what stands behind `#name=` in the page's address, and take it out of there."""
    _mount_taking(_SECRET, f"secret-{name}", {"name": name}, take)


def _mount_taking(mount: Callable[..., Any], key: str, data: object, take: Callable[[str], None]) -> None:
    def came() -> None:
        text = st.session_state[key].get("text")
        if isinstance(text, str) and 0 < len(text) <= MOST:
            take(text)

    mount(key=key, data=data, on_text_change=came)
