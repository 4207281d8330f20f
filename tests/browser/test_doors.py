"""Under each entry a running server refuses what is too large, logs little of it, and forgets visitors by time.

What the guards do: `test_guard.py`, `test_connections.py`, `test_below_streamlit.py`. Every day under app.py, which has
the fewest doors of its own; under each entry in `make test-all`. No browser is needed.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import httpx2
import psutil
import pytest

from specviz.ui.shared.guard import SAYS
from tests.load.hostile import MESSAGES
from tests.load.visitors import Visitor, visiting
from tests.support.app_server import AppServer, serving
from tests.support.grids import grid

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds; a server that forgets does so within 40, and one that does not never does
NO_ROOM, TOO_LARGE = 413, 1009


@pytest.fixture(scope="module", params=grid(["app.py", "serve.py", "cloud/streamlit_app.py"], ("app.py",)))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One that has drawn a page: under app.py it is guarded from then on."""
    with serving(ROOT / request.param, tmp_path_factory.mktemp("doors") / "server.log") as started:
        run(upload(port_of(started), 0))
        yield started


def run(visit: Coroutine[object, object, T]) -> T:
    """In a thread of its own: where a test before has used a browser, Playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visit).result()


def port_of(server: AppServer) -> int:
    return int(server.url.rpartition(":")[2])


async def look_at(visitor: Visitor, page: str) -> None:
    await visitor.open(page=page)
    await visitor.first_script()


async def upload(port: int, files: int) -> list[int]:
    """The server's answers to files of 3.9 MB, from one visitor."""
    async with visiting(port) as visitor:
        await look_at(visitor, "when_it_helps")
        return [await visitor.upload("when_it_helps_csv", "a.csv", b"x" * 3_900_000) for _ in range(files)]


async def half_sent(port: int) -> bytes:
    """What comes back where the head of a request is never whole: nothing, and the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: x\r\n")
        return await asyncio.wait_for(reader.read(), PATIENCE)
    finally:
        writer.close()


def test_a_request_that_is_never_whole_ends_and_what_is_hidden_is_not_found(server: AppServer) -> None:
    """Before: it stayed open; and only serve.py hid Streamlit's figures and set headers."""
    answers = [httpx2.get(f"{server.url}/{path}") for path in ("", "_stcore/metrics", f"app/static/{'x' * 300}")]
    assert [answer.status_code for answer in answers] == [200, 404, 404]
    assert {answer.headers["referrer-policy"] for answer in answers} == {"same-origin"}
    assert run(half_sent(port_of(server))) == b""
    assert "Traceback" not in server.log.read_text(encoding="utf-8")


async def forge(port: int, value: str) -> list[str] | int | None:
    """Send a text as the value of a menu: what the page says, or how the server ends the connection."""
    async with visiting(port) as visitor:
        await look_at(visitor, "race")
        message, ended = visitor._request(), visitor.scripts
        forged = message.rerun_script.widget_states.widgets.add(id=visitor.widgets["race_presets"][0])
        forged.string_array_value.data.append(value)
        await visitor.socket.send(message.SerializeToString())
        if len(value) > 4_000_000:
            await asyncio.wait_for(visitor.socket.wait_closed(), PATIENCE)
            return visitor.socket.close_code
        assert await visitor.stay_until(lambda: visitor.scripts > ended, PATIENCE) is not None
        assert visitor.errors == []
        return visitor.messages


def test_a_forged_value_of_a_menu_changes_nothing_and_is_not_in_the_log(server: AppServer) -> None:
    """Before: each printed all of it into the log, 24 MB and more."""
    size = server.log.stat().st_size
    said = run(forge(port_of(server), "A" * 3_000_000))
    assert said
    assert not any(SAYS["failed"].split(",")[0] in line for line in said)
    grown = server.log.read_text(encoding="utf-8")[size:]
    assert "Traceback" not in grown
    assert "A" * 50 not in grown
    assert run(forge(port_of(server), "A" * 5_000_000)) == TOO_LARGE


async def forge_each(port: int) -> None:
    """Send each message that no page sends, and wait until its connection is closed."""
    for forge_message in MESSAGES.values():
        async with visiting(port) as visitor:
            await look_at(visitor, "")
            message = visitor._request()
            forge_message(message, visitor.session)
            await visitor.socket.send(message.SerializeToString())
            await asyncio.wait_for(visitor.socket.wait_closed(), PATIENCE)


@pytest.mark.full
def test_a_message_that_no_page_sends_ends_its_connection(server: AppServer) -> None:
    """Before: 300 messages of two bytes froze every answer."""
    run(forge_each(port_of(server)))
    assert "Traceback" not in server.log.read_text(encoding="utf-8")


@pytest.mark.full
def test_one_visitor_uploads_no_more_than_it_may_and_is_forgotten(server: AppServer) -> None:
    """Before: what the last visitor had sent stayed until somebody else came."""
    assert run(upload(port_of(server), 6)) == [204, 204, 204, *[NO_ROOM] * 3]
    began, memory = time.monotonic(), psutil.Process(server.pid).memory_info
    held = memory().rss
    while memory().rss > held - 7_800_000:
        assert time.monotonic() < began + PATIENCE, f"{held / 1e6:.0f} MB before, {memory().rss / 1e6:.0f} MB after"
        time.sleep(1)
