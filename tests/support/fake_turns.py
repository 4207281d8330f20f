"""Turns of "Be the draft" without a model."""

from dataclasses import replace
from typing import Any

from specviz.core.settings import DecodeSettings
from specviz.core.trace import Candidate, DraftedToken, DrafterInfo, EmittedKind, EmittedToken, Output, Round, Status
from specviz.game.game import LOOKUP, MODEL, Turn
from tests.support.fake_traces import fake_trace


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
    pieces: list[str], accepted: int, *, before: str = "Once", model: int = 1, lookup: int = 0, **more: Any
) -> Turn:
    round = a_round(pieces, accepted)
    fake = fake_trace(tokens=8, greedy=True, plain=False)
    output = "".join(token.text for token in round.drafted[:accepted]) + " end"
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
