"""The proof's statistics: worked by hand, against scipy, and by simulation with fixed seeds. No model."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from scipy import stats

from specviz.measure.proof.findings import FALSE_ALARM, LIMIT, Bins, bins_of, finding, odds
from specviz.measure.proof.rows import BATCHES, PLACES, DrawBatch
from specviz.measure.proof.statistics import (
    chance_distance,
    look,
    looks,
    place_looks,
    pool,
    smallest_seen,
    survival,
)


def draws_of(random: Random, shares: Sequence[float], number: int) -> list[int]:
    counts = [0] * len(shares)
    for token in random.choices(range(len(shares)), shares, k=number):
        counts[token] += 1
    return counts


def batch_of(speculative: list[int], plain: list[int], shares: Sequence[float]) -> DrawBatch:
    draws = sum(speculative)
    names = [f"t{i}" for i in range(len(shares))]
    expected = [draws * p for p in shares]
    ours, theirs = (places_of(Random(draws), shares, counts) for counts in (speculative, plain))
    return DrawBatch(names, speculative, plain, expected, 1, draws, draws, draws // 2, 0.2, 0.5, ours, theirs)


def places_of(random: Random, shares: Sequence[float], counts: Sequence[int]) -> list[int]:
    """The places of these draws: random points of their tokens' pieces of the line, the most probable token first."""
    order = sorted(range(len(shares)), key=lambda token: -shares[token])
    starts = {token: sum(shares[other] for other in order[:rank]) for rank, token in enumerate(order)}
    found = [0] * PLACES
    for token, count in enumerate(counts):
        for _ in range(count):
            place = starts[token] + random.random() * shares[token]
            found[min(PLACES - 1, int(PLACES * place))] += 1
    return found


def test_a_look_worked_by_hand() -> None:
    found = look([60, 40], [50.0, 50.0])
    assert found.distance == pytest.approx(0.1)  # half of (10 + 10) / 100
    assert found.statistic == pytest.approx(4.0)  # 100/50 + 100/50
    assert (found.draws, found.degrees) == (100, 1)
    assert found.p_value == pytest.approx(0.0455, abs=1e-4)  # two standard deviations
    same = look([50, 50], [50.0, 50.0])
    assert (same.distance, same.statistic, same.p_value) == (0, 0, 1)


def test_the_p_value_is_scipys() -> None:
    for degrees in (1, 2, 3, 7, 30, 31, 60):
        for statistic in (0.01, 1.0, float(degrees), 3.0 * degrees, 200.0):
            assert survival(statistic, degrees) == pytest.approx(stats.chi2.sf(statistic, degrees), rel=1e-9)
    assert survival(1e6, 30) == 0.0


def test_bins_are_pooled_by_what_is_expected_until_five_are() -> None:
    assert pool([1, 50, 3, 4], [2.0, 50.0, 4.0, 2.0]) == ([50, 8], [50.0, 8.0])
    assert pool([0, 50, 9], [1.0, 55.0, 3.0]) == ([59], [59.0])  # the rest alone is too little: it joins the smallest
    assert pool([50, 1, 3], [50.0, 4.0, 4.0]) == ([50, 4], [50.0, 8.0])
    alone = look([100], [100.0])
    assert (alone.degrees, alone.p_value) == (0, 1.0)


def test_chance_alone_stays_below_its_limit_nineteen_times_in_twenty() -> None:
    """Real multinomial draws against the limit, which is simulated with normal ones: 0.95, give or take 0.03."""
    shares, number, random = (0.5, 0.2, 0.1, 0.1, 0.05, 0.05), 300, Random(1)
    limit = chance_distance(shares, number)
    below = 0
    for _ in range(1000):
        counts = draws_of(random, shares, number)
        below += sum(abs(c / number - p) for c, p in zip(counts, shares, strict=True)) / 2 <= limit
    assert 0.92 <= below / 1000 <= 0.98


def proof_of(random: Random, drawn: Sequence[float], target: Sequence[float], draws: int) -> list[DrawBatch]:
    each = draws // BATCHES
    ways = [(draws_of(random, drawn, each), draws_of(random, target, each)) for _ in range(BATCHES)]
    placed = [(places_of(random, target, ours), places_of(random, target, plain)) for ours, plain in ways]
    return [
        replace(batch_of(ours, plain, target), speculative_places=one, plain_places=other)
        for (ours, plain), (one, other) in zip(ways, placed, strict=True)
    ]


TARGET = [0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02]


def test_twenty_tests_together_respect_the_probability_of_a_false_alarm() -> None:
    """500 proofs of a right rule: at 1 % five alarms are the most to be expected, and 13 or more come once in 500."""
    random = Random(2)
    alarms = sum(finding(proof_of(random, TARGET, TARGET, 500)).state == "fails" for _ in range(500))
    assert alarms <= 12


def test_ten_tests_without_the_correction_would_not_respect_it() -> None:
    """The same proofs judged at 1 % at every look: the care is not for nothing."""
    random, careless = Random(2), 0
    for _ in range(500):
        made = looks(proof_of(random, TARGET, TARGET, 500))
        careless += any(one.p_value < FALSE_ALARM for one in made)
    assert careless > 12


def test_draws_after_different_texts_raise_no_more_false_alarms() -> None:
    """Counts of draws from two very unlike distributions, against the sum of both: the test errs on the safe side."""
    one, other = [0.7, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.7]
    random, low = Random(3), 0
    for _ in range(1000):
        counts = [a + b for a, b in zip(draws_of(random, one, 100), draws_of(random, other, 100), strict=True)]
        low += look(counts, [100 * (a + b) for a, b in zip(one, other, strict=True)]).p_value < 0.05
    assert low <= 65  # 50 are to be expected of an exact test; 66 or more come once in a hundred


def test_the_difference_that_a_finding_names_is_detected() -> None:
    """The hardest difference of that size, spread over half of the probability: at least 90 of 100 proofs see it."""
    shares, draws = [0.125] * 8, 2000
    seen = smallest_seen(draws, 7, FALSE_ALARM / BATCHES)
    assert 0.02 < seen < 0.1
    off = [p + seen / 4 if i < 4 else p - seen / 4 for i, p in enumerate(shares)]
    random = Random(4)
    found = [finding(proof_of(random, off, shares, draws)).state for _ in range(100)]
    assert found.count("fails") >= 90
    assert smallest_seen(4 * draws, 7, FALSE_ALARM / BATCHES) == pytest.approx(seen / 2, rel=0.01)


def batches_of(*counts: list[int], shares: Sequence[float] = (0.5, 0.5)) -> list[DrawBatch]:
    """Batches with these counts, and places that are exactly even."""
    even = [[sum(one) // PLACES] * PLACES for one in counts]
    made = [batch_of(one, one, shares) for one in counts]
    return [replace(b, speculative_places=e, plain_places=e) for b, e in zip(made, even, strict=True)]


def test_a_failed_test_stays_failed_and_the_sentence_speaks_of_evidence() -> None:
    failed = finding(batches_of([50, 50], [90, 10], [50, 50]))
    assert (failed.state, failed.failed_at, failed.failed_by) == ("fails", 200, "counts")
    assert "about 1 in 10⁸" in failed.sentence
    passed = finding(batches_of(*[[50, 50]] * BATCHES))
    assert passed.state == "passes"
    assert "evidence, not certainty" in passed.sentence
    assert "1,000 draws nothing distinguishes" in passed.sentence
    unusual = finding(batches_of(*[[54, 46]] * 5, *[[55, 45]] * 5))
    assert unusual.state == "passes"  # below 1 %, but not below the limit of one test
    assert (
        "differ more than they usually do by chance (p = 0.004), but less than the limit of 0.0005" in unusual.sentence
    )
    assert finding(batches_of(*[[50, 50]] * (BATCHES - 1))).state == "open"
    assert finding([]).state == "open"
    assert finding(batches_of(*[[100, 0]] * BATCHES, shares=(1.0, 0.0))).state == "nothing"


def test_a_finding_names_its_bins_and_the_share_of_any_other() -> None:
    """Expected in all draws: 600, 396 and 4 of three single tokens, and 1,000 of the others."""
    shares = (0.3, 0.198, 0.002, 0.5)
    batches = batches_of(*[[60, 40, 0, 100]] * BATCHES, shares=shares)
    assert bins_of(batches) == Bins(2, 1, pytest.approx(0.5))
    sentence = finding(batches).sentence
    assert "2 tokens one by one, 1 rarer one together, and “any other”, which has 50% of the probability" in sentence
    assert "between the shares of these bins" in sentence
    assert "the places of the drawn tokens are spread evenly" in sentence


def test_a_recording_without_places_is_judged_by_its_counts_and_says_so() -> None:
    old = [replace(b, speculative_places=[], plain_places=[]) for b in batches_of(*[[50, 50]] * BATCHES)]
    assert place_looks(old) == []
    assert finding(old).state == "passes"
    assert "did not look inside the bins" in finding(old).sentence


def test_places_show_what_one_wrong_rare_token_hides_from_the_counts() -> None:
    """Ten rare tokens are one class, "any other": in place of each of them the last one is drawn."""
    target, drawn = [0.4, 0.3, *[0.03] * 10], [0.4, 0.3, *[0.0] * 9, 0.3]
    fine, random = proof_of(Random(5), drawn, target, 1000), Random(6)
    merged = [_with_other(batch) for batch in fine]
    assert finding([replace(b, speculative_places=[], plain_places=[]) for b in merged]).state == "passes"
    assert finding(merged).failed_by == "places"
    assert finding([_with_other(batch) for batch in proof_of(random, target, target, 1000)]).state == "passes"


def _with_other(batch: DrawBatch) -> DrawBatch:
    """The same draws, with every token after the first two counted as any other."""
    ours, plain, expected = ([*x[:2], sum(x[2:])] for x in (batch.speculative, batch.plain, batch.expected))
    names = [*batch.tokens[:2], "any other"]
    return replace(batch, tokens=names, speculative=ours, plain=plain, expected=expected)


def test_places_show_errors_after_two_texts_that_cancel_in_the_counts() -> None:
    """After each text the wrong probabilities are drawn from, but their sum over both texts is right."""
    texts = [([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]), ([0.2, 0.3, 0.5], [0.4, 0.3, 0.3])]  # right, drawn
    random, batches = Random(7), []
    for _ in range(BATCHES):
        counts, places, expected = [0] * 3, [0] * PLACES, [0.0] * 3
        for right, drawn in texts:
            mine = draws_of(random, drawn, 100)
            counts = [a + b for a, b in zip(counts, mine, strict=True)]
            places = [a + b for a, b in zip(places, places_of(random, right, mine), strict=True)]
            expected = [a + 100 * p for a, p in zip(expected, right, strict=True)]
        batches.append(DrawBatch(["a", "b", "c"], counts, counts, expected, 2, 200, 200, 100, 0.2, 0.5, places, places))
    assert all(one.p_value >= LIMIT for one in looks(batches))
    assert finding(batches).failed_by == "places"


def test_probabilities_are_written_readably() -> None:
    assert [odds(p) for p in (0.5, 1e-4, 1e-9, 0.0)] == [
        "0.500",
        "1 in 10,000",
        "about 1 in 10⁹",
        "less than 1 in 10¹⁵",
    ]


def test_looks_add_up_the_batches_both_ways() -> None:
    batches = [batch_of([6, 4], [5, 5], [0.5, 0.5]), batch_of([7, 13], [10, 10], [0.5, 0.5])]
    ours, plain = looks(batches), looks(batches, "plain")
    assert [one.draws for one in ours] == [10, 30]
    assert ours[1].distance == pytest.approx(2 / 30)
    assert [one.distance for one in plain] == [0, 0]
    assert looks([]) == []
