"""Every figure against one worked by hand, on a run of four rounds whose times are round numbers."""

from dataclasses import replace

import pytest

from specviz.core import metrics
from specviz.core.metrics import repetition
from specviz.core.settings import DecodeSettings
from specviz.core.trace import (
    Autoregressive,
    DraftedToken,
    DrafterInfo,
    EmittedToken,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Round,
    Status,
    Trace,
)

FATES: dict[str, Status] = {"a": "accepted", "r": "rejected", "d": "discarded"}


def a_round(index: int, fates: str, draft: float, verify: float, overhead: float) -> Round:
    """`fates` like "ard": accepted, rejected, discarded. Token ids count up from 10 times the index."""
    drafted = [DraftedToken(10 * index + i, "x", FATES[fate]) for i, fate in enumerate(fates)]
    if "d" in fates and "r" not in fates:  # an accepted end of text
        return Round(index, draft, verify, overhead, drafted, EmittedToken("none"))
    emitted = EmittedToken("correction" if "r" in fates else "bonus", 10 * index + 9, "x")
    return Round(index, draft, verify, overhead, drafted, emitted)


ROUNDS = [
    a_round(0, "aaa", draft=3.0, verify=10.0, overhead=1.0),  # 4 tokens in 14 s
    a_round(1, "ard", draft=6.0, verify=12.0, overhead=2.0),  # 2 tokens in 20 s
    a_round(2, "", draft=0.0, verify=8.0, overhead=0.5),  # 1 token in 8.5 s
    a_round(3, "ad", draft=3.0, verify=11.0, overhead=1.5),  # 1 token in 15.5 s
]
WRITTEN = [0, 1, 2, 9, 10, 19, 29, 30]
STEPS = [8.0, 8.0, 9.0, 7.0, 8.0, 8.0, 20.0, 8.0]  # median 8
PLAIN = Autoregressive(STEPS, WRITTEN)


def a_trace(rounds: list[Round] = ROUNDS, plain: Autoregressive | None = PLAIN) -> Trace:
    written = [token for round in rounds for token in round.emitted_ids]
    return Trace(
        schema=1,
        created="2026-01-01T00:00:00Z",
        recorded_on=Machine("a machine", "2.13.0", "5.23.0", 1),
        target=ModelInfo("target", 2, "float32", ""),
        drafter=DrafterInfo("model", "draft", 1, "float32", ""),
        settings=DecodeSettings(max_new_tokens=8, draft_length=3),
        prompt=Prompt("x", [1], ["x"]),
        prefill_seconds=PrefillSeconds(100.0, 100.0),  # in none of these figures
        rounds=rounds,
        autoregressive=plain,
        output=Output(written, "", "eos"),
    )


def test_counts() -> None:
    counts = metrics.count(ROUNDS)
    assert counts == metrics.Counts(rounds=4, drafted=8, accepted=5, rejected=1, discarded=2, emitted=8)
    assert counts.acceptance_rate == 5 / 8
    assert counts.per_judgement_rate == 5 / 6
    assert counts.tokens_per_target_call == 8 / 4
    assert metrics.count(ROUNDS[:1]).plus(ROUNDS[1]) == metrics.count(ROUNDS[:2])


def test_rates_of_nothing_are_none_not_zero() -> None:
    nothing = metrics.count([])
    assert (nothing.acceptance_rate, nothing.per_judgement_rate, nothing.tokens_per_target_call) == (None, None, None)
    undrafted = metrics.count(ROUNDS[2:3])
    assert (undrafted.acceptance_rate, undrafted.per_judgement_rate, undrafted.tokens_per_target_call) == (
        None,
        None,
        1,
    )
    all_rejected = metrics.count([a_round(0, "rdd", 1, 1, 1)])
    assert (all_rejected.acceptance_rate, all_rejected.per_judgement_rate) == (0, 0)


def test_by_position_counts_judgements_only() -> None:
    assert metrics.by_position(ROUNDS, 4) == [
        metrics.PositionCounts(1, judged=3, accepted=3),
        metrics.PositionCounts(2, judged=2, accepted=1),  # accepted, rejected; the end of text's was discarded
        metrics.PositionCounts(3, judged=1, accepted=1),
        metrics.PositionCounts(4, judged=0, accepted=0),
    ]
    assert [position.rate for position in metrics.by_position(ROUNDS, 4)] == [1, 0.5, 1, None]
    assert len(metrics.by_position(ROUNDS, 1)) == 1


def test_the_plain_runs_clock() -> None:
    assert metrics.autoregressive_clock(Autoregressive([1.0, 2.0, 4.0], [1, 2, 3]), 3) == [0, 1, 3, 7]
    assert metrics.autoregressive_clock(Autoregressive([1.0, 2.0, 4.0], [1, 2, 3]), 2) == [0, 1, 3]


def test_a_shorter_plain_run_continues_at_its_median_step() -> None:
    assert metrics.autoregressive_clock(Autoregressive([1.0, 2.0, 6.0], [1, 2, 3]), 5) == [0, 1, 3, 9, 11, 13]


def test_running_after_each_round() -> None:
    states = metrics.running(a_trace())
    assert [state.counts.emitted for state in states] == [4, 6, 7, 8]
    assert [state.speculative_seconds for state in states] == [14.0, 34.0, 42.5, 58.0]
    assert [state.autoregressive_seconds for state in states] == [32.0, 48.0, 68.0, 76.0]
    assert [state.speedup for state in states] == [32 / 14, 48 / 34, 68 / 42.5, 76 / 58]
    assert metrics.speedup(a_trace()) == 76 / 58


def test_while_a_run_goes_on_there_is_a_speedup_as_far_as_the_target_alone_has_come() -> None:
    going = replace(a_trace(plain=Autoregressive(STEPS[:6], WRITTEN[:6])), output=Output(WRITTEN, "", None))
    assert [state.autoregressive_seconds for state in metrics.running(going)] == [32.0, 48.0, None, None]


def test_without_a_plain_run_or_rounds_there_is_no_speedup() -> None:
    alone = a_trace(plain=None)
    assert [state.speedup for state in metrics.running(alone)] == [None] * 4
    assert metrics.speedup(alone) is None
    assert metrics.speedup(a_trace(rounds=[])) is None
    assert metrics.running(a_trace(rounds=[])) == []


def test_a_clock_too_coarse_to_see_a_round_gives_no_speedup() -> None:
    assert metrics.speedup(a_trace(rounds=[a_round(0, "a", 0.0, 0.0, 0.0)])) is None


def test_costs_in_target_steps() -> None:
    costs = metrics.costs(a_trace())
    assert costs is not None
    assert costs.step_seconds == 8.0
    # draft seconds a token: 1, 2 and 1.5 (the round without a draft is left out), median 1.5
    assert costs.cost_ratio == pytest.approx(1.5 / 8)
    # 1 token at once: 8; 3 at once: 11; 4 at once: 10 and 12, median 11
    assert costs.verification == pytest.approx({1: 1.0, 3: 11 / 8, 4: 11 / 8})
    assert list(costs.verification) == [1, 3, 4]
    # overheads 0.5, 1, 1.5, 2: median 1.25
    assert costs.overhead == pytest.approx(1.25 / 8)


@pytest.mark.parametrize(
    "trace",
    [
        a_trace(plain=None),
        a_trace(rounds=[]),
        a_trace(rounds=[ROUNDS[2]]),  # nothing drafted
        a_trace(plain=Autoregressive([], [])),
        a_trace(plain=Autoregressive([0.0] * 8, WRITTEN)),  # a step too short for the clock
    ],
    ids=["no plain run", "no rounds", "nothing drafted", "no steps", "no time"],
)
def test_costs_that_were_not_measured_are_none(trace: Trace) -> None:
    assert metrics.costs(trace) is None


def test_first_difference() -> None:
    assert metrics.first_difference([1, 2, 3], [1, 2, 3]) is None
    assert metrics.first_difference([1, 2, 3], [1, 5, 3]) == 1
    assert metrics.first_difference([], []) is None
    assert metrics.first_difference([1, 2], [1, 2, 3]) == 2
    assert metrics.first_difference([1, 2, 3], []) == 0


def test_prefill_is_in_no_figure() -> None:
    slow_start = replace(a_trace(), prefill_seconds=PrefillSeconds(1e5, 1e5))
    assert metrics.speedup(slow_start) == metrics.speedup(a_trace())
    assert metrics.costs(slow_start) == metrics.costs(a_trace())


@pytest.mark.parametrize(
    ("tokens", "share"),
    [
        ([1, 2, 3], None),  # no 4-gram
        ([1, 2, 3, 4], 0.0),
        ([1, 2, 3, 4, 1, 2, 3, 4], 1 / 5),  # one of five 4-grams occurred before
        ([7] * 10, 6 / 7),
    ],
)
def test_repetition_is_the_share_of_4_grams_that_occurred_before(tokens: list[int], share: float | None) -> None:
    assert repetition(tokens) == (share if share is None else pytest.approx(share))
