"""Messages about a turn and a game. Token texts in them are data: show them as text."""

from collections.abc import Sequence
from typing import Literal

from specviz.core.readable import readable
from specviz.core.settings import MAX_DRAFT_LENGTH, PromptFormat
from specviz.core.trace import DraftedToken, EmittedToken, Round
from specviz.game.game import LOOKUP, MODEL, YOU, Turn, score
from specviz.game.words import GuessedWord, branches, words_of

Whose = Literal["yours", "theirs"]
SHOWN_CANDIDATES = 3
ENDS: dict[PromptFormat, str] = {"raw": "The target ends the text here.", "chat": "The target ends its answer here."}
EVEN = 0.05  # tokens per target call: a smaller difference is a draw


def headline(round: Round) -> str:
    drafted, accepted, gained = len(round.drafted), round.accepted, len(round.emitted_ids)
    if not drafted:
        return "Skipped: the target wrote one token itself. Nobody scores."
    gain = f"This one target pass wrote {_tokens(gained)}."
    if round.is_tree:
        return f"{_better_guess(round)} {gain}"
    if accepted == drafted:
        return f"All {_tokens(drafted)} accepted! {gain}" if drafted > 1 else f"Your token was accepted! {gain}"
    if not accepted:
        return f"{f'None of your {_tokens(drafted)} accepted' if drafted > 1 else 'Not'} this time. {gain}"
    return f"{accepted} of your {_tokens(drafted)} accepted. {gain}"


def _better_guess(round: Round) -> str:
    first, second = (branch.accepted for branch in branches(round))
    if first == second:
        return f"Both guesses were right for {_tokens(first)}." if first else "Neither guess was right this time."
    which = "first" if first > second else "second"
    return f"Your {which} guess was better: {_tokens(max(first, second))} accepted."


def explain(turn: Turn, whose: Whose = "yours") -> list[str]:
    round = turn.round
    if turn.trace is None or round is None or not round.drafted:
        return []
    words = [word for branch in branches(round) for word in words_of(branch)]
    round = readable(turn.trace).rounds[0]
    lines = [_pieces_line(words, round, whose), *_parts(words), *_rejections(round, whose), *_discarded(round)]
    lines.append(_emitted(round, whose))
    if turn.ended:
        lines.append(ENDS[turn.trace.settings.prompt_format])
    if turn.cut:
        most = f"A draft has at most {MAX_DRAFT_LENGTH} tokens"
        lines.append(f"{most}: your last {turn.cut} were not sent, and cost nothing.")
    return [line for line in lines if line]


def _pieces_line(words: Sequence[GuessedWord], round: Round, whose: Whose) -> str:
    split = list(dict.fromkeys(word.cut for word in words if len(word.pieces) > 1))
    why = f"because it splits {' and '.join(split[:3])}" if split else "each of them a whole word or a mark"
    return f"The model reads pieces, called tokens: {whose} were {_tokens(len(round.drafted))}, {why}."


def _parts(words: Sequence[GuessedWord]) -> list[str]:
    cut = dict.fromkeys(word.cut for word in words if word.fate == "part")
    return [f"{word}: the first part was accepted, the rest was not." for word in cut]


def _rejections(round: Round, whose: Whose) -> list[str]:
    """One line for each rejected token: two guesses may fail at one place, or the other one may be right there."""
    accepted = {token.parent: token for token in round.drafted if token.status == "accepted"}
    lines = []
    for token in round.drafted:
        if token.status == "rejected":
            other = accepted.get(token.parent) if round.is_tree else None
            wanted = other.shown if other else round.emitted.text
            it = "this one" if round.is_tree else whose
            odds = "" if token.target_prob is None else f" and gave {it} {_percent(token.target_prob)}"
            place = f"there the target wanted {_quoted(wanted)}{' (your other guess)' if other else ''}"
            lines.append(f"✗ {_quoted(token.shown)} was rejected: {place}{odds}.")
    return lines


def _discarded(round: Round) -> list[str]:
    thrown = round.discarded
    if not thrown:
        return []
    were = "1 token was" if thrown == 1 else f"{thrown} tokens were"
    if round.is_tree:
        return [f"⋯ {were} not taken, never judged: they are not on the way that the target took."]
    why = "they follow" if thrown > 1 else "it follows"
    return [f"⋯ {were} discarded, never judged: {why} a word that was rejected."]


def _emitted(round: Round, whose: Whose) -> str:
    if round.emitted.kind == "correction":
        return f"↻ {_quoted(round.emitted.text)} is the correction: the target’s own token, in place of {whose}."
    if round.added == "own":
        return f"• {_quoted(round.emitted.text)} is the target’s own token: nothing was drafted."
    if round.added == "bonus":
        right = "one guess was right to its end" if round.is_tree else f"all of {whose} were right"
        return f"+ {_quoted(round.emitted.text)} is the bonus: the target’s extra token, since {right}."
    return "The text ends there."


def wanted(round: Round) -> list[tuple[str, float, bool]]:
    """The target's most likely tokens where it decided: text, probability, whether it is the visitor's token."""
    failed = [token for token in round.drafted if token.status == "rejected"]
    if round.is_tree:  # where the accepted path ends
        last = max((i for i, token in enumerate(round.drafted) if token.status == "accepted"), default=-1)
        failed = [token for token in failed if token.parent == last]
    mine = {token.id for token in failed}
    tokens: Sequence[DraftedToken | EmittedToken] = failed or [round.emitted]
    candidates = {candidate.id: candidate for token in tokens for candidate in token.candidates}
    ranked = sorted(candidates.values(), key=lambda c: -c.p)
    shown = ranked[:SHOWN_CANDIDATES]
    shown += [c for c in ranked[SHOWN_CANDIDATES:] if c.id in mine]
    return [(c.text, c.p, c.id in mine) for c in shown]


def verdict(turns: Sequence[Turn], rival: str = MODEL) -> str:
    scores = score(turns, rival)
    yours, model, lookup = (scores[player].tokens_per_target_call for player in (YOU, rival, LOOKUP))
    if yours is None or model is None or lookup is None:
        return "No round was played, so there is nothing to compare."
    figures = f"you {yours:.2f}, {rival} {model:.2f} and {LOOKUP} {lookup:.2f} tokens per target call."
    if yours > model + EVEN:
        return f"You were the better draft: {figures} A real draft needs only milliseconds for a guess."
    if yours >= model - EVEN:
        return f"You and {rival} are about even: {figures} But {rival} needs only milliseconds for a guess."
    beaten = f" You were better than {LOOKUP}." if yours > lookup + EVEN else ""
    return f"{rival} was the better draft: {figures}{beaten} Even a small model has learned how such texts continue."


def _tokens(number: int) -> str:
    return "1 token" if number == 1 else f"{number} tokens"


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")


def _quoted(text: str) -> str:
    shown = text.strip() or {"\n": "↵", "\n\n": "↵↵"}.get(text, "␣")
    return f"“{shown}”"
