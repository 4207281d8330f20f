"""Engines behind a URL, without Ray and without engines: an HTTP server that replays lines, as each prompt says.

Prompts: `rounds N` streams N rounds · `break` ends the stream in the middle · `once` does so the first time only ·
`busy` is answered with status 503 the first time · `hold` streams one round, then heartbeats · `silent` one round, then
nothing · `pause` streams one round, then heartbeats, then the end. A sweep has three cells, and heartbeats after each.
"""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Signal
from threading import Thread

from specviz.core.trace import Autoregressive, EmittedToken, Round
from specviz.service.protocol import (
    Alive,
    Done,
    Event,
    Finished,
    Item,
    Progress,
    Ready,
    Rounds,
    Run,
    Started,
    Sweep,
    dump_event,
    parse_command,
)
from tests.support.fake_engine import header, output

TOKEN = "a token of the tests"
BEAT = 0.05  # seconds


class StreamServer(ThreadingHTTPServer):
    """Listens on a free port of this machine until it is closed."""

    daemon_threads = True
    pause = 0.3  # seconds that the prompt `pause` is quiet

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answer)
        self.closing, self.asked, self.left = Signal(), list[str](), list[str]()
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def close(self) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StreamServer

    def log_message(self, *_: object) -> None:
        """Nothing: the tests need no log."""

    def do_GET(self) -> None:
        self.answer(200, dump_event(Ready({})))

    def do_POST(self) -> None:
        command = parse_command(self.rfile.read(int(self.headers["content-length"])))
        assert isinstance(command, Run | Sweep)
        order = "sweep" if isinstance(command, Sweep) else command.request.prompt
        self.server.asked.append(order)
        if order == "busy" and self.server.asked.count(order) == 1:
            self.answer(503, b"")
            return
        self.answer(200, None)
        try:
            for event in self.sweep(command) if isinstance(command, Sweep) else self.run(command, order):
                self.chunk(dump_event(event))
            self.chunk(b"")
        except BrokenPipeError:
            self.server.left.append(order)
        except ConnectionError:
            self.close_connection = True

    def run(self, command: Run, order: str) -> Iterator[Event]:
        job, rounds = command.job, int(order.partition(" ")[2] or 1)
        yield Started(job, header(command))
        for index in range(rounds):
            made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
            yield Rounds(job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))
        if order == "break" or (order == "once" and self.server.asked.count(order) == 1):
            raise ConnectionAbortedError
        if order == "silent":
            self.server.closing.wait()
            raise ConnectionAbortedError
        quiet = {"hold": float("inf"), "pause": self.server.pause}.get(order, 0.0)
        yield from self.beats(job, quiet)
        yield Done(job, "plain \u2028 text")

    def sweep(self, command: Sweep) -> Iterator[Event]:
        for cell in range(command.done + 1, 4):
            yield Progress(command.job, "measuring", 3)
            yield Item(command.job, "sweep", f"cell {cell}")
            yield from self.beats(command.job, 4 * BEAT)
        yield Finished(command.job)

    def beats(self, job: int, seconds: float) -> Iterator[Event]:
        while seconds > 0:
            if self.server.closing.wait(BEAT):
                raise ConnectionAbortedError
            seconds -= BEAT
            yield Alive(job)

    def answer(self, status: int, body: bytes | None) -> None:
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            status, body = 401, b""
        self.send_response(status)
        if body is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body:
            self.wfile.write(body)

    def chunk(self, line: bytes) -> None:
        for part in (line[:7], line[7:]) if len(line) > 7 else (line,):
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()
