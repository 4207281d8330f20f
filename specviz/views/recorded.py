"""The recorded run the first screen plays while models load, and what its draft would have guessed."""

import logging
from functools import cache
from pathlib import Path

from specviz.counterfactual import Foresight, parse_foresight
from specviz.errors import InputError
from specviz.trace import Trace, read_trace

FIRST = Path(__file__).resolve().parents[2] / "assets" / "traces" / "first.json"
FIRST_FORESIGHT = FIRST.with_name("first.foresight.json")

_log = logging.getLogger(__name__)


@cache
def first_trace() -> Trace | None:
    """The recorded run, made by `python -m specviz run`; None where it is missing or damaged."""
    try:
        return read_trace(FIRST)
    except InputError as error:
        _log.error("No recorded run for the first screen: %s", error)
        return None


@cache
def first_foresight() -> Foresight | None:
    """Its draft's guesses, made by `python -m scripts.foresee_first`; None where they are missing or of another run."""
    trace = first_trace()
    try:
        foresight = parse_foresight(FIRST_FORESIGHT.read_bytes())
    except (OSError, ValueError) as error:
        _log.error("The first screen's run cannot be replayed: %s", error)
        return None
    if trace is None or (foresight.token_ids, foresight.drafter) != (trace.output.token_ids, trace.drafter):
        _log.error("The first screen's run cannot be replayed: %s is of another run.", FIRST_FORESIGHT.name)
        return None
    return foresight
