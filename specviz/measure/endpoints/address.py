"""The address of an OpenAI-compatible server, as people write it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from specviz.core.errors import InputError

LONGEST = 300  # characters
ENDS = ("/chat/completions", "/completions", "/models")  # of a path that is more than the API's base


@dataclass(frozen=True, slots=True)
class Address:
    root: str  # where /metrics is
    base: str  # where /completions is

    @property
    def host(self) -> str:
        return urlsplit(self.root).netloc


def parse_address(text: str, option: str) -> Address:
    """The address; `option` names it in the sentence of an InputError. A path of none means /v1."""
    shown = text[:80].partition("?")[0]
    try:
        parts = urlsplit(text.strip())
        parts.port  # noqa: B018 — raises for a port that is none
    except ValueError:
        raise InputError(f"{option}: {shown!r} is no address, such as http://localhost:8000.") from None
    if parts.username or parts.password:
        raise InputError(f"{option}: leave the user and the password out of the address; a key goes into --key-env.")
    if parts.scheme not in ("http", "https") or not parts.hostname or len(text) > LONGEST:
        raise InputError(f"{option}: {shown!r} is no address, such as http://localhost:8000.")
    if parts.query or parts.fragment:
        raise InputError(f"{option}: leave out what follows the path of the address; a key goes into --key-env.")
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(end) for end in ENDS if path.endswith(end)), path) or "/v1"
    root = f"{parts.scheme}://{parts.netloc}{path.removesuffix('/v1')}"
    return Address(root, f"{parts.scheme}://{parts.netloc}{path}")
