"""What the stage shows while the draft length is dragged, as plain JSON: the run on screen, replayed at every length.

A pure function of a trace and its draft's guesses. Compact, for the modules in assets/stage/ to unfold: of a round only
its numbers and the guesses that are not the output's own tokens.
"""

from collections.abc import Mapping

from specviz.core.metrics import Costs, costs, speedup_at
from specviz.core.readable import spelled
from specviz.core.replay import (
    DraftGuesses,
    ReplayedRound,
    counts_of,
    ends_of,
    every_length,
    modelled_speedup,
    tails_of,
)
from specviz.core.rounds import TargetStatus
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.player.payload import NoReplay, ReplayedLength, Replays
from specviz.player.payload import ReplayedRound as ReplayedRow

SHOWN_CHARACTERS = 80  # of one token's text


def replay_data(
    trace: Trace, draft_guesses: DraftGuesses | None, measured: Costs | None, running: bool
) -> NoReplay | Replays:
    """The replays, or why there are none.

    Args:
        trace: the run on screen.
        draft_guesses: of its own draft; None where there is none.
        measured: the pair's calibrated costs; None takes those the run itself shows.
        running: whether the run is not finished.
    """
    why_not = _why_not(trace, draft_guesses, running)
    if why_not is not None:
        return {"why_not": why_not}
    assert draft_guesses is not None  # else `_why_not` has said so
    replays = every_length(draft_guesses, trace.settings.max_new_tokens, ends_of(trace), tails_of(trace))
    known = measured or costs(trace)
    scale, times = _quiet(trace, measured, known)
    texts = {**draft_guesses.pieces, **_texts_of(trace)}
    return {
        "why_not": None,
        "tokens": spelled([_text(texts, token_id) for token_id in draft_guesses.token_ids]),
        "lengths": {str(length): _length(rounds, texts, known, scale) for length, rounds in replays.items()},
        "times": times,
        "exact": draft_guesses.exact,
    }


def _why_not(trace: Trace, draft_guesses: DraftGuesses | None, running: bool) -> str | None:
    if shape := trace.settings.tree_shape:
        return _why_no_other_tree(trace.settings.tree, shape.depth)
    if not trace.settings.greedy:
        return "Above temperature 0 another draft length writes another text: release the slider to run it."
    if trace.settings.draft_schedule != "fixed":
        return f"The draft length schedule is {trace.settings.draft_schedule}: release the slider to run it."
    if any(round.draft_tokens for round in trace.rounds):
        return "A draft with another tokenizer cannot be replayed: release the slider to run it."
    if draft_guesses is None or draft_guesses.token_ids != trace.output.token_ids:
        when = "once this run is over" if running else "after a live run"
        return f"Other draft lengths are shown {when}."
    return None


def _why_no_other_tree(tree: str | None, depth: int | None) -> str:
    """A tree has several guesses at a place, and what they would be after other guesses was never drafted."""
    if depth is None:
        return "What a tree would draft at another depth is not known: release the slider to run it."
    return f"The tree {tree} has a depth of {depth}, and what another tree would draft is not known from this run."


def _quiet(trace: Trace, measured: Costs | None, known: Costs | None) -> tuple[float | None, str]:
    """What modelled speedups are multiplied with, None where they mean nothing, and where they are from.

    The measured speedup of the run is what its own length must have: other lengths are estimated from it, so that the
    visitor sees one speedup. Where the run's time is not trusted, nothing is left but the costs.
    """
    if known is None:
        return None, "not known: this run has no times"
    verdict, modelled = verdict_of_run(trace, measured), speedup_at(trace.rounds, known)
    if verdict and verdict.trusted and modelled:
        more = " and the pair’s calibrated costs" if measured else ""
        return verdict.speedup / modelled, f"estimated from this run’s times{more}"
    if measured or verdict is None:
        return 1.0, f"estimated from {'quiet measurements of this pair' if measured else 'this run’s times'}"
    return None, "not known: this machine was busy"


def _length(
    rounds: list[ReplayedRound], texts: Mapping[int, str], known: Costs | None, scale: float | None
) -> ReplayedLength:
    counts = counts_of(rounds)
    speedup = modelled_speedup(rounds, known) if known and scale else None
    return {
        "rounds": [_round(round, texts) for round in rounds],
        "accepted": counts.accepted,
        "rejected": counts.rejected,
        "discarded": counts.discarded,
        "per_call": round(counts.tokens_per_target_call or 0.0, 2),
        "speedup": None if speedup is None or scale is None else round(scale * speedup, 2),
    }


def _round(replayed: ReplayedRound, texts: Mapping[int, str]) -> ReplayedRow:
    accepted = replayed.count("accepted")
    known = spelled([_text(texts, guess.id) for guess in replayed.guesses[accepted:] if guess.id is not None])
    unknown = len(replayed.guesses) - accepted - len(known)  # always the last ones
    added: TargetStatus = "own" if replayed.kind == "bonus" and not replayed.guesses else replayed.kind
    return accepted, replayed.count("rejected"), added, known, unknown


def _texts_of(trace: Trace) -> dict[int, str]:
    tokens = (token for round in trace.rounds for token in round.drafted)
    return {token.id: token.shown for token in tokens if token.id is not None}


def _text(texts: Mapping[int, str], token_id: int) -> str:
    text = texts.get(token_id, f"⟨token {token_id}⟩")
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
