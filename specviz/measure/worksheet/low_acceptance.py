"""Counters with few accepted guesses: the most that speculation can gain, what that points to, and what settles it."""

from specviz.core.judge import NEUTRAL
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED
from specviz.data.systems.system_checks import checks_for
from specviz.measure.worksheet.serving import Production, outlook

LEAST_GUESS: float = min(*(each.cost_ratio for each in GPU_COSTS), *(each.cost_ratio for each in PUBLISHED))
# Tokens per target call: below it, one guess at the least cost gains nothing noticeable.
ENOUGH = NEUTRAL * (1 + LEAST_GUESS)
FEW = 100  # rounds: below it another text of the same kind can easily differ
GUESSES_ARE_RIGHT = 0.3  # accepted / drafted above which a low gain is due to few guesses, not to wrong ones
COLLAPSED = 0.5  # accepted guesses of a round, in earlier lines, above which the draft did fit
COPIES = ("ngram", "suffix", "prompt_lookup")

say = Sentences("low-acceptance")


def never_pays(found: Production) -> bool:
    """Whether no cost of a round makes these counters pay: a round takes at least one plain step."""
    return ceiling(found) <= ENOUGH


def ceiling(found: Production) -> float:
    """The highest speedup that these counters allow, over all calls; with assumed calls, at the longest draft."""
    if found.counters.calls_assumed:
        return max(found.most, 1 + (found.counters.acceptance_rate or 0.0) * MAX_DRAFT_LENGTH)
    return found.most


def is_low(found: Production) -> bool:
    """Whether a call writes fewer tokens than any round of the published methods on GPUs."""
    return ceiling(found) < min(each.tokens for each in GPU_ROUNDS)


def verdict(found: Production, counted: str) -> str:
    return f"**{never()}** {reasons(found, counted)}"


def never() -> str:
    return say("never")


def reasons(found: Production, counted: str) -> str:
    """The bound that the verdict is derived from; `counted`: what was counted, without a full stop."""
    ahead, most = outlook(found), ceiling(found)
    if found.counters.calls_assumed:
        percent = 100 * (found.counters.acceptance_rate or 0.0)
        bound = say("bound_assumed", percent=percent, longest=MAX_DRAFT_LENGTH, ceiling=most)
    else:
        bound = say("bound", ceiling=most, small=say("small", least=LEAST_GUESS) if f"{most:.2f}" > "1.00" else "")
    few = _count_few(found)
    return say(
        "reasons",
        counted=counted,
        bound=bound,
        published=say("published", places=ahead.pairs, speeds=ahead.speeds),
        of_this_text=say("of_few", rounds=few) if few else say("of_this_text"),
    )


def diagnosis(found: Production) -> list[tuple[str, str]]:
    """What a low count points to, and what to check in that system: titles and Markdown. Empty if not low."""
    if not is_low(found):
        return []
    points, check = _points(found)
    listed = "\n".join(f"- {each}" for each in checks_for(found.counters.engine))
    checks = [(say("what_to_check", engine=found.counters.engine), say("checks", listed=listed))] if check else []
    return [(say("points_to"), points), *checks]


def settle(found: Production) -> str:
    """The measurement that tells the causes apart."""
    if found.counters.bounded:
        return say("settle_bounded")
    if _drafts_seldom(found):
        return say("settle_seldom", enough=ENOUGH)
    if _collapsed(found):
        return say("settle_collapsed")
    said = say("settle_copies") if _copies(found) else say("settle_rejected")
    return say("settle_few", settle=said) if _count_few(found) else said


def _points(found: Production) -> tuple[str, bool]:
    """The cause as far as the counters tell it, and whether the system is to be checked."""
    counters = found.counters
    if counters.bounded:
        return say("bounded"), False
    if _drafts_seldom(found):
        drafted = (counters.draft_length or 0.0) * found.share
        return say("seldom", rate=counters.acceptance_rate, drafted=drafted), False
    if _collapsed(found):
        return say("collapsed", before=_earlier(found), tokens=found.tokens), False
    if _copies(found):
        return say("copies", drafter=counters.drafter), False
    if never_pays(found):
        return say("rejected"), True
    tokens = [each.tokens for each in GPU_ROUNDS]
    at = say("longest", longest=MAX_DRAFT_LENGTH) if counters.calls_assumed else ""
    return say("low", at=at, tokens=ceiling(found), least=min(tokens), most=max(tokens), url=GPU_ROUNDS[0].url), True


def _earlier(found: Production) -> float:
    return found.before or 1.0


def _drafts_seldom(found: Production) -> bool:
    """Whether most calls had no guess to check, though the guesses were right."""
    counters = found.counters
    drafted = (counters.draft_length or found.draft_length) * found.share
    return drafted < 1 and (counters.acceptance_rate or 0.0) > GUESSES_ARE_RIGHT


def _collapsed(found: Production) -> bool:
    return _earlier(found) - 1 > max(COLLAPSED, 2 * (found.tokens - 1))


def _copies(found: Production) -> bool:
    return found.counters.drafter.lower().startswith(COPIES)


def _count_few(found: Production) -> int | None:
    """How many rounds were counted, where these are few; None where they are many, or not known."""
    rounds = found.rounds
    return round(rounds) if rounds is not None and rounds < FEW else None
