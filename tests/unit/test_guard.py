"""What browsers may send, how much of it Streamlit keeps, and what every answer carries: the same under each entry."""

from functools import cache
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.data.links.page_names import PAGES, TITLES
from specviz.ui.shared import guard
from specviz.ui.shared.guard import ABOUT, ADDRESS_BYTES, ALL_BYTES, MOST_FILES, SAYS, SESSION_BYTES, Answers, as_page
from specviz.ui.shared.parts import uploaded
from tests.load.hostile import MESSAGES
from tests.support.door_contents import dense, message, typed, valued
from tests.support.known import known

# ---- messages


def asked(**named: Any) -> bytes:
    return BackMsg(rerun_script=named).SerializeToString()


def rerun(**here: Any) -> bytes:
    """A page asks for its script to run, with these of its address and its names."""
    return asked(context_info=here)


def widgets(count: int, **value: Any) -> bytes:
    return asked(widget_states={"widgets": [{"id": f"$$ID-{number}-key", **value} for number in range(count)]})


SENT = {
    "a game from the tab": valued('{"text": "' + '{\\"link\\": {\\"seed\\": \\"1\\\\n\\"}}' * 50_000 + '"}'),
    "a place of the stage": valued('{"step": 12, "gamma": 4, "gap": 0.5, "tour": null}'),
    "a long text": typed("[{" * 500_000),
    "the widgets of a page": widgets(300),
    "an address": rerun(url="https://example.org/app/race", timezone="Europe/Berlin", locale="de-DE"),
    "a long link": asked(query_string="prompt=" + "x" * 20_000),
    "a heartbeat": BackMsg(app_heartbeat=True).SerializeToString(),
    "a stop": BackMsg(stop_script=True).SerializeToString(),
    "names as long as they may be": rerun(timezone="x" * 2_000),
    "as many items": asked(cached_message_hashes=["x"] * 2_000),
    "as many values": valued('"text"' + " " * 2_000),
    "as many quotes": valued('"x"' * 1_000),
    "three files": message(lambda sent, _: sent.file_urls_request.file_names.extend("abc")),
}


@cache
def not_sent() -> dict[str, bytes]:
    """Some are megabytes."""
    kinds, files = ("load_git_info", "clear_cache", "set_run_on_save"), {"uploaded_file_info": [{}] * 2_001}
    return {
        **{kind: BackMsg(**{kind: True}).SerializeToString() for kind in kinds},
        "nothing": b"",
        "an address": rerun(url="https://example.org/" + "x" * 2_000),
        **{f"a {name}": rerun(**{name: "x" * 2_001}) for name in ("timezone", "locale")},
        **{f"a {name}": asked(**{name: "x" * 2_001}) for name in ("fragment_id", "page_name", "page_script_hash")},
        "hashes": asked(cached_message_hashes=["x"] * 2_001),
        **{
            f"{kind}s in widgets": widgets(100, **{f"{kind}_array_value": {"data": [value] * 30}})
            for kind, value in (("double", 0.5), ("int", 1), ("string", ""))
        },
        "one value more": valued('"text"' + " " * 2_001),
        "more quotes": valued('"x"' * 1_001),
        "files in a widget": widgets(1, file_uploader_state_value=files),
        "files in a chat": widgets(1, chat_input_value={"file_uploader_state": files}),
        **{name: message(forge) for name, forge in MESSAGES.items()},
        **{f"values: {value[9:14]}": valued(value) for value in dense()},
    }


def test_what_a_page_sends_passes_and_what_no_page_sends_is_known() -> None:
    assert [name for name, sent in SENT.items() if guard.is_forged(BackMsg.FromString(sent))] == []
    assert [name for name, sent in not_sent().items() if not guard.is_forged(BackMsg.FromString(sent))] == []


def test_every_kind_of_message_that_streamlit_knows_was_decided_about() -> None:
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    refused = {BackMsg.FromString(sent).WhichOneof("type") for sent in not_sent().values()} - {None}
    assert guard.SENT | refused == kinds, "Streamlit has a new kind of message: does a page of this app send it?"


def test_items_are_counted_at_any_depth_and_no_further_than_needed() -> None:
    many = widgets(100, string_array_value={"data": ["a"] * 3})
    assert [guard.items_in(BackMsg.FromString(sent)) for sent in (many, widgets(3_000))] == [400, guard.MOST_ITEMS + 1]


# ---- files

MB = 10**6


def each(place: str, count: int, *sizes: int) -> dict[str, list[int]]:
    """Sessions at this place that hold files of these sizes."""
    return {f"{place} {number}": [*sizes] for number in range(count)}


@pytest.mark.parametrize(
    ("held", "session", "size", "problem"),
    [
        ({}, "home 0", SESSION_BYTES, None),
        (each("home", 1, 4 * MB, 4 * MB), "home 0", 4 * MB, None),
        (each("home", 1, 4 * MB, 4 * MB), "home 0", 4 * MB + 1, "full_visitor"),  # before: 300 of 4 MB took 1,170 MB
        (each("home", 1, 4 * MB, 4 * MB, 4 * MB), "home 1", 4 * MB, None),
        (each("home", 1, *[1] * (MOST_FILES - 1)), "home 0", 1, None),
        (each("home", 1, *[1] * MOST_FILES), "home 0", 1, "full_visitor"),  # small files are counted too
        (each("school", 14, 4 * MB), "school 14", ADDRESS_BYTES - 56 * MB, None),
        (each("school", 14, 4 * MB), "school 14", ADDRESS_BYTES - 56 * MB + 1, "full_network"),
        (each("school", 15, 4 * MB), "elsewhere 0", 4 * MB, None),
        (each("home", 30, 4 * MB), "home 30", 4 * MB, None),  # a private address can be everybody's
        (each("home", 36, 4 * MB), "school 0", ALL_BYTES - 144 * MB, None),
        (each("home", 36, 4 * MB), "school 0", ALL_BYTES - 144 * MB + 1, "full_server"),
    ],
)
def test_a_session_a_public_address_and_all_sessions_have_room_for_so_much(
    held: dict[str, list[int]], session: str, size: int, problem: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = {"home": "192.168.0.7", "school": "93.184.216.34", "elsewhere": "93.184.216.35"}
    told: list[object] = []
    monkeypatch.setattr(guard, "address_of", lambda session: addresses[session.split()[0]])
    monkeypatch.setattr(guard, "tell_page", lambda *given: told.append(given))
    try:
        guard.accept_file(held, session, size)
    except HTTPException as refused:
        told.append((refused.status_code, refused.detail))
    assert told == ([(session, problem), (413, SAYS[problem])] if problem else [])


def test_a_file_that_the_server_does_not_have_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = UploadedFile(UploadedFileRec("1", "run.json", "application/json", b"{}"), FileURLs())
    for state, found in (({"box": file}, file), ({"box": None}, None), ({}, None), ({"box": DeletedFile("1")}, None)):
        monkeypatch.setattr(st, "session_state", state)
        assert uploaded("box") == found


# ---- answers

HTML = b"<html><head><title>Streamlit</title></head><body><div></div></body></html>"


def answered(path: str, method: str = "GET", kind: str = "text/html") -> tuple[Any, Headers | None]:
    """What the visitor gets, and the headers that Streamlit got, if it was asked."""
    seen: list[Headers] = []

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(Headers(scope=scope))
        parts = [HTML[:10], HTML[10:]] if method == "GET" else []
        headers = {"content-type": kind, "content-length": str(len(HTML)), "etag": "1"}
        await StreamingResponse(iter(parts), headers=headers)(scope, receive, send)

    has = {"accept-encoding": "gzip", "if-none-match": "1"}
    return TestClient(Answers(streamlit)).request(method, path, headers=has), seen[0] if seen else None


def test_every_page_has_a_title_and_a_description_of_its_own_and_the_style_before_its_scripts_come() -> None:
    """Streamlit's own style is in the head, and what is the same in both is decided by the later one."""
    assert len({TITLES[page] for page in PAGES}) == len({ABOUT[page] for page in PAGES}) == len(PAGES) > 1
    style = (BROWSER / "styles/app.css").read_text(encoding="utf-8")
    assert "<" not in style, "where a page's script brings it, the browser's side of Streamlit removes it whole"
    for page in PAGES:
        body = answered(f"/{page}")[0].text
        assert 40 <= len(ABOUT[page]) <= 120
        assert f"<title>{TITLES[page]} · specviz</title>" in body
        assert body.count(ABOUT[page]) == 2
        assert "<title>Streamlit" not in body
        assert body.endswith(f'<div></div><style id="first-look">{style}</style></body></html>')


def test_the_answer_has_a_new_length_and_tags_are_escaped() -> None:
    answer, streamlit = answered("/")
    assert (answer.headers["content-length"], answer.headers.get("etag")) == (str(len(answer.content)), None)
    assert {"accept-encoding", "if-none-match", "host"} & set(known(streamlit)) == {"host"}
    page = as_page(HTML, "<b>", '"><script>')
    assert (b"<script>" in page, b"<title>&lt;b&gt;" in page) == (False, True)


@pytest.mark.parametrize(("before", "today"), [("helps", "when_it_helps"), ("play", "be_the_draft")])
def test_an_address_of_before_leads_to_that_of_today_with_its_whole_query(before: str, today: str) -> None:
    query = "?workload=code&workload=story&prompt=a%20%26%20b%3D%C3%BC&preset="
    for path in (f"/{before}", f"/{before}/", f"/folder/{before}", f"/folder/{before}/"):
        app = TestClient(Answers(Starlette()), root_path=path.partition(f"/{before}")[0])
        answer = app.get(path + query, follow_redirects=False)
        there = f"{path.partition(before)[0]}{today}{query}"
        assert (answer.status_code, known(answer.next_request).url.raw_path.decode()) == (307, there)
    assert TestClient(Answers(Starlette())).get(f"/other/{before}", follow_redirects=False).status_code == 404


@pytest.mark.parametrize(
    ("path", "method", "kind"),
    [("/static/js/index.js", "GET", "text/html"), ("/race", "HEAD", "text/html"), ("/race", "GET", "application/json")],
)
def test_everything_else_passes_as_it_is(path: str, method: str, kind: str) -> None:
    answer, _ = answered(path, method, kind)
    assert (answer.content, answer.headers["etag"]) == (HTML if method == "GET" else b"", "1")


def test_static_files_are_sent_as_they_are() -> None:
    """Before: Streamlit compressed those of the live page again for every visitor."""
    app = Answers(GZipMiddleware(Response("x" * 10_000, media_type="text/plain")))
    for path, encoding in (("/below/app/static/live/weights.bin", None), ("/_stcore/host-config", "gzip")):
        assert TestClient(app).get(path).headers.get("content-encoding") == encoding


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
    answer, streamlit = answered(path)
    assert (answer.status_code, streamlit is None) == (status, status == 404)
    policies = [answer.headers.get(f"{name}") for name in ("referrer-policy", "x-content-type-options")]
    assert policies == ["same-origin", "nosniff"]


def test_the_operator_names_who_may_frame_and_no_other_header(monkeypatch: pytest.MonkeyPatch) -> None:
    two = "https://a.example b.example:8443"
    for text, header in (("", None), ("none", "frame-ancestors 'none'"), (two, f"frame-ancestors 'self' {two}")):
        monkeypatch.setenv("SPECVIZ_FRAMES", text)
        assert answered("/")[0].headers.get("content-security-policy") == header
    monkeypatch.setenv("SPECVIZ_FRAMES", "a; script-src *")
    with pytest.raises(InputError, match="SPECVIZ_FRAMES must be sites"):
        answered("/")
