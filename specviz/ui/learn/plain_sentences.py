"""A round in plain words, for a lesson that is read without the field's terms: one sentence for each of its phases."""

from specviz.core.number_words import ORDINALS
from specviz.core.trace import Round


def plain_sentences(round: Round, *, ends: bool = False) -> tuple[str, str, str]:
    """What the intern suggests, how the editor looks, and what stays.

    Args:
        round: the round to describe.
        ends: whether this round writes the end of the text.
    """
    judged = _judge(round)
    if ends and round.emitted.kind != "none":
        judged += " The text ends here."
    return _propose(len(round.drafted)), _check(len(round.drafted)), judged


def _propose(number: int) -> str:
    return f"The intern suggests {_words(number)}." if number else "The intern suggests nothing."


def _check(number: int) -> str:
    if not number:
        return "The editor thinks of the next word."
    return f"The editor looks at {'it' if number == 1 else f'all {number} at once'}."


def _judge(round: Round) -> str:
    number, accepted = len(round.drafted), round.accepted
    if not number:
        return "The editor writes one word."
    stay = f"{accepted} {'stays' if accepted == 1 else 'stay'}. " if accepted else ""
    if round.rejected:
        return (
            f"{stay}The {ORDINALS[accepted]} is crossed out, and the editor writes another word there.{_unread(round)}"
        )
    if round.emitted.kind == "bonus":
        return f"{'It stays' if number == 1 else f'All {number} stay'}, and the editor adds one for free."
    return f"{stay}The last of them ends the text.{_unread(round)}"


def _unread(round: Round) -> str:
    if not round.discarded:
        return ""
    rest = "The last one is" if round.discarded == 1 else f"The last {round.discarded} are"
    return f" {rest} thrown away unread."


def _words(number: int) -> str:
    return "1 word" if number == 1 else f"{number} words"
