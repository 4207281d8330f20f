"""A visitor without a browser: opens the app over Streamlit's own websocket and behaves as the browser does.

It sends the timer of each fragment, remembers the widgets so that it can use them, and reads what the stage is given.
It draws nothing, so one small computer can play a whole class. Streamlit's messages are not documented: these fit the
pinned version.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from statistics import median
from time import monotonic
from typing import Any
from urllib.parse import urlencode

import httpx2
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

GIVE_UP_SECONDS = 120.0  # for one run
RECORDED = "first"  # the run on the first screen, which no engine made
Part = dict[str, Any]
WIDGETS = ("button", "slider", "file_uploader", "text_input", "text_area", "multiselect")


def run_link(seed: int, draft_length: int = 4) -> str:
    """A link to a run of 64 tokens by the bundled pair."""
    asked = {"preset": "story-3", "target": "wren-base", "draft": "wren-nano", "gamma": draft_length}
    return urlencode(asked | {"temperature": 0.7, "tokens": 64, "seed": seed})


def written_in(rounds: list[Any]) -> list[str]:
    """What each round of a trace wrote, as JSON."""
    accepted = ("".join(token["text"] for token in each["drafted"] if token["status"] == "accepted") for each in rounds)
    own = (each["emitted"].get("text") or "" for each in rounds)  # a draft that ends the text leaves the target none
    return [text + added for text, added in zip(accepted, own, strict=True)]


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Seconds from asking for a run to its first round on the page, and to its end; None where it never came."""

    first_round: float | None
    whole: float | None


@dataclass(slots=True)
class Visitor:
    """One visitor, with what is on the page that matters here."""

    socket: ClientConnection
    query: str = ""
    page: str = ""  # the path of the page to open; empty: the first one
    page_hash: str = ""  # the page that is open, as the server names it
    timers: dict[str, tuple[float, float]] = field(default_factory=dict)  # by the fragment: how often, and when next
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)  # key → the widget's and the fragment's id
    session: str = ""  # the server's name for this visitor
    places: FileURLs | None = None  # where to send the file that is uploaded
    run_shown: str = RECORDED  # on the stage
    texts: list[str] = field(default_factory=list)  # what each round of it wrote
    held: list[str] = field(default_factory=list)  # the same of the run that the page was sent last
    running: bool = False  # whether it still grows
    finished: set[str] = field(default_factory=set)  # runs that the visitor has seen
    messages: list[str] = field(default_factory=list)  # what the visitor was told: callouts, and the stage's notices
    problem: str = ""  # why the run asked for last has failed
    errors: list[str] = field(default_factory=list)  # exceptions on the page
    scripts: int = 0  # runs of the script or a fragment that have ended
    received: int = 0  # bytes

    # ---- what a visitor does

    async def open(self, query: str = "", page: str = "") -> None:
        """Open a link. On an open page it is as if the address had changed."""
        self.query, self.page, self.page_hash = query, page, ""
        await self._send(self._request())

    async def press(self, key: str) -> None:
        await self.put(key, trigger_value=True)

    async def write(self, key: str, text: str) -> None:
        await self.put(key, string_value=text)

    async def put(self, key: str, **value: Any) -> None:
        """Give the widget with this key a value, by the name of its kind in Streamlit's messages."""
        widget, fragment = self.widgets[key]
        message = self._request(fragment)
        message.rerun_script.widget_states.widgets.add(id=widget, **value)
        await self._send(message)

    async def upload(self, key: str, name: str, content: bytes) -> int:
        """Give a file to the uploader that has this key, as the browser does; the server's answer, 204: it has it."""
        message = BackMsg()
        message.file_urls_request.request_id = message.file_urls_request.session_id = self.session
        message.file_urls_request.file_names.append(name)
        self.places = None
        await self._send(message)
        await self.stay_until(lambda: self.places is not None, GIVE_UP_SECONDS)
        if self.places is None:
            raise OSError(f"the server named no place for {name} on page {self.page!r}")
        host, port = self.socket.remote_address[:2]
        async with httpx2.AsyncClient(base_url=f"http://{host}:{port}", timeout=GIVE_UP_SECONDS) as client:
            await client.get("/_stcore/health")
            token = {"X-Xsrftoken": client.cookies.get("_streamlit_xsrf", "")}
            answer = await client.put(self.places.upload_url, files={"file": (name, content)}, headers=token)
        file = {"file_id": self.places.file_id, "name": name, "size": len(content), "file_urls": self.places}
        ended = self.scripts
        await self.put(key, file_uploader_state_value={"uploaded_file_info": [file]})
        await self.stay_until(lambda: self.scripts > ended, GIVE_UP_SECONDS)  # Streamlit drops places named meanwhile
        return answer.status_code

    async def run(self, ask: Awaitable[None]) -> RunTimes:
        """Ask for a run in some way, and stay until it is over or has failed."""
        began, self.problem = monotonic(), ""
        await ask
        await self.stay_until(lambda: self._live is not None or bool(self.problem), GIVE_UP_SECONDS)
        if (run := self._live) is None:
            return RunTimes(None, None)
        first, left = monotonic() - began, began + GIVE_UP_SECONDS - monotonic()
        ended = await self.stay_until(lambda: self._live != run or not self.running, left)
        if ended is not None:
            self.finished.add(run)  # else the visitor can go on waiting for it
        return RunTimes(first, None if ended is None or self.problem else monotonic() - began)

    async def first_script(self) -> None:
        """Wait until the page is there."""
        await self.stay_until(lambda: self.scripts > 0, GIVE_UP_SECONDS)

    async def stay(self, seconds: float) -> None:
        """Look at the page."""
        await self.stay_until(lambda: False, seconds)

    async def stay_until(self, done: Callable[[], bool], seconds: float) -> float | None:
        """Look at the page until something is so; how long that took, None where the time was up."""
        began = monotonic()
        while not done():
            left = began + seconds - monotonic()
            if left <= 0:
                return None
            await self._step(left)
        return monotonic() - began

    @property
    def _live(self) -> str | None:
        """The run on the stage, if it has a round and is new."""
        new = self.run_shown != RECORDED and self.run_shown not in self.finished
        return self.run_shown if new and self.texts else None

    # ---- as the browser does

    async def _step(self, patience: float) -> None:
        """Take the next message, or send the timers that are due."""
        due = min((due for _, due in self.timers.values()), default=math.inf)
        with suppress(TimeoutError):
            raw = await asyncio.wait_for(self.socket.recv(), max(0.0, min(due - monotonic(), patience)))
            assert isinstance(raw, bytes)
            self._take(raw)
        for fragment, (interval, due) in list(self.timers.items()):
            if monotonic() >= due:
                self.timers[fragment] = interval, monotonic() + interval
                await self._send(self._request(fragment, timer=True))

    async def _send(self, message: BackMsg) -> None:
        await self.socket.send(message.SerializeToString())

    def _request(self, fragment: str = "", timer: bool = False) -> BackMsg:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.fragment_id, asked.is_auto_rerun = self.query, fragment, timer
        asked.page_script_hash, asked.page_name = self.page_hash, "" if self.page_hash else self.page
        return message

    def _take(self, raw: bytes) -> None:
        self.received += len(raw)
        message = ForwardMsg()
        message.ParseFromString(raw)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            if not message.metadata.run.fragment_ids:
                self.timers.clear()  # a run of the whole script begins
        elif kind == "file_urls_response":
            self.places = message.file_urls_response.file_urls[0]
        elif kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            self.timers[message.auto_rerun.fragment_id] = interval, monotonic() + interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self.timers.pop(fragment, None)
        elif kind == "script_finished":
            self.scripts += message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._see(message.delta)

    def _see(self, delta: Delta) -> None:
        element = delta.new_element
        kind, data = element.WhichOneof("type") or "", element.bidi_component.bytes
        holds = kind == "bidi_component" and data.startswith(b'{"name"')  # what the tab holds for a page
        if kind in WIDGETS or holds:
            widget = getattr(element, kind).id
            self.widgets[widget.split("-", 2)[2]] = (widget, delta.fragment_id)  # "$$ID-" hash "-" key
        elif kind == "exception":
            self.errors.append(element.exception.message)
        elif kind == "alert":
            self.messages.append(element.alert.body)
            if element.alert.format == Alert.ERROR:
                self.problem = element.alert.body
        elif data.startswith(b'{"key"'):
            self.held = written_in(json.loads(data)["run"]["trace"]["rounds"])
        elif b"run_id" in data and b'"spoken": true' not in data:
            self._look_at_stage(json.loads(data))

    def _look_at_stage(self, data: dict[str, Any]) -> None:
        """A run comes in two parts, or whole, or only what is new of it."""
        data = data.get("whole") or data.get("growth") or data
        if not {"part", "rounds", "run"} & data.keys():
            return  # another component's run
        self.run_shown, self.running = data["run_id"], data.get("running", False)
        rounds = data["run"]["trace"]["rounds"] if "run" in data else data.get("rounds", [])
        self.texts[data.get("start", 0) :] = self.held if "part" in data else written_in(rounds)
        if data.get("notice"):
            self.messages.append(data["notice"])


@asynccontextmanager
async def visiting(port: int) -> AsyncIterator[Visitor]:
    """A visitor of a server on this machine, connected and on no page yet."""
    address, spoken = f"ws://127.0.0.1:{port}/_stcore/stream", [Subprotocol("streamlit")]
    async with connect(address, subprotocols=spoken, max_size=None, open_timeout=60, close_timeout=1) as socket:
        yield Visitor(socket)


Behaviour = Callable[[Visitor, int], Awaitable[list[RunTimes]]]


@dataclass
class Crowd:
    """What visitors at the same time have seen."""

    runs: list[RunTimes] = field(default_factory=list)
    visitors: list[Visitor] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def opens(seed: int, all_the_same: bool = False) -> Behaviour:
    """A visitor who opens a link, with the seed counted up by the visitor's number, and stays until the run is over."""

    async def behave(visitor: Visitor, number: int) -> list[RunTimes]:
        return [await visitor.run(visitor.open(run_link(seed if all_the_same else seed + number)))]

    return behave


async def crowd(port: int, count: int, behave: Behaviour) -> Crowd:
    """This many visitors at once. A visitor who is thrown out is counted, not hidden."""
    seen = Crowd()

    async def one(number: int) -> None:
        try:
            async with visiting(port) as visitor:
                seen.visitors.append(visitor)
                seen.runs += await behave(visitor, number)
                seen.errors += visitor.errors
        except (OSError, WebSocketException) as error:
            seen.errors.append(repr(error))
            seen.runs.append(RunTimes(None, None))

    await asyncio.gather(*(one(number) for number in range(count)))
    return seen


def waits(runs: list[RunTimes]) -> Part:
    """How long the visitors waited, and how many runs did not come."""
    return {
        "runs": len(runs),
        "lost": sum(run.whole is None for run in runs),
        "first_round_seconds": spread([run.first_round for run in runs if run.first_round is not None]),
        "whole_run_seconds": spread([run.whole for run in runs if run.whole is not None]),
    }


def spread(seconds: list[float]) -> dict[str, float | None]:
    """The middle, the 95th of a hundred, and the longest."""
    if not seconds:
        return {"median": None, "p95": None, "max": None}
    ordered = sorted(seconds)
    middle, high = median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {"median": round(middle, 3), "p95": round(high, 3), "max": round(ordered[-1], 3)}
