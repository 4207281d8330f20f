"""What is said of a long job before it starts, and the operator's limit."""

from dataclasses import replace

import pytest

from specviz.core.metrics import Costs
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.measure.pace import Pace, pace_of_costs
from specviz.service import EngineService
from specviz.service.budget import seconds_a_job
from specviz.service.protocol import Calibrate
from specviz.service.results import CostsResult
from specviz.service.sharing import sharing_key
from specviz.ui.race.link import Entry
from specviz.ui.race.page import size_sentence
from specviz.ui.shared.job_size import limit_sentence

GREATEST = Entry(
    RunRequest("", settings=DecodeSettings(max_new_tokens=256)), presets=(), own="a\nb\nc\nd\ne\nf\ng\nh", repeats=20
)
COSTS = Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.1)


@pytest.fixture(autouse=True)
def no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECVIZ_JOB_SECONDS", raising=False)


def test_a_race_says_how_many_tokens_it_writes_and_how_long_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = size_sentence(GREATEST, Pace(0.01, 0.02))
    assert sentence.startswith("8 prompts × 20 repeats × 256 tokens: each decoder writes at most 40,960, ")
    assert "about 20 min for both" in sentence
    assert "This server gives" not in sentence
    monkeypatch.setenv("SPECVIZ_JOB_SECONDS", "300")
    sentence = size_sentence(GREATEST, Pace(0.01, 0.02))
    assert sentence.endswith(
        "This server gives one job 300 s, so it will end before that: what is found by then is shown."
    )
    short = size_sentence(replace(GREATEST, repeats=1), Pace(0.001, 0.002))
    assert short.endswith("This server gives one job at most 300 s: what is found by then is shown.")


def test_a_race_of_a_pair_that_never_ran_says_so() -> None:
    assert "how long that takes is not known before this pair has run here" in size_sentence(GREATEST, None)


@pytest.mark.parametrize("wrong", ["", "0", "-5", "1.5", "many", "9" * 5_000, "٣"])
def test_a_limit_that_is_no_number_of_seconds_is_none_and_the_log_says_so(
    wrong: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SPECVIZ_JOB_SECONDS", wrong)
    assert seconds_a_job() is None
    assert limit_sentence(10**6) == ""
    assert ("not a whole number of seconds" in caplog.text) == bool(wrong)
    assert len(caplog.text) < 600


def test_the_pace_of_known_costs_counts_drafting_and_verifying() -> None:
    pace = pace_of_costs(COSTS)
    assert pace.plain == 0.01
    assert pace.speculative == pytest.approx(0.01 * (4 * 0.1 + 1.5 + 0.1) / 3)
    assert pace.both == pytest.approx(pace.plain + pace.speculative)


def test_what_was_measured_for_any_visitor_is_known_for_all() -> None:
    service = EngineService(["none"])
    request = RunRequest("any text", draft="lookup")
    assert service.known_costs(request) is None
    key = sharing_key(Calibrate(1, replace(request, prompt="another")))
    assert key
    service._costs[key] = CostsResult(COSTS)
    assert service.known_costs(request) == COSTS
