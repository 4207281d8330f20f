"""A race: figures by hand, lanes, files, links, and what is said while it is under way."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from specviz import DecodeSettings
from specviz.core.metrics import Costs, Counts, count
from specviz.core.trace import Autoregressive, DraftedToken, DrafterInfo, EmittedToken, ModelInfo, Output, Prompt, Round
from specviz.core.verdict import mark_disturbed
from specviz.measure.compare import median_index
from specviz.measure.paired import Comparison, GreedyQuality, LogProbability, SampledQuality, SampledRepeat
from specviz.measure.race import (
    burst_clock,
    burst_texts,
    differing_kinds,
    dump_lap,
    dump_race,
    kinds_of,
    lap_figures,
    load_lap,
    overall_verdict,
    parse_race,
    pooled_terms,
    race_csv,
    race_frame,
)
from specviz.service.job import JobView
from specviz.service.protocol import JobFailed, JobItem, JobProgress, JobStopped, Race
from specviz.ui.race.lanes import lanes_data, slow_motion
from specviz.ui.race.race_page import RaceEntry, RaceState, progress_line, race_left, race_step, recorded_race
from specviz.ui.race.results import quality_cell, quality_sentence, rows, show_verdict, speedups_figure
from specviz.ui.shared.job_slot import done_share
from tests.support.fake_service import FakeService
from tests.support.fake_traces import run_of
from tests.support.figures import layout_of, parts_of
from tests.support.known import known
from tests.support.plain_json import is_plain_json

SETTINGS = DecodeSettings(max_new_tokens=5, draft_length=3)


def drafted(*statuses: Any) -> list[DraftedToken]:
    return [DraftedToken(i, f" d{i}", status) for i, status in enumerate(statuses)]


# 5 tokens in two rounds: 2 accepted and a correction, then 1 accepted and a bonus; 0.3 + 0.2 seconds
ROUNDS = [
    Round(0, 0.06, 0.2, 0.04, drafted("accepted", "accepted", "rejected"), EmittedToken("correction", 9, " c")),
    Round(1, 0.02, 0.16, 0.02, drafted("accepted"), EmittedToken("bonus", 8, " b")),
]
IDS = [0, 1, 9, 0, 8]


def lap(
    settings: DecodeSettings = SETTINGS,
    plain_ids: list[int] = IDS,
    rounds: list[Round] = ROUNDS,
    ours: Sequence[float] = (0.4, 0.5, 0.8),
    alone: Sequence[float] = (1.2, 1.0, 0.8),
    **changes: Any,
) -> Comparison:
    """A prompt with these seconds of each repeat: the middle ones are 1.0 s alone and 0.5 s speculative."""
    common: Any = {"settings": settings, "prompt": Prompt("one two", [1, 2], ["one", " two"])}
    written = Output(plain_ids, "text", "length" if len(plain_ids) == settings.max_new_tokens else "eos")
    plain = Autoregressive([0.2] * len(plain_ids), plain_ids)
    made = Comparison(
        speculative=run_of(rounds, drafter=DrafterInfo("model", "D", 1, "float32", "0"), **common),
        plain=run_of([], plain, drafter=None, output=written, **common),
        speculative_seconds=list(ours),
        plain_seconds=list(alone),
        name="story-1",
        speculative_prefill=[0.15] * len(ours),
        plain_prefill=[0.1] * len(ours),
        plain_tokens=[f" p{i}" for i in plain_ids],
        quality=GreedyQuality(None, None),
    )
    return replace(made, **changes)


ONE = lap(ours=[0.4], alone=[1.2])  # one repeat
WARM = replace(SETTINGS, temperature=1.0)


def test_the_figures_of_a_prompt_by_hand() -> None:
    found = lap()
    assert found.ratios == pytest.approx([3.0, 2.0, 1.0])
    assert found.speedup == pytest.approx(6 ** (1 / 3)), "the geometric mean of the ratios"
    assert found.speedup == found.verdict.speedup == lap_figures(found)["speedup"]
    counts = found.counts
    assert (counts.accepted, counts.rejected, counts.discarded, counts.rounds) == (3, 1, 0, 2)
    assert found.speculative_latency == pytest.approx([0.55, 0.65, 0.95])
    assert found.plain_latency == pytest.approx([1.3, 1.1, 0.9])
    assert known(found.terms).alpha == 0.75
    row = rows([found])[0]
    assert row["target alone, s"] == "1.10 (0.90–1.30)"
    assert row["speculative, s"] == "0.65 (0.55–0.95)"
    assert (row["target alone, tokens/s"], row["speculative, tokens/s"]) == (5.0, 10.0)
    assert row["quality"] == "identical"
    found = lap(plain_ids=IDS[:4], settings=WARM)
    assert found.plain.output.stopped_by == "eos"
    assert found.ratios == pytest.approx([3.0 * 5 / 4, 2.0 * 5 / 4, 5 / 4])
    assert found.identical is None


def test_a_prompt_without_drafts_or_with_one_repeat_says_less() -> None:
    rounds = [Round(i, 0.0, 0.1, 0.0, [], EmittedToken("bonus", i, f" {i}")) for i in range(5)]
    found = lap(rounds=rounds)
    assert found.counts.acceptance_rate is None
    assert found.terms is None
    assert "Nothing was drafted" in found.verdict.reason
    assert pooled_terms([found]) is None
    verdict = overall_verdict([found, found])
    assert verdict.binding is None
    assert rows([found, found])[-1]["accepted"] == 0
    assert not ONE.verdict.certain
    assert ONE.verdict.interval is None
    assert rows([ONE])[0]["speedup"] == "3.00×"
    assert lanes(ONE)["laps"][0]["result"] == "Looks like it helps, 3.00×"
    assert lanes(ONE)["pair"] == "D → target, γ = 3, temperature 0"


def lanes(found: Comparison) -> Any:
    return lanes_data([found], run_id="r", badge="b", place=None)


def test_overall_verdicts_and_terms_are_pooled_over_prompts() -> None:
    laps = [timed("story-1", 2.0, 2.0), timed("story-2", 0.5, 0.5)]
    verdict = overall_verdict(laps)
    assert verdict.speedup == pytest.approx(1.0), "2× and ½× cancel"
    assert verdict.label == "neutral"
    assert verdict.interval is not None
    logs = [math.log(2), -math.log(2)]
    half = 12.7062 * math.sqrt(sum(log**2 for log in logs)) / math.sqrt(2)
    assert verdict.interval == pytest.approx((math.exp(-half), math.exp(half)), rel=1e-4)
    assert overall_verdict(laps[:1]) == laps[0].verdict
    terms = known(pooled_terms([lap(), lap(rounds=[*ROUNDS, replace(ROUNDS[0], index=2)])]))
    assert terms.alpha == pytest.approx((3 + 5) / (3 + 5 + 1 + 2))


COUNTS = Counts(rounds=2, drafted=4, accepted=3, rejected=1, discarded=0, emitted=5)
SAMPLED = lap(
    settings=WARM,
    draws=[
        SampledRepeat(7, COUNTS, 5),
        SampledRepeat(8, replace(COUNTS, rounds=4, accepted=1, rejected=3), 5),
        SampledRepeat(9, COUNTS, 10),
    ],
)


def test_above_temperature_0_counts_are_the_sum_over_the_seeds() -> None:
    assert SAMPLED.seeds == [7, 8, 9]
    assert (SAMPLED.counts.rounds, SAMPLED.counts.drafted, SAMPLED.counts.emitted) == (8, 12, 15)
    assert known(SAMPLED.terms).alpha == pytest.approx(7 / 12)
    assert SAMPLED.ratios == pytest.approx([3.0, 2.0, 0.5]), "the last plain run wrote twice as many tokens"
    figures = lap_figures(SAMPLED)
    assert (figures["seed"], figures["speculative_tokens"], figures["plain_tokens"]) == (7, 15, 20)
    assert figures["target_calls"] == 8
    assert figures["speculative_tokens"] / figures["target_calls"] == SAMPLED.counts.tokens_per_target_call
    table = race_frame([SAMPLED])
    assert table["seed"].to_list() == [7, 8, 9]
    assert table["repeat_target_calls"].to_list() == [2, 4, 2]
    assert table["repeat_plain_tokens"].to_list() == [5, 5, 10]


def test_a_race_survives_its_file() -> None:
    assert parse_race(dump_race([SAMPLED])) == [SAMPLED]
    assert json.loads(dump_race([SAMPLED]))["laps"][0]["seeds"] == [7, 8, 9]
    sampled = lap(quality=SampledQuality(LogProbability(-1.0, None, None), LogProbability(-1.0, None, None)))
    assert parse_race(dump_race([lap(), sampled])) == [lap(), sampled]
    content = json.loads(dump_race([lap()]))
    with_costs = json.loads(dump_race([replace(lap(), costs=Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.1))]))
    assert with_costs["laps"][0].keys() == content["laps"][0].keys(), "costs are of `specviz compare` alone"
    assert content["overall"]["speedup"] == content["laps"][0]["figures"]["speedup"]


def timed(name: str, *speedups: float) -> Comparison:
    return lap(name=name, alone=speedups, ours=[1.0] * len(speedups))


def test_kinds_have_a_verdict_each_where_they_clearly_differ() -> None:
    laps = [timed("story-1", 1.6, 1.61), timed("random-1", 0.6, 0.61), timed("story-2", 1.5, 1.51), timed("own-1", 1.0)]
    kinds = kinds_of(laps)
    assert [(kind.name, kind.prompts) for kind in kinds] == [
        ("story", ("story-1", "story-2")), ("random", ("random-1",)), ("own", ("own-1",)),
    ]  # fmt: skip
    assert differing_kinds(laps) == kinds
    story, random, own = kinds
    assert story.verdict.speedup == pytest.approx((1.605 * 1.505) ** 0.5, rel=1e-4)
    assert story.verdict.interval == pytest.approx((1.0327, 2.3390), abs=0.001), "over two prompts, not repeats"
    assert (random.verdict.label, random.verdict.certain, own.verdict.interval) == ("hurts", True, None)
    assert json.loads(dump_race(laps))["kinds"][1]["verdict"] == "hurts"
    assert not differing_kinds([timed("story-1", 1.6, 1.2), timed("code-1", 1.3, 1.5)])
    assert not differing_kinds([timed("story-1", 1.6), timed("random-1", 0.5)]), "one repeat has no interval"
    assert not differing_kinds([timed("story-1", 1.6, 1.61), timed("story-2", 0.6, 0.61)]), "of one kind"


def test_the_plot_has_a_row_for_each_prompt_of_each_race() -> None:
    own, first = [timed("story-1", 1.6, 1.61, 1.62)], [timed("story-1", 1.2, 1.21), timed("own-<b>", 0.5)]
    figure = speedups_figure({"yours": own, "recorded": first})
    parts, layout = parts_of(figure), layout_of(figure)
    assert layout["yaxis"]["categoryarray"][::-1] == [
        "story-1, yours<br>1.61× helps", "story-1, recorded<br>1.20× helps",
        "own-&lt;b&gt;, recorded<br>0.50× looks like it hurts", "all prompts, recorded<br>0.78× too close to call",
    ]  # fmt: skip
    helps, untold, hurts = parts
    assert [len(part["y"]) for part in parts] == [2, 1, 1]
    low, high = known(own[0].verdict.interval)
    x, ends = helps["x"][0], helps["error_x"]
    assert (x - ends["arrayminus"][0], x + ends["array"][0]) == pytest.approx((low, high))
    assert hurts["error_x"]["array"] == [0], "one repeat has no interval"
    assert hurts["marker"]["pattern"]["shape"], "told apart by more than colour"
    assert untold["error_x"]["array"][0] > 10
    assert layout["xaxis"]["range"][1] < 4, "not as far as an interval of hundreds goes"
    differ = [timed("story-1", 1.6, 1.61), timed("random-1", 0.6, 0.61)]
    assert len(layout_of(speedups_figure({"recorded": differ}))["yaxis"]["categoryarray"]) == 2, "no mean of kinds"


def test_the_median_repeat() -> None:
    assert [median_index(each) for each in ([3.0, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0], [5.0], [1.0, 1.0])] == [2, 3, 0, 0]


def test_bursts_come_at_the_end_of_their_round_and_end_with_the_text() -> None:
    found = lap()
    assert burst_clock(found.speculative) == pytest.approx([0.3, 0.5])
    assert burst_texts(found.speculative) == [
        [(" d0", "accepted"), (" d1", "accepted"), (" c", "correction")],
        [(" d0", "accepted"), (" b", "bonus")],
    ]
    data = lanes(found)
    plain, speculative = data["laps"][0]["lanes"]
    assert [at for at, _ in plain["steps"]] == pytest.approx([200, 400, 600, 800, 1000])
    assert [(at, len(burst)) for at, burst in speculative["steps"]] == [(300, 3), (500, 2)]
    assert (plain["end"], speculative["end"], data["end"]) == (1000, 500, 1000)
    assert is_plain_json(data)
    assert sum(map(len, burst_texts(found.speculative))) == 5
    rounds = [replace(ROUNDS[0], drafted=drafted("accepted", "discarded"), emitted=EmittedToken("none"))]
    assert burst_texts(lap(rounds=rounds).speculative) == [[(" d0", "accepted")]]
    shown = lanes(lap(ours=[2.0] * 3, alone=[1.0] * 3))["laps"][0]
    assert shown["wins"] == "plain"
    assert [lane["flag"] for lane in shown["lanes"]] == ["Hurts, 0.50×", ""]


def test_slow_motion_makes_a_race_last_about_eight_seconds() -> None:
    assert [slow_motion(each) for each in (0.01, 0.5, 0.9, 2.5, 4.0, 9.0, 99)] == [20, 20, 10, 4, 2, 1, 1]


def test_a_greedy_difference_is_explained_and_sampled_texts_are_judged_by_likelihood() -> None:
    parted = lap(plain_ids=[0, 1, 7, 0, 8], quality=GreedyQuality(2, 0.0003))
    parted = replace(parted, plain=replace(parted.plain, target=ModelInfo("wren-base", 1, "bfloat16", "0")))
    assert quality_cell(parted) == "differs from token 3, gap 0.0003"
    sentence = quality_sentence(parted)
    assert "differ from token 3 on: " in sentence
    assert "speculative decoding wrote “ c”, the target alone “ p7”" in sentence
    assert "near-tie" in sentence
    far = replace(parted, quality=GreedyQuality(2, 0.0003, lead=3.0, explained="fails"))
    assert quality_cell(far) == "FAILS: differs from token 3, gap 0.0003"
    assert "FAILS: this difference is larger than rounding explains: 3 logits" in quality_sentence(far)
    draws = SampledQuality(LogProbability(-1.2, -1.5, -0.9), LogProbability(-1.3, None, None))
    sampled = lap(settings=WARM, quality=draws)
    sentence = quality_sentence(sampled)
    assert "-1.20 (95 % interval -1.50 to -0.90) for the speculative text, -1.30 for its own" in sentence
    assert "dentical" not in sentence


def test_the_csv_has_the_values_as_python_writes_them() -> None:
    single = replace(ONE, plain_prefill=[1e-05])  # it has no interval
    laps = [lap(), single, lap(settings=WARM)]  # the last has no `identical`
    header, *written = csv.reader(io.StringIO(race_csv(laps)))
    for place, figures in ((0, lap_figures(laps[0])), (3, lap_figures(single)), (4, lap_figures(laps[2]))):
        row = dict(zip(header, written[place], strict=True))
        values = ["" if value is None else str(value) for value in figures.values()]
        assert [row[name] for name in figures] == values
    assert race_frame(laps)["repeat"].to_list() == [1, 2, 3, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("presets", "own", "sentence"),
    [
        ((), " \n ", "Choose at least one prompt"),
        ((), "a" * 1_000_000, "too long"),
        ((), "\n".join("abcdefghi"), "at most 8 prompts, not 9"),
        (("story-1",), "fine\n\u200b", "own-2: The prompt is empty, or has control characters only"),
    ],
)
def test_prompts_that_cannot_be_raced_get_one_sentence(presets: tuple[str, ...], own: str, sentence: str) -> None:
    problem = known(RaceEntry(presets=presets, own=own).problem)
    assert sentence in problem


def test_blank_lines_are_not_prompts() -> None:
    entry = RaceEntry(presets=("story-1",), own="\n first \n\nsecond\n")
    assert [prompt.name for prompt in entry.prompts] == ["story-1", "own-1", "own-2"]
    assert entry.problem is None


WARMING = JobProgress(1, "warming up", 4, prompt="story-1", repeats=5)
TIMING = replace(WARMING, phase="timing", repeat=3)


def racing() -> RaceState:
    found = RaceState(started=RaceEntry())
    found.slot.start(lambda job: Race(job, RaceEntry().request(), RaceEntry().prompts))
    return found


def test_the_bar_and_the_time_left_go_by_what_is_finished_and_it_says_what_it_measures_and_waits_for() -> None:
    """From the parts of the progress, whatever the sentence for the visitor is."""
    first, last = replace(WARMING, phase="timing", repeat=1), replace(WARMING, phase="timing", repeat=5)
    assert [done_share(WARMING), done_share(first), done_share(None)] == [0.0, 0.0, 0.0]
    assert done_share(last) == pytest.approx(0.8 / 4)
    assert done_share(JobProgress(1, "timing", 4, done=2, repeat=3, repeats=4)) == pytest.approx(0.625)
    assert race_left(TIMING, ()) is None
    one = lap(alone=[4.4, 5.4], ours=[1.85, 7.85])
    halfway = replace(TIMING, total=2, done=1, repeat=1, repeats=2)  # one prompt of two repeats is to come
    assert race_left(halfway, [one]) == pytest.approx(2 * 10.0)
    assert "About 20 s of measuring left." in progress_line(JobView(1, "running", progress=halfway), [one])
    assert race_step(WARMING) == "Measuring prompt 1 of 4, story-1: warming up, not timed"
    assert race_step(TIMING) == "Measuring prompt 1 of 4, story-1: repeat 3 of 5"
    assert progress_line(JobView(1, place=2), ()) == "Waiting: place 2 in the queue; nothing is measured yet."
    paused = progress_line(JobView(1, place=1, progress=TIMING), recorded_race()[:2])
    assert paused == "Waiting: place 1 in the queue; 2 prompts are measured so far."
    assert progress_line(JobView(1, state="running"), ()) == "Starting: nothing is measured yet."


def test_a_look_finds_more_only_when_another_prompt_is_finished(service: FakeService) -> None:
    """Then alone is the table drawn again; any other look draws one line."""
    page = racing()
    service.tell(WARMING)
    assert not page.look()
    service.tell(replace(TIMING, job=1))
    assert not page.look()
    service.tell(JobItem(1, "race", recorded_race()[0]))
    assert page.look()
    assert not page.look()


@pytest.mark.parametrize(
    ("end", "message", "finished"),
    [
        (JobStopped(1), "", "Cancelled. The 1 of 4 finished prompts are shown."),
        (JobFailed(1, "The engine ended."), "The engine ended.", "The 1 of 4 finished prompts are shown."),
    ],
    ids=["cancelled", "failed"],
)
def test_a_race_that_ended_early_shows_what_was_finished(
    service: FakeService, end: JobStopped | JobFailed, message: str, finished: str
) -> None:
    page = racing()
    service.tell(WARMING, JobItem(1, "race", recorded_race()[0]), end)
    page.look()
    assert (page.message, page.finished, page.laps) == (message, finished, recorded_race()[:1])


STEADY = [0.2] * 5  # seconds of each repeat
QUIET = Costs(0.2, 0.1, {1: 1.0, 4: 1.0}, 0.1)  # what the pair of `lap` takes: 1.67 times as fast by its rounds


@pytest.mark.parametrize(
    ("ours", "costs", "trusted"),
    [
        (STEADY, QUIET, True),
        (STEADY, None, False),
        (STEADY, replace(QUIET, step_seconds=0.01), False),
        ((0.2, 0.6, 0.2, 0.1, 0.2), QUIET, False),
        ((0.2, 0.25), QUIET, True),
        ((2.0,) * 5, QUIET, False),
    ],
    ids=["quiet", "costs disturbed", "steps far slower", "repeats differ", "only two repeats", "contradiction"],
)
def test_a_race_has_the_same_judge_of_trust_as_a_run(ours: Sequence[float], costs: Costs | None, trusted: bool) -> None:
    """Found at a load of 35: steps of 71 ms in the place of 3.3, and a green "Helps, 2.01×"."""
    alone = [0.2 * 5 / 3] * len(ours)
    found = lap(ours=ours, alone=alone, costs=costs).judge_times()
    assert found.trusted == found.verdict.trusted == trusted
    assert load_lap(dump_lap(found)).verdict.trusted == trusted
    if not trusted:
        assert found.verdict.headline == f"Not trusted, {found.speedup:.2f}×"
        assert found.verdict.reason == "This machine is busy: the measured speed cannot be trusted."
        assert not lanes_data([found], run_id="1", badge="", place=None)["laps"][0]["wins"]


def test_sampled_repeats_may_differ_on_a_quiet_machine() -> None:
    draws = [SampledRepeat(seed, count(ROUNDS), 5) for seed in range(5)]
    found = lap(WARM, ours=(0.2, 0.6, 0.2, 0.1, 0.2), alone=[0.33] * 5, draws=draws, costs=QUIET)
    assert found.judge_times().trusted


def test_a_race_on_a_busy_machine_says_so_and_has_no_green_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = recorded_race()
    laps = [replace(quiet[0], plain=mark_disturbed(quiet[0].plain)), *quiet[1:]]
    assert not overall_verdict(laps).trusted
    said: list[str] = []
    monkeypatch.setattr("specviz.ui.race.results.st.markdown", said.append)
    monkeypatch.setattr("specviz.ui.race.results.st.caption", said.append)
    show_verdict(laps[:1], "Your race", "measured here")
    assert said[0].startswith("Your race: :material/error: :gray[**Not trusted, 1.")
    show_verdict(laps, "Your race", "measured here")
    assert ":gray[**Not trusted**] on story (1." in said[2]
    assert said[3].startswith("Other programs used this machine: the times of 1 of 4 prompts cannot be trusted.")
    assert "?" in rows(laps)[0]["speedup"]
    assert [kind["trusted"] for kind in json.loads(dump_race(laps))["kinds"]] == [False, True, True, True]
