"""The recorded run the first screen plays while models load, and what its draft would have guessed."""

import logging
from functools import cache

from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.replay import DraftGuesses, parse_draft_guesses
from specviz.core.trace import Trace, read_trace

FIRST = ASSETS / "traces" / "first.json"
FIRST_GUESSES = FIRST.with_name("first.draft-guesses.json")

_log = logging.getLogger(__name__)


@cache
def first_trace() -> Trace | None:
    """The recorded run, made by `scripts.record_first`; None where it is missing or damaged."""
    try:
        return read_trace(FIRST)
    except InputError as error:
        _log.error("No recorded run for the first screen: %s", error)
        return None


@cache
def first_draft_guesses() -> DraftGuesses | None:
    """Its draft's guesses, made by `scripts.record_first`; None where they are missing or of another run."""
    trace = first_trace()
    try:
        draft_guesses = parse_draft_guesses(FIRST_GUESSES.read_bytes())
    except (OSError, ValueError) as error:
        _log.error("The first screen's run cannot be replayed: %s", error)
        return None
    if trace is None or (draft_guesses.token_ids, draft_guesses.drafter) != (trace.output.token_ids, trace.drafter):
        _log.error("The first screen's run cannot be replayed: %s is of another run.", FIRST_GUESSES.name)
        return None
    return draft_guesses
