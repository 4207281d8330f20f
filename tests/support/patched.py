"""What specviz/ui/shared/below_streamlit.py puts its own in place of."""

from typing import Any

import pytest
from starlette.websockets import WebSocket
from streamlit.elements.widgets.multiselect import MultiSelectSerde
from streamlit.elements.widgets.radio import RadioSerde
from streamlit.elements.widgets.selectbox import SelectboxSerde
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATCHED = (
    (AutoHTTPProtocol, "connection_made"),
    (AutoHTTPProtocol, "data_received"),
    (WebSocket, "_raise_on_disconnect"),
    (WebSocket, "receive_bytes"),
    (MemoryUploadedFileManager, "add_file"),
    (WebsocketSessionManager, "disconnect_session"),
    (StarletteSessionClient, "write_forward_msg"),
    (AppSession, "_create_scriptrunner"),
    (AppSession, "_handle_scriptrunner_event_on_event_loop"),
    (AppSession, "request_rerun"),
    (ScriptRunner, "start"),
    (SessionState, "_call_callbacks"),
    (SessionState, "register_widget"),
    (SelectboxSerde, "deserialize"),
    (RadioSerde, "deserialize"),
    (MultiSelectSerde, "deserialize"),
    (SafeSessionState, "on_script_will_rerun"),
)


def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own again after each test, and without what another test has put around it."""
    for owner, name in PATCHED:
        monkeypatch.setattr(owner, name, _own(getattr(owner, name)))


def _own(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function
