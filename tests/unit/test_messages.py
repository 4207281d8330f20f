"""A message that no page sends ends the connection, before Streamlit makes anything of it."""

from typing import Any

from benchmarks.hostile import MESSAGES
from specviz.ui.shared.middleware import FORGED, MOST_WIDGETS, POLICY, Message, Messages, Receive, Send, is_forged
from tests.support.door_contents import dense, message, typed, valued
from tests.unit.test_previews import finish

SENT = {
    "a game from the tab": valued('{"text": "' + '{\\"link\\": {\\"seed\\": \\"1\\\\n\\"}}' * 50_000 + '"}'),
    "a place of the stage": valued('{"step": 12, "gamma": 4, "gap": 0.5, "tour": null}'),
    "a long text": typed("[{" * 500_000),
    "the widgets of a page": message(
        lambda sent, _: [sent.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}-key") for number in range(300)]
    ),
    "no message": b"\xff\x00 no message",
    "nothing": b"",
}


def test_a_forged_message_and_a_value_of_many_parts_are_known_and_what_pages_send_passes() -> None:
    assert [name for name, forge in MESSAGES.items() if not is_forged(message(forge))] == []
    assert [value[9:14] for value in dense() if not is_forged(valued(value))] == []
    assert [name for name, sent in SENT.items() if is_forged(sent)] == []
    assert MESSAGES
    assert dense()


def hand(data: bytes | None, kind: str = "websocket") -> tuple[list[Message], list[Message]]:
    """What Streamlit is given for a message, and what the browser is sent."""
    given: list[Message] = []
    sent: list[Message] = []

    async def streamlit(_: Message, receive: Receive, __: Send) -> None:
        given.append(await receive())

    async def receive() -> Message:
        return {"type": f"{kind}.receive", "bytes": data}

    async def send(each: Any) -> None:
        sent.append(each)

    finish(Messages(streamlit)({"type": kind}, receive, send))
    return given, sent


def test_the_connection_ends_with_a_sentence_and_others_go_on() -> None:
    many = message(lambda sent, _: [sent.rerun_script.widget_states.widgets.add() for _ in range(MOST_WIDGETS + 1)])
    given, sent = hand(many)
    assert [each["type"] for each in given] == ["websocket.disconnect"]
    assert sent == [{"type": "websocket.close", "code": POLICY, "reason": FORGED}]
    for data in (SENT["a long text"], None):
        given, sent = hand(data)
        assert given[0]["bytes"] == data
        assert sent == []
    assert hand(many, "http")[1] == []
