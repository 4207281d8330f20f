"""Rounds made of what serving systems report: how many tokens each step drafted and accepted, and the text written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from specviz.core.errors import InputError
from specviz.core.rounds import DraftedToken, EmittedToken, Round, Status
from specviz.core.tree_shape import MAX_NODES


@dataclass(frozen=True, slots=True)
class Written:
    """A token of the output."""

    text: str
    id: int | None = None  # None: not reported


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the target: the tokens that it checked and accepted. Its own token is not counted."""

    drafted: int
    accepted: int
    guesses: Sequence[Written] = field(default=())  # the drafted tokens, where they are reported


PROMPT_PASS = Step(0, 0)  # the pass over the prompt, which writes the first token


def rounds_of(steps: Sequence[Step], written: Sequence[Written]) -> list[Round]:
    """The rounds of these steps, which together write these tokens.

    The last step may accept more than the output holds, where it ended inside the draft: what is behind its end counts
    as discarded, as in a run of this program.

    Raises:
        InputError: a step contradicts itself, or the steps write fewer or more tokens.
    """
    if not written:
        raise InputError("The record has no tokens.")
    rounds, at = list[Round](), 0
    for number, step in enumerate(steps):
        if not 0 <= step.accepted <= step.drafted <= MAX_NODES:
            raise InputError(
                f"Step {number + 1} of the record accepts {step.accepted} of {step.drafted} drafted tokens; "
                f"a step drafts at most {MAX_NODES} and accepts no more than it drafts."
            )
        if at == len(written):
            raise InputError(f"The record has {len(steps)} steps, but its output ends in step {number}.")
        rounds.append(_round(number, step, written[at : at + step.accepted + 1]))
        at += rounds[-1].emits
    if at < len(written):
        raise InputError(f"The steps of the record write {at} tokens, but its output has {len(written)}.")
    return rounds


def _round(index: int, step: Step, written: Sequence[Written]) -> Round:
    """`written` holds the accepted tokens and the target's own; fewer where the output ended before."""
    accepted = min(step.accepted, len(written))
    own = written[accepted] if len(written) > accepted else None
    if own and accepted < len(step.guesses) and own.id is not None and own.id == step.guesses[accepted].id:
        accepted, own = accepted + 1, None  # an accepted token that ended the text
    drafted = [
        DraftedToken(token.id if token else None, token.text if token else None, status)
        for token, status in zip(_tokens(step, written[:accepted]), _statuses(step, accepted, own), strict=True)
    ]
    return Round(index, None, None, None, drafted, _emitted(step, accepted, own))


def _tokens(step: Step, accepted: Sequence[Written]) -> Iterator[Written | None]:
    yield from accepted
    for place in range(len(accepted), step.drafted):
        yield step.guesses[place] if place < len(step.guesses) else None


def _statuses(step: Step, accepted: int, own: Written | None) -> list[Status]:
    judged = accepted + (own is not None and accepted < step.drafted)
    statuses: list[Status] = ["accepted"] * accepted
    statuses += ["rejected"] * (judged - accepted)
    statuses += ["discarded"] * (step.drafted - judged)
    return statuses


def _emitted(step: Step, accepted: int, own: Written | None) -> EmittedToken:
    if own is None:
        return EmittedToken("none")
    return EmittedToken("bonus" if accepted == step.drafted else "correction", own.id, own.text)
