"""The address of an OpenAI-compatible server, as people write it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from specviz.core.errors import InputError

LONGEST = 300  # characters
ENDS = ("/chat/completions", "/completions", "/models")  # of a path that is more than the API's base


@dataclass(frozen=True, slots=True)
class Address:
    base: str  # where /completions is

    @property
    def root(self) -> str:
        """Where /metrics is."""
        return self.base.removesuffix("/v1")

    @property
    def host(self) -> str:
        return urlsplit(self.base).netloc


def parse_address(text: str, option: str) -> Address:
    """The address; `option` names it in the sentence of an InputError. A path of none means /v1."""
    shown = text[:80].partition("?")[0]
    try:
        parts = urlsplit(text.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and len(text) <= LONGEST
        parts.port  # noqa: B018 — raises for a port that is none
    except ValueError:
        raise InputError(f"{option}: {shown!r} is no address, such as http://localhost:8000.") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(f"{option}: leave user, password and what follows the path out; a key goes into --key-env.")
    if not known:
        raise InputError(f"{option}: {shown!r} is no address, such as http://localhost:8000.")
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(end) for end in ENDS if path.endswith(end)), path) or "/v1"
    return Address(f"{parts.scheme}://{parts.netloc}{path}")
