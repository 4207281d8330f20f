"""What browsers may send, and how much of it Streamlit keeps: the same under serve.py and under app.py. No server."""

from functools import cache
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from streamlit.proto.BackMsg_pb2 import BackMsg

from specviz.ui.shared import guard
from specviz.ui.shared.guard import ADDRESS_BYTES, ALL_BYTES, MOST_FILES, SAYS, SESSION_BYTES, is_forged
from tests.load.hostile import MESSAGES
from tests.support.door_contents import dense, message, typed, valued


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


@cache
def not_sent() -> dict[str, bytes]:
    """Some are megabytes."""
    return {
        **{
            its: BackMsg(**{its: True}).SerializeToString()
            for its in ("load_git_info", "clear_cache", "set_run_on_save")
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
    assert [name for name, sent in not_sent().items() if not is_forged(read(sent))] == []


def test_every_kind_of_message_that_streamlit_knows_was_decided_about() -> None:
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    refused = {read(sent).WhichOneof("type") for sent in not_sent().values()} - {None}
    assert guard.SENT | refused == kinds, "Streamlit has a new kind of message: does a page of this app send it?"


def test_items_are_counted_at_any_depth_and_no_further_than_needed() -> None:
    assert guard.items_in(read(widgets(100, string_array_value={"data": ["a"] * 3}))) == 400
    assert guard.items_in(read(widgets(3_000))) == guard.MOST_ITEMS + 1


# ---- files

MB = 10**6


def each(place: str, count: int, *sizes: int) -> dict[str, list[int]]:
    """Sessions at this place that hold files of these sizes."""
    return {f"{place} {number}": [*sizes] for number in range(count)}


@pytest.mark.parametrize(
    ("held", "session", "size", "problem"),
    [
        ({}, "home 0", SESSION_BYTES, None),
        (each("home", 1, 4 * MB, 4 * MB), "home 0", 4 * MB, None),
        (each("home", 1, 4 * MB, 4 * MB), "home 0", 4 * MB + 1, "full_visitor"),  # before: 300 of 4 MB took 1,170 MB
        (each("home", 1, 4 * MB, 4 * MB, 4 * MB), "home 1", 4 * MB, None),
        (each("home", 1, *[1] * (MOST_FILES - 1)), "home 0", 1, None),
        (each("home", 1, *[1] * MOST_FILES), "home 0", 1, "full_visitor"),  # small files are counted too
        (each("school", 14, 4 * MB), "school 14", ADDRESS_BYTES - 56 * MB, None),
        (each("school", 14, 4 * MB), "school 14", ADDRESS_BYTES - 56 * MB + 1, "full_network"),
        (each("school", 15, 4 * MB), "elsewhere 0", 4 * MB, None),
        (each("home", 30, 4 * MB), "home 30", 4 * MB, None),  # a private address can be everybody's
        (each("home", 36, 4 * MB), "school 0", ALL_BYTES - 144 * MB, None),
        (each("home", 36, 4 * MB), "school 0", ALL_BYTES - 144 * MB + 1, "full_server"),
    ],
)
def test_a_session_a_public_address_and_all_sessions_have_room_for_so_much(
    held: dict[str, list[int]], session: str, size: int, problem: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = {"home": "192.168.0.7", "school": "93.184.216.34", "elsewhere": "93.184.216.35"}
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(guard, "address_of", lambda session: addresses[session.split()[0]])
    monkeypatch.setattr(guard, "tell_page", lambda *given: told.append(given))
    answers = []
    try:
        guard.accept_file(held, session, size)
    except HTTPException as refused:
        answers.append((refused.status_code, refused.detail))
    assert answers == ([(413, SAYS[problem])] if problem else [])
    assert told == ([(session, problem)] if problem else [])
