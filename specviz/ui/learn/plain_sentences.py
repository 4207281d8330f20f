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
    return _propose(round), _check(len(round.drafted)), judged


def _propose(round: Round) -> str:
    if not round.drafted:
        return "The intern suggests nothing."
    several = ", several for one place" if round.is_tree and len(round.drafted) > round.depth else ""
    return f"The intern suggests {_words(len(round.drafted))}{several}."


def _check(number: int) -> str:
    if not number:
        return "The editor thinks of the next word."
    return f"The editor looks at {'it' if number == 1 else f'all {number} at once'}."


def _judge(round: Round) -> str:
    number, accepted = len(round.drafted), round.accepted
    if not number:
        return "The editor writes one word."
    if round.is_tree:
        return _walked(round)
    stay = f"{accepted} {'stays' if accepted == 1 else 'stay'}. " if accepted else ""
    if round.rejected:
        return (
            f"{stay}The {ORDINALS[accepted]} is crossed out, and the editor writes another word there.{_unread(round)}"
        )
    if round.emitted.kind == "bonus":
        return f"{'It stays' if number == 1 else f'All {number} stay'}, and the editor adds one for free."
    return f"{stay}The last of them ends the text.{_unread(round)}"


def _walked(round: Round) -> str:
    """Along a tree of suggestions: how far the editor agrees with one way through it."""
    if not round.accepted:
        return "None of the first words fits, so the editor writes another one."
    stay = "One word stays" if round.accepted == 1 else f"{round.accepted} words, one after the other, stay"
    if round.emitted.kind == "none":
        return f"{stay}. The last of them ends the text."
    return f"{stay}, and the editor adds {'one for free' if round.added == 'bonus' else 'a word'}."


def _unread(round: Round) -> str:
    if not round.discarded:
        return ""
    rest = "The last one is" if round.discarded == 1 else f"The last {round.discarded} are"
    return f" {rest} thrown away unread."


def _words(number: int) -> str:
    return "1 word" if number == 1 else f"{number} words"
