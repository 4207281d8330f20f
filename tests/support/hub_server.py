"""A Hub on loopback: speaks as much of its protocol as the real client needs to list and download, and fails on order.

It lists a model (`/api/models/...`), and serves its files (`/owner/name/resolve/...`, HEAD and GET, with ranges).
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Literal
from urllib.parse import urlparse

import pytest
from huggingface_hub import constants

from specviz.models import downloads
from specviz.models import hub as hub_module

Trouble = Literal[
    "none",
    "gated",
    "gated weights",  # the listing is public, the files are not: how most gated models are
    "down",  # 503
    "files gone",  # the listing is there, each file is answered with 410
    "no commit",  # files without the header that names their commit: what a proxy may remove
    "nonsense",  # a captive portal's web page
    "no size",  # of a file in the listing
    "cut",  # the connection ends half way through a weight file, once
    "cut always",  # ... each time, after a few bytes more
    "no ranges",  # ranges are ignored, and the connection is cut once
    "wrong size",  # the weight file is shorter than the listing said
    "wrong bytes",  # one bit of the weight file is another than in the file that was listed
]
NAME, OTHER, THIRD = "someone/tiny", "someone/other", "someone/third"
CHUNK = 2_000  # bytes that the client reads at a time
COMMIT = "c0ffee" + "0" * 34  # the only one there is

Answer = tuple[int, bytes, dict[str, str]]  # status, content, headers
Range = re.Match[str] | None  # first and last byte that are asked for


class HubServer(ThreadingHTTPServer):
    """Models by id, each a folder on disk."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.models: dict[str, Path] = {}
        self.trouble: Trouble = "none"
        self.requests: list[tuple[str, str, str]] = []  # method, path, range
        self.tokens: list[str] = []  # that requests carried
        self.cuts = 0
        self.answers = Event()  # cleared: a request is answered only once it is set
        self.answers.set()

    def ranges(self) -> list[str]:
        """The ranges asked for, of weights; empty: the whole file."""
        return [wanted for method, path, wanted in self.requests if method == "GET" and path.endswith(".safetensors")]

    def sent(self, content: bytes) -> bytes:
        """What is sent of weights before the connection ends."""
        if self.trouble != "cut always" and (self.cuts or self.trouble not in ("cut", "no ranges")):
            return content
        self.cuts += 1
        return b"" if self.cuts > 1 else content[: len(content) // 2]


@contextmanager
def serve() -> Iterator[HubServer]:
    """A server on a free port of this machine, until the block ends."""
    with HubServer() as hub:
        thread = Thread(target=hub.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_GET(self) -> None:
        hub, path, wanted = self.server, urlparse(self.path).path, self.headers.get("Range", "")
        hub.requests.append((self.command, path, wanted))
        hub.tokens += filter(None, [self.headers.get("Authorization")])
        hub.answers.wait(60)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted)
        status, content, headers = _answer(hub, path, asked)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            streamed = path.endswith(".safetensors") and not (asked and asked[2])  # else the client looks at a header
            part = hub.sent(content) if streamed else content
            self.close_connection = self.close_connection or part != content
            self.wfile.write(part)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _answer(hub: HubServer, path: str, asked: Range) -> Answer:
    if hub.trouble == "down":
        return 503, b"", {}
    if hub.trouble == "nonsense":
        return 200, b"<html>Welcome to the hotel</html>", {}
    if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.*))?", path):
        return _listing(hub, match[1], match[2])
    if hub.trouble == "gated weights":
        return _refused(403, "GatedRepo")
    if hub.trouble == "files gone":
        return 410, b"", {}
    match = re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path)
    file = hub.models.get(match[1], Path("/nowhere")) / match[2] if match else Path("/nowhere")
    return _content(file, hub.trouble, asked) if file.is_file() else _refused(404, "EntryNotFound")


def _listing(hub: HubServer, name: str, commit: str | None) -> Answer:
    if hub.trouble == "gated":
        return _refused(401, "GatedRepo")
    if name not in hub.models:
        return _refused(401, "RepoNotFound")  # what the Hub says to those who are not logged in
    if commit not in (None, "main", COMMIT):
        return _refused(404, "RevisionNotFound")
    siblings = [_sibling(file) for file in sorted(hub.models[name].iterdir()) if file.is_file()]
    if hub.trouble == "no size":
        del siblings[-1]["size"]
    listed = {"id": name, "sha": COMMIT, "siblings": siblings}
    return 200, json.dumps(listed).encode(), {"Content-Type": "application/json"}


def _content(file: Path, trouble: Trouble, asked: Range) -> Answer:
    content = file.read_bytes()
    size, known = len(content), {"X-Repo-Commit": COMMIT, "ETag": f'"{_hash(content)}"'}
    if trouble == "no commit":
        del known["X-Repo-Commit"]
    if file.suffix != ".safetensors":
        trouble = "none"
    elif trouble == "wrong size" and not (asked and asked[2]):
        content = content[:-10]
    elif trouble == "wrong bytes":
        content = content[:-1] + bytes([content[-1] ^ 1])
    if not asked or trouble == "no ranges":
        return 200, content, known
    first, last = int(asked[1]), int(asked[2] or size - 1)
    part = content[first : last + 1]
    return 206, part, known | {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{size}"}


def _refused(status: int, code: str) -> Answer:
    return status, b"", {"X-Error-Code": code, "X-Error-Message": "Access to the model is restricted."}


def _sibling(file: Path) -> dict[str, object]:
    content = file.read_bytes()
    described = {"rfilename": file.name, "size": len(content), "blobId": _hash(content)[:40]}
    lfs = {"sha256": _hash(content), "size": len(content), "pointerSize": 134}
    return described | ({"lfs": lfs} if file.suffix == ".safetensors" else {})


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def use(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client knows this Hub alone, has an empty cache, and reads small parts without a pause."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    known = {"ENDPOINT": url, "HUGGINGFACE_CO_URL_TEMPLATE": template, "HF_HUB_CACHE": str(cache)}
    for name, value in (known | {"HF_TOKEN_PATH": str(cache / "no-token")}).items():
        monkeypatch.setattr(constants, name, value)
    for name, setting in {"_silent_since": [], "PAUSE_SECONDS": 0.01, "CHUNK": CHUNK}.items():
        monkeypatch.setattr(hub_module, name, setting)
    monkeypatch.setattr(downloads, "_held", {})
