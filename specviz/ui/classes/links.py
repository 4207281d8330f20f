"""The addresses of a class, made from the address at which its teacher has the board."""

from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from specviz.service.classes.codes import shown_code


def page_address(name: str, **parameters: str) -> str:
    """The address of another page of this app, as this visitor reaches it."""
    here = urlsplit(str(st.context.url or ""))
    folder = here.path.rpartition("/")[0]
    return urlunsplit((here.scheme, here.netloc, f"{folder}/{name}", urlencode(parameters), ""))


def students_link(code: str) -> str:
    """What the QR code holds: the game, with the class's code. The teacher's secret is never in it."""
    return page_address("play", **{"class": shown_code(code)})


def typed_address() -> str:
    """Where students type the code, without what a browser adds itself."""
    return page_address("class").partition("://")[2] or "/class"


def only_here() -> bool:
    """Whether the teacher's address leads other computers to themselves."""
    host = urlsplit(str(st.context.url or "")).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
