"""A run with token texts for people: a part of a cut character is shown as that character, see `characters.spelled`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from specviz.core.characters import LONGEST, spelled
from specviz.core.trace import Candidate, DraftedToken, ResidualCandidate, Round, Trace

Alternative = TypeVar("Alternative", Candidate, ResidualCandidate)
AROUND = LONGEST - 1  # tokens that can hold the rest of a character


def readable(trace: Trace) -> Trace:
    """The same run, its token texts readable where their bytes are whole characters. The file keeps the bytes."""
    if not any("⟨" in text for round in trace.rounds for text in _texts(round)):
        return trace
    before = trace.prompt.tokens[-AROUND:]
    written = [_written(round) for round in trace.rounds]
    rounds = []
    for index, round in enumerate(trace.rounds):
        after = [text for texts in written[index + 1 : index + 1 + AROUND] for text in texts]
        rounds.append(_round(round, before, after[:AROUND]))
        before = [*before, *written[index]][-AROUND:]
    return replace(trace, rounds=rounds)


def _texts(round: Round) -> list[str]:
    return [*(token.text or "" for token in round.drafted), round.emitted.text, *round.draft_tokens]


def _written(round: Round) -> list[str]:
    """The tokens that the round adds to the text."""
    texts = [token.shown for token in round.accepted_tokens]
    return texts if round.emitted.kind == "none" else [*texts, round.emitted.text]


def _round(round: Round, before: Sequence[str], after: Sequence[str]) -> Round:
    """What the text goes on with decides the tokens that stay; a draft's own next tokens decide the others."""
    written, drafted = _written(round), [token.shown for token in round.drafted]
    stays = spelled([*before, *written, *after])[len(before) :]
    paths = [[drafted[place] for place in path] for path in round.paths]
    longest = paths if round.is_tree else [drafted] * len(drafted)  # in a tree several tokens may come next
    guessed = [spelled([*before, *longest[i]])[len(before) + len(path) - 1] for i, path in enumerate(paths)]
    tokens = [
        replace(
            token,
            text=_own_text(token, stays[len(paths[i]) - 1] if token.status == "accepted" else guessed[i]),
            candidates=_alternatives(token.candidates, [*before, *paths[i][:-1]], token.id, guessed[i]),
        )
        for i, token in enumerate(round.drafted)
    ]
    emitted = round.emitted
    if emitted.kind != "none":
        text, context = stays[len(written) - 1], [*before, *written[:-1]]
        emitted = replace(
            emitted,
            text=text,
            candidates=_alternatives(emitted.candidates, context, emitted.id, text),
            residual_top=_alternatives(emitted.residual_top, context, emitted.id, text),
        )
    return replace(round, drafted=tokens, emitted=emitted, draft_tokens=spelled(round.draft_tokens))


def _own_text(token: DraftedToken, text: str) -> str | None:
    """A text that is not reported stays unknown."""
    return None if token.text is None else text


def _alternatives(found: Sequence[Alternative], before: Sequence[str], own: int | None, text: str) -> list[Alternative]:
    """Each as it would go on from there; the token itself as it is shown."""

    def goes_on(alternative: str) -> str:
        return spelled([*before[-AROUND:], alternative])[-1]

    return [each._replace(text=text if each.id == own else goes_on(each.text)) for each in found]
