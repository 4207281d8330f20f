"""The recorded run the first screen plays while models load, and what its draft would have guessed."""

from specviz.core.files import ASSETS, read_once
from specviz.core.replay import DraftGuesses, parse_draft_guesses
from specviz.core.trace import Trace, read_trace

FIRST = ASSETS / "traces" / "first.json"
FIRST_GUESSES = FIRST.with_name("first.draft-guesses.json")


@read_once("No recorded run for the first screen")
def first_trace() -> Trace | None:
    """The recorded run, made by `scripts.record first`; None where it is missing or damaged."""
    return read_trace(FIRST)


@read_once("The first screen's run cannot be replayed")
def first_draft_guesses() -> DraftGuesses | None:
    """Its draft's guesses, made by `scripts.record first`; None where they are missing or of another run."""
    trace, draft_guesses = first_trace(), parse_draft_guesses(FIRST_GUESSES.read_bytes())
    if trace is None or (draft_guesses.token_ids, draft_guesses.drafter) != (trace.output.token_ids, trace.drafter):
        raise ValueError(f"{FIRST_GUESSES.name} is of another run.")
    return draft_guesses
