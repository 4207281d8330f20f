"""Where a Ray cluster is: the words that `--ray` takes. Ray itself is not imported here."""

import re
from importlib.util import find_spec

from specviz.core.errors import InputError

LOCAL, AUTO = "local", "auto"
CLIENT = "ray://"
NO_RAY = 'Ray is not installed here: pip install ".[ray]" in a checkout of specviz, or pip install ray, adds it.'

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_HOST_AND_PORT = re.compile(rf"{_HOST}:([0-9]{{1,5}})")
_LAST_PORT = 65535


def parse_ray_address(text: str) -> str:
    """The address as `ray.init(address=...)` takes it; "local" starts a cluster that ends with this process."""
    if text in (LOCAL, AUTO):
        return text
    found = _HOST_AND_PORT.fullmatch(text.removeprefix(CLIENT))
    if found and 1 <= int(found[1]) <= _LAST_PORT:
        return text
    raise InputError(
        f"{text[:200]!r} is no address of a Ray cluster: use local (starts one here), auto (the one that runs on this "
        "machine), HOST:PORT, or ray://HOST:PORT."
    )


def check_ray() -> None:
    if find_spec("ray") is None:
        raise InputError(NO_RAY)
