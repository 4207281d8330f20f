"""The title and description that a preview of a link shows; which file an uploader holds. No server."""

import asyncio
from collections.abc import Coroutine, Mapping
from threading import Thread
from typing import Any

import pytest
import streamlit as st
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from specviz.ui.shared.middleware import Message, Previews, Receive, Send, with_preview
from specviz.ui.shared.pages import PAGES, Page, page_at
from specviz.ui.shared.parts import uploaded

HTML = b"<html><head><title>Streamlit</title></head></html>"


def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run in a thread of its own: browser tests leave a running event loop in pytest's own thread."""
    thread = Thread(target=asyncio.run, args=(work,))
    thread.start()
    thread.join()


def asked(path: str, method: str = "GET", kind: bytes = b"text/html; charset=utf-8") -> list[dict[str, Any]]:
    """What the visitor gets, and last the headers that Streamlit got."""
    sent: list[dict[str, Any]] = []
    seen: list[Any] = []

    async def streamlit(scope: Message, receive: Receive, send: Send) -> None:
        seen.extend(scope["headers"])
        headers = [(b"content-type", kind), (b"content-length", str(len(HTML)).encode()), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": HTML[:10], "more_body": True})
        await send({"type": "http.response.body", "body": HTML[10:]})

    async def send(message: Message) -> None:
        sent.append(dict(message))

    async def receive() -> Message:
        return {"type": "http.request"}

    headers = [(b"accept-encoding", b"gzip"), (b"host", b"here")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    finish(Previews(streamlit)(scope, receive, send))
    return [*sent, {"seen": seen}]


def body_of(sent: list[dict[str, Any]]) -> bytes:
    return b"".join(message.get("body", b"") for message in sent)


def test_every_page_has_a_title_and_a_description_of_its_own() -> None:
    assert len({page.title for page in PAGES}) == len({page.description for page in PAGES}) == len(PAGES) == 8
    for page in PAGES:
        assert 40 <= len(page.description) <= 120
        body = body_of(asked(f"/{page.name}")).decode()
        assert f"<title>{page.title} · specviz</title>" in body
        assert body.count(page.description) == 2
        assert "Streamlit" not in body


def test_the_menu_has_seven_entries_and_not_the_board_of_a_class() -> None:
    assert [page.title for page in PAGES if page.in_menu] == [
        "Watch",
        "Learn",
        "Race",
        "When it helps",
        "Worksheet",
        "Same quality",
        "Be the draft",
    ]
    assert page_at("/class") is not None, "its link has a preview all the same"


def test_the_answer_has_a_new_length_and_tags_are_escaped() -> None:
    start, body, streamlit = asked("/")
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    assert b"etag" not in dict(start["headers"])
    assert streamlit["seen"] == [(b"host", b"here")]
    page = Page("x", "<b>", '"><script>')
    assert b"<script>" not in with_preview(HTML, page)
    assert b"<title>&lt;b&gt;" in with_preview(HTML, page)
    assert page_at("/") is PAGES[0]
    assert page_at("/race/") == page_at("/race")
    assert page_at("/_stcore/health") is None


@pytest.mark.parametrize(
    ("path", "method", "kind"),
    [
        ("/static/js/index.js", "GET", b"text/html"),
        ("/race", "HEAD", b"text/html"),
        ("/race", "GET", b"application/json"),
    ],
)
def test_everything_else_passes_as_it_is(path: str, method: str, kind: bytes) -> None:
    sent = asked(path, method, kind)
    assert body_of(sent) == HTML
    assert (b"etag", b"1") in sent[0]["headers"]


def test_a_websocket_passes() -> None:
    seen: list[str] = []

    async def streamlit(scope: Message, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    finish(Previews(streamlit)({"type": "websocket", "path": "/"}, None, None))  # type: ignore[arg-type]
    assert seen == ["websocket"]


FILE = UploadedFile(UploadedFileRec("1", "run.json", "application/json", b"{}"), FileURLs())


@pytest.mark.parametrize(
    ("state", "name"),
    [({"box": FILE}, "run.json"), ({"box": None}, None), ({}, None), ({"box": DeletedFile("1")}, None)],
)
def test_a_file_that_the_server_does_not_have_is_no_file(
    monkeypatch: pytest.MonkeyPatch, state: Mapping[str, object], name: str | None
) -> None:
    monkeypatch.setattr(st, "session_state", state)
    file = uploaded("box")
    assert (file and file.name) == name
