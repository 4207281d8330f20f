"""What a browser may send over its connection: Streamlit bounds the bytes of a message, this what they are made of.

A message of 4 MB can name two million files or widgets, and each of them takes a kilobyte. No page sends such a one.
"""

from streamlit.proto.BackMsg_pb2 import BackMsg

from specviz.ui.shared.pages import Application, Message, Receive, Send
from specviz.ui.shared.uploads import MOST_FILES

MOST_WIDGETS = 2_000  # in one message; a page has about 200
MOST_VALUES = 2_000  # characters that a component sends outside of its texts, and quotes
FORGED = "No page of this app sends such a message."
POLICY = 1008  # the code of WebSocket for a message that is against the rules


def is_forged(data: bytes) -> bool:
    """Whether no page sends this, and Streamlit would make much of it. What is no message it refuses itself."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # of the library that Streamlit reads them with: it is no message
        return False
    widgets = message.rerun_script.widget_states.widgets
    if len(message.file_urls_request.file_names) > MOST_FILES or len(widgets) > MOST_WIDGETS:
        return True
    return any(_is_dense(each.json_value) or _is_dense(each.json_trigger_value) for each in widgets)


def _is_dense(value: str) -> bool:
    """Whether a component's JSON holds more than a few texts: values in memory take 30 times their text."""
    if len(value) <= MOST_VALUES:
        return False
    bare = value.replace("\\\\", "").replace('\\"', "")
    return bare.count('"') > MOST_VALUES or sum(map(len, bare.split('"')[::2])) > MOST_VALUES


class Messages:
    """ASGI middleware around Streamlit: a connection that sends a forged message is closed, with the reason."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def received() -> Message:
            message = await receive()
            if is_forged(message.get("bytes") or b""):
                await send({"type": "websocket.close", "code": POLICY, "reason": FORGED})
                return {"type": "websocket.disconnect", "code": POLICY}
            return message

        await self._app(scope, received if scope["type"] == "websocket" else receive, send)
