"""What a page's HTML has before any script runs, what every answer carries, and what is answered to nobody."""

from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.data.links.page_names import PAGES, TITLES
from specviz.ui.shared.guard import ABOUT, Answers, as_page
from specviz.ui.shared.parts import uploaded
from tests.support.known import known

HTML = b"<html><head><title>Streamlit</title></head><body><div></div></body></html>"


def asked(path: str, method: str = "GET", kind: str = "text/html") -> tuple[str, Headers, Headers]:
    """What the visitor gets and its headers, and last the headers that Streamlit got."""
    seen: list[Headers] = []

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(Headers(scope=scope))
        parts = [HTML[:10], HTML[10:]] if method == "GET" else []
        headers = {"content-type": kind, "content-length": str(len(HTML)), "etag": "1"}
        await StreamingResponse(iter(parts), headers=headers)(scope, receive, send)

    answer = TestClient(Answers(streamlit)).request(
        method, path, headers={"accept-encoding": "gzip", "if-none-match": "1"}
    )
    return answer.text, Headers(dict(answer.headers)), seen[0]


def test_every_page_has_a_title_and_a_description_of_its_own_and_the_style_before_its_scripts_come() -> None:
    """Streamlit's own style is in the head, and what is the same in both is decided by the later one."""
    assert len({TITLES[page] for page in PAGES}) == len({ABOUT[page] for page in PAGES}) == len(PAGES) > 1
    style = (BROWSER / "styles/app.css").read_text(encoding="utf-8")
    assert "<" not in style, "where a page's script brings it, the browser's side of Streamlit removes it whole"
    for page in PAGES:
        body, _, _ = asked(f"/{page}")
        assert 40 <= len(ABOUT[page]) <= 120
        assert f"<title>{TITLES[page]} · specviz</title>" in body
        assert body.count(ABOUT[page]) == 2
        assert "<title>Streamlit" not in body
        assert body.endswith(f'<div></div><style id="first-look">{style}</style></body></html>')


@pytest.mark.parametrize(("before", "today"), [("helps", "when_it_helps"), ("play", "be_the_draft")])
def test_an_address_of_before_leads_to_that_of_today_with_its_whole_query(before: str, today: str) -> None:
    query = "?workload=code&workload=story&prompt=a%20%26%20b%3D%C3%BC&preset="
    for path in (f"/{before}", f"/{before}/", f"/folder/{before}", f"/folder/{before}/"):
        app = TestClient(Answers(Starlette()), root_path=path.partition(f"/{before}")[0])
        answer = app.get(path + query, follow_redirects=False)
        there = f"{path.partition(before)[0]}{today}{query}"
        assert (answer.status_code, known(answer.next_request).url.raw_path.decode()) == (307, there)
    assert TestClient(Answers(Starlette())).get(f"/other/{before}", follow_redirects=False).status_code == 404


def test_the_answer_has_a_new_length_and_tags_are_escaped() -> None:
    body, headers, streamlit = asked("/")
    assert (headers["content-length"], headers.get("etag")) == (str(len(body.encode())), None)
    assert {"accept-encoding", "if-none-match", "host"} & set(streamlit) == {"host"}
    page = as_page(HTML, "<b>", '"><script>')
    assert (b"<script>" in page, b"<title>&lt;b&gt;" in page) == (False, True)


@pytest.mark.parametrize(
    ("path", "method", "kind"),
    [("/static/js/index.js", "GET", "text/html"), ("/race", "HEAD", "text/html"), ("/race", "GET", "application/json")],
)
def test_everything_else_passes_as_it_is(path: str, method: str, kind: str) -> None:
    body, headers, _ = asked(path, method, kind)
    assert body == (HTML.decode() if method == "GET" else "")
    assert headers["etag"] == "1"


def test_static_files_are_sent_as_they_are() -> None:
    """Before: Streamlit compressed those of the live page again for every visitor."""
    app = Answers(GZipMiddleware(Response("x" * 10_000, media_type="text/plain")))
    for path, encoding in (("/below/app/static/live/weights.bin", None), ("/_stcore/host-config", "gzip")):
        assert TestClient(app).get(path).headers.get("content-encoding") == encoding


FILE = UploadedFile(UploadedFileRec("1", "run.json", "application/json", b"{}"), FileURLs())


def answered(path: str) -> tuple[int, Any]:
    shown = TestClient(Answers(Response("shown", headers={"etag": "1"}))).get(path)
    return shown.status_code, shown.headers


@pytest.mark.parametrize(
    ("path", "metrics", "status"),
    [
        ("/class", "", 200),
        ("/below/_stcore/metrics/", "", 404),
        ("/below/_stcore/metrics/", "1", 200),
        (f"/app/static/{'x' * 255}", "", 200),
        (f"/app/static/{'x' * 256}", "", 404),  # before: Streamlit answered 500, and logged a traceback of 80 lines
        (f"/app/static/{'é' * 128}", "", 404),
    ],
)
def test_what_is_hidden_or_no_file_is_not_found_and_no_address_goes_to_another_site(
    path: str, metrics: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_METRICS", metrics)
    found, headers = answered(path)
    assert (found, headers["referrer-policy"], headers["x-content-type-options"]) == (status, "same-origin", "nosniff")
    assert headers.get("etag") == ("1" if status == 200 else None)
    assert "content-security-policy" not in headers


def test_the_operator_names_who_may_frame_and_no_other_header(monkeypatch: pytest.MonkeyPatch) -> None:
    two = "https://a.example b.example:8443"
    for text, header in (("", None), ("none", "frame-ancestors 'none'"), (two, f"frame-ancestors 'self' {two}")):
        monkeypatch.setenv("SPECVIZ_FRAMES", text)
        assert answered("/")[1].get("content-security-policy") == header
    monkeypatch.setenv("SPECVIZ_FRAMES", "a; script-src *")
    with pytest.raises(InputError, match="SPECVIZ_FRAMES must be sites"):
        answered("/")


def test_a_file_that_the_server_does_not_have_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for state, file in (({"box": FILE}, FILE), ({"box": None}, None), ({}, None), ({"box": DeletedFile("1")}, None)):
        monkeypatch.setattr(st, "session_state", state)
        assert uploaded("box") == file
