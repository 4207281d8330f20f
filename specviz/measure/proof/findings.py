"""The conclusion of a proof by sampling: passes or fails, how probable a false alarm is, what would have been detected.

Each test may raise a false alarm with a probability of at most `LIMIT`, so all tests of a proof together with at most
`FALSE_ALARM` (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Literal

from specviz.core.numbers import localize
from specviz.core.texts import Sentences
from specviz.core.theory import least
from specviz.data.lessons.lab_words import lab_words
from specviz.measure.proof import rows as proof

say = Sentences("proof")
say_rule = Sentences("own_rule")
LEAST_EXPECTED = 5.0  # the usual limit for each bin: below it the statistic is not chi-squared
POWER = 0.95  # probability of detecting the difference that a finding names
SIMULATIONS = 400
SEEN = 1e-4  # a distance below it may be the rounding of a model's probabilities
DecoderName = Literal["speculative", "plain"]
FALSE_ALARM = 0.01  # probability that a correct rule is called wrong, over all tests of a proof
LIMIT = FALSE_ALARM / (2 * proof.BATCHES)  # for each test: two after each part, of the counts and of the places
USUAL = 0.05  # p-values below it are called unusual, but do not fail
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class InterimLook:
    draws: int
    distance: float  # total variation distance between the shares of the bins: half the sum of |observed - expected|
    chance: float  # the distance that chance alone exceeds once in twenty times
    statistic: float  # chi-squared, the sum of (observed - expected)^2 / expected
    degrees: int  # of freedom: bins minus one; 0 with a single bin, when there is nothing to test
    p_value: float  # probability of a statistic at least this large, if the draws are the target's


def look(observed: Sequence[int], expected: Sequence[float]) -> InterimLook:
    counts, means = pool(observed, expected)
    draws = sum(counts)
    distance = sum(abs(count - mean) for count, mean in zip(counts, means, strict=True)) / (2 * max(draws, 1))
    degrees = len(counts) - 1
    if degrees < 1:
        return InterimLook(draws, distance, 0.0, 0.0, 0, 1.0)
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, means, strict=True))
    chance = chance_distance(tuple(mean / draws for mean in means), draws)
    return InterimLook(draws, distance, chance, statistic, degrees, survival(statistic, degrees))


def pool(observed: Sequence[int], expected: Sequence[float]) -> tuple[list[int], list[float]]:
    """Bins with at least `LEAST_EXPECTED` expected draws. No observed count decides which classes share the last."""
    order = sorted(range(len(expected)), key=lambda i: -expected[i])
    counts, means = [observed[i] for i in order], [expected[i] for i in order]
    kept = sum(mean >= LEAST_EXPECTED for mean in means)
    if kept and sum(means[kept:]) < LEAST_EXPECTED:
        kept -= 1
    return [*counts[:kept], sum(counts[kept:])], [*means[:kept], sum(means[kept:])]


def survival(statistic: float, degrees: int) -> float:
    """Probability of a larger chi-squared: Abramowitz and Stegun, 26.4.4 (odd) and 26.4.5 (even degrees)."""
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    odd = degrees % 2
    total = math.erfc(math.sqrt(half)) if odd else 0.0
    for k in range(degrees // 2):
        total += math.exp((k + odd / 2) * math.log(half) - half - math.lgamma(k + odd / 2 + 1))
    return min(1.0, total)


@lru_cache(maxsize=256)
def chance_distance(shares: tuple[float, ...], draws: int) -> float:
    """The total variation distance that this many draws from exactly these shares exceed once in twenty times.

    Simulated with a fixed seed. With at least five expected in each bin, the counts are simulated as normal variables
    with the variances and covariances of a multinomial: z_i sqrt(p_i) - p_i sum of z_j sqrt(p_j).
    """
    random, roots = Random(0), [math.sqrt(share) for share in shares]
    distances = []
    for _ in range(SIMULATIONS):
        noise = [root * random.gauss(0, 1) for root in roots]
        drift = sum(root * one for root, one in zip(roots, noise, strict=True))
        off = (abs(one - root * drift) for root, one in zip(roots, noise, strict=True))
        distances.append(sum(off) / (2 * math.sqrt(draws)))
    return sorted(distances)[math.ceil(0.95 * SIMULATIONS) - 1]


def smallest_seen(draws: int, degrees: int, threshold: float) -> float:
    """The total variation distance that a test at `threshold` detects with probability `POWER`, wherever it lies.

    A distance d makes the statistic's non-centrality at least 4 d^2 draws (by Cauchy and Schwarz, if the bins with
    too many draws have half of the probability), and the statistic is then close to normal with mean degrees + l and
    variance 2 (degrees + 2 l), l the non-centrality.
    """
    critical, quantile = critical_value(degrees, threshold), 1.645  # the normal's, for 95 %

    def seen(extra: float) -> bool:
        return degrees + extra - quantile * math.sqrt(2 * (degrees + 2 * extra)) >= critical

    return min(1.0, math.sqrt(least(seen, 4.0 * draws) / (4 * draws)))


@lru_cache(maxsize=256)
def critical_value(degrees: int, threshold: float) -> float:
    return least(lambda value: survival(value, degrees) <= threshold, 10.0 * degrees + 100.0)


def totals(batches: Sequence[proof.DrawBatch]) -> list[proof.DrawBatch]:
    """What was drawn until the end of each batch."""
    return [*accumulate(batches, proof.DrawBatch.plus)]


def looks(batches: Sequence[proof.DrawBatch], way: DecoderName = "speculative") -> list[InterimLook]:
    return [look(getattr(total, way), total.expected) for total in totals(batches)]


def place_looks(batches: Sequence[proof.DrawBatch], way: DecoderName = "speculative") -> list[InterimLook]:
    """Of an older file none: its draws have no places."""
    every = [getattr(total, f"{way}_places") for total in totals(batches)]
    return [look(counts, [sum(counts) / proof.PLACES] * proof.PLACES) for counts in every] if all(every) else []


@dataclass(frozen=True, slots=True)
class Finding:
    state: Literal["open", "passes", "fails", "nothing"]
    sentence: str
    failed_at: int | None = None  # number of draws after which it failed


def finding(batches: Sequence[proof.DrawBatch]) -> Finding:
    """The conclusion from these batches, out of `BATCHES`. A failed test stays failed."""
    counted, placed = looks(batches), place_looks(batches)
    if failed := [one for one in (*counted, *placed) if one.degrees and one.p_value < LIMIT]:
        one = min(failed, key=lambda each: each.draws)
        found = say("counts_failed" if one in counted else "places_failed")
        return Finding("fails", say("failed", draws=one.draws, found=found, odds=odds(one.p_value)), one.draws)
    if not counted:
        return Finding("open", say("nothing"))
    last = counted[-1]
    if len(counted) < proof.BATCHES:
        return Finding("open", say("more", draws=last.draws))
    if not last.degrees:
        return Finding("nothing", say("certain"))
    seen, p, inside = smallest_seen(last.draws, last.degrees, LIMIT), last.p_value, say("no_places")
    closeness = say("alike") if p >= USUAL else say("unusual", p=p, limit=LIMIT)
    if placed:
        its, p = placed[-1], placed[-1].p_value
        evenness = say("even") if p >= USUAL else say("uneven", p=p, limit=LIMIT)
        inside = say("places", evenness=evenness, inside=smallest_seen(its.draws, its.degrees, LIMIT))
    passed = say("passed", draws=last.draws, closeness=closeness, seen=seen, power=POWER, inside=inside)
    return Finding("passes", passed)


def odds(p_value: float) -> str:
    if p_value >= 0.001:
        return localize(p_value, ".3f")
    if p_value < 1e-15:
        return say("least_odds")
    if p_value > 1e-6:
        return say("odds", number=1 / p_value)
    return say("odds_about", power=f"{-math.log10(p_value):.0f}".translate(RAISED))


@dataclass(frozen=True, slots=True)
class OwnRuleFinding:
    lossless: bool
    distances: list[float]  # at each guess, and after the last one
    tokens: list[proof.TokenShare]  # at the place of the largest distance
    sentence: str
    mistakes: list[str]  # a sentence for each piece that is not the best


def judge_pieces(pieces: proof.Pieces, rules: proof.EnumeratedRules) -> OwnRuleFinding:
    judged, bonus = rules.judged[proof.judged_key(pieces)], rules.bonus[pieces.bonus]
    after = max(bonus.distances) > max(judged.distances)
    worst = bonus if after else judged
    distance = max(worst.distances)
    if pieces.lossless:
        by_ratio = pieces.accept == "ratio"
        sentence = say_rule("proved_ratio" if by_ratio else "proved_equal")
    elif distance < SEEN:
        sentence = say_rule("not_here")
    else:
        token, number = worst.tokens[0], worst.distances.index(distance) + 1
        place = say_rule("after", count=len(rules.guesses)) if after else say_rule("at", number=number)
        text, target, written = token.text.strip() or "␣", token.target, token.written
        sentence = say_rule("refuted", place=place, text=text, target=target, written=written, distance=distance)
    kinds, accepted = lab_words()["judge"].kinds, say_rule("accepted", share=judged.accepted[0])
    lossy: dict[proof.PieceName, str] = {rule.pieces.accept: rule.why for rule in proof.rule_texts() if rule.pieces}
    return OwnRuleFinding(
        pieces.lossless,
        [*judged.distances, *bonus.distances],
        worst.tokens,
        f"{sentence} {accepted}",
        [
            kinds.get(name) or lossy.get(name) or say_rule("without_rejected")
            for name in (pieces.wrong, pieces.bonus)
            if name and name != "from_target"
        ],
    )
