"""The recorded run the first screen plays while models load."""

import logging
from functools import cache
from pathlib import Path

from specviz.errors import InputError
from specviz.trace import Trace, read_trace

FIRST = Path(__file__).resolve().parents[2] / "assets" / "traces" / "first.json"


@cache
def first_trace() -> Trace | None:
    """The recorded run, made by `python -m specviz run`; None where it is missing or damaged."""
    try:
        return read_trace(FIRST)
    except InputError as error:
        logging.getLogger(__name__).error("No recorded run for the first screen: %s", error)
        return None
