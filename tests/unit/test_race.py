"""A race: what is said, drawn and saved of it, lanes, files, links, and what is said while it is under way."""

import json
from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz import DecodeSettings
from specviz.core.metrics import Costs, Counts, count, per_place_rate
from specviz.core.rounds import DraftedToken, EmittedToken, Round
from specviz.core.trace import Autoregressive, DrafterInfo, ModelInfo, Output, PrefillSeconds, Prompt
from specviz.core.verdict import mark_disturbed
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.recorded_runs import story_trace
from specviz.measure import paired, race
from specviz.measure.paired import Comparison, GreedyQuality, LogProbability, SampledQuality, SampledRepeat
from specviz.service.job import JobView
from specviz.service.protocol import JobFailed, JobItem, JobProgress, Race
from specviz.ui.race.lanes import lanes_data, slow_motion
from specviz.ui.race.race_page import RaceEntry, RaceState, progress_line
from specviz.ui.race.results import quality_sentence, rows, show_verdict, speedups_figure
from specviz.ui.shared.job_slot import done_share
from tests.support.both import round_from
from tests.support.fake_service import FakeService
from tests.support.fake_traces import run_of
from tests.support.figures import lines_of, rounded
from tests.support.known import known
from tests.support.plain_json import is_plain_json

SETTINGS = DecodeSettings(max_new_tokens=5, draft_length=3)
WARM = replace(SETTINGS, temperature=1.0)


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
        speculative=run_of(rounds, drafter=DrafterInfo("model", "D", 1, "bfloat16", "0"), **common),
        plain=run_of([], plain, drafter=None, output=written, **common),
        speculative_seconds=list(ours),
        plain_seconds=list(alone),
        name="story-1",
        speculative_prefill=[0.15 + place / 100 for place in range(len(ours))],
        plain_prefill=[0.1 + place / 100 for place in range(len(ours))],
        plain_tokens=[f" p{i}" for i in plain_ids],
        quality=GreedyQuality(None, None),
    )
    return replace(made, **changes)


def timed(name: str, *speedups: float) -> Comparison:
    return lap(name=name, alone=speedups, ours=[1.0] * len(speedups))


COUNTS = Counts(rounds=2, drafted=4, accepted=3, rejected=1, discarded=0, emitted=5)
SAMPLED = lap(
    settings=WARM,
    draws=[
        SampledRepeat(7, COUNTS, 5),
        SampledRepeat(8, Counts(rounds=4, drafted=7, accepted=1, rejected=3, discarded=3, emitted=5), 5),
        SampledRepeat(9, COUNTS, 10),
    ],
    quality=SampledQuality(LogProbability(-1.2, -1.5, -0.9), LogProbability(-1.3, None, None)),
)
PARTED = lap(plain_ids=[0, 1, 7, 0, 8], quality=GreedyQuality(2, 0.0003))
PARTED = replace(PARTED, plain=replace(PARTED.plain, target=ModelInfo("wren-base", 1, "bfloat16", "0")))
STEADY = lap(ours=[0.4, 0.5, 0.55], alone=[0.9, 1.1, 1.2], name="own-<b>")
FAR = replace(PARTED, quality=GreedyQuality(2, 0.0003, lead=3.0, explained="fails"))
NO_DRAFT = lap(rounds=[Round(i, 0.0, 0.1, 0.0, [], EmittedToken("bonus", i, f" {i}")) for i in range(5)])
KINDS = [timed("story-1", 1.6, 1.61), timed("random-1", 0.6, 0.61), timed("story-2", 1.5, 1.51), timed("own-1", 1.0)]
RACES: dict[str, list[Comparison]] = {
    "helps": [STEADY],
    "hurts": [timed("code-1", 0.5, 0.51, 0.52)],
    "too close, and texts that differ": [PARTED, lap(plain_ids=IDS[:4], quality=GreedyQuality(4, None))],
    "one repeat, no draft, and a failure": [lap(ours=[0.4], alone=[1.2]), NO_DRAFT, FAR],
    "two draws": [SAMPLED],
    "kinds that differ": KINDS,
    "a busy machine": [replace(each, plain=mark_disturbed(each.plain)) for each in KINDS[:1]] + KINDS[1:],
}


QUIET = Costs(0.2, 0.1, {1: 1.0, 4: 1.0}, 0.1)  # what the pair of `lap` takes: 1.67 times as fast by its rounds


@pytest.mark.parametrize("name", RACES)
def test_what_a_race_says_draws_and_saves(
    name: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same figures everywhere; what `specviz compare` prints of one prompt: `test_cli.py`."""
    laps, said = RACES[name], list[str]()
    with monkeypatch.context() as patched:
        for element in ("markdown", "caption"):
            patched.setattr(f"specviz.ui.race.results.st.{element}", said.append)
        show_verdict(laps, "Your race", "on a <machine>")
    saved, table = json.loads(race.dump_race(laps)), rows(laps)
    lanes = lanes_data(laps, run_id="r", badge="b", place=3.5)
    assert is_plain_json(lanes)
    parts = {
        "said": [*said, *dict.fromkeys(map(quality_sentence, laps))],
        "columns": [" | ".join(table[0])],
        "table": [" | ".join(map(str, row.values())) for row in table],
        "saved": [saved["overall"], *saved["kinds"], [each["seeds"] for each in saved["laps"]]],
        "lanes": [{**lanes, "laps": []}],
        "lane": [(lap["name"], lap["prompt"], lap["result"], lane) for lap in lanes["laps"] for lane in lap["lanes"]],
        "plot": lines_of(speedups_figure({"recorded": laps, "yours": laps[:1]})).splitlines(),
        "csv": race.race_csv(laps).splitlines(),
    }
    assert rounded("\n".join(f"{part}: {line}" for part, lines in parts.items() for line in lines)) == snapshot
    for each in (laps, [replace(lap, costs=QUIET) for lap in laps]):  # costs are of `specviz compare` alone
        assert race.parse_race(race.dump_race(each)) == laps


SAME = ("alpha", "draft_length", "tokens", "steps", "speedup", "read")


def test_speedups_counts_and_terms_are_pooled_over_repeats_and_prompts() -> None:
    assert lap().ratios == pytest.approx([3.0, 2.0, 1.0])
    assert lap().speedup == pytest.approx(6 ** (1 / 3)), "the geometric mean of the ratios"
    assert SAMPLED.ratios == pytest.approx([3.0, 2.0, 0.5]), "the last plain run wrote twice as many tokens"
    assert SAMPLED.counts == Counts(rounds=8, drafted=15, accepted=7, rejected=5, discarded=3, emitted=15)
    assert known(SAMPLED.terms).alpha == pytest.approx(7 / 12)
    assert race.overall_verdict([lap()]) == lap().verdict
    assert race.overall_verdict([timed("story-1", 2.0, 2.0), timed("story-2", 0.5, 0.5)]).speedup == pytest.approx(1.0)
    terms = known(race.pooled_terms([lap(), lap(rounds=[*ROUNDS, replace(ROUNDS[0], index=2)])]))
    assert terms.alpha == pytest.approx((3 + 5) / (3 + 5 + 1 + 2))
    assert known(race.pooled_terms([lap(), lap()])).of_rounds == pytest.approx(known(lap().terms).at_costs)
    assert race.pooled_terms([NO_DRAFT]) is None
    for name in ("method-tree", "method-prompt-lookup", "method-small-model"):
        run = story_trace(name)  # found: of trees and drafts that are not filled, other terms than its own
        one = replace(lap(), speculative=run, plain=run)
        twice, terms = known(race.pooled_terms([one, one])), known(one.terms)
        assert [getattr(twice, each) for each in SAME] == pytest.approx([getattr(terms, each) for each in SAME])
    tree, missed = story_trace("method-tree"), round_from(0, "r-1 r-1", "correction", [0.06, 0.2, 0.04])
    laps = [replace(lap(), speculative=its, plain=tree) for its in (tree, replace(tree, rounds=[missed]))]
    assert known(race.pooled_terms(laps)).alpha == per_place_rate([*tree.rounds, missed]), "siblings share a place"
    assert [paired.median_index(each) for each in ([3.0, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0], [5.0], [1.0, 1.0])] == [
        2,
        3,
        0,
        0,
    ]
    assert paired.prefill_seconds(replace(lap().speculative, prefill_seconds=PrefillSeconds(0.25, 0.5))) == 0.75


def test_kinds_have_a_verdict_each_only_where_they_clearly_differ() -> None:
    overlap = [timed("story-1", 1.6, 1.2), timed("code-1", 1.3, 1.5)]
    without_intervals = [timed("story-1", 1.6), timed("random-1", 0.5)]  # of one repeat each
    of_one_kind = [timed("story-1", 1.6, 1.61), timed("story-2", 0.6, 0.61)]
    found = [race.differing_kinds(laps) for laps in (KINDS, overlap, without_intervals, of_one_kind)]
    assert [bool(kinds) for kinds in found] == [True, False, False, False]


def test_a_text_that_ended_within_a_round_has_no_token_after_it() -> None:
    rounds = [replace(ROUNDS[0], drafted=drafted("accepted", "discarded"), emitted=EmittedToken("none"))]
    assert race.burst_texts(lap(rounds=rounds).speculative) == [[(" d0", "accepted")]]


def test_slow_motion_makes_a_race_last_about_eight_seconds() -> None:
    assert [slow_motion(each) for each in (0.01, 0.5, 0.9, 2.5, 4.0, 9.0, 99)] == [20, 20, 10, 4, 2, 1, 1]


def test_the_facts_of_a_lesson_have_its_runs_prefill() -> None:
    read, facts = story_trace("round").prefill_seconds, facts_of("round")
    found = [float(facts[name]) for name in ("prefill_ms", "draft_prefill_ms")]
    assert found == pytest.approx([1000 * known(read.target), 1000 * known(read.draft)], abs=0.06)


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        (" \n ", "Choose at least one prompt"),
        ("a" * 1_000_000, "too long"),
        ("\n".join("abcdefghi"), "at most 8 prompts, not 9"),
        ("fine\n\u200b", "own-2: The prompt is empty, or has control characters only"),
        ("\n first \n\nsecond\n", "None"),
    ],
)
def test_prompts_that_cannot_be_raced_get_one_sentence(own: str, sentence: str) -> None:
    assert sentence in str(RaceEntry(presets=(), own=own).problem)
    both = RaceEntry(presets=("story-1",), own="\n first \n\nsecond\n")
    assert [(prompt.name, prompt.text) for prompt in both.prompts[1:]] == [("own-1", " first "), ("own-2", "second")]


WARMING = JobProgress(1, "warming up", 4, prompt="story-1", repeats=5)
TIMING = replace(WARMING, phase="timing", repeat=3)
HALFWAY = replace(TIMING, total=2, done=1, repeat=1, repeats=2)  # one prompt of two repeats is to come


def racing() -> RaceState:
    found = RaceState(started=RaceEntry())
    found.slot.start(lambda job: Race(job, RaceEntry().request(), RaceEntry().prompts))
    return found


def test_what_is_said_while_a_race_is_measured_and_the_bar_goes_by_what_is_finished(
    snapshot: SnapshotAssertion,
) -> None:
    half_of_the_third = JobProgress(1, "timing", 4, done=2, repeat=3, repeats=4)
    shares = [done_share(each) for each in (None, WARMING, replace(TIMING, repeat=5), half_of_the_third)]
    assert shares == pytest.approx([0, 0, 0.8 / 4, 0.625])
    one = lap(alone=[4.4, 5.4], ours=[1.85, 7.85], plain_prefill=[0.1] * 2, speculative_prefill=[0.15] * 2)
    lines = [
        progress_line(JobView(1, "running", progress=HALFWAY), [one]),
        progress_line(JobView(1, place=2), ()),
        progress_line(JobView(1, place=1, progress=TIMING), [one] * 2),
        progress_line(JobView(1, state="running"), ()),
        progress_line(JobView(1, "running", progress=WARMING), ()),
        progress_line(JobView(1, "running", progress=replace(TIMING, done=1)), ()),
    ]
    assert "\n".join(lines) == snapshot


def test_a_look_finds_more_when_another_prompt_is_finished_and_an_early_end_shows_what_was(
    service: FakeService,
) -> None:
    """Only then is the table drawn again; any other look draws one line."""
    page = racing()
    for event, more in ((WARMING, False), (replace(TIMING, job=1), False), (JobItem(1, "race", lap()), True)):
        service.tell(event)
        assert page.refresh() == more
    assert not page.refresh()
    service.tell(JobFailed(1, "The engine ended."))
    page.refresh()
    shown = "The 1 of 4 finished prompts are shown."
    assert (page.ended, page.laps) == (f"The engine ended. {shown}", [lap()])
    page = racing()
    service.tell(replace(WARMING, job=2), JobItem(2, "race", lap()))
    page.slot.cancel()
    page.refresh()
    assert (page.ended, page.laps) == (f"Cancelled. {shown}", [lap()])


UNEVEN = (0.2, 0.6, 0.2, 0.1, 0.2)
DRAWS: dict[str, Any] = {"settings": WARM, "draws": [SampledRepeat(i, count(ROUNDS), 5) for i in range(5)]}


@pytest.mark.parametrize(
    ("ours", "changes", "trusted"),
    [
        ([0.2] * 5, {}, True),
        ([0.2] * 5, {"costs": None}, False),  # they were disturbed
        ([0.2] * 5, {"costs": replace(QUIET, step_seconds=0.01)}, False),  # steps are far slower
        (UNEVEN, {}, False),  # repeats differ
        ((0.2, 0.25), {}, True),
        ([2.0] * 5, {}, False),  # a contradiction
        (UNEVEN, DRAWS, True),
    ],
)
def test_a_race_has_the_same_judge_of_trust_as_a_run(ours: list[float], changes: Any, trusted: bool) -> None:
    """Found at a load of 35: steps of 71 ms in the place of 3.3, and a green "Helps, 2.01×"."""
    judged = lap(**{"ours": ours, "alone": [0.2 * 5 / 3] * len(ours), "costs": QUIET, **changes}).judge_times()
    assert judged.trusted == judged.verdict.trusted == race.parse_race(race.dump_race([judged]))[0].trusted == trusted
    assert judged.speedup == pytest.approx(geometric_mean(judged.ratios))
