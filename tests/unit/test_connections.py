"""What uvicorn's connections do otherwise than by themselves: each test fails when an upgrade has changed it."""

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
from uvicorn import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.server import ServerState

from specviz.ui.shared import below_streamlit as below
from tests.support.endpoint_server import run_async
from tests.support.patched import put_back


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    put_back(monkeypatch)


LARGE = b"\xff" * (get_max_widget_state_size_bytes() + 1)
COMES: dict[str, tuple[Message, bool]] = {  # and whether Streamlit sees it
    "a message": ({"bytes": BackMsg(stop_script=True).SerializeToString()}, True),
    "a message that is too large to be read": ({"bytes": LARGE}, True),
    "a message that is refused": ({"bytes": BackMsg(debug_shutdown_runtime=True).SerializeToString()}, False),
    "what is no message": ({"bytes": b"\xff\xff"}, False),
    "a text": ({"text": "a"}, False),
    "a browser that is gone": ({"bytes": b""}, False),
}


@pytest.mark.parametrize("name", COMES)
def test_what_no_page_sends_ends_its_connection_without_a_traceback_before_streamlit_sees_it(name: str) -> None:
    """Before: Streamlit acted on some messages by itself, and logged 40 lines for each text and each browser gone."""
    below.end_connections_quietly()
    below.refuse_messages(lambda message: message.WhichOneof("type") != "stop_script")
    message, seen = COMES[name]

    async def receive() -> Message:
        return {"type": "websocket.receive", **message}

    socket = WebSocket({"type": "websocket"}, receive, Mock())
    socket.client_state = WebSocketState.CONNECTED
    if name != "a browser that is gone":
        socket.application_state = WebSocketState.CONNECTED
    if seen:
        assert run_async(socket.receive_bytes()) == message["bytes"]
        return
    with pytest.raises(WebSocketDisconnect) as ended:
        run_async(socket.receive_bytes())
    assert ended.value.code == below.AGAINST_THE_RULES


PATIENCE = 30.0  # seconds
HEAD = b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
PUT, GET = HEAD + b"\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SOCKET = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
# What comes, and with which of it the wait began; None: no wait.
REQUESTS: dict[str, tuple[list[bytes], int | None]] = {
    "nothing": ([], 0),
    "half a head": ([HEAD], 0),
    "a head that never ends": ([HEAD, b"a: b\r\n", b"a: b\r\n"], 0),
    "a head": ([PUT[:9], PUT[9:]], 2),
    "half a body": ([PUT, b"a", b"b"], 3),
    "all of it": ([PUT, b"a", b"bc"], None),
    "a request without a body": ([GET], None),
    "half of a second one": ([GET, b"", HEAD, b"a: b\r\n"], 3),
    "a second one": ([GET, b"", HEAD, b"\r\nabc"], None),
    "a WebSocket": ([GET[:-2], SOCKET + b"dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"], None),
}


async def answer(_: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204})
    await send({"type": "http.response.body"})


def serving() -> Config:
    """As Streamlit sets uvicorn up."""
    config = Config(answer, lifespan="off", ws="websockets-sansio", log_config=None)
    config.load()
    return config


@pytest.mark.parametrize("name", REQUESTS)
def test_a_connection_whose_request_is_never_whole_ends(name: str) -> None:
    """Before: it stayed open for as long as its sender wanted. An empty part: the answer is there."""
    parts, since = REQUESTS[name]
    below.end_half_sent_requests(PATIENCE)
    assert run_async(waits_after(parts)) == ([] if since is None else [since])


async def waits_after(parts: list[bytes]) -> list[int]:
    """Send them to uvicorn; the number of the part with which each wait that is not over began."""
    loop, transport = asyncio.get_running_loop(), Mock(spec=asyncio.Transport)
    sent, waits = list[bytes](), list[int]()

    def call_later(seconds: float, call: object) -> Any:
        """What the loop is to do later is noted only."""
        if seconds != PATIENCE:
            return Mock()
        assert call == transport.abort
        waits.append(number := len(sent))
        return SimpleNamespace(cancel=lambda: number in waits and waits.remove(number))

    loop.call_later = call_later
    made: Any = AutoHTTPProtocol(serving(), ServerState(), {}, None)
    transport.get_extra_info.return_value = transport.is_closing.return_value = None
    transport.get_protocol.return_value = made
    transport.set_protocol = lambda other: setattr(transport.get_protocol, "return_value", other)
    made.connection_made(transport)
    for data in parts:
        sent.append(data)
        if data:
            made.data_received(data)
        while not data and not made.cycle.response_complete:
            await asyncio.sleep(0)
    return waits


def test_what_is_asked_for_goes_through_one_middleware_also_on_a_connection_from_before() -> None:
    config, asked = serving(), list[object]()

    def around(app: ASGIApp) -> ASGIApp:
        asked.append(app)
        return answer

    async def apps() -> list[object]:
        connections: list[Any] = [AutoHTTPProtocol(config, ServerState(), {}, None) for _ in range(2)]
        below.answer_through(around)
        for each in connections:
            each.data_received(HEAD)
        return [each.app for each in connections]

    assert run_async(apps()) == [answer, answer]
    assert asked == [config.loaded_app]
