"""The title and description that a preview of a link shows, and how much one visitor, one address and all visitors may
upload; what is too much is refused by a sentence, unread. No server."""

from collections.abc import Iterator, Mapping

import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from specviz.ui.shared import middleware
from specviz.ui.shared.middleware import FULL, FULL_ADDRESS, FULL_SERVER, Previews, Uploads, with_preview
from specviz.ui.shared.pages import PAGES, Page, page_at
from specviz.ui.shared.parts import uploaded

HTML = b"<html><head><title>Streamlit</title></head></html>"


def asked(path: str, method: str = "GET", kind: str = "text/html") -> tuple[str, Headers, Headers]:
    """What the visitor gets and its headers, and last the headers that Streamlit got."""
    seen: list[Headers] = []

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(Headers(scope=scope))
        parts = [HTML[:10], HTML[10:]] if method == "GET" else []
        headers = {"content-type": kind, "content-length": str(len(HTML)), "etag": "1"}
        await StreamingResponse(iter(parts), headers=headers)(scope, receive, send)

    answer = TestClient(Previews(streamlit)).request(method, path, headers={"accept-encoding": "gzip"})
    return answer.text, Headers(dict(answer.headers)), seen[0]


def test_every_page_has_a_title_and_a_description_of_its_own() -> None:
    assert len({page.title for page in PAGES}) == len({page.description for page in PAGES}) == len(PAGES) == 8
    for page in PAGES:
        assert 40 <= len(page.description) <= 120
        body, _, _ = asked(f"/{page.name}")
        assert f"<title>{page.title} · specviz</title>" in body
        assert body.count(page.description) == 2
        assert "Streamlit" not in body
    assert page_at("/class") is not None, "the board of a class is not in the menu, but its link has a preview"


def test_the_answer_has_a_new_length_and_tags_are_escaped() -> None:
    body, headers, streamlit = asked("/")
    assert headers["content-length"] == str(len(body.encode()))
    assert "etag" not in headers
    assert "accept-encoding" not in streamlit
    assert streamlit["host"]
    page = Page("x", "<b>", '"><script>')
    assert b"<script>" not in with_preview(HTML, page)
    assert b"<title>&lt;b&gt;" in with_preview(HTML, page)
    assert page_at("/") is PAGES[0]
    assert page_at("/race/") == page_at("/race")
    assert page_at("/_stcore/health") is None


@pytest.mark.parametrize(
    ("path", "method", "kind"),
    [
        ("/static/js/index.js", "GET", "text/html"),
        ("/race", "HEAD", "text/html"),
        ("/race", "GET", "application/json"),
    ],
)
def test_everything_else_passes_as_it_is(path: str, method: str, kind: str) -> None:
    body, headers, _ = asked(path, method, kind)
    assert body == (HTML.decode() if method == "GET" else "")
    assert headers["etag"] == "1"


def test_a_websocket_passes() -> None:
    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "here"})

    with TestClient(Previews(streamlit)).websocket_connect("/") as opened:
        assert opened.receive_text() == "here"


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


# ---- uploads

MEGABYTE = 10**6
HOME, SCHOOL = "192.168.0.7", "93.184.216.34"


def unread() -> Iterator[bytes]:
    raise AssertionError("the file is not read")
    yield b""


class Server:
    """Streamlit behind the bounds: it keeps every file that it is handed."""

    def __init__(self) -> None:
        self.files: dict[str, list[int]] = {}
        self.handed = 0
        self.told: list[tuple[str, str]] = []
        self.around = Uploads(self._streamlit, lambda: self.files, lambda *each: self.told.append(each))

    async def _streamlit(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.handed += 1
        session = scope["path"].split("/")[-2]
        self.files.setdefault(session, []).append(int(Headers(scope=scope).get("content-length", "1")))
        await Response(status_code=204)(scope, receive, send)

    def put(self, session: str, size: int | None, address: str = HOME, path: str = "", method: str = "PUT") -> str:
        """Upload a file; what is said against it, empty where it was taken."""
        path = path or f"/_stcore/upload_file/{session}/some-file"
        headers = {} if size is None else {"content-length": str(size)}
        answer = TestClient(self.around, client=(address, 1)).request(method, path, headers=headers, content=unread())
        assert answer.status_code == (413 if answer.text else 204)
        return answer.text


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_session_has_room_for_a_few_files(server: Server) -> None:
    """Before: 300 uploads of 4 MB took 1,170 MB."""
    said = [server.put("one", 4 * MEGABYTE) for _ in range(300)]
    assert said == [""] * 3 + [FULL] * 297
    assert server.told == [("one", FULL)] * 297
    assert sum(server.files["one"]) <= middleware.SESSION_BYTES
    assert server.put("another", 4 * MEGABYTE) == ""
    server.files["one"].pop()  # the visitor removes one
    assert server.put("one", 4 * MEGABYTE) == ""
    small = [server.put("two", 1) for _ in range(middleware.MOST_FILES + 1)]
    assert small == [""] * middleware.MOST_FILES + [FULL], "small files are counted too"


def test_a_file_whose_size_is_not_said_counts_as_the_largest_and_one_on_its_way_counts(server: Server) -> None:
    """An attacker sends many at once, and none of them is there yet."""
    server.files["one"] = [8 * MEGABYTE]
    assert server.put("one", None) == FULL
    assert server.put("one", 3 * MEGABYTE) == ""
    server.around._under_way["two"] = 9 * MEGABYTE
    assert server.put("two", 4 * MEGABYTE) == FULL
    assert server.put("two", 2 * MEGABYTE) == ""
    assert server.around._under_way["two"] == 9 * MEGABYTE


def test_the_sessions_of_a_public_address_share_its_room(server: Server) -> None:
    said = [server.put(f"tab-{number}", 4 * MEGABYTE, SCHOOL) for number in range(100)]
    taken = middleware.ADDRESS_BYTES // (4 * MEGABYTE)
    assert said == [""] * taken + [FULL_ADDRESS] * (100 - taken)
    assert server.put("elsewhere", 4 * MEGABYTE, "93.184.216.35") == ""
    for number in range(50):
        server.files.pop(f"tab-{number}", None)  # they have left
    assert server.put("tab-99", 4 * MEGABYTE, SCHOOL) == ""


def test_all_sessions_together_have_room_for_so_much(server: Server) -> None:
    said = [server.put(f"visitor-{number}", 4 * MEGABYTE, f"10.0.0.{number}") for number in range(60)]
    assert set(said) == {"", FULL_SERVER}
    assert sum(map(sum, server.files.values())) <= middleware.ALL_BYTES


def test_the_app_may_stand_below_another_path_and_everything_else_passes(server: Server) -> None:
    server.files["one"] = [middleware.SESSION_BYTES]
    assert server.put("one", 1, path="/below/_stcore/upload_file/one/file") == FULL
    assert server.put("one", 1, method="POST") == FULL
    assert server.put("one", 1, method="DELETE") == ""
    assert server.put("one", 1, path="/app/static/plotly.min.js") == ""
    assert server.handed == 2
