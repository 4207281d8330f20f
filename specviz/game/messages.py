"""Messages about a turn and a game. Token texts in them are data: show them as text."""

from collections.abc import Sequence

from specviz.core.numbers import percent
from specviz.core.readable import readable
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences
from specviz.core.trace import DraftedToken, EmittedToken, Round
from specviz.game.game import LOOKUP, MODEL, YOU, Turn, score
from specviz.game.words import branches, words_of

say = Sentences("game")

SHOWN_CANDIDATES = 3
EVEN = 0.05  # tokens per target call: a smaller difference is a draw


def headline(round: Round) -> str:
    gained = len(round.emitted_ids)
    if not round.drafted:
        return say("skipped")
    if round.is_tree:
        first, second = (branch.accepted for branch in branches(round))
        return say("of_two", first=first, second=second, gained=gained)
    return say("some_accepted", accepted=round.accepted, drafted=len(round.drafted), gained=gained)


def explain(turn: Turn) -> list[str]:
    round = turn.round
    if turn.trace is None or round is None or not round.drafted:
        return []
    words = [word for branch in branches(round) for word in words_of(branch)]
    round = readable(turn.trace).rounds[0]
    drafted, split = len(round.drafted), list(dict.fromkeys(word.cut for word in words if len(word.pieces) > 1))
    lines = [say("pieces", count=drafted)]
    if split:
        lines = [say("split", count=drafted, words=f" {say('and')} ".join(split[:3]))]
    lines += [say("part", word=word) for word in dict.fromkeys(each.cut for each in words if each.fate == "part")]
    lines += _rejections(round)
    if round.discarded:
        lines.append(say("discarded", count=round.discarded))
    added = "text_ends" if round.added == "none" else round.added
    lines.append(say(added, token=_visible(round.emitted.text)))
    if turn.ended:
        lines.append(ending())
    if turn.cut:
        lines.append(say("cut", most=MAX_DRAFT_LENGTH, count=turn.cut))
    return lines


def _rejections(round: Round) -> list[str]:
    """One line for each rejected token: two guesses may fail at one place, or the other one may be right there."""
    accepted = {token.parent: token for token in round.drafted if token.status == "accepted"} if round.is_tree else {}
    lines = list[str]()
    for failed in (token for token in round.drafted if token.status == "rejected"):
        own, share = accepted[failed.parent].shown if failed.parent in accepted else round.emitted.text, ""
        if failed.target_prob is not None:
            share = say("less_than_one") if failed.target_prob < 0.01 else percent(failed.target_prob)
            share = say("gave", share=share)
        lines.append(say("rejected", token=_visible(failed.shown), wanted=_visible(own), share=share))
    return lines


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


def ending() -> str:
    return say("target_ends")


def verdict(turns: Sequence[Turn], rival: str = MODEL) -> str:
    scores = score(turns, rival)
    yours, its, lookup = (scores[player].tokens_per_target_call for player in (YOU, rival, LOOKUP))
    if yours is None or its is None or lookup is None:
        return say("nothing_played")
    said = say("even", model=rival)
    if abs(yours - its) > EVEN:
        said = say("won") if yours > its else say("lost", model=rival)
    return say("verdict", said=said, model=rival, yours=yours, its=its, lookup=lookup)


def _visible(text: str) -> str:
    return text.strip() or {"\n": "↵", "\n\n": "↵↵"}.get(text, "␣")
