"""Engines behind a URL, without Ray and without engines: an HTTP server that replays lines, as each prompt says.

Prompts: `rounds N` streams N rounds · `break` ends the stream in the middle · `once` does so the first time only ·
`busy N` is answered with status 503 the first N times · `hold` streams one round, then heartbeats. A sweep has three
cells, and gives its place after each.
"""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Signal
from threading import Thread

from specviz.service import protocol as wire
from tests.support.replaying_engine import begin

TOKEN = "a token of the tests"
BEAT = 0.05  # seconds


class StreamServer(ThreadingHTTPServer):
    """Listens on a free port of this machine until it is closed."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answer)
        self.closing, self.asked, self.left = Signal(), list[str](), list[str]()
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self.closing.set()  # the streams end last: who comes again is refused, and not cut off a second time


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StreamServer

    def log_message(self, *_: object) -> None:
        """Nothing: the tests need no log."""

    def do_GET(self) -> None:
        self.answer(200, wire.dump_event(wire.EngineReady({})))

    def do_POST(self) -> None:
        command = wire.parse_command(self.rfile.read(int(self.headers["content-length"])))
        assert isinstance(command, wire.Run | wire.Sweep)
        order = "sweep" if isinstance(command, wire.Sweep) else command.request.prompt
        self.server.asked.append(order)
        if order.startswith("busy") and self.server.asked.count(order) <= int(order.partition(" ")[2]):
            self.answer(503, b"")
            return
        self.answer(200, None)
        try:
            for event in self.sweep(command) if isinstance(command, wire.Sweep) else self.run(command, order):
                self.chunk(wire.dump_event(event))
            self.chunk(b"")
        except (BrokenPipeError, ConnectionResetError):  # reset: it left with lines that it had not read
            self.server.left.append(order)
        except ConnectionAbortedError:
            self.close_connection = True

    def run(self, command: wire.Run, order: str) -> Iterator[wire.Event]:
        yield from begin(command, 1 if order.startswith("busy") else int(order.partition(" ")[2] or 1))
        if order == "break" or (order == "once" and self.server.asked.count(order) == 1):
            raise ConnectionAbortedError
        yield from self.beats(command.job, float("inf") if order == "hold" else 0.0)
        yield wire.RunDone(command.job, "plain \u2028 text")

    def sweep(self, command: wire.Sweep) -> Iterator[wire.Event]:
        if command.done == 3:
            yield wire.JobFinished(command.job)
        else:
            yield wire.JobProgress(command.job, "measuring", 3)
            yield wire.JobItem(command.job, "sweep", f"cell {command.done + 1}")
            yield wire.JobStopped(command.job)

    def beats(self, job: int, seconds: float) -> Iterator[wire.Event]:
        while seconds > 0:
            if self.server.closing.wait(BEAT):
                raise ConnectionAbortedError
            seconds -= BEAT
            yield wire.EngineAlive(job)

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
