"""What is reported as the best was not chosen by the very figure that is reported."""

from dataclasses import replace

import pytest

from benchmarks.decoding import best_length, reported
from scripts.record_story import choose, median_run
from specviz.core.metrics import count, speedup
from specviz.core.trace import Trace
from specviz.data.lessons.recorded_runs import story_trace


def slower(trace: Trace, factor: float) -> Trace:
    """The same run with slower rounds."""
    rounds = [replace(one, verify_seconds=one.verify_seconds * factor) for one in trace.rounds]
    return replace(trace, rounds=rounds)


def test_a_length_is_chosen_on_the_other_prompts() -> None:
    prompts = [{2: 3.2, 4: 1.1}, {2: 1.0, 4: 1.3}]  # the first was lucky at 2
    assert best_length(prompts) == 2
    found = reported(prompts)
    assert found["prompts"] == 2
    assert found["chosen"] == [4, 2]
    assert found["speedup"] == pytest.approx((1.1 * 1.0) ** 0.5, abs=0.001)
    assert found["low"] < found["speedup"] < found["high"]
    assert found["by_draft_length"] == {2: 2.1, 4: 1.2}
    assert reported(prompts[:1]) == {"prompts": 1, "by_draft_length": {2: 3.2, 4: 1.1}}


def test_a_run_of_the_story_is_chosen_by_its_counts_not_by_its_fastest_timing() -> None:
    pays, other = story_trace("pays"), story_trace("round")
    assert (count(pays.rounds).tokens_per_target_call or 0) > (count(other.rounds).tokens_per_target_call or 0)
    lucky = slower(other, 0.1)
    assert (speedup(lucky) or 0) > (speedup(pays) or 0)
    assert choose("pays", iter([lucky, pays])) is pays


def test_of_several_timings_the_median_run_is_saved() -> None:
    run = story_trace("pays")
    timings = [slower(run, factor) for factor in (1.0, 3.0, 1.2, 0.5, 1.1)]
    assert median_run(timings) is timings[4]
