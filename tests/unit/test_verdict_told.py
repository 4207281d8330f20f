"""What is said of a run and of repeats, whole: verdict, result and summary, for runs that differ in what decides."""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.judge import judge, least_check, widen_for_next_run
from specviz.core.metrics import Costs
from specviz.core.rounds import Candidate, DraftedToken, EmittedToken, Round
from specviz.core.settings import DecodeSettings
from specviz.core.terms import terms_of
from specviz.core.trace import Autoregressive, Output, Trace
from specviz.core.verdict import (
    KnownCosts,
    Verdict,
    compare_texts,
    doubts,
    explain_no_verdict,
    is_busy,
    mark_disturbed,
    quiet,
    result_of,
    summary,
    verdict_of_ratios,
    verdict_of_run,
    waiting,
)
from tests.support.fake_traces import run_of

FATES = {"a": "accepted", "r": "rejected", "d": "discarded"}


def a_round(index: int, fates: str, draft: float, verify: float, overhead: float = 0.5) -> Round:
    drafted = [
        DraftedToken(10 * index + at, "x", FATES[fate], candidates=[Candidate(10 * index + at, "x", 0.5, 0.4)])  # type: ignore[arg-type]
        for at, fate in enumerate(fates)
    ]
    own = 10 * index + 9
    tops = [Candidate(own, "y", 0.6, 0.1), Candidate(8, "z", 0.3, 0.1)]
    return Round(
        index,
        draft,
        verify,
        overhead,
        drafted,
        EmittedToken("correction" if "r" in fates else "bonus", own, "y", 0.6, tops),
    )


def a_run(
    draft: float = 1.0, verify: float = 12.0, *, plain: float = 8.0, accepted: str = "aaa ard aar aaa ardd"
) -> Trace:
    """Rounds whose times differ a little, in turns with plain steps that do too."""
    fates = accepted.split()
    rounds = [
        a_round(index, each, draft * len(each) * (1 + 0.02 * index), verify * (1 + 0.01 * (index % 3)))
        for index, each in enumerate(fates * 3)
    ]
    written = [token for each in rounds for token in each.emitted_ids]
    steps = [plain * (1 + 0.02 * (at % 4)) for at in range(len(written))]
    settings = DecodeSettings(max_new_tokens=len(written), draft_length=4, temperature=0.0)
    return run_of(rounds, Autoregressive(steps, written, alternating=True), settings=settings)


def other_text(run: Trace, at: int, token: int) -> Trace:
    plain = run.autoregressive
    assert plain
    ids = [*plain.token_ids[:at], token, *plain.token_ids[at + 1 :]]
    return replace(run, autoregressive=replace(plain, token_ids=ids))


FAST, SLOW = a_run(), a_run(draft=4.0, verify=14.0)
PLAIN = FAST.autoregressive
assert PLAIN
BLOCKS = [Costs(8.0, 0.12 + 0.004 * at, {3: 1.3, 4: 1.4 + 0.01 * at, 5: 1.5}, 0.06) for at in range(7)]
COSTS, UNSURE = Costs.from_blocks(BLOCKS), BLOCKS[3]
RUNS: dict[str, Trace] = {
    "faster": FAST,
    "slower": SLOW,
    "about as fast": a_run(draft=2.5, verify=12.5),
    "by rejected guesses": a_run(accepted="rdd ar rd"),
    "not in turns": replace(FAST, autoregressive=replace(PLAIN, alternating=False)),
    "disturbed": mark_disturbed(FAST),
    "impossibly fast": a_run(plain=60.0),
    "stopped": replace(FAST, output=Output(FAST.output.token_ids, "", None)),
    "nothing drafted": run_of([a_round(0, "", 0.0, 8.0)], PLAIN),
    "not alone": replace(FAST, autoregressive=None),
    "without times": run_of([replace(FAST.rounds[0], draft_seconds=None)], PLAIN),
    "sampled": replace(FAST, settings=replace(FAST.settings, temperature=0.7)),
    "another text": other_text(FAST, 3, 8),
    "a longer text": replace(FAST, autoregressive=replace(PLAIN, token_ids=PLAIN.token_ids[:20])),
    "without a draft": replace(FAST, drafter=None),
}


def four(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(four(each) for each in value)
    return f"{value:.4g}" if isinstance(value, float) else value


def lines_of(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return []
    told = {
        name: four(getattr(verdict, name)) for name in ("word", "basis", "interval", "trusted", "binding", "break_even")
    }
    return [f"{verdict.headline}; {verdict.shown}; {verdict.label}; {verdict.reason}", str(told)]


@pytest.mark.parametrize("name", RUNS)
def test_a_run(name: str, snapshot: SnapshotAssertion) -> None:
    run = RUNS[name]
    known = [None, KnownCosts(COSTS, "here", "A source."), KnownCosts(UNSURE, "here", "Another.")]
    results = [result_of(run, None, "measured here", each) for each in known]
    lines = list(dict.fromkeys(f"{it.says} | {it.reason} | {it.same} | {four(it.speedup)}" for it in results))
    calibrated = result_of(run, COSTS, "measured here")
    told = [*lines, f"calibrated: {calibrated.says} | {calibrated.reason} | {four(calibrated.interval)}"]
    said = {key: four(value) for key, value in summary(run).items()}
    assert [
        *lines_of(verdict_of_run(run)),
        *told,
        compare_texts(run),
        str(explain_no_verdict(run)),
        str(said),
    ] == snapshot


RATIOS = {
    "one pair": [1.5],
    "helps": [1.5, 1.6, 1.55],
    "hurts": [0.7, 0.72, 0.71],
    "even": [1.0, 1.01, 0.99],
    "too close to call": [0.7, 1.5, 1.1],
}


@pytest.mark.parametrize("name", RATIOS)
def test_repeats(name: str, snapshot: SnapshotAssertion) -> None:
    lines = lines_of(verdict_of_ratios(RATIOS[name], None)) + lines_of(
        verdict_of_ratios(RATIOS[name], None, trusted=False)
    )
    for run in (FAST, SLOW):
        lines += lines_of(verdict_of_ratios(RATIOS[name], terms_of(run)))
    assert lines == snapshot


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_no_ratio_is_refused(wrong: float) -> None:
    with pytest.raises(InputError, match=rf"ratios must be numbers above 0, not {wrong}\."):
        verdict_of_ratios([1.0, wrong], None)


STEP = 8.16  # the median of the run's plain steps


@pytest.mark.parametrize(
    ("factor", "trusted", "quiet_ones"),
    [(1.0, True, True), (1.05, True, True), (1.5, True, True), (2.5, True, False), (0.45, False, True)],
)
def test_costs_of_a_slower_machine_are_not_used_and_a_slower_run_is_not_trusted(
    factor: float, trusted: bool, quiet_ones: bool
) -> None:
    own = metrics.costs(FAST)
    assert own
    assert own.step_seconds == pytest.approx(STEP)
    costs = replace(own, step_seconds=STEP * factor)
    assert (quiet(FAST, costs) is costs) is quiet_ones
    assert is_busy(FAST, metrics.speedup(FAST) or 0, (1.4, 1.5), costs) is not trusted
    assert not doubts(FAST, costs)
    assert doubts(FAST, replace(costs, verification={5: 4.0})) is (factor >= 1 / 1.1)
    assert doubts(FAST, replace(costs, cost_ratio=3.0)) is (factor >= 1 / 1.1)


def test_an_interval_that_is_wide_and_one_on_the_other_side_of_1_are_of_a_busy_machine() -> None:
    assert is_busy(FAST, 1.5, (1.0, 1.51), None)
    assert not is_busy(FAST, 1.5, (1.0, 1.5), None)
    assert is_busy(FAST, 3.3, None, None)
    assert not is_busy(FAST, 2.6, None, None)
    helps = metrics.costs(FAST)
    assert not is_busy(FAST, 0.99, None, None)
    assert is_busy(FAST, 0.7, None, helps), "the costs say that it helps"
    assert not is_busy(FAST, 1.02, None, helps)


@pytest.mark.parametrize(
    ("speedup", "interval", "word"),
    [
        (1.051, None, "helps"), (1.05, None, "about even"), (1 / 1.05, None, "about even"), (0.952, None, "hurts"),
        (1.2, (1.01, 1.4), "helps"), (1.2, (1.0, 1.4), "too close to call"), (0.8, (0.7, 0.99), "hurts"),
        (0.9, (0.8, 1.0), "too close to call"), (1.0, (1 / 1.05, 1.05), "about even"),
        (1.0, (0.95, 1.05), "too close to call"), (1.0, (0.96, 1.06), "too close to call"),
        (1.2, (float("nan"), float("nan")), "helps"),
    ],
)  # fmt: skip
def test_the_word_of_a_speedup(speedup: float, interval: tuple[float, float] | None, word: str) -> None:
    judged = judge(speedup, interval)
    assert judged.word == word
    assert judged.basis == ("interval" if interval and interval[0] == interval[0] else "one pair")
    modelled = judge(speedup, interval, modelled=True)
    assert (modelled.word, modelled.basis) == (judge(speedup, None).word, "modelled")
    assert modelled.interval == judged.interval


def test_the_next_run_and_the_least_check() -> None:
    assert widen_for_next_run((1.05, 2.0)) == (1.0, 2.1)
    assert (least_check("float32"), least_check("bfloat16")) == (1 / 1.05, 0.9 / 1.05)
    assert waiting().reason == ""
