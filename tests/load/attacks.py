"""What a harmful client does below the app: with connections, requests and Streamlit's own messages, not with a page.

Each attack takes the port of a server on this machine, and ends with all of its connections.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import httpx2
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.load.visitors import GIVE_UP_SECONDS, visiting

Attack = Callable[[int], Awaitable[None]]
LONG = "x" * 1_000_000
NEVER_READ = 20  # seconds


async def send_no_message(port: int) -> None:
    """A text where Streamlit's messages are bytes, and connections that end at once. Before: a traceback for each."""
    for number in range(20):
        async with visiting(port) as visitor:
            await visitor.open()
            if number % 2:
                await visitor.socket.send("text")
            visitor.socket.transport.abort()


async def connect_only(port: int) -> None:
    """Connections that never ask for a page. Before, they took the places of visitors who may come back."""

    async def once() -> None:
        async with visiting(port):
            pass

    await asyncio.gather(*(once() for _ in range(150)))


async def announce_files(port: int) -> None:
    """Files that are announced and never sent."""
    async with visiting(port) as visitor:
        await visitor.open()
        await visitor.first_script()
        for number in range(14):
            named = {"request_id": visitor.session, "session_id": visitor.session, "file_names": [f"{number}.csv"]}
            await visitor.socket.send(BackMsg(file_urls_request=named).SerializeToString())
        await visitor.stay(5)


async def read_nothing(port: int) -> None:
    """Have long texts drawn again and again, and take nothing of what the server sends."""
    async with visiting(port) as visitor:
        await visitor.open(page="worksheet")
        await visitor.stay_until(lambda: "worksheet_paste" in visitor.widgets, GIVE_UP_SECONDS)
        with suppress(ConnectionClosed, KeyError):
            for number in range(NEVER_READ):
                await visitor.write("worksheet_paste", f"{number}{LONG}")
                await asyncio.sleep(1)
        visitor.socket.transport.abort()


async def never_finish_a_message(port: int) -> None:
    """Send the parts of a message and never the last one. Before, Streamlit held up to 200 MB of it."""

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield LONG.encode()
            await asyncio.sleep(0.05)
        await asyncio.sleep(5)

    async with visiting(port) as visitor:
        with suppress(ConnectionClosed, TimeoutError):
            await asyncio.wait_for(visitor.socket.send(parts()), 4)
        visitor.socket.transport.abort()


async def never_finish_a_request(port: int) -> None:
    """Begin to send files, and heads of requests, and stop in the middle."""
    head = b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n"
    open_ones = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
    for number, (_, writer) in enumerate(open_ones):
        writer.write(head + b"\r\n" + b"x" * 100_000 if number % 2 else head)
    await asyncio.sleep(10)
    for _, writer in open_ones:
        writer.transport.abort()


async def load_files(port: int) -> None:
    """Ask for the largest static file, compressed, eight times at once."""
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=GIVE_UP_SECONDS) as client:
        names = ["/app/static/plotly.min.js"] * 8
        await asyncio.gather(*(client.get(name, headers={"Accept-Encoding": "gzip"}) for name in names))


async def open_classes(port: int) -> None:
    """Open classes and leave them."""
    for _ in range(3):
        async with visiting(port) as visitor:
            await visitor.open(page="class")
            if await visitor.stay_until(lambda: "class_open" in visitor.widgets, GIVE_UP_SECONDS) is not None:
                await visitor.press("class_open")
                await visitor.stay(2)


ATTACKS: tuple[Attack, ...] = (
    send_no_message, connect_only, announce_files, read_nothing, never_finish_a_message,
    never_finish_a_request, load_files, open_classes,
)  # fmt: skip


async def once(attack: Attack, port: int) -> None:
    """The attack; it may be ended by the server."""
    with suppress(OSError, WebSocketException, httpx2.HTTPError):
        await attack(port)
