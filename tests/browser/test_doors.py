"""A running server refuses what is too large, logs little of it, and forgets visitors by time. No browser is needed.

Every day under app.py, which has the fewest doors of its own; under each entry in `make test-all`. One server for all.
"""

import asyncio
import re
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from threading import Event
from typing import TypeVar

import httpx2
import psutil
import pytest
from playwright.sync_api import Page, expect

from specviz.ui.shared.guard import SAYS
from tests.load.hostile import MESSAGES
from tests.load.visitors import visiting
from tests.support.app_server import AppServer, serving
from tests.support.grids import grid

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
MEGABYTE = 10**6
LARGEST = 4 * MEGABYTE  # message
PATIENCE = 300  # seconds; a server that forgets does so within 40, and one that does not never does


@pytest.fixture(scope="module", params=grid(["app.py", "serve.py", "cloud/streamlit_app.py"], ("app.py",)))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One that has drawn pages before: the first ones load 100 MB of packages, which no test is to count."""
    with serving(ROOT / request.param, tmp_path_factory.mktemp("doors") / "server.log") as started:
        for page in ("race", "helps"):
            run(look_at(port_of(started), page))
        yield started


async def look_at(port: int, page: str) -> None:
    async with visiting(port) as visitor:
        await visitor.open(page=page)
        await visitor.first_script()


def run(visit: Coroutine[object, object, T]) -> T:
    """In a thread of its own: where a test before has used a browser, Playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visit).result()


def port_of(server: AppServer) -> int:
    return int(server.url.rpartition(":")[2])


def megabytes(server: AppServer) -> float:
    return float(psutil.Process(server.pid).memory_info().rss) / MEGABYTE


async def upload_much(port: int, files: int) -> list[int]:
    """The server's answers to files of 3.9 MB, from one visitor."""
    async with visiting(port) as visitor:
        await visitor.open(page="when_it_helps")
        await visitor.first_script()
        return [await visitor.upload("when_it_helps_csv", "a.csv", b"x" * 3_900_000) for _ in range(files)]


@pytest.mark.full
def test_one_visitor_uploads_no_more_than_it_may_and_the_only_visitor_is_forgotten_too(
    server: AppServer,
) -> None:
    """Before: what the last visitor had sent stayed until somebody else came."""
    assert run(upload_much(port_of(server), 1)) == [204]
    assert run(upload_much(port_of(server), 6)) == [204, 204, 204, 413, 413, 413]
    held, began = megabytes(server), time.monotonic()
    while megabytes(server) > held - 3.9 * 2:
        assert time.monotonic() < began + PATIENCE, f"{held:.0f} MB before, {megabytes(server):.0f} MB after"
        time.sleep(1)


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
        await visitor.open(page="race")
        await visitor.first_script()
        message = visitor._request()
        forged = message.rerun_script.widget_states.widgets.add(id=visitor.widgets["race_presets"][0])
        forged.string_array_value.data.append(value)
        if len(value) > LARGEST:
            await visitor.socket.send(message.SerializeToString())
            await asyncio.wait_for(visitor.socket.wait_closed(), PATIENCE)
            return visitor.socket.close_code
        ended = visitor.scripts
        await visitor.socket.send(message.SerializeToString())
        assert await visitor.stay_until(lambda: visitor.scripts > ended, PATIENCE) is not None
        assert visitor.errors == []
        return visitor.messages


def test_a_forged_value_of_a_menu_changes_nothing_and_is_not_in_the_log(server: AppServer) -> None:
    """Before: each printed all of it into the log, 24 MB and more."""
    size = server.log.stat().st_size
    said = run(forge(port_of(server), "A" * 3_000_000))
    assert isinstance(said, list)
    assert said
    assert not any(SAYS["failed"].split(",")[0] in line for line in said)
    grown = server.log.read_text(encoding="utf-8")[size:]
    assert "Traceback" not in grown
    assert "A" * 50 not in grown
    assert run(forge(port_of(server), "A" * 5_000_000)) == 1009, "what is larger than a message may be is not read"


async def forge_each(port: int) -> None:
    """Send each message that no page sends, and wait until its connection is closed."""
    for forge_message in MESSAGES.values():
        async with visiting(port) as visitor:
            await visitor.open()
            await visitor.first_script()
            message = visitor._request()
            forge_message(message, visitor.session)
            await visitor.socket.send(message.SerializeToString())
            await asyncio.wait_for(visitor.socket.wait_closed(), PATIENCE)


@pytest.mark.full
def test_a_message_that_no_page_sends_ends_its_connection(server: AppServer) -> None:
    """Before, under app.py: 1,788 MB for one message; under both, 300 messages of two bytes froze every answer."""
    run(forge_each(port_of(server)))
    once = highest(server)
    run(forge_each(port_of(server)))
    assert highest(server) < once + 150, "the memory of one is used for the next"
    assert "Traceback" not in server.log.read_text(encoding="utf-8")
    assert run(upload_much(port_of(server), 6)) == [204, 204, 204, 413, 413, 413]


def highest(server: AppServer) -> float:
    """The most memory that the server has held, in MB."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1000


async def fill(port: int, full: Event, over: Event) -> None:
    """Other visitors upload all that the server keeps, and stay."""
    async with AsyncExitStack() as visits:
        while not full.is_set():
            visitor = await visits.enter_async_context(visiting(port))
            await visitor.open(page="when_it_helps")
            await visitor.first_script()
            if 413 in [await visitor.upload("when_it_helps_csv", "a.csv", b"x" * 3_900_000) for _ in range(3)]:
                full.set()
        while not over.is_set():
            await visitor.stay(0.2)


@pytest.mark.full
@pytest.mark.parametrize("entry", ["serve.py"])
def test_the_page_says_why_a_file_is_refused(entry: str, page: Page, tmp_path: Path) -> None:
    """Before: beside the uploader stood "Request failed with status code 413", and no reason.

    On a server of its own: elsewhere the room of a visitor who has left may come back in the middle.
    """
    file, full, over = tmp_path / "run.csv", Event(), Event()
    file.write_bytes(b"x" * 3_900_000)
    with serving(ROOT / entry, tmp_path / "server.log") as server, ThreadPoolExecutor(1) as thread:
        page.goto(f"{server.url}/when_it_helps?view=full")
        page.get_by_text("Open a sweep’s CSV").click()
        others = thread.submit(asyncio.run, fill(port_of(server), full, over))
        try:
            while not full.wait(0.1):
                assert not others.done(), others.exception()
            page.locator(".st-key-when_it_helps_csv input[type=file]").set_input_files(file)
            expect(page.get_by_test_id("stToast")).to_contain_text(SAYS["full_server"])
        finally:
            over.set()
        others.result()
