"""A Hub on loopback: speaks as much of its protocol as the real client needs to list and download, and fails on order.

It lists a model (`/api/models/...`), and serves its files (`/owner/name/resolve/...`, HEAD and GET, with ranges). Set
`trouble` to make it fail: see `Trouble`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Literal
from urllib.parse import urlparse

import pytest
from huggingface_hub import constants

from specviz import InputError
from specviz.models import downloads
from specviz.models import hub as hub_module

Trouble = Literal[
    "none",
    "gated",  # 401 or 403 with the Hub's error code
    "gated weights",  # the listing is public, the files are not: how most gated models are
    "down",  # 503
    "files gone",  # the listing is there, each file is answered with 410
    "no commit",  # files without the header that names their commit: what a proxy may remove
    "nonsense",  # a captive portal's web page
    "cut",  # the connection ends half way through a weight file, once
    "cut always",  # ... each time, after a few bytes more
    "no ranges",  # ranges are ignored, and the connection is cut once
    "wrong size",  # the weight file is shorter than the listing said
    "wrong bytes",  # one bit of the weight file is another than in the file that was listed
]
NAME, OTHER, THIRD = "someone/tiny", "someone/other", "someone/third"
CHUNK = 2_000  # bytes that the client reads at a time
COMMIT = "c0ffee" + "0" * 34


@dataclass
class HubServer:
    """Models by id, each a folder on disk."""

    models: dict[str, Path] = field(default_factory=dict)
    trouble: Trouble = "none"
    url: str = ""
    commit: str = COMMIT  # the only one there is
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range
    cuts: int = 0
    answers: Event = field(default_factory=Event)  # cleared: a request is answered only once it is set
    tokens: list[str] = field(default_factory=list)  # the tokens that requests carried

    def __post_init__(self) -> None:
        self.answers.set()

    def ranges(self, file: str = ".safetensors") -> list[str]:
        """The ranges asked for, of files whose name ends so; empty: the whole file."""
        return [wanted for method, path, wanted in self.requests if method == "GET" and path.endswith(file)]


@contextmanager
def serve() -> Iterator[HubServer]:
    """A server on a free port of this machine, until the block ends."""
    with _Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.hub
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = HubServer(url=f"http://127.0.0.1:{self.server_port}")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        hub, path = self.server.hub, urlparse(self.path).path
        hub.requests.append((self.command, path, self.headers.get("Range", "")))
        hub.tokens += filter(None, [self.headers.get("Authorization")])
        hub.answers.wait(60)
        if hub.trouble == "down":
            self._send(503, b"")
        elif hub.trouble == "nonsense":
            self._send(200, b"<html>Welcome to the hotel</html>")
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.*))?", path):
            self._list(match[1], match[2])
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
            self._file(match[1], match[2])
        else:
            self._send(404, b"")

    def _list(self, name: str, commit: str | None) -> None:
        hub = self.server.hub
        if hub.trouble == "gated":
            self._refuse(401, "GatedRepo")
        elif name not in hub.models:
            self._refuse(401, "RepoNotFound")  # what the Hub says to those who are not logged in
        elif commit not in (None, "main", hub.commit):
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        else:
            files = sorted(file for file in hub.models[name].iterdir() if file.is_file())
            listed = {"id": name, "sha": hub.commit, "siblings": [_sibling(file) for file in files]}
            self._send(200, json.dumps(listed).encode(), {"Content-Type": "application/json"})

    def _file(self, name: str, file: str) -> None:
        hub = self.server.hub
        path = hub.models.get(name, Path("/nowhere")) / file
        if hub.trouble == "gated weights":
            self._refuse(403, "GatedRepo")
        elif hub.trouble == "files gone":
            self._send(410, b"")
        elif not path.is_file():
            self._refuse(404, "EntryNotFound")
        else:
            self._content(path)

    def _content(self, path: Path) -> None:
        content, weights = path.read_bytes(), path.suffix == ".safetensors"
        known = {"X-Repo-Commit": self.server.hub.commit, "ETag": f'"{_hash(content)}"'}
        if self.server.hub.trouble == "no commit":
            del known["X-Repo-Commit"]
        trouble = self.server.hub.trouble if weights else "none"
        status, size = 200, len(content)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        headers_only = bool(wanted and wanted[2])  # the client looks at a safetensors header
        if trouble == "wrong size" and not headers_only:
            content = content[:-10]
        elif trouble == "wrong bytes":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if wanted and trouble != "no ranges":
            first, last = int(wanted[1]), int(wanted[2] or size - 1)
            status, content = 206, content[first : last + 1]
            known["Content-Range"] = f"bytes {first}-{first + len(content) - 1}/{size}"
        if self.command == "GET" and trouble.startswith(("cut", "no ranges")) and not headers_only:
            self._cut(status, content, known)
        else:
            self._send(status, content, known)

    def _cut(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        hub = self.server.hub
        always, hub.cuts = hub.trouble == "cut always", hub.cuts + 1
        if not always and hub.cuts > 1:
            return self._send(status, content, headers)
        self._head(status, len(content), headers)
        if not (always and hub.cuts > 1):
            self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        self.close_connection = True

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": "Access to the model is restricted."})

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(content), headers or {})
        if self.command == "GET":
            self.wfile.write(content)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _sibling(file: Path) -> dict[str, object]:
    content = file.read_bytes()
    described: dict[str, object] = {"rfilename": file.name, "size": len(content), "blobId": _hash(content)[:40]}
    if file.suffix == ".safetensors":
        described["lfs"] = {"sha256": _hash(content), "size": len(content), "pointerSize": 134}
    return described


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


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        act()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 400
    return sentence
