"""What the operator wants of Ray: SPECVIZ_ENGINES=ray:ADDRESS, and how many engines with how many GPUs. No Ray here."""

import os
import sys
from importlib.util import find_spec

from specviz.core.errors import InputError
from specviz.core.ray_address import CLIENT, NO_RAY, parse_ray_address
from specviz.service.fleet import ENGINES_VARIABLE, MOST_ENGINES

COUNT_VARIABLE = "SPECVIZ_RAY_ENGINES"
GPUS_VARIABLE = "SPECVIZ_RAY_GPUS"
SCHEME = "ray:"
# Found with Ray 2.60: the second server that asks for the pool through Ray's client server gets an error.
NO_CLIENT = (
    f"{ENGINES_VARIABLE} takes no address with {CLIENT}: make this machine a node of the cluster "
    "(ray start --address=HOST:6379 --num-cpus=0), and use ray:auto."
)


def relay_wanted() -> list[str] | None:
    """The program that speaks with the engine pool on Ray, and its arguments; None where engines are local.

    Raises:
        InputError: the address, or a setting of the pool, is wrong, or Ray is not installed.
    """
    text = os.environ.get(ENGINES_VARIABLE, "")
    if not text.startswith(SCHEME):
        return None
    if CLIENT in text:
        raise InputError(NO_CLIENT)
    address = parse_ray_address(text.removeprefix(SCHEME))
    engines_on_ray()
    gpus_an_engine()
    if find_spec("ray") is None:
        raise InputError(NO_RAY)
    return [sys.executable, "-m", "specviz.service.ray_relay", address.text]


def engines_on_ray() -> int:
    """How many engines the pool has; 0: as many as the cluster has room for.

    Raises:
        InputError: SPECVIZ_RAY_ENGINES is not a number from 1 to 64.
    """
    text = os.environ.get(COUNT_VARIABLE, "")
    if not text:
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ENGINES:
        raise InputError(f"{COUNT_VARIABLE} must be a whole number from 1 to {MOST_ENGINES}, not {text[:20]!r}.")
    return int(text)


def gpus_an_engine() -> float:
    """How many GPUs each engine takes; 0.5 lets two engines share one.

    Raises:
        InputError: SPECVIZ_RAY_GPUS is not 0.1 to 1, or a whole number up to 8.
    """
    text = os.environ.get(GPUS_VARIABLE, "0")
    try:
        gpus = float(text)
    except ValueError:
        gpus = -1.0
    if gpus == 0 or 0.1 <= gpus <= 1 or gpus in range(2, 9):
        return gpus
    raise InputError(f"{GPUS_VARIABLE} must be 0, from 0.1 to 1, or a whole number up to 8, not {text[:20]!r}.")
