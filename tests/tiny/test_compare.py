"""Compare on a tiny pair: what is measured, in which order, and what the figures are made of."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median, stdev
from typing import Any

import pytest
import torch

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.cli.compare import comparison_json
from specviz.core.metrics import count, speedup_at
from specviz.core.settings import MAX_SEED, repeat_settings
from specviz.core.trace import Output, dump_trace, parse_trace
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.measure import paired_runs
from specviz.measure.calibration import Calibration
from specviz.measure.compare import (
    Comparison,
    compare,
    mean_log_probability,
    quality,
    run_both,
    top2_gap,
)
from specviz.measure.race import GreedyQuality, RaceLap, lap_figures
from specviz.ui.race.results import rows
from tests.support.pauses import Clock, with_pauses
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
DRAFTER = ModelDrafter(DRAFT)
PROMPT = [1, 2, 3]
GREEDY = DecodeSettings(max_new_tokens=20)
SAMPLED = DecodeSettings(max_new_tokens=20, temperature=1.0, seed=2)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_run_both_puts_the_two_runs_in_one_trace() -> None:
    trace = run_both(TARGET, DRAFTER, PROMPT, GREEDY)
    assert trace.autoregressive is not None
    assert trace.autoregressive.token_ids == trace.output.token_ids
    assert trace.rounds[0].drafted[0].candidates
    assert parse_trace(dump_trace(trace)) == trace


def test_compare_warms_both_up_then_times_them_alternately(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, int]] = []

    def listened(name: str) -> Any:
        made = getattr(paired_runs, name)

        def make(*arguments: Any, **options: Any) -> Any:
            runs.append((name[:4].lower(), arguments[-1].max_new_tokens))
            return made(*arguments, **options)

        return make

    for name in ("SpeculativeRun", "AutoregressiveRun"):
        monkeypatch.setattr(paired_runs, name, listened(name))
    said: list[str] = []
    comparison = compare(TARGET, DRAFTER, PROMPT, GREEDY, repeats=3, progress=said.append)
    plain, speculative = ("auto", 20), ("spec", 20)
    assert runs[:2] == [("spec", 10), ("auto", 10)]
    assert runs[2:] == [plain, speculative, speculative, plain, plain, speculative]
    assert said == ["warming up", "repeat 1 of 3", "repeat 2 of 3", "repeat 3 of 3", "calibrating"]
    assert len(comparison.speculative_seconds) == len(comparison.plain_seconds) == len(comparison.ratios) == 3
    assert comparison.speculative.rounds[0].drafted[0].target_prob is None  # nothing recorded while the clock runs


@pytest.mark.parametrize(("settings", "seeds"), [(GREEDY, [0, 0, 0]), (SAMPLED, [2, 3, 4])])
def test_above_temperature_0_each_repeat_has_a_new_seed(settings: DecodeSettings, seeds: list[int]) -> None:
    """Found: one seed was repeated, so the interval was of timing noise, and the verdict certain about one draw."""
    runs = paired_runs.PairedRuns(TARGET, DRAFTER, PROMPT, settings)
    for _ in range(3):
        runs.repeat()
    for repeats in (runs.speculative, runs.plain):
        assert [trace.settings.seed for trace in repeats.traces] == seeds
    speculative, plain = runs.shown
    if settings.greedy:
        assert runs.draws == []
    else:
        assert speculative.settings.seed == plain.settings.seed, "the two texts shown are of one repeat"
        texts = {tuple(trace.output.token_ids) for trace in runs.speculative.traces}
        assert len(texts) == 3, "three draws"
        assert [draw.counts for draw in runs.draws] == [count(trace.rounds) for trace in runs.speculative.traces]


def test_pauses_are_in_no_time_of_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, whole, paused = Clock(monkeypatch), *(paired_runs.PairedRuns(TARGET, DRAFTER, PROMPT, GREEDY) for _ in "ab")
    for _ in range(2):
        whole.repeat()
        _, pauses = with_pauses(paused.repeat_steps(), clock)
        assert pauses > 20, "one after every step and round"
    assert (paused.plain.seconds, paused.speculative.seconds) == (whole.plain.seconds, whole.speculative.seconds)
    assert (paused.plain.prefill, paused.speculative.prefill) == (whole.plain.prefill, whole.speculative.prefill)


def test_a_repeat_that_was_broken_off_leaves_nothing_and_the_next_race_goes_on_after_the_others() -> None:
    measured = paired_runs.Measured()
    runs = paired_runs.PairedRuns(TARGET, DRAFTER, PROMPT, SAMPLED, measured=measured)
    runs.repeat()
    broken = runs.repeat_steps()
    for _ in range(30):  # into the second of its two runs
        next(broken)
    broken.close()
    assert measured.repeats == len(measured.speculative.traces) == 1
    again = paired_runs.PairedRuns(TARGET, DRAFTER, PROMPT, SAMPLED, measured=measured)
    again.repeat()
    assert [trace.settings.seed for trace in again.plain.traces] == [2, 3]


def test_the_counts_of_a_sampled_comparison_are_of_all_seeds() -> None:
    comparison = compare(TARGET, DRAFTER, PROMPT, SAMPLED, repeats=3)
    result = comparison_json(comparison)
    assert (result["seed"], result["seeds"]) == (2, [2, 3, 4])
    assert result["all_seeds"]["emitted"] == comparison.counts.emitted == 60
    assert result["speculative"]["rounds"] == len(comparison.speculative.rounds)
    assert comparison.terms is not None
    assert comparison.terms.alpha == comparison.counts.per_judgement_rate


def test_a_seed_never_grows_beyond_the_largest() -> None:
    largest = replace(SAMPLED, seed=MAX_SEED)
    assert [repeat_settings(largest, number).seed for number in (0, 1)] == [MAX_SEED, 0]


def test_prompt_lookup_is_predicted_from_what_it_found() -> None:
    comparison = a_comparison(drafter=PromptLookupDrafter(), prompt=[1, 2, 3, 1, 2])
    counts = comparison.counts
    assert counts.drafted < 4 * counts.rounds
    modelled = speedup_at(comparison.speculative.rounds, COSTS.costs)
    assert comparison.predicted_speedup == pytest.approx(modelled)


def test_compare_of_a_tiny_pair() -> None:
    comparison = compare(TARGET, DRAFTER, PROMPT, GREEDY, repeats=2)
    assert comparison.identical is True
    assert comparison.quality == {"kind": "greedy", "first_difference": None, "top2_gap": None}
    assert comparison.counts == count(speculative_decode(TARGET, DRAFTER, PROMPT, GREEDY).rounds)
    assert comparison.verdict.label in ("helps", "neutral", "hurts")
    assert comparison.threads == 1


def test_compare_shows_the_median_repeat_of_each_decoder() -> None:
    comparison = compare(TARGET, DRAFTER, PROMPT, GREEDY, repeats=3)
    shown = sum(round.seconds for round in comparison.speculative.rounds)
    assert shown == pytest.approx(median(comparison.speculative_seconds))
    assert comparison.plain.autoregressive is not None
    assert sum(comparison.plain.autoregressive.seconds_per_token) == pytest.approx(median(comparison.plain_seconds))


@pytest.mark.parametrize("repeats", [0, -1])
def test_compare_wants_a_repeat(repeats: int) -> None:
    with pytest.raises(InputError, match=f"repeats must be at least 1, not {repeats}"):
        compare(TARGET, DRAFTER, PROMPT, GREEDY, repeats=repeats)


COSTS = Calibration(
    target="target",
    target_dtype="float32",
    draft="draft",
    draft_dtype="float32",
    threads=1,
    step_seconds=0.01,
    cost_ratio=0.1,
    verification={1: 1.0, 5: 1.5},
    overhead=0.2,
)


def a_comparison(
    settings: DecodeSettings = GREEDY, drafter: Any = DRAFTER, prompt: Sequence[int] = PROMPT
) -> Comparison:
    """Made-up times on real runs: 6 s and 10 s plain, 4 s and 5 s speculative."""
    return Comparison(
        speculative=speculative_decode(TARGET, drafter, prompt, settings),
        plain=autoregressive_decode(TARGET, prompt, settings),
        speculative_seconds=[4.0, 5.0, 4.0],
        plain_seconds=[6.0, 10.0, 9.0],
        calibration=COSTS,
        threads=1,
        quality={},
    )


def test_the_speedup_is_the_geometric_mean_of_the_pairs() -> None:
    comparison = a_comparison()
    assert comparison.ratios == [1.5, 2.0, 2.25]
    assert comparison.speedup == pytest.approx((1.5 * 2 * 2.25) ** (1 / 3))
    assert comparison.verdict.speedup == comparison.speedup
    assert comparison.verdict.interval is not None
    assert comparison.verdict.label == "helps"


def test_race_and_compare_give_the_same_speedup_for_the_same_seconds() -> None:
    comparison = a_comparison()
    lap = RaceLap(
        speculative=comparison.speculative,
        plain=comparison.plain,
        speculative_seconds=comparison.speculative_seconds,
        plain_seconds=comparison.plain_seconds,
        name="own-1",
        speculative_prefill=[0.1] * 3,
        plain_prefill=[0.1] * 3,
        plain_tokens=[],
        quality=GreedyQuality(None, None),
    )
    figures, as_json = lap_figures(lap), comparison_json(comparison)
    assert figures["speedup"] == as_json["speedup"] == lap.speedup == comparison.speedup
    assert (figures["speedup_low"], figures["speedup_high"]) == comparison.verdict.interval
    assert rows([lap])[0]["speedup"].startswith(f"{as_json['speedup']:.2f}×")


def test_texts_of_different_length_are_compared_by_seconds_a_token() -> None:
    comparison = a_comparison()
    shorter = replace(comparison.plain, output=replace(comparison.plain.output, token_ids=[1] * 10))
    halved = replace(comparison, plain=shorter)  # as many seconds for half the tokens
    assert halved.speedup == pytest.approx(2 * comparison.speedup)
    assert halved.ratios == [3.0, 4.0, 4.5]


def test_the_predicted_speedup_is_the_formula_of_its_parts() -> None:
    comparison = a_comparison()
    counts = comparison.counts
    alpha = counts.accepted / (counts.accepted + counts.rejected)
    assert 0 < alpha < 1
    tokens = 1 + alpha + alpha**2 + alpha**3 + alpha**4
    assert comparison.predicted_speedup == pytest.approx(tokens / (4 * 0.1 + 1.5 + 0.2))


def test_without_a_judged_draft_nothing_is_predicted() -> None:
    silent = a_comparison(DecodeSettings(max_new_tokens=1))
    assert silent.counts.drafted == 0
    assert (silent.terms, silent.predicted_speedup) == (None, None)
    assert "Nothing was drafted" in silent.verdict.reason


def test_identical_is_a_question_for_greedy_runs_only() -> None:
    comparison = a_comparison()
    assert comparison.identical is True
    changed = replace(comparison.plain, output=replace(comparison.plain.output, token_ids=[0] * 20))
    assert replace(comparison, plain=changed).identical is False
    assert a_comparison(SAMPLED).identical is None


# Quality


def logits_by_definition(text: Sequence[int]) -> torch.Tensor:
    """Next-token logits after `text`, without a cache."""
    row: torch.Tensor = TARGET.model(torch.tensor([list(text)])).logits[0, -1]
    return row.double()


def test_mean_log_probability_against_a_pass_for_each_token() -> None:
    output = [4, 0, 2, 2, 6]
    each = [
        float(logits_by_definition([*PROMPT, *output[:i]]).log_softmax(-1)[token]) for i, token in enumerate(output)
    ]
    measured = mean_log_probability(TARGET, PROMPT, output)
    half = 2.776 * stdev(each) / math.sqrt(5)  # Student's t at 4 degrees of freedom
    assert measured["mean"] == pytest.approx(fmean(each), abs=1e-5)
    assert measured["low"] == pytest.approx(fmean(each) - half, abs=1e-4)
    assert measured["high"] == pytest.approx(fmean(each) + half, abs=1e-4)


def test_one_token_has_a_log_probability_but_no_interval() -> None:
    measured = mean_log_probability(TARGET, PROMPT, [4])
    expected = float(logits_by_definition(PROMPT).log_softmax(-1)[4])
    assert measured == {"mean": pytest.approx(expected, abs=1e-5), "low": None, "high": None}


def test_top2_gap_is_the_difference_of_the_two_highest_logits() -> None:
    best, second = logits_by_definition(PROMPT).sort(descending=True).values[:2].tolist()
    assert top2_gap(TARGET, PROMPT) == pytest.approx(best - second, abs=1e-5)


def test_quality_of_greedy_runs_says_where_they_differ_and_how_close_it_was() -> None:
    plain = autoregressive_decode(TARGET, PROMPT, GREEDY)
    written = plain.output.token_ids

    def against(token_ids: list[int]) -> dict[str, Any]:
        return quality(TARGET, replace(plain, output=Output(token_ids, "", "length")), plain)

    other = [*written[:7], (written[7] + 1) % 7, *written[8:]]
    gap = pytest.approx(top2_gap(TARGET, [*PROMPT, *written[:7]]))
    assert against(written) == {"kind": "greedy", "first_difference": None, "top2_gap": None}
    found = against(other)
    assert found["lead"] >= found["top2_gap"] == gap
    rest = {"kind": "greedy", "first_difference": 7, "explained": "unknown"}  # no limit is known for this model
    assert found == rest | {"top2_gap": gap, "lead": found["lead"]}
    assert against([*written, 1]) == {"kind": "greedy", "first_difference": 20, "top2_gap": None}


def test_quality_of_sampled_runs_is_how_likely_the_target_finds_both_texts() -> None:
    speculative = speculative_decode(TARGET, DRAFTER, PROMPT, SAMPLED)
    plain = autoregressive_decode(TARGET, PROMPT, SAMPLED)
    assert quality(TARGET, speculative, plain) == {
        "kind": "sampling",
        "speculative": mean_log_probability(TARGET, PROMPT, speculative.output.token_ids),
        "autoregressive": mean_log_probability(TARGET, PROMPT, plain.output.token_ids),
    }
