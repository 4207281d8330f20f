"""The interval of one run whose decoders took turns: made-up times of exact rounds."""

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from specviz.core import metrics
from specviz.core.intervals import FEWEST, blocks_of, speedup_interval
from specviz.core.trace import Autoregressive, Trace
from tests.unit.test_verdict import STEP, a_round, a_trace

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
    interval = speedup_interval(trace)
    assert interval
    return interval[1] / interval[0]


def test_a_block_is_a_round_and_as_many_plain_steps() -> None:
    trace = in_turns(mixed())
    blocks = blocks_of(trace)
    assert [block.tokens for block in blocks] == [len(round.emitted_ids) for round in trace.rounds]
    assert sum(block.plain_seconds for block in blocks) == pytest.approx(STEP * len(trace.output.token_ids))
    assert trace.autoregressive
    short = Autoregressive([STEP] * 7, [1] * 7, alternating=True)  # a sampled text that ended earlier
    assert [block.tokens for block in blocks_of(replace(trace, autoregressive=short))] == [5, 2]
    assert blocks_of(replace(trace, autoregressive=replace(trace.autoregressive, alternating=False))) == []


def test_acceptance_is_exact_so_it_does_not_widen_the_interval() -> None:
    assert width(in_turns(mixed())) == pytest.approx(1.0, abs=1e-9)


def test_what_slows_both_halves_of_a_block_widens_it_less_than_what_slows_one() -> None:
    def spiky(seed: int) -> Noise:
        rng = random.Random(seed)
        return lambda: 2.0 if rng.random() < 0.3 else 1.0

    together, apart = width(in_turns(mixed(24), both=spiky(1))), width(in_turns(mixed(24), rounds=spiky(1)))
    assert math.log(together) < math.log(apart)


@pytest.mark.parametrize("trace", [mixed(), in_turns(mixed(FEWEST - 1)), replace(mixed(), autoregressive=None)])
def test_no_interval_without_turns_or_with_few_rounds(trace: Trace) -> None:
    assert speedup_interval(trace) is None


def test_the_interval_holds_the_truth_95_times_in_100() -> None:
    """2000 runs: the share's standard error is 0.49 %, so ±2.5 points would fail by chance once in three million."""
    rng = random.Random(5)
    trace = mixed(16)
    truth = metrics.speedup(in_turns(trace))
    assert truth
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
