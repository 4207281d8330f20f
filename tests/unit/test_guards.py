"""What every answer carries, and what is answered to nobody."""

import asyncio

import pytest

from specviz.core.errors import InputError
from specviz.ui.shared.middleware import FRAMES, METRICS, Guards, Message, Receive, Send, frame_ancestors


async def app(scope: Message, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"etag", b"1")]})
    await send({"type": "http.response.body", "body": b"shown"})


def answer(path: str) -> tuple[int, dict[bytes, bytes]]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    asyncio.run(Guards(app)({"type": "http", "method": "GET", "path": path}, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"])


def test_no_address_goes_to_another_site_and_any_site_may_frame() -> None:
    status, headers = answer("/class")
    assert status == 200
    assert headers[b"referrer-policy"] == b"same-origin"
    assert headers[b"etag"] == b"1"
    assert b"content-security-policy" not in headers


@pytest.mark.parametrize(("shown", "status"), [("", 404), ("1", 200)])
def test_the_servers_figures_are_for_who_asks_for_them(
    shown: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(METRICS, shown)
    assert answer("/below/_stcore/metrics/")[0] == status


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("", None),
        ("none", b"frame-ancestors 'none'"),
        ("https://a.example b.example:8443", b"frame-ancestors 'self' https://a.example b.example:8443"),
    ],
)
def test_the_operator_names_who_may_frame(text: str, header: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FRAMES, text)
    assert frame_ancestors(text) == header
    assert answer("/")[1].get(b"content-security-policy") == header


@pytest.mark.parametrize("text", ["a; script-src *", "a\r\nset-cookie: b", "javascript:alert(1)", "'self'"])
def test_another_header_cannot_be_written_through_it(text: str) -> None:
    with pytest.raises(InputError, match="is a list of sites"):
        frame_ancestors(text)
