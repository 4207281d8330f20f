"""Costs and between which values they lie; what the repeats of a calibration must agree on."""

from math import comb

import pytest
from pydantic import TypeAdapter

from specviz.core.costs import Costs, interval_of_median
from specviz.core.errors import DisturbedError
from specviz.measure.calibration import TURNS, Calibration, check_costs


def block(cost_ratio: float, check: float = 1.5, step_seconds: float = 0.004) -> Costs:
    return Costs(step_seconds, cost_ratio, {1: 1.0, 5: check, 17: 2 * check}, 0.05)


def calibration(*blocks: Costs) -> Calibration:
    costs = Costs.from_blocks(blocks)
    figures = costs.step_seconds, costs.cost_ratio, costs.verification, costs.overhead
    return Calibration("target", "float32", "draft", "float32", 1, *figures, blocks=costs.blocks)


@pytest.mark.parametrize("number", [6, 8, 9, 12, 25])
def test_the_interval_of_a_median_holds_it_with_95_percent_and_not_with_far_more(number: int) -> None:
    low, high = interval_of_median(list(range(number))) or (0, 0)
    out = round(low)
    assert high == number - 1 - out
    inside = [1 - 2 * sum(comb(number, k) for k in range(less + 1)) / 2**number for less in (out, out + 1)]
    assert inside[0] >= 0.95 > inside[1]


def test_few_values_have_no_interval_and_a_disturbed_one_does_not_widen_it() -> None:
    assert interval_of_median([1.0] * 5) is None
    assert interval_of_median([]) is None
    quiet = [0.98, 0.99, 1.0, 1.0, 1.01, 1.01, 1.02, 1.03]
    assert interval_of_median([*quiet, 0.97]) == (0.98, 1.02)
    assert interval_of_median([*quiet, 9.0]) == (0.99, 1.03)


def test_costs_are_the_medians_of_their_blocks_which_give_the_interval_of_any_figure() -> None:
    costs = Costs.from_blocks([block(0.1 + each / 100, 1.5 + each / 10) for each in range(9)])
    assert costs.cost_ratio == pytest.approx(0.14)
    assert costs.verification == {1: 1.0, 5: pytest.approx(1.9), 17: pytest.approx(3.8)}
    assert costs.of_draft == pytest.approx((0.11, 0.17))
    assert costs.check_interval(5) == pytest.approx((1.6, 2.2))
    assert costs.interval(lambda each: each.round_steps(4)) == pytest.approx((0.44 + 1.6 + 0.05, 0.68 + 2.2 + 0.05))


def test_costs_that_were_stored_before_are_read_and_have_no_interval() -> None:
    kind = TypeAdapter(Costs)
    old = '{"step_seconds": 0.004, "cost_ratio": 0.88, "verification": {"1": 1.0, "5": 1.5}, "overhead": 0.05}'
    costs = kind.validate_json(old)
    assert (costs.blocks, costs.of_draft, costs.check_interval(5)) == ((), None, None)
    new = Costs.from_blocks([block(0.1)] * 9)
    assert kind.validate_json(kind.dump_json(new)) == new


STEADY = [block(0.3 * each, 1 + 0.5 * each) for each in (0.97, 0.98, 0.99, 1.0, 1.0, 1.01, 1.02, 1.03, 1.04)]


def test_repeats_that_agree_are_accepted_also_where_some_were_disturbed() -> None:
    check_costs(calibration(*STEADY))
    assert len(STEADY) == TURNS
    check_costs(calibration(*STEADY[:-2], block(2.0), block(0.1)))


@pytest.mark.parametrize("wild", [0, 1])
def test_a_calibration_whose_repeats_do_not_agree_is_refused(wild: int) -> None:
    """Found: with another program at work c = 0.88 was stored of a draft whose quiet c is 0.3, without a warning."""
    loads = (0.3, 0.9, 0.4, 1.6, 0.88, 0.35, 1.2, 0.95, 0.5)
    blocks = [block(load) if wild == 0 else block(0.1, 1 + load) for load in loads]
    with pytest.raises(DisturbedError, match=r"tokens took from \d\.\d\d to"):
        check_costs(calibration(*blocks))


def test_agreement_is_of_rounds_so_a_draft_that_costs_next_to_nothing_may_vary() -> None:
    check_costs(calibration(*[block(0.002 * factor) for factor in range(1, 10)]))
