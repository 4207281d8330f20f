"""What a component gets from the server, in AppTest."""

import json
from typing import Any


def payload_of(element: Any) -> Any:
    """The payload of a component: Streamlit's element holds it as the bytes of one text."""
    return json.loads(element.proto.bytes)


def stage_payload_of(page: Any, key: str = "stage") -> Any:
    """The payload of a stage: it is sent in two parts."""
    held, rest = payload_of(page.get_by_key(f"{key}-run")), payload_of(page.get_by_key(key))
    assert rest.pop("part") == held["key"]
    return rest | {"run": held["run"]}


def trace_in(payload: Any) -> Any:
    """The trace that a stage was sent, as JSON."""
    return payload["run"]["trace"]
