import math
import random
from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.core.intervals import interval_of_ratios, student_t
from specviz.core.metrics import Costs, speedup_at
from specviz.core.settings import DecodeSettings
from specviz.core.terms import Terms, terms_of
from specviz.core.trace import (
    Autoregressive,
    Candidate,
    DraftedToken,
    DrafterInfo,
    EmittedToken,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Round,
    Trace,
)
from specviz.core.verdict import (
    compare_texts,
    verdict_of_ratios,
    verdict_of_run,
    why_no_verdict,
)

STEP = 0.010  # one target step, in seconds


def a_round(index: int, accepted: int, drafted: int = 4, overhead: float = 0.001) -> Round:
    """Costs c = 0.1 and v(k) = 1 + 0.05 k; tokens are numbered so that every id is 1."""
    rejected = accepted < drafted
    statuses = ["accepted"] * accepted + ["rejected"] * rejected + ["discarded"] * (drafted - accepted - rejected)
    candidates = [Candidate(1, "a", 0.412, 0.3), Candidate(2, "b", 0.402, 0.5), Candidate(3, "c", 0.1, 0.1)]
    return Round(
        index=index,
        draft_seconds=0.1 * STEP * drafted,
        verify_seconds=(1 + 0.05 * (drafted + 1)) * STEP if drafted else STEP,
        overhead_seconds=overhead,
        drafted=[DraftedToken(1, "a", status, candidates=candidates) for status in statuses],  # type: ignore[arg-type]
        emitted=EmittedToken("correction" if rejected else "bonus", 1, "a", candidates=candidates),
    )


def a_trace(rounds: list[Round], temperature: float = 0.0, plain_step: float = STEP) -> Trace:
    ids = [token for round in rounds for token in round.emitted_ids]
    return Trace(
        schema=1,
        created="2026-01-01T00:00:00Z",
        recorded_on=Machine("a machine", "2.13.0", "5.23.0", 1),
        target=ModelInfo("target", 2, "float32", ""),
        drafter=DrafterInfo("model", "draft", 1, "float32", ""),
        settings=DecodeSettings(max_new_tokens=len(ids), temperature=temperature),
        prompt=Prompt("a", [1], ["a"]),
        prefill_seconds=PrefillSeconds(0.01, 0.01),
        rounds=rounds,
        autoregressive=Autoregressive([plain_step] * len(ids), ids),
        output=Output(ids, "a" * len(ids), "length"),
    )


GOOD = a_trace([a_round(0, 4), a_round(1, 3), a_round(2, 4), a_round(3, 2)])
NO_DRAFT = a_trace([a_round(i, 0, drafted=0) for i in range(5)])


def test_terms_are_what_the_trace_measured() -> None:
    terms = terms_of(GOOD)
    assert terms is not None
    assert terms.alpha == 13 / 15  # 13 accepted, 2 rejected, 1 never judged
    assert terms.draft_length == 4
    assert terms.cost_ratio == pytest.approx(0.1)
    assert terms.verification == pytest.approx(1.25)
    assert terms.overhead == pytest.approx(0.1)


# prompt lookup: two of six rounds find two tokens, the others none
SCARCE = replace(
    a_trace([a_round(i, 2, drafted=2) if i % 3 == 0 else a_round(i, 0, drafted=0) for i in range(6)]),
    drafter=DrafterInfo("prompt-lookup", "prompt lookup", None, None, None),
)


CALIBRATED_SCARCE = Costs(STEP, 0.1, {1: 1.0, 3: 1.15}, 0.1)


def test_the_draft_length_is_the_median_of_real_drafts() -> None:
    terms = terms_of(SCARCE)
    assert terms is not None
    assert terms.draft_length == 2


def test_prompt_lookup_is_predicted_from_counted_tokens_not_from_the_formula() -> None:
    """Found: E(γ) takes γ drafted tokens in every round, and was 25 % off in the median, 125 % at most."""
    terms = terms_of(SCARCE)
    assert terms is not None
    assert (terms.tokens, terms.drafted) == (10 / 6, 4 / 6)  # 3 tokens in two rounds, 1 in four
    assert terms.checking == pytest.approx((2 * 1.15 + 4) / 6)
    assert terms.steps == pytest.approx(4 / 6 * 0.1 + 6.3 / 6 + 0.1)
    assert terms.speedup == pytest.approx(speedup_at(SCARCE.rounds, CALIBRATED_SCARCE))
    assert terms.by_formula.speedup == pytest.approx(3 / (2 * 0.1 + 1.15 + 0.1))  # all accepted: E(2) = 3
    verdict = verdict_of_ratios([terms.speedup], terms)
    assert verdict is not None
    assert verdict.break_even is None
    assert "100 % of the judged drafts are accepted, 1.67 tokens per target call" in verdict.reason
    assert f"speculation pays above {terms.steps:.2f} tokens per call" in verdict.reason


def test_a_draft_of_fixed_length_has_the_formula() -> None:
    terms = terms_of(GOOD)
    assert terms is not None
    assert terms.counted is None
    assert terms_of(replace(GOOD, settings=replace(GOOD.settings, draft_schedule="heuristic"))).counted  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("terms", "binding"),
    [
        (Terms(0.5, 4, 0.1, 1.1, 0.1), "acceptance"),
        (Terms(0.95, 8, 0.5, 1.1, 0.1), "draft cost"),
        (Terms(0.95, 4, 0.05, 3.0, 0.1), "verification"),
        (Terms(0.95, 4, 0.05, 1.1, 2.0), "overhead"),
    ],
)
def test_the_binding_term_is_the_one_whose_ideal_gains_most(terms: Terms, binding: str) -> None:
    assert terms.binding == binding
    verdict = verdict_of_ratios([2.0], terms)
    assert verdict is not None
    assert verdict.binding == binding
    named = {
        "acceptance": "acceptance",
        "draft cost": "draft's cost",
        "verification": "checking",
        "overhead": "overhead",
    }
    assert verdict.reason.startswith("The main limit is ")
    assert named[binding] in verdict.reason.split(":")[0]


def test_one_pair_of_runs_is_never_certain() -> None:
    verdict = verdict_of_run(GOOD)
    assert verdict is not None
    assert (verdict.label, verdict.certain, verdict.binding, verdict.interval) == ("helps", False, "acceptance", None)
    assert verdict.speedup == pytest.approx(170 / 70)  # 17 tokens of 10 ms, 4 rounds of 4 + 12.5 + 1 ms
    assert verdict.break_even == pytest.approx(0.4378, abs=1e-4)  # 1 + .4378 + .1917 + .0839 + .0367 = 1.75
    assert verdict.reason == (
        "The main limit is acceptance: 87 % of the judged drafts are accepted, "
        "and at these costs speculation pays above 44 %."
    )
    assert verdict.headline == "Looks like it helps, 2.43×"


@pytest.mark.parametrize(("plain_step", "label"), [(0.0031, "hurts"), (0.0041, "neutral"), (0.0044, "helps")])
def test_within_five_percent_one_run_is_neutral(plain_step: float, label: str) -> None:
    verdict = verdict_of_run(a_trace(GOOD.rounds, plain_step=plain_step))
    assert verdict is not None
    assert verdict.speedup == pytest.approx(plain_step * 17 / 0.07)
    assert verdict.label == label


def test_a_race_that_drafted_nothing() -> None:
    verdict = verdict_of_ratios([0.8, 0.81, 0.82], None)
    assert verdict is not None
    assert (verdict.label, verdict.binding, verdict.break_even) == ("hurts", None, None)
    assert verdict.reason == "Nothing was drafted, so every round was one plain target step plus the time of the loop."


TIMELESS = replace(
    GOOD,
    rounds=[replace(each, draft_seconds=0.0, verify_seconds=0.0, overhead_seconds=0.0) for each in GOOD.rounds],
)


@pytest.mark.parametrize(
    ("trace", "why"),
    [
        (replace(GOOD, output=replace(GOOD.output, stopped_by=None)), "this run was stopped before its end"),
        (NO_DRAFT, "nothing was drafted, so there is nothing to compare"),
        (replace(GOOD, autoregressive=None), "this run has no run of the target alone beside it"),
        (TIMELESS, "this run has no times"),
    ],
)
def test_a_run_without_a_verdict_says_why(trace: Trace, why: str) -> None:
    assert verdict_of_run(trace) is None
    assert why_no_verdict(trace) == why


def test_a_run_with_a_verdict_has_no_excuse() -> None:
    assert verdict_of_run(GOOD)
    assert why_no_verdict(GOOD) is None


@pytest.mark.parametrize(
    "trace",
    [
        replace(GOOD, autoregressive=None),
        replace(GOOD, rounds=[]),
        replace(GOOD, output=replace(GOOD.output, stopped_by=None)),
    ],
)
def test_no_verdict_before_both_runs_are_there(trace: Trace) -> None:
    assert verdict_of_run(trace) is None


def test_no_rate_pays_and_any_rate_pays() -> None:
    dear = verdict_of_ratios([0.4], Terms(0.9, 2, 1.5, 1.5, 0.0))
    assert dear is not None
    assert dear.break_even is None
    assert dear.reason.endswith("and at these costs no rate would pay.")
    free = verdict_of_ratios([1.4], Terms(0.1, 2, 0.0, 1.0, 0.0))
    assert free is not None
    assert free.reason.endswith("and at these costs any rate pays.")


def test_a_reason_says_what_the_formula_does_not_explain() -> None:
    terms = Terms(0.8, 4, 0.1, 1.4, 0.1)
    hurts, helps = verdict_of_ratios([0.9], terms), verdict_of_ratios([1.5], terms)
    assert hurts is not None
    assert helps is not None
    assert "from these averages the formula predicts 1.77×" in hurts.reason
    assert "predict" not in helps.reason


@pytest.mark.parametrize(
    ("ratios", "label", "certain"),
    [
        ([1.8, 1.9, 2.0], "helps", True),
        ([0.7, 0.72, 0.69], "hurts", True),
        ([1.00, 1.01, 0.99, 1.00], "neutral", True),
        ([0.6, 1.9, 1.3], "neutral", False),  # too uneven to say
        ([1.9], "helps", False),
        ([1.01], "neutral", False),
    ],
)
def test_repeats(ratios: list[float], label: str, certain: bool) -> None:
    verdict = verdict_of_ratios(ratios, None)
    assert verdict is not None
    assert (verdict.label, verdict.certain) == (label, certain)
    assert verdict.speedup == pytest.approx(math.prod(ratios) ** (1 / len(ratios)))


def test_repeats_without_valid_ratios() -> None:
    assert verdict_of_ratios([], None) is None
    for ratio in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match=r"^ratios "):
            verdict_of_ratios([1.0, ratio], None)


def test_the_interval_by_hand() -> None:
    # logs 0 and ln 4: mean ln 2, deviation ln 4 / √2, half width 12.706 · ln 4 / 2
    low, high = interval_of_ratios([1.0, 4.0])
    assert math.log(low) == pytest.approx(math.log(2) - 12.706 * math.log(2))
    assert math.log(high) == pytest.approx(math.log(2) + 12.706 * math.log(2))


@pytest.mark.parametrize(("freedom", "point"), [(1, 12.706), (2, 4.303), (9, 2.262), (10, 2.228), (30, 2.042)])
def test_students_t_as_in_the_tables(freedom: int, point: float) -> None:
    assert student_t(freedom) == pytest.approx(point, abs=5e-4)


def test_the_interval_holds_the_truth_95_times_in_100() -> None:
    """4000 draws: the share's standard error is 0.34 %, so ±1.7 points would fail by chance once in 1.7 million."""
    rng = random.Random(11)
    held = 0
    for _ in range(4000):
        low, high = interval_of_ratios([math.exp(rng.gauss(math.log(1.3), 0.1)) for _ in range(5)])
        held += low <= 1.3 <= high
    assert held / 4000 == pytest.approx(0.95, abs=0.017)


def test_greedy_texts_are_compared_id_by_id() -> None:
    assert compare_texts(GOOD) == "Identical: both wrote the same 17 tokens."


@pytest.mark.parametrize(
    ("dtype", "sentence"),
    [
        ("bfloat16", "a near-tie, and rounding decides: 0.025 logits, within the limit of 0.75 for bfloat16"),
        (
            "float32",
            "FAILS: this difference is larger than rounding explains: 0.025 logits, above the limit of 9.2e-05 for "
            "float32",
        ),
    ],
)
def test_a_greedy_difference_is_judged_by_the_lead_that_was_recorded(dtype: str, sentence: str) -> None:
    """Token 7, the second drafted one of round 2, has p = 0.412, the plain run's token 0.402: ln of that is 0.025."""
    plain = GOOD.autoregressive
    assert plain is not None
    other = replace(plain, token_ids=[1] * 6 + [2] * 11)
    trace = replace(GOOD, autoregressive=other, target=replace(GOOD.target, name="wren-base", dtype=dtype))
    assert compare_texts(trace) == f"The texts differ first at token 7: {sentence}."


def test_a_token_that_was_not_recorded_is_at_least_as_far_away_as_the_last_one_that_was() -> None:
    plain = GOOD.autoregressive
    assert plain is not None
    other = replace(plain, token_ids=[1] * 6 + [3] * 11)
    trace = replace(GOOD, autoregressive=other, target=replace(GOOD.target, name="wren-base", dtype="float32"))
    assert "FAILS" in compare_texts(trace)


def test_a_greedy_difference_without_recorded_candidates() -> None:
    bare = [replace(a_round(0, 4), drafted=[DraftedToken(1, "a", "accepted")] * 4, emitted=EmittedToken("bonus", 1))]
    trace = replace(a_trace(bare), autoregressive=Autoregressive([STEP] * 5, [2] * 5))
    sentence = "The texts differ first at token 1: how far apart the scores of the two tokens are was not recorded."
    assert compare_texts(trace) == sentence


def test_sampled_texts_are_not_compared_word_by_word() -> None:
    sentence = compare_texts(replace(GOOD, settings=replace(GOOD.settings, temperature=0.8)))
    assert sentence == (
        "At temperature 0.8 these are two different draws from the same distribution, so they cannot be "
        "compared word by word."
    )


def test_a_missing_run_and_a_shorter_one() -> None:
    assert compare_texts(replace(GOOD, autoregressive=None)).startswith("There is only one of the two runs")
    plain = GOOD.autoregressive
    assert plain is not None
    assert compare_texts(replace(GOOD, autoregressive=replace(plain, token_ids=[1] * 9))).startswith(
        "The same for 9 tokens"
    )


def test_a_very_wide_interval_is_not_called_even() -> None:
    wide, even = verdict_of_ratios([0.3, 1.4], None), verdict_of_ratios([1.0, 1.001, 0.999], None)
    assert wide is not None
    assert even is not None
    assert wide.headline == "Too close to call, 0.65×"
    assert even.headline == "About even, 1.00×"


IN_TURNS = a_trace([a_round(i, accepted) for i, accepted in enumerate((4, 3, 4, 2, 4, 4, 1, 4))])
CALIBRATED = Costs(STEP, 0.1, {1: 1.0, 5: 1.25}, 0.1)  # what `a_round` takes


def in_turns(trace: Trace = IN_TURNS, plain_step: float = STEP, slow: tuple[float, ...] = ()) -> Trace:
    """That run in turns; `slow` are factors on the times of its first rounds."""
    ids = trace.output.token_ids
    factors = [*slow, *[1.0] * (len(trace.rounds) - len(slow))]
    rounds = [
        replace(round, draft_seconds=round.draft_seconds * factor, verify_seconds=round.verify_seconds * factor)
        for round, factor in zip(trace.rounds, factors, strict=True)
    ]
    plain = Autoregressive([plain_step] * len(ids), ids, alternating=True)
    return replace(trace, rounds=rounds, autoregressive=plain)


@pytest.mark.parametrize(("plain_step", "label"), [(STEP, "helps"), (0.6 * STEP, "helps"), (0.37 * STEP, "hurts")])
def test_a_run_in_turns_is_judged_by_its_interval(plain_step: float, label: str) -> None:
    verdict = verdict_of_run(in_turns(plain_step=plain_step, slow=(1.1,)))
    assert verdict is not None
    assert verdict.interval is not None
    low, high = verdict.interval
    assert 1 < high / low < 1.1
    assert (verdict.label, verdict.certain, verdict.trusted) == (label, True, True)


def test_a_run_in_turns_whose_interval_contains_1_is_about_even() -> None:
    even = in_turns(plain_step=STEP * sum(round.seconds for round in IN_TURNS.rounds) / STEP / 34)
    verdict = verdict_of_run(replace(even, rounds=in_turns(slow=(1.02, 0.98)).rounds))
    assert verdict is not None
    assert (verdict.label, verdict.headline) == ("neutral", "About even, 1.00×")


BUSY = "This machine is busy: the measured speed cannot be trusted."


@pytest.mark.parametrize(
    "trace",
    [
        in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0)),  # the interval is wide
        in_turns(plain_step=2.2 * STEP, slow=(2.2,) * 8),  # steps far slower than the calibrated one
        in_turns(slow=(2.8,) * 8),  # measured 0.87×, at calibrated costs 2.4×
    ],
    ids=["wide", "slow", "contradiction"],
)
def test_on_a_busy_machine_there_is_no_label_and_no_cause(trace: Trace) -> None:
    verdict = verdict_of_run(trace, CALIBRATED)
    assert verdict is not None
    assert not verdict.trusted
    assert (verdict.certain, verdict.binding, verdict.break_even) == (False, None, None)
    assert verdict.reason == f"{BUSY} At calibrated costs this run would be 2.4×."  # 34 tokens in 8 · 1.75 steps
    assert verdict.headline.startswith("Not trusted, ")


def test_a_busy_machine_that_is_not_calibrated_says_no_more() -> None:
    verdict = verdict_of_run(in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0)))
    assert verdict is not None
    assert verdict.reason == BUSY


def test_a_quiet_run_near_its_calibration_is_trusted_and_has_its_cause() -> None:
    verdict = verdict_of_run(in_turns(plain_step=1.2 * STEP, slow=(1.2,) * 8), CALIBRATED)
    assert verdict is not None
    assert verdict.trusted
    assert verdict.reason.startswith("The main limit is the draft's cost, ")


def test_costs_calibrated_while_the_machine_was_busy_are_not_used() -> None:
    """Found on a busy machine: nine of ten quick runs were called busy, because the calibration had been slow."""
    slow = replace(CALIBRATED, step_seconds=2.2 * STEP, cost_ratio=1.5)  # by these costs the run would hurt
    assert verdict_of_run(in_turns(), slow) == verdict_of_run(in_turns())


def test_a_gain_that_nobody_would_notice_is_about_even() -> None:
    verdict = verdict_of_run(in_turns(plain_step=0.43 * STEP))
    assert verdict is not None
    assert (verdict.label, verdict.headline) == ("neutral", "About even, 1.04×")


def test_a_cause_is_given_only_where_the_costs_explain_the_label() -> None:
    """Found on a busy machine: "helps, 2.34×: 58 % are accepted, and speculation pays above 59 %"."""
    poor = a_trace([a_round(i, accepted) for i, accepted in enumerate((1, 1, 1, 0, 1, 0))])
    verdict = verdict_of_run(in_turns(poor, plain_step=1.12 * STEP), replace(CALIBRATED, overhead=0.0))
    assert verdict is not None
    assert (verdict.label, verdict.trusted) == ("helps", True)  # 1.07× measured, 1.01× at calibrated costs
    assert "limit" not in verdict.reason
    assert "pays" not in verdict.reason
