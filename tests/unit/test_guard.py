"""What browsers may send, and how much of it Streamlit keeps: the same under serve.py and under app.py. No server."""

from typing import Any

import pytest
from starlette.exceptions import HTTPException
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from specviz.ui.shared import guard
from specviz.ui.shared.guard import (
    ADDRESS_BYTES,
    ALL_BYTES,
    MOST_FILES,
    MOST_ITEMS,
    SAYS,
    SESSION_BYTES,
    is_forged,
    items_in,
)
from tests.load.hostile import MESSAGES
from tests.support.door_contents import dense, message, typed, valued


@pytest.fixture(autouse=True, scope="module")
def _guarded() -> None:
    guard.guard_the_doors()


def read(data: bytes) -> BackMsg:
    """What Streamlit makes of it."""
    sent = BackMsg()
    sent.ParseFromString(data)
    return sent


def rerun(**here: Any) -> bytes:
    """A page asks for its script to run, with these of its address and its names."""
    return BackMsg(rerun_script={"context_info": here}).SerializeToString()


def asked(**named: Any) -> bytes:
    return BackMsg(rerun_script=named).SerializeToString()


def widgets(count: int, **value: Any) -> bytes:
    states = [{"id": f"$$ID-{number}-key", **value} for number in range(count)]
    return asked(widget_states={"widgets": states})


SENT = {
    "a game from the tab": valued('{"text": "' + '{\\"link\\": {\\"seed\\": \\"1\\\\n\\"}}' * 50_000 + '"}'),
    "a place of the stage": valued('{"step": 12, "gamma": 4, "gap": 0.5, "tour": null}'),
    "a long text": typed("[{" * 500_000),
    "the widgets of a page": widgets(300),
    "an address": rerun(url="https://example.org/app/race", timezone="Europe/Berlin", locale="de-DE"),
    "a long link": asked(query_string="prompt=" + "x" * 20_000),
    "a heartbeat": BackMsg(app_heartbeat=True).SerializeToString(),
    "a stop": BackMsg(stop_script=True).SerializeToString(),
    "names as long as they may be": rerun(timezone="x" * 2_000),
    "as many items": asked(cached_message_hashes=["x"] * 2_000),
    "as many values": valued('"text"' + " " * 2_000),
    "as many quotes": valued('"x"' * 1_000),
    "three files": message(lambda sent, _: sent.file_urls_request.file_names.extend("abc")),
}
NOT_SENT = {
    **{
        name: BackMsg(**{name: True}).SerializeToString()
        for name in ("load_git_info", "clear_cache", "set_run_on_save")
    },
    "nothing": b"",
    "an address": rerun(url="https://example.org/" + "x" * 2_000),
    **{f"a {name}": rerun(**{name: "x" * 2_001}) for name in ("timezone", "locale")},
    **{f"a {name}": asked(**{name: "x" * 2_001}) for name in ("fragment_id", "page_name", "page_script_hash")},
    "hashes": asked(cached_message_hashes=["x"] * 2_001),
    **{
        f"{kind}s in widgets": widgets(100, **{f"{kind}_array_value": {"data": [value] * 30}})
        for kind, value in (("double", 0.5), ("int", 1), ("string", ""))
    },
    "one value more": valued('"text"' + " " * 2_001),
    "more quotes": valued('"x"' * 1_001),
    "files in a widget": widgets(1, file_uploader_state_value={"uploaded_file_info": [{}] * 2_001}),
    "files in a chat": widgets(1, chat_input_value={"file_uploader_state": {"uploaded_file_info": [{}] * 2_001}}),
    **{name: message(forge) for name, forge in MESSAGES.items()},
    **{f"values: {value[9:14]}": valued(value) for value in dense()},
}


def test_what_a_page_sends_passes_and_what_no_page_sends_is_known() -> None:
    assert [name for name, sent in SENT.items() if is_forged(read(sent))] == []
    assert [name for name, sent in NOT_SENT.items() if not is_forged(read(sent))] == []


def test_every_kind_of_message_that_streamlit_knows_was_decided_about() -> None:
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    refused = {read(sent).WhichOneof("type") for sent in NOT_SENT.values()} - {None}
    assert guard.SENT | refused == kinds, "Streamlit has a new kind of message: does a page of this app send it?"


def test_items_are_counted_at_any_depth_and_no_further_than_needed() -> None:
    assert items_in(read(widgets(100, string_array_value={"data": ["a"] * 3}))) == 400
    assert items_in(read(widgets(3_000))) == MOST_ITEMS + 1


# ---- files

MEGABYTE = 10**6
HOME, SCHOOL = "192.168.0.7", "93.184.216.34"


class Uploads:
    """Streamlit's own store of files behind the bounds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.manager = MemoryUploadedFileManager("/upload")
        self.addresses: dict[str, str] = {}
        self.told: list[tuple[str, str]] = []
        monkeypatch.setattr(guard, "address_of", lambda session: self.addresses.get(session, ""))
        monkeypatch.setattr(guard, "tell_page", lambda *each: self.told.append(each))

    def put(self, session: str, size: int, address: str = HOME, name: str = "") -> str:
        """Upload a file; what is said against it, empty where it was taken."""
        self.addresses[session] = address
        name = name or f"file {sum(map(len, self.manager.file_storage.values()))}"
        refused = HTTPException(413, "")
        try:
            self.manager.add_file(session, UploadedFileRec(name, "a.csv", "text/csv", bytes(size)))
        except HTTPException as error:
            refused = error
        assert refused.status_code == 413
        return refused.detail

    def held(self, session: str) -> int:
        return sum(len(file.data) for file in self.manager.file_storage.get(session, {}).values())


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    return Uploads(monkeypatch)


def test_a_session_has_room_for_a_few_files(uploads: Uploads) -> None:
    """Before: 300 uploads of 4 MB took 1,170 MB."""
    said = [uploads.put("one", 4 * MEGABYTE) for _ in range(300)]
    assert said == [""] * 3 + [SAYS["full_visitor"]] * 297
    assert uploads.told == [("one", "full_visitor")] * 297
    assert uploads.held("one") <= SESSION_BYTES
    assert uploads.put("another", 4 * MEGABYTE) == ""
    uploads.manager.remove_file("one", "file 0")
    assert uploads.put("one", 4 * MEGABYTE) == ""
    small = [uploads.put("two", 1) for _ in range(MOST_FILES + 1)]
    assert small == [""] * MOST_FILES + [SAYS["full_visitor"]], "small files are counted too"


def test_a_file_that_comes_again_takes_its_own_place(uploads: Uploads) -> None:
    assert [uploads.put("one", 4 * MEGABYTE, name=str(number)) for number in range(3)] == [""] * 3
    assert uploads.put("one", 4 * MEGABYTE, name="2") == ""
    assert uploads.held("one") == SESSION_BYTES


def test_the_sessions_of_a_public_address_share_its_room(uploads: Uploads) -> None:
    said = [uploads.put(f"tab-{number}", 4 * MEGABYTE, SCHOOL) for number in range(30)]
    taken = ADDRESS_BYTES // (4 * MEGABYTE)
    assert said == [""] * taken + [SAYS["full_network"]] * (30 - taken)
    assert uploads.put("elsewhere", 4 * MEGABYTE, "93.184.216.35") == ""
    for number in range(15):
        uploads.manager.remove_session_files(f"tab-{number}")  # they have left
    assert uploads.put("tab-29", 4 * MEGABYTE, SCHOOL) == ""


def test_all_sessions_together_have_room_for_so_much(uploads: Uploads) -> None:
    said = [uploads.put(f"visitor-{number}", 4 * MEGABYTE, f"10.0.0.{number}") for number in range(60)]
    assert set(said) == {"", SAYS["full_server"]}
    assert sum(uploads.held(f"visitor-{number}") for number in range(60)) <= ALL_BYTES
