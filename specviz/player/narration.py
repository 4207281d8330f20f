"""A round in plain words: one sentence for each of its three phases."""

from dataclasses import dataclass

from specviz.core.drafters import MODEL, Method, exit_layers, method_of
from specviz.core.errors import InputError
from specviz.core.names import ORDINALS
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Round, Trace
from specviz.player.payload import Rule


@dataclass(frozen=True, slots=True)
class Teller:
    """What the sentences about every round of a run depend on."""

    method: Method = MODEL
    name: str = ""  # of the drafter
    rule: Rule = "token"

    @property
    def subject(self) -> str:
        layers = layers_of(self.name) if self.method.takes else None
        return f"the target’s first {layers} layers" if layers else self.method.subject

    @property
    def proposes(self) -> str:
        """The subject and its verb, as the beginning of a sentence."""
        said = f"{self.subject} {'propose' if self.method.several else 'proposes'}"
        return said[0].upper() + said[1:]


def layers_of(name: str) -> int | None:
    """How many layers an early exit of this name takes; None where its name does not say it."""
    try:
        return exit_layers(name)
    except InputError:
        return None


def teller_of(trace: Trace) -> Teller:
    """Who drafts in this run, and how it is judged."""
    drafter = trace.drafter
    return Teller(method_of(drafter.kind if drafter else None), drafter.name if drafter else "", _rule(trace.settings))


def _rule(settings: DecodeSettings) -> Rule:
    if settings.tree:
        return "tree"
    return "block" if settings.verification == "block" and not settings.greedy else "token"


def narrate(round: Round, teller: Teller, *, draft_length: int, remaining: int, ends: bool) -> tuple[str, str, str]:
    """What happens while the round proposes, checks and judges.

    Args:
        round: the round to describe.
        teller: who drafts, and how it is judged.
        draft_length: the setting; a round drafts fewer tokens when the output is nearly full or the lookup finds fewer.
        remaining: tokens still to write at the start of this round.
        ends: whether this round writes the end of the text.
    """
    verdict = _judge(round, teller)
    if any(token.text is None for token in round.drafted):
        verdict += " The tokens that it did not accept are not reported."
    if ends and round.emitted.kind != "none":
        verdict += " The text ends here."
    return _propose(round, teller, draft_length, remaining), _check(round, teller), verdict


def _propose(round: Round, teller: Teller, draft_length: int, remaining: int) -> str:
    number = len(round.drafted)
    if not number:
        return _no_draft(round, teller, remaining)
    if round.is_tree:
        places = "the next place" if round.depth == 1 else f"the next {round.depth} places"
        return f"{teller.proposes} a tree: {_guesses(number)} for {places}."
    if teller.method.proposes:
        return teller.method.proposes.format(tokens=_tokens(number))
    if number < draft_length and number == remaining - 1:
        said = teller.proposes
        return f"Only {_tokens(remaining)} are left: {said[0].lower()}{said[1:]} {number}."
    at_once = ", all at once" if teller.method.at_once and number > 1 else ""
    return f"{teller.proposes} {_tokens(number)}{at_once}."


def _no_draft(round: Round, teller: Teller, remaining: int) -> str:
    if teller.method.by_hand:
        return teller.method.nothing
    if round.draft_tokens:
        return "The draft’s text does not fit the target’s tokens: nothing is proposed."
    if remaining <= 1:
        return "One token is left to write: nothing is drafted."
    return teller.method.nothing


def _check(round: Round, teller: Teller) -> str:
    number = len(round.drafted)
    if not number:
        return "The target makes one plain pass."
    if round.is_tree and number > 2:
        return f"The target checks all {number} guesses in one pass."
    block = ", as one block" if teller.rule == "block" and number > 1 else ""
    return f"The target checks {_all(number)} in one pass{block}."


def _judge(round: Round, teller: Teller) -> str:
    number = len(round.drafted)
    if not number:
        return "The target writes one token itself."
    if round.is_tree:
        return _walked(round)
    if round.rejected:
        return _replaced(round, teller)
    if round.added == "bonus":
        everything = f"the whole block of {number}" if teller.rule == "block" and number > 1 else _all(number)
        return f"It accepts {everything} and adds a bonus token."
    return _ended(round)


def _walked(round: Round) -> str:
    """Along a tree: how far the target agrees with one of its paths."""
    if not round.accepted:
        return "It accepts none of the first guesses and writes its own token."
    path = "It accepts one guess" if round.accepted == 1 else f"It accepts a path of {_tokens(round.accepted)}"
    if round.emitted.kind == "none":
        return f"{path}. The last one ends the text." if round.accepted > 1 else f"{path}, which ends the text."
    return f"{path} and adds a bonus token." if round.added == "bonus" else f"{path}, then writes its own token."


def _replaced(round: Round, teller: Teller) -> str:
    number, accepted, discarded = len(round.drafted), round.accepted, round.discarded
    block = teller.rule == "block"
    if number == 1:
        return "It rejects the token and replaces it."
    if not accepted:
        rest = "the second" if discarded == 1 else f"the other {discarded}"
        start = "No block passes: it" if block else "It"
        return f"{start} rejects the first, replaces it and discards {rest}."
    part = f"a block of {accepted}" if block and accepted > 1 else str(accepted)
    replaced = ORDINALS[accepted]
    if not discarded:
        return f"It accepts {part} and replaces the {replaced}."
    rest = f"the {ORDINALS[number - 1]}" if discarded == 1 else f"the last {discarded}"
    return f"It accepts {part}, replaces the {replaced} and discards {rest}."


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


def _guesses(number: int) -> str:
    return "1 guess" if number == 1 else f"{number} guesses"


def _all(number: int) -> str:
    return {1: "it", 2: "both"}.get(number, f"all {number}")
