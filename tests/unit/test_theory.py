"""The formulas against hand-worked numbers, their edges, and a simulation of the process they describe."""

import math
import random
from collections.abc import Callable
from statistics import mean, stdev

import pytest

from specviz.core import theory
from specviz.core.errors import InputError


@pytest.mark.parametrize(
    ("alpha", "draft_length", "tokens"),
    [
        (0.5, 1, 1.5),  # (1 - 1/4) / (1/2)
        (0.5, 3, 1.875),  # (1 - 1/16) / (1/2)
        (0.8, 4, 3.3616),  # 1 + .8 + .64 + .512 + .4096
        (0.0, 7, 1.0),
        (1.0, 7, 8.0),
    ],
)
def test_expected_tokens(alpha: float, draft_length: int, tokens: float) -> None:
    assert theory.expected_tokens(alpha, draft_length) == pytest.approx(tokens, rel=1e-12)


def test_expected_tokens_is_the_closed_form_of_the_paper_and_steady_near_one() -> None:
    for alpha in (0.01, 0.3, 0.77, 0.99):
        closed = (1 - alpha**6) / (1 - alpha)
        assert theory.expected_tokens(alpha, 5) == pytest.approx(closed, rel=1e-12)
    assert theory.expected_tokens(1 - 1e-15, 16) == pytest.approx(17, rel=1e-12)


def simulated_round(rates: list[float], rng: random.Random) -> int:
    """Tokens a round emits: drafts survive up to the first failure, and the target always adds one."""
    for accepted, rate in enumerate(rates):
        if rng.random() >= rate:
            return accepted + 1
    return len(rates) + 1


@pytest.mark.parametrize("rates", [[0.8] * 4, [0.35] * 8, [0.9, 0.7, 0.5], [0.2, 1.0, 1.0, 0.0]])
def test_expected_tokens_against_simulation(rates: list[float]) -> None:
    """5 standard errors: a correct formula fails one seed in 1.7 million; this seed is fixed, so never by chance."""
    rng = random.Random(2023)
    rounds = [simulated_round(rates, rng) for _ in range(20_000)]
    tolerance = 5 * stdev(rounds) / math.sqrt(len(rounds))
    assert theory.expected_tokens_by_position(rates) == pytest.approx(mean(rounds), abs=tolerance)
    if len(set(rates)) == 1:
        assert theory.expected_tokens(rates[0], len(rates)) == pytest.approx(mean(rounds), abs=tolerance)


def test_by_position() -> None:
    assert theory.expected_tokens_by_position([]) == 1
    assert theory.expected_tokens_by_position([0.5, 0.5]) == 1.75  # 1 + 1/2 + 1/4
    assert theory.expected_tokens_by_position([0.9, 0.0, 1.0]) == pytest.approx(1.9)  # nothing survives a 0


def test_ideal_speedup() -> None:
    assert theory.ideal_speedup(0.8, 4, 0.05) == pytest.approx(3.3616 / 1.2)
    assert theory.ideal_speedup(0.0, 4, 0.25) == 0.5  # one token for a round of two target steps
    assert theory.ideal_speedup(1.0, 4, 0.0) == 5.0


def test_extra_operations() -> None:
    assert theory.extra_operations(0.0, 4, 0.5) == 7.0  # 2 drafted, 5 verified, for one token
    assert theory.extra_operations(1.0, 4, 0.5) == 7 / 5
    assert theory.extra_operations(0.5, 3, 0.1) == pytest.approx((0.3 + 4) / 1.875)


def test_realistic_speedup_is_tokens_over_the_cost_of_a_round() -> None:
    assert theory.realistic_speedup(0.8, 4, 0.1, 1.5, 0.1) == pytest.approx(3.3616 / 2.0)
    assert theory.realistic_speedup(0.6, 3, 0.2) == theory.ideal_speedup(0.6, 3, 0.2)


@pytest.mark.parametrize(
    ("tokens", "steps"),
    [(1, 1.0), (2, 1.2), (3, 1.4), (4, 1.5), (5, 1.6), (7, 1.9)],  # past 5: (1.6 - 1) / (5 - 1) more a token
)
def test_a_measured_table_is_interpolated(tokens: int, steps: float) -> None:
    assert theory.verification_steps({3: 1.4, 5: 1.6}, tokens) == pytest.approx(steps)


def test_an_extended_table_never_falls_and_an_empty_one_is_free() -> None:
    assert theory.verification_steps({1: 1.1, 5: 0.9}, 9) == 0.9
    assert theory.verification_steps({}, 9) == 1.0
    assert theory.verification_steps(lambda k: k / 2, 6) == 3.0


def test_best_draft_length() -> None:
    assert theory.best_draft_length(1.0, 0.01) == 16
    assert theory.best_draft_length(1.0, 0.01, longest=5) == 5
    assert theory.best_draft_length(0.0, 0.1) == 1
    # E(γ) / (0.3 γ + 1) at α = 0.5: 1.154, 1.094, 0.987
    assert theory.best_draft_length(0.5, 0.3) == 1
    # E(γ) / (0.1 γ + 1) at α = 0.7: 1.545, 1.825, 1.948, 1.981, 1.961
    assert theory.best_draft_length(0.7, 0.1) == 4
    # the same, but checking more than three tokens is dear
    assert theory.best_draft_length(0.7, 0.1, {3: 1.0, 4: 1.4}) == 2


@pytest.mark.parametrize("draft_length", [1, 4, 16])
@pytest.mark.parametrize(("cost_ratio", "verification", "overhead"), [(0.05, 1.0, 0.0), (0.2, 1.3, 0.1)])
def test_break_even_is_where_the_speedup_is_one(
    draft_length: int, cost_ratio: float, verification: float, overhead: float
) -> None:
    alpha = theory.break_even_acceptance(draft_length, cost_ratio, verification, overhead)
    assert alpha is not None
    speedup = theory.realistic_speedup(alpha, draft_length, cost_ratio, verification, overhead)
    assert speedup == pytest.approx(1, rel=1e-9)


def test_break_even_by_hand_and_at_its_edges() -> None:
    assert theory.break_even_acceptance(1, 0.3) == pytest.approx(0.3)  # 1 + α = 1 + c
    assert theory.break_even_acceptance(4, 0.0) == 0.0  # drafting for nothing always pays
    assert theory.break_even_acceptance(4, 0.0, 0.9) == 0.0
    assert theory.break_even_acceptance(4, 1.0) is None  # even α = 1 only breaks even
    assert theory.break_even_acceptance(4, 0.1, 4.0, 1.0) is None


def test_the_worksheets_rate() -> None:
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
    ("verification", lambda: theory.best_draft_length(0.5, 0.1, lambda k: math.nan)),
    ("overhead", lambda: theory.realistic_speedup(0.5, 4, 0.1, 1.0, -1)),
    ("longest", lambda: theory.best_draft_length(0.5, 0.1, longest=0)),
    ("rates", lambda: theory.expected_tokens_by_position([0.5, 1.5])),
    ("acceptance_rate", lambda: theory.alpha_from_acceptance_rate(2.0, 4)),
]


@pytest.mark.parametrize(("name", "call"), OUT_OF_RANGE)
def test_an_argument_outside_its_range_is_named(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=f"^{name} "):
        call()
