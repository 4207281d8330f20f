"""A Hub on loopback: speaks as much of its protocol as the real client needs to list and download, and fails on order.

It lists a model (`/api/models/...`), and serves its files (`/owner/name/resolve/...`, HEAD and GET, with ranges).
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


@dataclass
class HubServer:
    """Models by id, each a folder on disk."""

    url: str
    models: dict[str, Path] = field(default_factory=dict)
    trouble: Trouble = "none"
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range
    cuts: int = 0
    answers: Event = field(default_factory=Event)  # cleared: a request is answered only once it is set
    tokens: list[str] = field(default_factory=list)  # that requests carried

    def ranges(self) -> list[str]:
        """The ranges asked for, of weights; empty: the whole file."""
        return [wanted for method, path, wanted in self.requests if method == "GET" and path.endswith(".safetensors")]


@contextmanager
def serve() -> Iterator[HubServer]:
    """A server on a free port of this machine, until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        hub = _HUBS[server.server_port] = HubServer(f"http://127.0.0.1:{server.server_port}")
        hub.answers.set()
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


_HUBS: dict[int, HubServer] = {}  # by port


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        port, path = self.server.server_address[1], urlparse(self.path).path
        hub = _HUBS[int(port)]
        hub.requests.append((self.command, path, self.headers.get("Range", "")))
        hub.tokens += filter(None, [self.headers.get("Authorization")])
        hub.answers.wait(60)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        status, content, headers = _answer(hub, path, asked)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            streamed = path.endswith(".safetensors") and not (asked and asked[2])  # else the client looks at a header
            self.wfile.write(self._cut(hub, content) if streamed else content)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _cut(self, hub: HubServer, content: bytes) -> bytes:
        """What is sent of it before the connection ends."""
        always = hub.trouble == "cut always"
        if not always and (hub.cuts or hub.trouble not in ("cut", "no ranges")):
            return content
        hub.cuts += 1
        self.close_connection = True
        return b"" if hub.cuts > 1 else content[: len(content) // 2]


def _answer(hub: HubServer, path: str, asked: re.Match[str] | None) -> Answer:
    if hub.trouble == "down":
        return 503, b"", {}
    if hub.trouble == "nonsense":
        return 200, b"<html>Welcome to the hotel</html>", {}
    if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.*))?", path):
        return _listing(hub, match[1], match[2])
    match = re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path)
    file = hub.models.get(match[1], Path("/nowhere")) / match[2] if match else Path("/nowhere")
    if hub.trouble == "gated weights":
        return _refused(403, "GatedRepo")
    if hub.trouble == "files gone":
        return 410, b"", {}
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


def _content(file: Path, trouble: Trouble, asked: re.Match[str] | None) -> Answer:
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
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(cache / "no-token"))
    monkeypatch.setattr(hub_module, "_silent_since", [])
    monkeypatch.setattr(downloads, "_held", {})
    monkeypatch.setattr(hub_module, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(hub_module, "CHUNK", CHUNK)
