"""What a component gets from the server, in AppTest."""

import json
from typing import Any


def payload_of(element: Any) -> Any:
    """The payload of a component: Streamlit's element holds it as the bytes of one text."""
    return json.loads(element.proto.bytes)
