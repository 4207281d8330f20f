"""Streamlit components from the files in assets/: HTML, style sheets, JavaScript modules."""

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.player.bundle import bundle


def component(name: str, html: str, styles: tuple[str, ...], script: str) -> Callable[..., Any]:
    """Register a component; call what is returned to mount it, with its payload as `data`.

    The payload goes as the bytes of one JSON text, which `payloadOf` in assets/shared/mounting.js reads. In anything
    else Streamlit looks for data frames: it would import pandas for that, and send what is not JSON as a text without
    an error. Bytes are such a text already.

    Args:
        name: of the component, one in the app.
        html: its HTML.
        styles: files in assets/, joined in this order.
        script: the entry module in assets/; what it imports comes with it.
    """
    css = "\n".join((ASSETS / style).read_text(encoding="utf-8") for style in styles)
    made = st.components.v2.component(name, html=html, css=css, js=bundle(ASSETS / script))

    def mount(data: object, **options: Any) -> Any:
        return made(data=data if isinstance(data, bytes) else as_json(data), **options)

    return mount


def as_json(data: object) -> bytes:
    """The payload as a component is sent it."""
    return json.dumps(data, allow_nan=False).encode()


def html_of(file: str) -> str:
    """The text of an HTML file in assets/."""
    return (ASSETS / file).read_text(encoding="utf-8")


def ignore_change() -> None:
    """A callback that does nothing: Streamlit keeps a component's state only where one is given."""
