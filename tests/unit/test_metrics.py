"""Every figure against one worked by hand, and a trace as data frames."""

from dataclasses import replace
from math import comb

import pytest
from syrupy.assertion import SnapshotAssertion

import specviz
from specviz.core import metrics
from specviz.core.rounds import Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import TOKEN_COLUMNS, Autoregressive, Output, PrefillSeconds, Trace
from tests.support.both import round_from
from tests.support.fake_traces import cut, fake_trace, run_of
from tests.support.figures import rounded
from tests.support.known import known
from tests.support.records import tree_run

ROUNDS = [
    round_from(0, "aaa", "bonus", [3, 10, 1]),  # 4 tokens in 14 s
    round_from(1, "ard", "correction", [6, 12, 2]),  # 2 tokens in 20 s
    round_from(2, "", "bonus", [0, 8, 0.5]),  # 1 token in 8.5 s
    round_from(3, "ad", "none", [3, 11, 1.5]),  # 1 token in 15.5 s
]
WRITTEN = [0, 1, 2, 99, 0, 99, 99, 0]
STEPS = [8.0, 8.0, 9.0, 7.0, 8.0, 8.0, 20.0, 8.0]  # median 8
PLAIN = Autoregressive(STEPS, WRITTEN)


def a_trace(rounds: list[Round] = ROUNDS, plain: Autoregressive | None = PLAIN) -> Trace:
    settings, slow = DecodeSettings(max_new_tokens=8, draft_length=3), PrefillSeconds(100.0, 100.0)  # in no figure
    return run_of(rounds, plain, settings=settings, prefill_seconds=slow)


def test_counts_are_made_of_fates_and_rates_of_counts() -> None:
    """What is counted by position, speedups and costs: the tables of `test_both.py`."""
    positions = metrics.count_by_position(ROUNDS, 4)
    assert [(each.position, each.rate) for each in positions] == [(1, 1), (2, 0.5), (3, 1), (4, None)]
    counts = metrics.count(ROUNDS)
    assert counts == metrics.Counts(rounds=4, drafted=8, accepted=5, rejected=1, discarded=2, emitted=8)
    assert (counts.acceptance_rate, counts.per_judgement_rate, counts.tokens_per_target_call) == (5 / 8, 5 / 6, 2)
    for counts, per_call in ((metrics.count([]), None), (metrics.count(ROUNDS[2:3]), 1)):
        assert counts.acceptance_rate is counts.per_judgement_rate is None
        assert counts.tokens_per_target_call == per_call
    early = Autoregressive([2.0, 4.0, 3.0], [1, 2, 3])
    assert metrics.autoregressive_clock(early, 5) == [0, 2, 6, 9, 12, 15], "it goes on at its median step"


def test_the_interval_of_a_median_is_the_narrowest_that_holds_it_95_times_of_100() -> None:
    """By how many of n values are below the median: as tosses of a coin."""
    assert metrics.interval_of_median([1.0] * 5) is None
    for number in range(6, 80):
        low, high = known(metrics.interval_of_median(range(number)))
        assert low + high == number - 1
        outside = [2 * sum(comb(number, below) for below in range(last + 1)) / 2**number for last in (low, low + 1)]
        assert outside[0] <= 0.05 < outside[1]


def test_costs_and_speedups_that_were_not_measured_are_none() -> None:
    for seconds in (0, 5e-324):  # found: an infinite speedup
        assert metrics.speedup(a_trace(rounds=[round_from(0, "a", "bonus", [0, seconds, 0])])) is None
    too_short = (Autoregressive([step] * 8, WRITTEN) for step in (0.0, 5e-324))
    for plain in (None, Autoregressive([], []), *too_short):
        assert metrics.costs(a_trace(plain=plain)) is None
    unchecked = [replace(round, verify_seconds=0.0) for round in ROUNDS]
    for rounds in ([], [ROUNDS[2]], unchecked):  # the second drafted nothing
        assert metrics.costs(a_trace(rounds=rounds)) is None
    live = replace(a_trace(plain=Autoregressive(STEPS[:5], WRITTEN[:5])), output=Output(WRITTEN, "", None))
    assert [speedup for _, speedup in metrics.running(live)] == [pytest.approx(32 / 14), None, None, None], "yet"


def test_repetition_is_the_share_of_4_grams_that_occurred_before() -> None:
    shares = [metrics.repetition(tokens) for tokens in ([1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4] * 2, [7] * 10)]
    assert shares == [None, 0.0, pytest.approx(1 / 5), pytest.approx(6 / 7)]  # no 4-gram, one, and one of five again


def test_a_row_for_each_token(snapshot: SnapshotAssertion) -> None:
    """In a tree each token names its parent."""
    ended, empty = run_of(fake_trace(eos=True).rounds[-1:]), cut(fake_trace(), 0)
    frames = [
        run.to_frame() for run in (cut(fake_trace(), 2), cut(fake_trace(lookup=True), 2), ended, cut(tree_run(), 1))
    ]
    for frame in (*frames, empty.to_frame()):
        assert {name: str(kind) for name, kind in frame.dtypes.items()} == TOKEN_COLUMNS
    assert "\n".join(frame.to_csv(index=False, float_format="%.4g") for frame in frames) == snapshot


def test_the_summary_of_a_run_has_its_counts_and_its_verdict(snapshot: SnapshotAssertion) -> None:
    assert set(specviz.__all__) <= set(dir(specviz)), "also before they are imported"
    traces = [a_trace(), fake_trace(), fake_trace(plain=False), fake_trace(lookup=True), tree_run()]
    assert rounded("\n".join(str(specviz.summary(trace)) for trace in traces)) == snapshot
