"""A run as pandas data frames, to group, plot or export: `Trace.to_frame` and `Trace.rounds_frame`."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from specviz.core.rounds import Round

TOKEN_COLUMNS = {"round": "int64", "position": "int64", "status": "str", "id": "Int64", "text": "str"}
TOKEN_COLUMNS |= dict.fromkeys(("p", "q", "u", "accept_prob"), "float64") | {"parent": "Int64"}
ROUND_COLUMNS = dict.fromkeys(("round", "drafted", "accepted", "rejected", "discarded"), "int64") | {"emitted": "str"}
ROUND_COLUMNS |= dict.fromkeys(("draft_seconds", "verify_seconds", "overhead_seconds"), "float64") | {"tokens": "int64"}


def token_frame(rounds: Iterable[Round]) -> pd.DataFrame:
    """One row for each guess and for each token that the target added, in the order of the rounds.

    Columns:
        round: the round's index, from 0.
        position: the token's place in the draft, from 1; in a tree its depth, which siblings share. A correction has
            the position of the token it replaces; a bonus comes after the last accepted token, and an own token has
            position 1.
        status: accepted, rejected, discarded, not taken (a node of a tree that was never judged), correction, bonus or
            own (nothing was drafted).
        id, text: the token; the text may be part of a character. The id is missing (NA) where another system wrote the
            run and does not report it.
        p, q: the probability that the target and the draft gave the token, from 0 to 1.
        u: the random number that decided; a token is accepted where u < accept_prob.
        accept_prob: the probability of accepting the token.
        parent: in a tree, the drafted token that it follows, counted from the round's first as 0; -1 is the text. NA in
            a chain, and for a token that the target added.

    p, q, u and accept_prob are NaN where the run has none: recording was off, the run was greedy (u), the token was
    discarded (u, accept_prob) or added by the target (q, u, accept_prob). A run of the target alone has no rows.
    """
    return _frame([row for round in rounds for row in _token_rows(round)], TOKEN_COLUMNS)


def round_frame(rounds: Iterable[Round]) -> pd.DataFrame:
    """One row for each round.

    Columns:
        round: its index, from 0.
        drafted, accepted, rejected, discarded: how many of its drafted tokens.
        emitted: correction, bonus, own or none: the token that the target added.
        draft_seconds, verify_seconds, overhead_seconds: its time; overhead is neither draft nor verify. NaN where it is
            not reported.
        tokens: how many tokens it added to the text.
    """
    return _frame([_round_row(round) for round in rounds], ROUND_COLUMNS)


def _frame(rows: list[tuple[Any, ...]], columns: dict[str, str]) -> pd.DataFrame:
    """The types are set even where there are no rows, so that a frame of any run can be computed with."""
    return pd.DataFrame.from_records(rows, columns=list(columns)).astype(columns)


def _token_rows(round: Round) -> Iterator[tuple[Any, ...]]:
    for depth, token in zip(round.depths, round.drafted, strict=True):
        probabilities = token.target_prob, token.draft_prob, token.u, token.accept_prob
        yield round.index, depth + 1, token.status, token.id, token.shown, *probabilities, token.parent
    added = round.emitted
    if added.kind != "none":
        known = round.added, added.id, added.text, added.target_prob
        yield round.index, round.accepted + 1, *known, None, None, None, None


def _round_row(round: Round) -> tuple[Any, ...]:
    counts = len(round.drafted), round.accepted, round.rejected, round.discarded
    seconds = round.draft_seconds, round.verify_seconds, round.overhead_seconds
    return round.index, *counts, round.added, *seconds, round.emits
