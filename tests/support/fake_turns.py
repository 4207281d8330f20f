"""Turns of "Be the draft" without a model."""

from dataclasses import replace
from typing import Any

from specviz.core.rounds import Candidate, DraftedToken, EmittedKind, EmittedToken, Round, Status
from specviz.core.settings import DecodeSettings
from specviz.core.trace import DrafterInfo, Output
from specviz.game.game import LOOKUP, MODEL, Turn
from specviz.game.words import joined_guesses
from tests.support.both import FATES
from tests.support.fake_traces import fake_trace
from tests.support.known import known


def a_round(pieces: list[str], accepted: int, emitted: str = " end") -> Round:
    statuses: list[Status] = [*["accepted"] * accepted, "rejected", *["discarded"] * len(pieces)]  # type: ignore[list-item]
    tops = [Candidate(99, emitted, 0.6, 0.0), Candidate(98, " other", 0.2, 0.0)]
    drafted = [
        DraftedToken(i, text, statuses[i], 0.05, 1.0, candidates=[*tops, Candidate(i, text, 0.05, 1.0)])
        for i, text in enumerate(pieces)
    ]
    kind: EmittedKind = "correction" if accepted < len(pieces) else "bonus"
    return Round(0, 0.0, 0.004, 0.0, drafted, EmittedToken(kind, 99, emitted, 0.6, tops))


def a_turn(
    pieces: list[str],
    accepted: int,
    *,
    emitted: str = " end",
    before: str = "Once",
    model: int = 1,
    lookup: int = 0,
    **more: Any,
) -> Turn:
    round = a_round(pieces, accepted, emitted)
    fake = fake_trace(tokens=8, greedy=True, plain=False)
    output = "".join(token.text for token in round.drafted[:accepted]) + emitted
    written = len(round.emitted_ids)
    trace = replace(
        fake,
        drafter=DrafterInfo("person", "you"),
        settings=DecodeSettings(max_new_tokens=written, draft_length=max(1, len(pieces))),
        rounds=[round],
        prompt=replace(fake.prompt, text=before),
        output=Output(round.emitted_ids, output, "length"),
    )
    rivals = {MODEL: a_round(pieces, model), LOOKUP: a_round(pieces, lookup)} if pieces else {}
    return Turn(before + output, [1, 2, 3], joins=False, ended=False, trace=trace, rivals=rivals, **more)


def a_tree_round(guesses: list[list[str]], fates: str, emitted: str) -> Round:
    """Several guesses, what became of each of their tokens as in `round_from`, and the target's own token."""
    texts = [*dict.fromkeys([*(text for guess in guesses for text in guess), emitted])]
    joined = joined_guesses([[texts.index(text) for text in guess] for guess in guesses])
    parents, own = known(joined.parents), texts.index(emitted)
    tops = [Candidate(own, emitted, 0.6, 0.0), Candidate(99, " other", 0.2, 0.0)]
    drafted = [
        DraftedToken(number, texts[number], FATES[fate], 0.05, 1.0, candidates=tops, parent=parent)
        for number, fate, parent in zip(joined.token_ids, fates, parents, strict=True)
    ]
    kind: EmittedKind = "correction" if fates.rfind("a") in parents else "bonus"
    return Round(0, 0.0, 0.004, 0.0, drafted, EmittedToken(kind, own, emitted, 0.6, tops))


def a_tree_turn(guesses: list[list[str]], fates: str, emitted: str, *, before: str = "Once") -> Turn:
    """A turn with two guesses; each rival drafted what the visitor did."""
    round = a_tree_round(guesses, fates, emitted)
    turn = a_turn(["x"], 0, before=before)
    assert turn.trace is not None
    texts = [token.text for token in round.accepted_tokens]
    output = "".join([*texts, round.emitted.text])
    settings = DecodeSettings(
        max_new_tokens=len(round.emitted_ids), draft_length=round.depth, tree=f"dynamic:{len(round.drafted)}"
    )
    trace = replace(turn.trace, settings=settings, rounds=[round], output=Output(round.emitted_ids, output, "length"))
    return replace(turn, text=before + output, trace=trace, rivals={MODEL: round, LOOKUP: a_round(["x"], 0)})
