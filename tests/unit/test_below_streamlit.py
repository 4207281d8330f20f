"""What the app needs from below Streamlit's public names: each test fails when an upgrade has changed it."""

import asyncio
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from inspect import signature
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit import runtime
from streamlit.proto.AutoRerun_pb2 import AutoRerun
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import RerunData, ScriptRunContext, ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from specviz.ui.shared import below_streamlit as below
from specviz.ui.shared import leftovers
from tests.support.endpoint_server import run_async
from tests.support.patched import places, put_back


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    put_back(monkeypatch)


def test_each_door_is_guarded_and_what_stands_in_place_of_streamlits_own_takes_the_same_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = places(monkeypatch)
    assert len(found) == 20
    for (owner, name), function in found:
        own, ours = list(signature(getattr(owner, name)).parameters), list(signature(function).parameters)[1:]
        assert own[1:] == ours[1:] or ours[-1] in ("more", "replayed"), name


# ---- the script that runs


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What Streamlit says of the script that runs: only fields that it really has."""
    made = Mock(spec=[*ScriptRunContext.__dataclass_fields__, *dir(ScriptRunContext)], fragment_ids_this_run=None)
    monkeypatch.setattr(below, "get_script_run_ctx", lambda: made)
    return made


def with_widgets(**keys: str) -> SessionState:
    """A state in which widgets of text are drawn: ids and their keys."""
    state = SessionState()
    for name, key in keys.items():
        state._set_widget_metadata(WidgetMetadata(f"$$ID-{name}", str, str, "string_value"))
        state._set_key_widget_mapping(f"$$ID-{name}", key)
    return state


def text(name: str, value: str) -> WidgetState:
    return WidgetState(id=f"$$ID-{name}", string_value=value)


def test_what_comes_during_a_callback_waits(context: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: Any = type("Requests", (), {"on_scriptrunner_yield": lambda self: "ends the script"})()
    context.script_requests, seen = requests, list[object]()
    monkeypatch.setattr(SessionState, "_call_callbacks", lambda state: seen.append(requests.on_scriptrunner_yield()))
    below.let_callbacks_end()
    SessionState()._call_callbacks()
    assert (seen, requests.on_scriptrunner_yield()) == ([None], "ends the script")


@pytest.mark.parametrize(
    ("place", "running", "whole"), [(None, ["stage"], 1), ("stage", ["stage"], 0), (None, None, 0)]
)
def test_what_changed_outside_of_a_fragment_draws_the_whole_page(
    context: Mock, monkeypatch: pytest.MonkeyPatch, place: str | None, running: list[str] | None, whole: int
) -> None:
    """Before: nothing was said of a file that was opened as the stage reported; the browser sends one message then."""
    monkeypatch.setattr(SessionState, "_call_callbacks", lambda state: None)
    below.let_callbacks_end()
    asked: list[RerunData] = []
    context.fragment_ids_this_run, context.script_requests = running, SimpleNamespace(request_rerun=asked.append)
    state = SessionState()
    state._set_widget_metadata(WidgetMetadata("$$ID-file", str, str, "string_value", fragment_id=place))
    for _ in range(2):  # the second time it is as it was
        state._new_widget_state.set_widget_from_proto(text("file", "came"))
        state._call_callbacks()
        assert [each.fragment_id_queue for each in asked] == [[]] * whole
        state._compact_state()


def test_what_one_script_of_a_visitor_does_in_a_callback_no_other_one_takes_away(
    context: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: the script of the next page forgot a widget that the callback of the last page still had to read.

    It was an error on the page, or "dictionary changed size during iteration". Streamlit starts the new script at once.
    """
    monkeypatch.setattr(ScriptRunner, "start", lambda _: None)
    monkeypatch.setattr("streamlit.runtime.state.session_state.get_script_run_ctx", lambda: context)
    context.script_requests = None
    state, storage, seen = with_widgets(field="field"), MemoryFragmentStorage(), list[str]()

    def next_page() -> None:
        if other._lock.acquire(blocking=False):
            other._lock.release()
            other.on_script_finished(frozenset())

    def callback(_: SessionState, **__: object) -> None:
        thread = Thread(target=next_page)
        thread.start()
        thread.join()
        seen.append(one["field"])

    monkeypatch.setattr(SessionState, "_call_callbacks", callback)
    below.let_callbacks_end()
    one, other, stranger = (script_of(state, each) for each in (storage, storage, MemoryFragmentStorage()))
    one.on_script_will_rerun(WidgetStates(widgets=[text("field", "kept")]))
    assert seen == ["kept"]
    with one._lock, ThreadPoolExecutor(1) as thread:
        assert thread.submit(stranger._lock.acquire, blocking=False).result()


def script_of(state: SessionState, storage: MemoryFragmentStorage) -> SafeSessionState:
    """How a script that was started reads and changes its session's state."""
    nothing: Any = None
    runner = ScriptRunner("ada", "app.py", state, nothing, nothing, RerunData(), {}, storage, nothing, nothing)
    runner.start()
    return runner._session_state


def test_a_callback_reads_what_came_from_the_page_before_where_the_next_one_has_a_widget_of_that_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before: the page failed, with a KeyError. The last values of a page can come when the next one is drawn."""
    seen: list[str] = []
    monkeypatch.setattr(SessionState, "_call_callbacks", lambda state: seen.append(state["field"]))
    below.let_callbacks_end()
    state = with_widgets(one="field", next="field")
    for came in (["one"], ["next"], ["one", "next"], ["next", "one"]):
        state._new_widget_state.clear()
        for page in came:
            state._new_widget_state.set_widget_from_proto(text(page, page))
        state._call_callbacks()
        assert state.get_widget_id_from_key("field") == "$$ID-next"
    assert seen == ["one", "next", "next", "next"]


CLICK = WidgetState(id="$$ID-button", trigger_value=True)


def message(field: str, *clicks: WidgetState, fragment: str = "") -> ClientState:
    """What a browser sends: its field's value, and a click once."""
    return ClientState(widget_states=WidgetStates(widgets=[text("field", field), *clicks]), fragment_id=fragment)


def session_with(fragment: str) -> AppSession:
    nothing: Any = Mock()
    session = AppSession(ScriptData("app.py"), nothing, nothing, nothing, {})
    session._fragment_storage.register(fragment, lambda: None)
    return session


class EndedForTheNextError(Exception):
    """Where Streamlit ends a script, because something else came."""


async def _begun(messages: list[ClientState], order: list[int], ended: int | None = None) -> None:
    """A script is made for each message before the first one begins; these begin, and one is ended as it does."""
    session = session_with("part")
    scripts: list[Any] = []
    for each in messages:
        session.request_rerun(each)
        scripts.append(session._scriptrunner)
    asked = [script._requests._rerun_data.widget_states for script in scripts]
    for place in order:
        if place == ended:
            object.__setattr__(scripts[place]._session_state, "_yield_callback", Mock(side_effect=EndedForTheNextError))
        with suppress(EndedForTheNextError):
            scripts[place]._session_state.on_script_will_rerun(asked[place])
    session._script_event_loop.close()


OLD, NEW = message("old", CLICK), message("new")
TOLD: dict[str, tuple[list[ClientState], list[int], int | None, list[list[object]]]] = {
    # Before: on a busy server a button did nothing if something else of its page was reported right after it.
    "the next came before it had begun": ([OLD, NEW], [1], None, [["new", True]]),
    "so in a part": ([message("old", CLICK, fragment="part"), NEW], [1], None, [["new", True]]),
    # Before: of two presses in one moment the first did nothing, every second time.
    "the next ends it as it begins": ([OLD, NEW], [0, 1], 0, [["new", True]]),
    # Before: a file that was opened while an older script was about to begin was closed again, without a word. The
    # session still has what the first of them took.
    "it begins late": ([OLD, NEW], [1, 0], None, [["new", True], []]),
    "a part that is gone": ([OLD, message("new", fragment="gone")], [0], None, [["old", True]]),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_click_is_not_lost_and_nothing_older_comes_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[list[object]] = []

    def note(_: SessionState, states: WidgetStates, **__: object) -> None:
        taken.append([each.string_value or each.trigger_value for each in states.widgets])

    monkeypatch.setattr(ScriptRunner, "start", lambda _: None)
    monkeypatch.setattr(SessionState, "on_script_will_rerun", note)
    below.hand_over_once()
    *told, expected = TOLD[name]
    run_async(_begun(*told))
    assert taken == expected


# ---- sessions


async def _asked_after_its_end(of_fragment: str, stopped: bool) -> tuple[list[str], bool]:
    """A script ends, or is `stopped`, and its visitor's next request comes before what it drew was looked at.

    Returns the timers that reach the browser, and whether the session still has the next script at the end.
    """

    def draws(script: Any, timer: str) -> None:
        sent = ForwardMsg(auto_rerun=AutoRerun(interval=0.5, fragment_id=timer))
        script.on_event.send(script, event=ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, forward_msg=sent)

    session = session_with("poll")
    session.request_rerun(ClientState())
    first: Any = session._scriptrunner
    requests = first._requests
    draws(first, "before")
    requests.on_scriptrunner_ready()
    requests.request_stop() if stopped else requests.on_scriptrunner_ready()
    session.request_rerun(ClientState(fragment_id=of_fragment))
    next_script: Any = session._scriptrunner
    draws(first, "too late")
    first.on_event.send(first, event=ScriptRunnerEvent.SHUTDOWN, client_state=ClientState())
    draws(next_script, "of the next")
    await asyncio.sleep(0)
    session._script_event_loop.close()
    came = [message.auto_rerun.fragment_id for message in session.flush_browser_queue()]
    return came, first is not next_script is session._scriptrunner


@pytest.mark.parametrize(
    ("fragment", "stopped", "came"),
    [
        ("poll", False, ["before", "of the next"]),
        ("poll", True, ["before", "of the next"]),
        ("", False, ["of the next"]),
    ],
)
def test_what_a_script_drew_reaches_the_browser_though_a_poll_came_and_not_where_the_whole_page_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch, fragment: str, stopped: bool, came: list[str]
) -> None:
    """Before: on a busy server Streamlit dropped it, and with it the timer by which the page asks for its run."""
    monkeypatch.setattr(ScriptRunner, "start", lambda _: None)
    below.send_what_was_drawn()
    assert run_async(_asked_after_its_end(fragment, stopped)) == (came, True)


@pytest.mark.parametrize(
    ("runs", "waiting", "polls", "asked"),
    [
        (False, 0, True, True),
        (True, 0, True, False),
        (False, 1, True, False),
        (True, 1, False, True),  # a visitor's own click never waits for the next one
    ],
)
def test_a_poll_is_left_out_while_the_answer_to_the_last_one_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch, runs: bool, waiting: int, polls: bool, asked: bool
) -> None:
    """Before: a busy server answered each, slower than they came: for minutes no page of a class got anything new."""
    came: list[ClientState] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda _, client_state: came.append(client_state))
    below.poll_one_at_a_time()
    queue = ForwardMsgQueue()
    for _ in range(waiting):
        queue.enqueue(ForwardMsg(script_finished=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    session: Any = SimpleNamespace(_scriptrunner=object() if runs else None, _browser_queue=queue)
    AppSession.request_rerun(session, ClientState(fragment_id="poll", is_auto_rerun=polls))
    assert bool(came) == asked
    AppSession.request_rerun(session, None)  # without a browser's state
    assert came[-1] is None


def test_sessions_are_found_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> tuple[object, ...]:
        return below.session_called("ada"), below.visitor_left(), below.session_manager(), below.remote_address("ada")

    assert found() == (None, False, None, "")
    instance, manager = object.__new__(Runtime), object.__new__(WebsocketSessionManager)
    instance._session_mgr = manager
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: instance)
    there = Mock()
    there.client.client_context.remote_ip = "192.0.2.1"
    for info, expected in ((there, (there.session, False, manager, "192.0.2.1")), (None, (None, True, manager, ""))):
        monkeypatch.setattr(manager, "get_active_session_info", lambda _, info=info: info)
        assert found() == expected
    below.run_again(there.session)
    there.session.request_rerun.assert_called_once_with(there.session._client_state)


def manager_with(seconds: int, *sessions: Any) -> WebsocketSessionManager:
    """One that forgets these sessions after so many seconds: their visitors have left."""
    manager = WebsocketSessionManager(MemorySessionStorage(ttl_seconds=seconds), *[None] * 3)  # type: ignore[arg-type]
    for session in sessions:
        manager._session_storage.save(SessionInfo(None, session))
    return manager


class Large:
    """The files and texts of a visitor."""


def session_holding(large: Large) -> Any:
    session = Mock(_client_state=large, _session_state=large, held=weakref.ref(large))
    session.id = str(id(session))
    return session


def test_visitors_who_left_are_forgotten_the_last_one_too_also_after_one_whose_session_cannot_be_ended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before: what the last one had sent stayed until somebody else came, and after an error all of all later ones."""
    broken, session = session_holding(Large()), session_holding(Large())
    broken.shutdown.side_effect = RuntimeError
    ended, cleared = session.shutdown, session._browser_queue.clear
    managers = [manager_with(3600, broken), manager_with(0), manager_with(3600, session), manager_with(0)]
    monkeypatch.setattr(leftovers, "session_manager", lambda: managers.pop(0))
    monkeypatch.setattr(leftovers.gc, "collect", lambda: 0)  # of all that other tests hold, it takes seconds
    forgotten = Mock(visitors={session.id, "evicted"})
    for name in ("classes", "engine"):
        monkeypatch.setattr(leftovers, name, lambda: forgotten)
    assert [leftovers.tidy(True) for _ in range(3)] == [True, True, True]
    assert forgotten.forget_old.call_count == 3
    forgotten.forget.assert_called_with({"evicted"})
    assert (ended.call_count, session.held() is None) == (0, False), "the visitor may come back"
    assert not leftovers.tidy(True)
    assert (ended.call_count, session.held(), cleared.call_count) == (1, None, 1)
    assert "cannot be ended" in caplog.text
    assert {"_client_state", "_session_state", "_browser_queue"} <= set(AppSession.__init__.__code__.co_names)
    assert callable(AppSession.shutdown)


@pytest.mark.parametrize(("runs", "runner", "stored"), [(1, None, True), (0, object(), True), (0, None, False)])
def test_a_connection_that_never_ran_the_script_takes_no_place_of_a_visitor_who_may_come_back(
    monkeypatch: pytest.MonkeyPatch, runs: int, runner: object, stored: bool
) -> None:
    found = SimpleNamespace(script_run_count=runs, session=SimpleNamespace(_scriptrunner=runner))
    done: list[str] = []
    for name, its in (("disconnect_session", "stored"), ("close_session", "closed")):
        monkeypatch.setattr(WebsocketSessionManager, name, lambda *_, its=its: done.append(its))
    monkeypatch.setattr(WebsocketSessionManager, "get_active_session_info", lambda *_: found)
    below.store_only_who_saw_a_page()
    object.__new__(WebsocketSessionManager).disconnect_session("session")
    assert done == ["stored" if stored else "closed"]


# ---- what comes, and what goes out


def test_a_file_is_looked_at_before_it_is_stored() -> None:
    check = Mock(side_effect=[None, ValueError("no room"), None, None])
    below.look_at_files(check)
    manager = MemoryUploadedFileManager("/upload")
    first, second = (UploadedFileRec(name, "a.csv", "text/csv", b"1234") for name in "ab")
    manager.add_file("ada", first)
    with pytest.raises(ValueError, match="no room"):
        manager.add_file("ada", second)
    assert manager.get_files("ada", ["a", "b"]) == [first]
    manager.add_file(session_id="ada", file=first)
    manager.add_file(session_id="eve", file=first)
    seen = [call.args for call in check.call_args_list]
    assert seen == [({}, "ada", 4), ({"ada": [4]}, "ada", 4), ({"ada": []}, "ada", 4), ({"ada": [4]}, "eve", 4)]


def test_what_a_browser_does_not_read_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: 500 messages of any size waited for it."""
    monkeypatch.setattr("streamlit.web.server.starlette.starlette_websocket.serialize_forward_msg", lambda msg: msg)
    below.bound_what_waits(10)
    client: Any = object.__new__(StarletteSessionClient)
    client._closed, client._send_queue = asyncio.Event(), asyncio.Queue(500)
    client.write_forward_msg(b"1234567890")
    assert not client._closed.is_set()
    client.write_forward_msg(b"1")
    assert client._closed.is_set()
    assert client._send_queue.empty()


def test_outside_of_a_script_there_is_no_visitor_and_the_log_stays_empty(caplog: pytest.LogCaptureFixture) -> None:
    """Found: each page that was asked for put a warning of Streamlit's into the operator's log."""
    assert (below.session_id(), caplog.text) == ("", "")
