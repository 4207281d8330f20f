"""What every answer carries, and what is answered to nobody."""

from typing import Any

import pytest
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.testclient import TestClient

from specviz.core.errors import InputError
from specviz.ui.shared import middleware
from specviz.ui.shared.middleware import Guards, frame_ancestors


def answer(path: str) -> tuple[int, Any]:
    shown = TestClient(Guards(Response("shown", headers={"etag": "1"}))).get(path)
    return shown.status_code, shown.headers


def test_no_address_goes_to_another_site_and_the_servers_figures_are_for_who_asks_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for shown, status in (("", 404), ("1", 200)):
        monkeypatch.setenv(middleware.METRICS, shown)
        assert answer("/below/_stcore/metrics/")[0] == status
    status, headers = answer("/class")
    assert status == 200
    assert headers["referrer-policy"] == "same-origin"
    assert headers["etag"] == "1"
    assert "content-security-policy" not in headers


def test_the_operator_names_who_may_frame_and_no_other_header(monkeypatch: pytest.MonkeyPatch) -> None:
    two = "https://a.example b.example:8443"
    for text, header in (
        ("", None),
        ("none", "frame-ancestors 'none'"),
        (two, f"frame-ancestors 'self' {two}"),
    ):
        monkeypatch.setenv(middleware.FRAMES, text)
        sent = answer("/")[1].get("content-security-policy")
        assert (frame_ancestors(text), sent) == (header and header.encode(), header)
    for text in ("a; script-src *", "a\r\nset-cookie: b", "javascript:alert(1)", "'self'"):
        with pytest.raises(InputError, match="is a list of sites"):
            frame_ancestors(text)


def test_a_name_that_no_file_can_have_is_not_found() -> None:
    """Before: Streamlit answered 500, and logged a traceback of 80 lines each time."""
    assert answer(f"/app/static/{'x' * 300}")[0] == 404
    assert answer(f"/app/static/{'x' * 255}")[0] == 200


def test_static_files_are_sent_as_they_are() -> None:
    """Before: Streamlit compressed those of the live page again for every visitor."""
    app = Guards(GZipMiddleware(Response("x" * 10_000, media_type="text/plain")))
    for path, encoding in (("/below/app/static/live/weights.bin", None), ("/_stcore/host-config", "gzip")):
        assert TestClient(app).get(path).headers.get("content-encoding") == encoding
