"""What every answer carries, and what is answered to nobody: also a message that no page sends, which Streamlit never
sees."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient

from benchmarks.hostile import MESSAGES
from specviz.core.errors import InputError
from specviz.ui.shared import middleware
from specviz.ui.shared.middleware import Guards, Message, Messages, Receive, Send, frame_ancestors, is_forged
from tests.support.door_contents import dense, message, typed, valued


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


# ---- messages


SENT = {
    "a game from the tab": valued('{"text": "' + '{\\"link\\": {\\"seed\\": \\"1\\\\n\\"}}' * 50_000 + '"}'),
    "a place of the stage": valued('{"step": 12, "gamma": 4, "gap": 0.5, "tour": null}'),
    "a long text": typed("[{" * 500_000),
    "the widgets of a page": message(
        lambda sent, _: [sent.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}-key") for number in range(300)]
    ),
    "no message": b"\xff\x00 no message",
    "nothing": b"",
}


def test_a_forged_message_and_a_value_of_many_parts_are_known_and_what_pages_send_passes() -> None:
    assert [name for name, forge in MESSAGES.items() if not is_forged(message(forge))] == []
    assert [value[9:14] for value in dense() if not is_forged(valued(value))] == []
    assert [name for name, sent in SENT.items() if is_forged(sent)] == []
    assert MESSAGES
    assert dense()


def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run in a thread of its own: browser tests leave a running event loop in pytest's own thread."""
    thread = Thread(target=asyncio.run, args=(work,))
    thread.start()
    thread.join()


def hand(data: bytes | None, kind: str = "websocket") -> tuple[list[Message], list[Message]]:
    """What Streamlit is given for a message, and what the browser is sent."""
    given: list[Message] = []
    sent: list[Message] = []

    async def streamlit(_: Message, receive: Receive, __: Send) -> None:
        given.append(await receive())

    async def receive() -> Message:
        return {"type": f"{kind}.receive", "bytes": data}

    async def send(each: Any) -> None:
        sent.append(each)

    finish(Messages(streamlit)({"type": kind}, receive, send))
    return given, sent


def test_the_connection_ends_with_a_sentence_and_others_go_on() -> None:
    many = message(
        lambda sent, _: [sent.rerun_script.widget_states.widgets.add() for _ in range(middleware.MOST_WIDGETS + 1)]
    )
    given, sent = hand(many)
    assert [each["type"] for each in given] == ["websocket.disconnect"]
    assert sent == [{"type": "websocket.close", "code": middleware.POLICY, "reason": middleware.FORGED}]
    for data in (SENT["a long text"], None):
        given, sent = hand(data)
        assert given[0]["bytes"] == data
        assert sent == []
    assert hand(many, "http")[1] == []
