"""How much one visitor, one address and all visitors may upload; what is too much is refused by a sentence, unread."""

from typing import Any

import pytest

from specviz.ui.shared import middleware
from specviz.ui.shared.middleware import FULL, FULL_ADDRESS, FULL_SERVER, Message, Receive, Send, Uploads
from tests.unit.test_previews import finish

MEGABYTE = 10**6
HOME, SCHOOL = "192.168.0.7", "93.184.216.34"


class Server:
    """Streamlit behind the bounds: it keeps every file that it is handed."""

    def __init__(self) -> None:
        self.files: dict[str, list[int]] = {}
        self.handed = 0
        self.told: list[tuple[str, str]] = []
        self.around = Uploads(self._streamlit, lambda: self.files, lambda *each: self.told.append(each))

    async def _streamlit(self, scope: Message, receive: Receive, send: Send) -> None:
        self.handed += 1
        session = scope["path"].split("/")[-2]
        said = next((value for name, value in scope["headers"] if name == b"content-length"), b"1")
        self.files.setdefault(session, []).append(int(said))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def put(self, session: str, size: int | None, address: str = HOME, path: str = "", method: str = "PUT") -> str:
        """Upload a file; what is said against it, empty where it was taken."""
        sent: list[dict[str, Any]] = []

        async def send(message: Message) -> None:
            sent.append(dict(message))

        async def receive() -> Message:
            raise AssertionError("the file is not read")

        path = path or f"/_stcore/upload_file/{session}/some-file"
        headers = [] if size is None else [(b"content-length", str(size).encode())]
        scope = {"type": "http", "method": method, "path": path, "headers": headers, "client": (address, 1)}
        finish(self.around(scope, receive, send))
        assert sent[0]["status"] == (204 if not sent[1]["body"] else 413)
        return str(sent[1]["body"].decode())


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_session_has_room_for_a_few_files(server: Server) -> None:
    """Before: 300 uploads of 4 MB took 1,170 MB."""
    said = [server.put("one", 4 * MEGABYTE) for _ in range(300)]
    assert said == [""] * 3 + [FULL] * 297
    assert server.told == [("one", FULL)] * 297
    assert sum(server.files["one"]) <= middleware.SESSION_BYTES
    assert server.put("another", 4 * MEGABYTE) == ""
    server.files["one"].pop()  # the visitor removes one
    assert server.put("one", 4 * MEGABYTE) == ""
    small = [server.put("two", 1) for _ in range(middleware.MOST_FILES + 1)]
    assert small == [""] * middleware.MOST_FILES + [FULL], "small files are counted too"


def test_a_file_whose_size_is_not_said_counts_as_the_largest_and_one_on_its_way_counts(server: Server) -> None:
    """An attacker sends many at once, and none of them is there yet."""
    server.files["one"] = [8 * MEGABYTE]
    assert server.put("one", None) == FULL
    assert server.put("one", 3 * MEGABYTE) == ""
    server.around._under_way["two"] = 9 * MEGABYTE
    assert server.put("two", 4 * MEGABYTE) == FULL
    assert server.put("two", 2 * MEGABYTE) == ""
    assert server.around._under_way["two"] == 9 * MEGABYTE


def test_the_sessions_of_a_public_address_share_its_room(server: Server) -> None:
    said = [server.put(f"tab-{number}", 4 * MEGABYTE, SCHOOL) for number in range(100)]
    taken = middleware.ADDRESS_BYTES // (4 * MEGABYTE)
    assert said == [""] * taken + [FULL_ADDRESS] * (100 - taken)
    assert server.put("elsewhere", 4 * MEGABYTE, "93.184.216.35") == ""
    for number in range(50):
        server.files.pop(f"tab-{number}", None)  # they have left
    assert server.put("tab-99", 4 * MEGABYTE, SCHOOL) == ""


def test_all_sessions_together_have_room_for_so_much(server: Server) -> None:
    said = [server.put(f"visitor-{number}", 4 * MEGABYTE, f"10.0.0.{number}") for number in range(60)]
    assert set(said) == {"", FULL_SERVER}
    assert sum(map(sum, server.files.values())) <= middleware.ALL_BYTES


def test_the_app_may_stand_below_another_path_and_everything_else_passes(server: Server) -> None:
    server.files["one"] = [middleware.SESSION_BYTES]
    assert server.put("one", 1, path="/below/_stcore/upload_file/one/file") == FULL
    assert server.put("one", 1, method="POST") == FULL
    assert server.put("one", 1, method="DELETE") == ""
    assert server.put("one", 1, path="/app/static/plotly.min.js") == ""
    assert server.handed == 2
