"""A server of OpenAI's format for tests, which answers as it is told: well, or in any of the wrong ways."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
STREAM, JSON = {"Content-Type": "text/event-stream"}, {"Content-Type": "application/json"}
WORDS = ("Once", " upon", " a", " time", " there", " was", " a", " cat", ".", " The", " end")
DONE = b"data: [DONE]\n\n"


@dataclass
class Reply:
    """What is sent: status, headers, and parts of the body as they are. `cut`: the connection ends in the middle."""

    body: Iterable[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: STREAM)
    cut: bool = False


def event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def page(value: Any, status: int = 200) -> Reply:
    return Reply([json.dumps(value).encode()], status, JSON)


def said(problem: str, status: int) -> Reply:
    return page({"error": {"message": problem, "code": status}}, status)


def ending(tokens: int, *parts: bytes) -> Reply:
    """A stream of these parts, after which the server says that it wrote so many tokens."""
    return Reply([*parts, event({"choices": [], "usage": {"completion_tokens": tokens}}), DONE])


@dataclass
class FakeServer:
    """A server whose words are always the same. Its counters are those of its answers, and of `strangers`."""

    owner: str = "vllm"
    drafts: int = 0  # accepted tokens of each round; 0: no speculation
    writes: int = 0  # tokens, whatever is asked for; 0: as many as are asked for
    strangers: int = 0  # tokens that each answer is counted for in addition, as if others had asked too
    busy: int = 0  # looks at its counters until which it has a request of somebody else
    models: tuple[str, ...] = ("wren",)
    pages: Mapping[str, Any] = field(default_factory=dict)  # what it also says, by path
    answer: Callable[[dict[str, Any]], Reply] | None = None  # instead of its own
    refuses: str = ""  # a field of a request
    closes: bool = False  # a connection that has had an answer, without a word when a question comes on it
    dropped: int = 0  # questions that met such a connection
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    written: int = 0
    rounds: int = 0
    at_once: int = 0
    most_at_once: int = 0
    lock: Lock = field(default_factory=Lock)
    url: str = ""

    def reply(self, path: str, body: dict[str, Any]) -> Reply:
        listed = {"data": [{"id": name, "owned_by": self.owner} for name in self.models]}
        pages = {"/v1/models": listed, "/version": {"version": "0.32.0"}} | self.pages
        if path in pages:
            return page(pages[path])
        if path == "/metrics":
            return Reply([self.metrics().encode()], headers={"Content-Type": "text/plain"})
        if not path.endswith("/completions"):
            return said("no such path", 404)
        self.asked.append(body)
        if self.refuses in body:
            return said(f"unknown field {self.refuses}", 400)
        if body["model"] not in self.models:
            return said(f"The model `{body['model']}` does not exist.", 404)
        return self.answer(body) if self.answer else Reply(self.parts(body))

    def parts(self, body: dict[str, Any]) -> Iterator[bytes]:
        asked, written, rounds = self.writes or int(body["max_tokens"]), 0, 0
        while written < asked:
            new = min(1 + (self.drafts if written else 0), asked - written)
            rounds += bool(written and self.drafts)
            text = "".join(WORDS[place % len(WORDS)] for place in range(written, written + new))
            written += new
            choice = {"delta": {"content": text}} if "messages" in body else {"text": text}
            yield event({"choices": [choice | {"finish_reason": "length" if written == asked else None}]})
        with self.lock:
            self.written, self.rounds = self.written + written + self.strangers, self.rounds + rounds
        yield event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": written}}) + DONE

    def metrics(self) -> str:
        counts = {"generation_tokens_total": self.written, "num_requests_running": min(1, self.busy)}
        self.busy = max(0, self.busy - 1)
        if self.drafts:
            names = ("drafts", "draft_tokens", "accepted_tokens")
            many = (self.rounds, self.rounds * self.drafts, self.rounds * self.drafts)
            counts |= {f"spec_decode_num_{name}_total": count for name, count in zip(names, many, strict=True)}
            per = "spec_decode_num_accepted_tokens_per_pos_total"
            counts |= {f'{per}{{position="{place}"}}': self.rounds for place in range(self.drafts)}
        return "\n".join(f"vllm:{name} {count}.0" for name, count in counts.items())


def run_alone(work: Callable[[], T]) -> T:
    """What it gives, run in a thread: the main one may have a loop, of the browser for example."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    return run_alone(lambda: asyncio.run(work))


@contextmanager
def running(server: FakeServer) -> Iterator[FakeServer]:
    """The server on a free port of this machine, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        used = False  # this connection

        def do_GET(self) -> None:
            self._send(server.reply(self.path, {}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if server.closes and self.used:
                server.dropped += 1
                self.close_connection = True
                return
            with server.lock:
                server.keys.add(self.headers.get("Authorization", ""))
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                self._send(server.reply(self.path, body))
            finally:
                with server.lock:
                    server.at_once -= 1

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Transfer-Encoding": "chunked"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.used = True
            with suppress(OSError):  # the client has gone
                for part in reply.body:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                    self.wfile.flush()
                if not reply.cut:
                    self.wfile.write(b"0\r\n\r\n")
            self.close_connection = self.close_connection or reply.cut

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}"
    Thread(target=http.serve_forever, daemon=True, kwargs={"poll_interval": 0.02}).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
