"""The recorded run the first screen plays while models load, and what its draft would have guessed."""

from specviz.core.files import ASSETS
from specviz.core.once import cache_once
from specviz.core.replay import DraftGuesses, parse_draft_guesses
from specviz.core.trace import Trace, read_trace

FIRST = ASSETS / "traces" / "first.json"
FIRST_GUESSES = FIRST.with_name("first.draft-guesses.json")


@cache_once
def first_trace() -> Trace:
    """The recorded run, made by `scripts.record first`."""
    return read_trace(FIRST)


@cache_once
def first_draft_guesses() -> DraftGuesses:
    """Its draft's guesses, made by `scripts.record first` too."""
    return parse_draft_guesses(FIRST_GUESSES.read_bytes())
