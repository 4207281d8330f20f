"""Formulas, intervals and the proof's statistics: worked by hand, against scipy, and by simulation with fixed seeds."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from scipy.special import chdtrc

from specviz.core import metrics, theory
from specviz.core.errors import InputError
from specviz.core.intervals import speedup_interval
from specviz.core.trace import Autoregressive, Trace
from specviz.measure.proof import findings
from specviz.measure.proof.rows import BATCHES, PLACES, DrawBatch
from tests.support.known import known
from tests.unit.test_verdict import STEP, a_round, a_trace


def test_expected_tokens_by_hand_and_in_the_closed_form() -> None:
    assert theory.expected_tokens(0.5, 3) == pytest.approx(1.875, rel=1e-12)  # 1 + 1/2 + 1/4 + 1/8
    assert theory.expected_tokens(0.8, 4) == pytest.approx(3.3616, rel=1e-12)  # 1 + .8 + .64 + .512 + .4096
    assert (theory.expected_tokens(0.0, 7), theory.expected_tokens(1.0, 7)) == (1, 8)
    for alpha in (0.01, 0.3, 0.77, 0.99):
        closed = (1 - alpha**6) / (1 - alpha)
        assert theory.expected_tokens(alpha, 5) == pytest.approx(closed, rel=1e-12)
    assert theory.expected_tokens(1 - 1e-15, 16) == pytest.approx(17, rel=1e-12)
    assert theory.expected_tokens_by_position([]) == 1
    assert theory.expected_tokens_by_position([0.9, 0.7, 0.5]) == pytest.approx(2.845)  # 1 + .9 + .63 + .315
    assert theory.expected_tokens_by_position([0.9, 0.0, 1.0]) == pytest.approx(1.9)  # nothing survives a 0


def test_speedups_and_operations_by_hand() -> None:
    assert theory.ideal_speedup(0.8, 4, 0.05) == pytest.approx(3.3616 / 1.2)
    assert theory.ideal_speedup(0.0, 4, 0.25) == 0.5  # one token for a round of two target steps
    assert theory.ideal_speedup(1.0, 4, 0.0) == 5.0
    assert theory.extra_operations(0.0, 4, 0.5) == 7.0  # 2 drafted, 5 verified, for one token
    assert theory.extra_operations(1.0, 4, 0.5) == 7 / 5
    assert theory.extra_operations(0.5, 3, 0.1) == pytest.approx((0.3 + 4) / 1.875)
    assert theory.realistic_speedup(0.8, 4, 0.1, 1.5, 0.1) == pytest.approx(3.3616 / 2.0)
    assert theory.realistic_speedup(0.6, 3, 0.2) == theory.ideal_speedup(0.6, 3, 0.2)
    assert theory.verification_steps(lambda k: k / 2, 6) == 3.0


def test_break_even_and_the_rate_of_an_alpha_by_hand() -> None:
    for length, costs in product((1, 4, 16), [(0.05, 1.0, 0.0), (0.2, 1.3, 0.1)]):
        needed = known(theory.break_even_acceptance(length, *costs))
        assert theory.realistic_speedup(needed, length, *costs) == pytest.approx(1, rel=1e-9)
    assert theory.break_even_acceptance(1, 0.3) == pytest.approx(0.3)  # 1 + α = 1 + c
    assert theory.break_even_acceptance(4, 0.0) == 0.0  # drafting for nothing always pays
    assert theory.break_even_acceptance(4, 0.0, 0.9) == 0.0
    assert theory.break_even_acceptance(4, 1.0) is None  # even α = 1 only breaks even
    assert theory.break_even_acceptance(4, 0.1, 4.0, 1.0) is None
    assert theory.acceptance_rate_from_alpha(0.89, 4) == pytest.approx(0.7536, abs=5e-5)  # the design's example
    assert theory.acceptance_rate_from_alpha(0.0, 4) == 0.0
    assert theory.acceptance_rate_from_alpha(1.0, 4) == 1.0
    for alpha in (0.0, 0.123, 0.5, 0.89, 1.0):
        rate = theory.acceptance_rate_from_alpha(alpha, 4)
        assert theory.alpha_from_acceptance_rate(rate, 4) == pytest.approx(alpha, abs=1e-12)


OUT_OF_RANGE: list[tuple[str, Callable[[], object]]] = [
    ("alpha", lambda: theory.expected_tokens(-0.01, 4)),
    ("alpha", lambda: theory.expected_tokens(1.01, 4)),
    ("alpha", lambda: theory.ideal_speedup(math.nan, 4, 0.1)),
    ("draft_length", lambda: theory.expected_tokens(0.5, 0)),
    ("draft_length", lambda: theory.acceptance_rate_from_alpha(0.5, -1)),
    ("draft_length", lambda: theory.expected_tokens(0.5, 2.5)),  # type: ignore[arg-type]
    ("cost_ratio", lambda: theory.ideal_speedup(0.5, 4, -0.1)),
    ("cost_ratio", lambda: theory.break_even_acceptance(4, math.inf)),
    ("operations_ratio", lambda: theory.extra_operations(0.5, 4, -1)),
    ("verification", lambda: theory.realistic_speedup(0.5, 4, 0.1, 0.0)),
    ("verification", lambda: theory.realistic_speedup(0.5, 4, 0.1, lambda k: math.nan)),
    ("overhead", lambda: theory.realistic_speedup(0.5, 4, 0.1, 1.0, -1)),
    ("rates", lambda: theory.expected_tokens_by_position([0.5, 1.5])),
    ("acceptance_rate", lambda: theory.alpha_from_acceptance_rate(2.0, 4)),
]


@pytest.mark.parametrize(("name", "call"), OUT_OF_RANGE)
def test_an_argument_outside_its_range_is_named(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=f"^{name} "):
        call()


def draws_of(random: Random, shares: Sequence[float], number: int) -> list[int]:
    counts = [0] * len(shares)
    for token in random.choices(range(len(shares)), shares, k=number):
        counts[token] += 1
    return counts


Places = tuple[list[int], list[int]]  # of the speculative draws and of the plain ones


def batch_of(speculative: list[int], plain: list[int], shares: Sequence[float], places: Places = ([], [])) -> DrawBatch:
    draws = sum(speculative)
    names = [f"t{i}" for i in range(len(shares))]
    expected = [draws * p for p in shares]
    return DrawBatch(names, speculative, plain, expected, *places)


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


def test_a_look_worked_by_hand_has_scipys_p_value() -> None:
    found = findings.look([60, 40], [50.0, 50.0])
    assert found.distance == pytest.approx(0.1)  # half of (10 + 10) / 100
    assert found.statistic == pytest.approx(4.0)  # 100/50 + 100/50
    assert (found.draws, found.degrees) == (100, 1)
    assert found.p_value == pytest.approx(0.0455, abs=1e-4)  # two standard deviations
    same = findings.look([50, 50], [50.0, 50.0])
    assert (same.distance, same.statistic, same.p_value) == (0, 0, 1)
    for degrees in (1, 2, 3, 7, 30, 31, 60):
        for statistic in (0.01, 1.0, float(degrees), 3.0 * degrees, 200.0):
            assert findings.survival(statistic, degrees) == pytest.approx(chdtrc(degrees, statistic), rel=1e-9)
    assert findings.survival(1e6, 30) == 0.0


def test_chance_alone_stays_below_its_limit_nineteen_times_in_twenty() -> None:
    """Real multinomial draws against the limit, which is simulated with normal ones: 0.95, give or take 0.03."""
    shares, number, random = (0.5, 0.2, 0.1, 0.1, 0.05, 0.05), 300, Random(1)
    limit = findings.chance_distance(shares, number)
    below = 0
    for _ in range(1000):
        counts = draws_of(random, shares, number)
        below += sum(abs(c / number - p) for c, p in zip(counts, shares, strict=True)) / 2 <= limit
    assert 0.92 <= below / 1000 <= 0.98


def proof_of(random: Random, drawn: Sequence[float], target: Sequence[float], draws: int) -> list[DrawBatch]:
    each = draws // BATCHES
    ways = [(draws_of(random, drawn, each), draws_of(random, target, each)) for _ in range(BATCHES)]
    placed = [(places_of(random, target, ours), places_of(random, target, plain)) for ours, plain in ways]
    return [batch_of(ours, plain, target, its) for (ours, plain), its in zip(ways, placed, strict=True)]


TARGET = [0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02]


def test_twenty_tests_together_respect_the_probability_of_a_false_alarm() -> None:
    """500 proofs of a right rule: at 1 % five alarms are the most to be expected, and 13 or more come once in 500."""
    random = Random(2)
    alarms = sum(findings.finding(proof_of(random, TARGET, TARGET, 500)).state == "fails" for _ in range(500))
    assert alarms <= 12


def test_draws_after_different_texts_raise_no_more_false_alarms() -> None:
    """Counts of draws from two very unlike distributions, against the sum of both: the test errs on the safe side."""
    one, other = [0.7, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.7]
    random, low = Random(3), 0
    for _ in range(1000):
        counts = [a + b for a, b in zip(draws_of(random, one, 100), draws_of(random, other, 100), strict=True)]
        low += findings.look(counts, [100 * (a + b) for a, b in zip(one, other, strict=True)]).p_value < 0.05
    assert low <= 65  # 50 are to be expected of an exact test; 66 or more come once in a hundred


def test_the_difference_that_a_finding_names_is_detected() -> None:
    """The hardest difference of that size, spread over half of the probability: at least 90 of 100 proofs see it."""
    shares, draws = [0.125] * 8, 2000
    seen = findings.smallest_seen(draws, 7, findings.FALSE_ALARM / BATCHES)
    assert 0.02 < seen < 0.1
    off = [p + seen / 4 if i < 4 else p - seen / 4 for i, p in enumerate(shares)]
    random = Random(4)
    found = [findings.finding(proof_of(random, off, shares, draws)).state for _ in range(100)]
    assert found.count("fails") >= 90
    assert findings.smallest_seen(4 * draws, 7, findings.FALSE_ALARM / BATCHES) == pytest.approx(seen / 2, rel=0.01)


def batches_of(*counts: list[int], shares: Sequence[float] = (0.5, 0.5)) -> list[DrawBatch]:
    """Batches with these counts, and places that are exactly even."""
    return [batch_of(one, one, shares, ([sum(one) // PLACES] * PLACES,) * 2) for one in counts]


def test_a_failed_test_stays_failed_and_the_sentence_speaks_of_evidence() -> None:
    failed = findings.finding(batches_of([50, 50], [90, 10], [50, 50]))
    assert (failed.state, failed.failed_at) == ("fails", 200)
    assert "draws of the target itself would differ" in failed.sentence
    assert "about 1 in 10⁸" in failed.sentence
    passed = findings.finding(batches_of(*[[50, 50]] * BATCHES))
    assert passed.state == "passes"
    assert "evidence, not certainty" in passed.sentence
    assert "1,000 draws nothing distinguishes" in passed.sentence
    unusual = findings.finding(batches_of(*[[54, 46]] * 5, *[[55, 45]] * 5))
    assert unusual.state == "passes"  # below 1 %, but not below the limit of one test
    assert "p = 0.004" in unusual.sentence
    assert "0.0005" in unusual.sentence
    assert findings.finding(batches_of(*[[50, 50]] * (BATCHES - 1))).state == "open"
    assert findings.finding([]).state == "open"
    assert findings.finding(batches_of(*[[100, 0]] * BATCHES, shares=(1.0, 0.0))).state == "nothing"


def test_finding_says_what_it_did_not_look_at() -> None:
    """Expected in all draws: 600, 396 and 4 of three single tokens, and 1,000 of the others."""
    shares = (0.3, 0.198, 0.002, 0.5)
    batches = batches_of(*[[60, 40, 0, 100]] * BATCHES, shares=shares)
    sentence = findings.finding(batches).sentence
    assert "between the shares of the counted tokens" in sentence
    assert "the places of the drawn tokens are spread evenly" in sentence
    old = [replace(b, speculative_places=[], plain_places=[]) for b in batches_of(*[[50, 50]] * BATCHES)]
    assert findings.place_looks(old) == []
    assert findings.finding(old).state == "passes"
    assert "did not look inside the bins" in findings.finding(old).sentence


def test_places_show_what_the_counts_hide() -> None:
    """After each text the wrong probabilities are drawn from, but their sum over both texts is right.

    What one class of many tokens hides: `tests/tiny/test_other_rules.py`.
    """
    texts = [([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]), ([0.2, 0.3, 0.5], [0.4, 0.3, 0.3])]  # right, drawn
    random, batches = Random(7), []
    for _ in range(BATCHES):
        counts, places, expected = [0] * 3, [0] * PLACES, [0.0] * 3
        for right, drawn in texts:
            mine = draws_of(random, drawn, 100)
            counts = [a + b for a, b in zip(counts, mine, strict=True)]
            places = [a + b for a, b in zip(places, places_of(random, right, mine), strict=True)]
            expected = [a + 100 * p for a, p in zip(expected, right, strict=True)]
        batches.append(DrawBatch(["a", "b", "c"], counts, counts, expected, places, places))
    assert all(one.p_value >= findings.LIMIT for one in findings.looks(batches))
    assert "the places of the drawn tokens are not even" in findings.finding(batches).sentence


def test_looks_and_bins_add_up() -> None:
    batches = [batch_of([6, 4], [5, 5], [0.5, 0.5]), batch_of([7, 13], [10, 10], [0.5, 0.5])]
    ours, plain = findings.looks(batches), findings.looks(batches, "plain")
    assert [one.draws for one in ours] == [10, 30]
    assert ours[1].distance == pytest.approx(2 / 30)
    assert [one.distance for one in plain] == [0, 0]
    assert findings.looks([]) == []
    said = [findings.odds(p) for p in (0.5, 1e-4, 1e-9, 0.0)]
    assert said == ["0.500", "1 in 10,000", "about 1 in 10⁹", "less than 1 in 10¹⁵"]
    assert findings.pool([1, 50, 3, 4], [2.0, 50.0, 4.0, 2.0]) == ([50, 8], [50.0, 8.0])
    # the rest alone is too little: it joins the smallest
    assert findings.pool([0, 50, 9], [1.0, 55.0, 3.0]) == ([59], [59.0])
    assert findings.pool([50, 1, 3], [50.0, 4.0, 4.0]) == ([50, 4], [50.0, 8.0])
    alone = findings.look([100], [100.0])
    assert (alone.degrees, alone.p_value) == (0, 1.0)


ACCEPTED = (4, 1, 0, 3, 4, 2, 4, 0, 1, 4, 3, 2)  # of 4, by round
Noise = Callable[[], float]


def in_turns(trace: Trace, plain: Noise = lambda: 1.0, rounds: Noise = lambda: 1.0, both: Noise = lambda: 1.0) -> Trace:
    """That run in turns; each plain step, each round and each block is slower by its own factor."""
    made, seconds = [], []
    for round in trace.rounds:
        common, factor = both(), rounds()
        times = (round.draft_seconds, round.verify_seconds, round.overhead_seconds)
        draft, verify, overhead = (common * factor * time for time in times)
        made.append(replace(round, draft_seconds=draft, verify_seconds=verify, overhead_seconds=overhead))
        seconds += [STEP * common * plain() for _ in round.emitted_ids]
    return replace(trace, rounds=made, autoregressive=Autoregressive(seconds, trace.output.token_ids, alternating=True))


def mixed(rounds: int = 12) -> Trace:
    """Rounds that accept from none to all, and a short last draft."""
    some = [a_round(i, ACCEPTED[i % 12]) for i in range(rounds - 1)]
    return a_trace([*some, a_round(rounds - 1, 1, drafted=1)])


def width(trace: Trace) -> float:
    interval = known(speedup_interval(trace))
    return interval[1] / interval[0]


def test_what_slows_both_decoders_widens_an_interval_less_than_what_slows_one() -> None:
    """Where there is no interval: the tables of `test_both.py`."""
    assert width(in_turns(mixed())) == pytest.approx(1.0, abs=1e-9)

    def spiky(seed: int) -> Noise:
        rng = random.Random(seed)
        return lambda: 2.0 if rng.random() < 0.3 else 1.0

    together, apart = width(in_turns(mixed(24), both=spiky(1))), width(in_turns(mixed(24), rounds=spiky(1)))
    assert math.log(together) < math.log(apart)


def test_the_interval_holds_the_truth_95_times_in_100() -> None:
    """2000 runs: the share's standard error is 0.49 %, so ±2.5 points would fail by chance once in three million."""
    rng = random.Random(5)
    trace = mixed(16)
    truth = known(metrics.speedup(in_turns(trace)))
    held = 0
    for _ in range(2000):
        noisy = in_turns(
            trace,
            plain=lambda: rng.lognormvariate(0, 0.1),
            rounds=lambda: rng.lognormvariate(0, 0.1),
            both=lambda: rng.lognormvariate(0, 0.2),
        )
        low, high = speedup_interval(noisy) or (0.0, 0.0)
        held += low <= truth <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.025)
