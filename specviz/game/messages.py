"""Messages about a turn and a game. Token texts in them are data: show them as text."""

from collections.abc import Sequence
from typing import Literal

from specviz.core.numbers import percent
from specviz.core.readable import readable
from specviz.core.settings import MAX_DRAFT_LENGTH, PromptFormat
from specviz.core.texts import Sentences
from specviz.core.trace import DraftedToken, EmittedToken, Round
from specviz.game.game import LOOKUP, MODEL, YOU, Turn, score
from specviz.game.words import GuessedWord, branches, words_of

say = Sentences("game")

Whose = Literal["yours", "theirs"]
SHOWN_CANDIDATES = 3
EVEN = 0.05  # tokens per target call: a smaller difference is a draw


def headline(round: Round) -> str:
    drafted, accepted, gained = len(round.drafted), round.accepted, len(round.emitted_ids)
    if not drafted:
        return say("skipped")
    if round.is_tree:
        return _better_guess(round, gained)
    if drafted == 1:
        return say("one_accepted" if accepted else "not_accepted", gained=gained)
    if accepted in (0, drafted):
        return say("all_accepted" if accepted else "none_accepted", drafted=drafted, gained=gained)
    return say("some_accepted", accepted=accepted, drafted=drafted, gained=gained)


def _better_guess(round: Round, gained: int) -> str:
    first, second = (branch.accepted for branch in branches(round))
    if not first and not second:
        return say("neither_right", gained=gained)
    if first == second:
        return say("both_right", accepted=first, gained=gained)
    better = first > second
    return say("first_better" if better else "second_better", accepted=max(first, second), gained=gained)


def explain(turn: Turn, whose: Whose = "yours") -> list[str]:
    round = turn.round
    if turn.trace is None or round is None or not round.drafted:
        return []
    words = [word for branch in branches(round) for word in words_of(branch)]
    round, yours = readable(turn.trace).rounds[0], whose == "yours"
    lines = [_pieces_line(words, round, yours), *_parts(words), *_rejections(round, yours), *_discarded(round)]
    lines.append(_emitted(round, yours))
    if turn.ended:
        lines.append(ending(turn.trace.settings.prompt_format))
    if turn.cut:
        lines.append(say("cut", most=MAX_DRAFT_LENGTH, count=turn.cut))
    return [line for line in lines if line]


def _pieces_line(words: Sequence[GuessedWord], round: Round, yours: bool) -> str:
    drafted, split = len(round.drafted), list(dict.fromkeys(word.cut for word in words if len(word.pieces) > 1))
    if not split:
        return say("pieces_yours" if yours else "pieces_theirs", count=drafted)
    shown = f" {say('and')} ".join(split[:3])
    return say("split_yours" if yours else "split_theirs", count=drafted, words=shown)


def _parts(words: Sequence[GuessedWord]) -> list[str]:
    cut = dict.fromkeys(word.cut for word in words if word.fate == "part")
    return [say("part", word=word) for word in cut]


def _rejections(round: Round, yours: bool) -> list[str]:
    """One line for each rejected token: two guesses may fail at one place, or the other one may be right there."""
    accepted = {token.parent: token for token in round.drafted if token.status == "accepted"} if round.is_tree else {}
    failed = [token for token in round.drafted if token.status == "rejected"]
    return [_rejection(token, accepted.get(token.parent), round, yours) for token in failed]


def _rejection(failed: DraftedToken, other: DraftedToken | None, round: Round, yours: bool) -> str:
    token, own = _visible(failed.shown), _visible(other.shown if other else round.emitted.text)
    if failed.target_prob is None:
        return say("rejected_other" if other else "rejected", token=token, wanted=own)
    share = say("less_than_one") if failed.target_prob < 0.01 else percent(failed.target_prob)
    if round.is_tree:
        return say("rejected_other_share" if other else "rejected_branch", token=token, wanted=own, share=share)
    return say("rejected_yours" if yours else "rejected_theirs", token=token, wanted=own, share=share)


def _discarded(round: Round) -> list[str]:
    thrown = round.discarded
    return [say("not_taken" if round.is_tree else "discarded", count=thrown)] if thrown else []


def _emitted(round: Round, yours: bool) -> str:
    token = _visible(round.emitted.text)
    if round.emitted.kind == "correction":
        return say("correction_yours" if yours else "correction_theirs", token=token)
    if round.added == "own":
        return say("own", token=token)
    if round.added != "bonus":
        return say("text_ends")
    if round.is_tree:
        return say("bonus_branch", token=token)
    return say("bonus_yours" if yours else "bonus_theirs", token=token)


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


def ending(read_as: PromptFormat) -> str:
    return say("target_ends_answer") if read_as == "chat" else say("target_ends")


def verdict(turns: Sequence[Turn], rival: str = MODEL) -> str:
    scores = score(turns, rival)
    yours, its, lookup = (scores[player].tokens_per_target_call for player in (YOU, rival, LOOKUP))
    if yours is None or its is None or lookup is None:
        return say("nothing_played")
    if yours >= its - EVEN:
        return say("won" if yours > its + EVEN else "even", model=rival, yours=yours, its=its, lookup=lookup)
    beaten = yours > lookup + EVEN
    return say("lost_not_to_lookup" if beaten else "lost", model=rival, yours=yours, its=its, lookup=lookup)


def _visible(text: str) -> str:
    return text.strip() or {"\n": "↵", "\n\n": "↵↵"}.get(text, "␣")
