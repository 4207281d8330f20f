"""A round in plain words: one sentence for each of its three phases."""

from specviz.core.number_words import ORDINALS
from specviz.core.trace import Round


def narrate(
    round: Round, *, draft_length: int, remaining: int, lookup: bool, ends: bool, person: bool = False
) -> tuple[str, str, str]:
    """What happens while the round proposes, checks and judges.

    Args:
        round: the round to describe.
        draft_length: the setting; a round drafts fewer tokens when the output is nearly full or the lookup finds fewer.
        remaining: tokens still to write at the start of this round.
        lookup: whether prompt lookup drafts.
        ends: whether this round writes the end of the text.
        person: whether the visitor drafts.
    """
    verdict = _judge(round)
    if ends and round.emitted.kind != "none":
        verdict += " The text ends here."
    proposal = _propose_yours(round) if person else _propose(round, draft_length, remaining, lookup)
    return proposal, _check(round), verdict


def _propose(round: Round, draft_length: int, remaining: int, lookup: bool) -> str:
    number = len(round.drafted)
    if not number and round.draft_tokens:
        return "The draft’s text does not fit the target’s tokens: nothing is proposed."
    if not number:
        return _no_draft(remaining, lookup)
    if lookup:
        return f"A match in the text so far proposes {_tokens(number)}."
    if number < draft_length and number == remaining - 1:
        return f"Only {_tokens(remaining)} are left: the draft proposes {number}."
    return f"The draft proposes {_tokens(number)}."


def _propose_yours(round: Round) -> str:
    return f"You propose {_tokens(len(round.drafted))}." if round.drafted else "You skip: nothing is drafted."


def _no_draft(remaining: int, lookup: bool) -> str:
    if remaining <= 1:
        return "One token is left to write: nothing is drafted."
    if lookup:
        return "No match in the text so far: nothing is drafted."
    return "Nothing is drafted."


def _check(round: Round) -> str:
    number = len(round.drafted)
    if not number:
        return "The target makes one plain pass."
    return f"The target checks {_all(number)} in one pass."


def _judge(round: Round) -> str:
    number = len(round.drafted)
    if not number:
        return "The target writes one token itself."
    if round.rejected:
        return _replaced(round)
    if round.added == "bonus":
        return f"It accepts {_all(number)} and adds a bonus token."
    return _ended(round)


def _replaced(round: Round) -> str:
    number, accepted, discarded = len(round.drafted), round.accepted, round.discarded
    if number == 1:
        return "It rejects the token and replaces it."
    if not accepted:
        rest = "the second" if discarded == 1 else f"the other {discarded}"
        return f"It rejects the first, replaces it and discards {rest}."
    replaced = ORDINALS[accepted]
    if not discarded:
        return f"It accepts {accepted} and replaces the {replaced}."
    rest = f"the {ORDINALS[number - 1]}" if discarded == 1 else f"the last {discarded}"
    return f"It accepts {accepted}, replaces the {replaced} and discards {rest}."


def _ended(round: Round) -> str:
    if len(round.drafted) == 1:
        return "It accepts it. The text ends there."
    start = f"It accepts {round.accepted}. The {ORDINALS[round.accepted - 1]} ends the text"
    if not round.discarded:
        return f"{start}."
    rest = "the last one is" if round.discarded == 1 else f"the last {round.discarded} are"
    return f"{start}, so {rest} discarded."


def _tokens(number: int) -> str:
    return "1 token" if number == 1 else f"{number} tokens"


def _all(number: int) -> str:
    return {1: "it", 2: "both"}.get(number, f"all {number}")
