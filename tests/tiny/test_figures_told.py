"""A figure that is told is the figure that was measured: made-up seconds whose sums are known, told in each place."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specviz import DecodeSettings, ModelDrafter
from specviz.cli import plots
from specviz.cli.sweep import print_comparison
from specviz.core.trace import PrefillSeconds, Trace
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.recorded_runs import story_trace
from specviz.measure import compare as comparing
from specviz.measure.compare import shown_pair
from specviz.measure.paired import prefill_seconds, show_duration
from specviz.measure.sweep.study import studies_of
from specviz.measure.sweep.table import frame_of
from specviz.ui.race.results import rows
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.tiny_models import tiny_model
from tests.unit.test_race import lap

ROOT = Path(__file__).parents[2]


def test_the_seconds_and_the_rates_of_both_decoders_stand_in_their_own_rows(capsys: pytest.CaptureFixture[str]) -> None:
    slow_alone = lap(ours=[0.5] * 3, alone=[1.0] * 3)
    print_comparison(slow_alone)
    lines = capsys.readouterr().out.splitlines()
    alone, ours = (next(line for line in lines if name in line) for name in ("target alone", "speculative"))
    assert [float(cell) for cell in re.findall(r"\d[\d.]*", alone)[:2]] == [1.0, 5.0]
    assert [float(cell) for cell in re.findall(r"\d[\d.]*", ours)[:2]] == [0.5, 10.0]
    both = rows([slow_alone, slow_alone])[-1]
    assert (both["target alone, tokens/s"], both["speculative, tokens/s"]) == (5.0, 10.0)
    assert (both["target alone, s"], both["speculative, s"]) == ("2.20", "1.30"), "with the prompt"


def test_reading_the_prompt_is_both_models_work() -> None:
    trace = replace(fake_trace(), prefill_seconds=PrefillSeconds(0.25, 0.5))
    assert prefill_seconds(trace) == 0.75
    read, facts = story_trace("round").prefill_seconds, facts_of("round")
    assert float(facts["prefill_ms"]) == pytest.approx(1000 * known(read.target), abs=0.06)
    assert float(facts["draft_prefill_ms"]) == pytest.approx(1000 * known(read.draft), abs=0.06)


def test_of_sampled_pairs_the_one_with_the_median_ratio_is_shown() -> None:
    def timed(seconds: float, seed: int) -> Trace:
        trace = fake_trace(tokens=12)
        rounds = [
            replace(round, draft_seconds=0.0, verify_seconds=seconds, overhead_seconds=0.0) for round in trace.rounds
        ]
        return replace(trace, rounds=rounds, settings=replace(trace.settings, temperature=1.0, seed=seed))

    ours, alone = [timed(seconds, at) for at, seconds in enumerate((0.1, 0.3, 0.2))], fake_trace(tokens=12)
    pairs = [(each, replace(alone, settings=each.settings)) for each in ours]
    assert shown_pair(pairs)[0].settings.seed == 2


def test_a_comparison_is_warmed_up_before_its_first_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    real = comparing.SpeculativeRun

    def counted(*given: Any, **more: Any) -> Any:
        ran.append(given[3].max_new_tokens)
        return real(*given, **more)

    monkeypatch.setattr(comparing, "SpeculativeRun", counted)
    target, draft = tiny_model(seed=0, name="target"), tiny_model(seed=1, layers=1, name="draft")
    comparing.compare(
        target, ModelDrafter(draft), [1, 2, 3], DecodeSettings(max_new_tokens=24, draft_length=2), repeats=2
    )
    assert ran[:3] == [6, 24, 24], "a few rounds, and then the repeats"


@pytest.mark.parametrize(("seconds", "number"), [(30, "30"), (600, "10"), (7200, "2")])
def test_a_duration_has_the_number_of_its_unit(seconds: float, number: str) -> None:
    assert re.findall(r"\d+", show_duration(seconds))[0] == number


def test_a_plot_draws_the_figure_that_its_axis_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = frame_of([row_at("story", length, 1.5, number=at) for length in (2, 4) for at in range(3)])
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(plots, "_write", lambda _, name, __, figure: iter([drawn.setdefault(name, figure)]))
    assert len([*plots.write_plots(tmp_path, frame)]) == 3
    [study] = studies_of(frame)
    heights = {name: [y for part in figure["data"] for y in part.get("y") or ()] for name, figure in drawn.items()}
    for speed in study.points["speedup"]:
        assert speed in heights["speedup-by-draft-length"]
    assert min(study.points["speedup"]) > 1 > max(heights["acceptance-by-workload"])
    [share] = study.fair["acceptance_rate"]
    assert share in heights["acceptance-by-workload"]


def test_make_run_listens_where_it_is_asked_to() -> None:
    command = subprocess.run(
        ["make", "--dry-run", "run", "PORT=8765", "HOST=0.0.0.0"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "--server.port 8765" in command
    assert "--server.address 0.0.0.0" in command
