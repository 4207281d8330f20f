"""What the stage is given to draw: figures, sentences, times, other draft lengths, and later only what is new."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.metrics import Costs, count
from specviz.core.replay import DraftGuesses
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from specviz.player.data import SHOWN_PROMPT_TOKENS, replayable, stage_data
from specviz.player.payload import SentStage
from specviz.ui.shared.stage import news, sent_with, split
from tests.support.drawn import drawn_traces
from tests.support.fake_traces import HOSTILE, cut, draft_guesses_of, fake_trace, translated
from tests.support.known import known
from tests.support.plain_json import is_plain_json
from tests.support.records import tree_run

TRACE = fake_trace()


def data_of(trace: Trace, **more: Any) -> Any:
    data = stage_data(trace, **{"run_id": "a", "source": "live", "running": False, **more})
    assert is_plain_json(data)
    return data


def drawing_of(trace: Trace, **more: Any) -> dict[str, Any]:
    (data,) = drawn_traces(trace, **more)
    return data


def as_text(drawn: dict[str, Any]) -> str:
    """What is drawn, a line for each value and each chip; numbers to four digits."""
    lines = {name: value for name, value in drawn.items() if name != "rounds"}
    for number, shown in enumerate(drawn["rounds"], start=1):
        lines |= {f"{number}. {part}": value for part, value in shown.items() if part != "chips"}
        lines |= {f"{number}. chip {place}": chip for place, chip in enumerate(shown["chips"])}
    read = json.loads(json.dumps(lines), parse_float=lambda digits: round(float(digits), 4))
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in read.items())


DRAWN: dict[str, Callable[[], dict[str, Any]]] = {
    "chain": lambda: drawing_of(fake_trace(tokens=7, draft_length=3), link={"seed": "1"}, playhead=2, notice="busy"),
    "going on": lambda: drawing_of(cut(fake_trace(greedy=True), 1, alone=0), running=True, gamma=7),
    "lookup": lambda: drawing_of(cut(fake_trace(lookup=True), 2), source="recorded"),
    "own tokens": lambda: drawing_of(cut(translated(fake_trace(greedy=True)), 2), source="stored"),
    "tree": lambda: drawing_of(cut(tree_run(), 2)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_run_is_drawn_with_its_own_figures(name: str, snapshot: SnapshotAssertion) -> None:
    assert as_text(DRAWN[name]()) == snapshot
    going = drawing_of(cut(TRACE, 3), running=True)
    assert going["rounds"] == drawing_of(TRACE)["rounds"][:3], "what is shown of a round does not change later"


def test_long_runs_and_texts_stay_small_and_hostile_ones_stay_text() -> None:
    trace = fake_trace(tokens=256, draft_length=16)
    useless = next(round for round in trace.rounds if round.discarded == 15)
    worst = replace(trace, rounds=[replace(useless, index=i) for i in range(200)])
    assert len(json.dumps(data_of(worst))) < 400_000
    rounds = data_of(fake_trace(hostile=True))["run"]["trace"]["rounds"]
    texts = {token.get("text", "") for round in rounds for token in (*round["drafted"], round["emitted"])}
    assert max(map(len, texts)) == 80
    assert "<script>alert(1)</script>" in texts & set(HOSTILE)
    trace = translated(fake_trace(greedy=True))
    own = replace(trace, rounds=[replace(trace.rounds[0], draft_tokens=["a" * 500])])
    assert data_of(own)["run"]["trace"]["rounds"][0]["draft_tokens"] == ["a" * 79 + "…"]
    long = replace(trace, prompt=replace(trace.prompt, token_ids=[0] * 500, tokens=[*map(str, range(500))]))
    shown = [*map(str, range(500 - SHOWN_PROMPT_TOKENS, 500))]
    assert drawing_of(long)["prompt"] == {"hidden": 500 - SHOWN_PROMPT_TOKENS, "tokens": shown}


def payload(trace: Trace, running: bool = True, notice: str | None = None, run_id: str = "live-1") -> SentStage:
    made = stage_data(trace, run_id=run_id, source="live", running=running)
    made["stream"], made["version"], made["notice"] = "page", 7, notice
    return made


def test_what_is_sent_is_what_is_new() -> None:
    before, now = payload(cut(TRACE, 3), notice="waiting: place 2"), payload(cut(TRACE, 5), notice="waiting: place 1")
    found, nothing = news(now, sent_with(before)), known(news(now, sent_with(now))["growth"])
    assert (found["stream"], found["version"], found["whole"]) == ("page", 7, None)
    growth, rounds = known(found["growth"]), now["run"]["trace"]["rounds"]
    assert (growth["start"], growth["rounds"], growth["notice"]) == (3, rounds[3:], "waiting: place 1")
    steps = [each["run"]["trace"]["autoregressive"]["seconds_per_token"] for each in (before, now)]
    assert (growth["plain_start"], [*steps[0], *growth["plain"]]) == (len(steps[0]), steps[1])
    assert (nothing["start"], nothing["rounds"], nothing["plain"]) == (5, [], [])  # who has less has missed something
    now = payload(TRACE, running=False)
    for had in (None, payload(TRACE, running=False, run_id="first"), payload(TRACE)):
        found = news(now, had and sent_with(had))
        assert (found["whole"], found["growth"]) == (now, None)


def test_a_run_that_has_not_changed_is_the_same_bytes_and_one_that_has_grown_has_another_name() -> None:
    first, again = payload(TRACE), payload(TRACE, notice="waiting: place 1")
    again["version"], again["playhead"], again["gamma"] = 8, 5, 2
    (run, before), (same, after) = split(first), split(again)
    assert run == same
    assert len(json.dumps(after)) < 1_500  # a browser that has the run is sent this
    assert before["part"] == after["part"] == json.loads(run)["key"]
    whole = {**after, "run": json.loads(run)["run"]}
    assert {name: its for name, its in whole.items() if name != "part"} == json.loads(json.dumps(again))
    assert split(payload(cut(TRACE, 3)))[1]["part"] != split(payload(cut(TRACE, 4)))[1]["part"]


FIRST, GUESSES = first_trace(), first_draft_guesses()  # python -m scripts.record first makes them


def replay_of(trace: Trace, guesses: DraftGuesses | None, **more: Any) -> Any:
    return drawing_of(trace, guesses=guesses, **more)["replay"]


def test_replayed_speedups_begin_at_the_measured_one_and_without_a_trusted_one_only_the_costs_are_left() -> None:
    trace = FIRST
    measured, alone = known(metrics.speedup(trace)), replace(trace, autoregressive=None)
    in_turns = replace(known(trace.autoregressive), alternating=True)
    busy = replace(trace, rounds=[replace(trace.rounds[0], verify_seconds=1.0), *trace.rounds[1:]])
    busy = replace(busy, autoregressive=in_turns)
    step = known(metrics.costs(trace)).step_seconds
    bare = Costs(step, 0.0, {1: 1.0, 17: 1.0}, 0.0)  # a round is one step: a replay's speedup is its tokens a call
    free = Costs.from_blocks([bare] * 9)
    per_call = count(trace.rounds).tokens_per_target_call
    said = set[str]()
    for run, costs, at_4 in [
        *((trace, costs, measured) for costs in (None, free, bare)),
        *((busy, costs, per_call) for costs in (bare, free)),
        *((run, None, None) for run in (busy, alone)),
    ]:
        data = replay_of(run, GUESSES, costs=costs, known=costs)
        assert data["lengths"]["4"]["speedup"] == (at_4 and pytest.approx(at_4, abs=0.005))
        said.add(data["times"])
    assert len(said) == 7, "where the times are from is said of each"
    replayed = replay_of(busy, GUESSES, costs=None, known=free)["lengths"].values()
    assert all(one["speedup"] == one["per_call"] for one in replayed)
    assert all(one["interval"] == [one["per_call"]] * 2 for one in replayed), "the repeats of these costs agree"


def test_estimates_at_other_lengths_have_the_interval_of_their_costs_and_at_the_run_s_own_its_own() -> None:
    """Found: a calibration taken under load gave a curve that zigzagged, and its peak was the verdict."""
    trace = replace(FIRST, autoregressive=replace(known(FIRST.autoregressive), alternating=True))
    own, verdict = known(metrics.costs(trace)), known(verdict_of_run(trace))
    slope = (own.verification[5] - 1) / 4
    blocks = [
        Costs(own.step_seconds, own.cost_ratio, {k: 1 + (k - 1) * slope * part for k in range(1, 18)}, own.overhead)
        for part in (0.7, 0.8, 0.9, 0.9, 1.0, 1.1, 1.1, 1.2, 1.3)
    ]
    costs = Costs.from_blocks(blocks)
    lengths = replay_of(trace, GUESSES, costs=costs)["lengths"]
    assert lengths["4"]["interval"] == pytest.approx(known(verdict.interval), abs=0.005)
    widths = [high / low for low, high in (lengths[length]["interval"] for length in ("4", "8", "16"))]
    assert widths == sorted(widths)
    assert widths[2] > 1.02 * widths[0], "what the costs do not know adds to it"
    alone = replay_of(trace, GUESSES)["lengths"]
    assert {one["interval"] for one in alone.values()} == {None}, "a run alone does not know its costs' interval"


def test_guesses_are_sent_where_the_run_can_be_replayed_with_them() -> None:
    trace, guesses = FIRST, GUESSES
    assert (guesses.token_ids, guesses.drafter) == (trace.output.token_ids, trace.drafter), "both stored of one run"
    assert replayable(trace, guesses) is guesses
    assert [replay_of(trace, replace(guesses, exact=exact))["exact"] for exact in (True, False)] == [True, False]
    assert replayable(trace, None) is None
    for changed in ({"temperature": 1.0}, {"draft_schedule": "heuristic"}, {"tree": "dynamic:8"}):
        assert replayable(replace(trace, settings=replace(trace.settings, **changed)), guesses) is None
    greedy = fake_trace(greedy=True)
    assert replayable(translated(greedy), draft_guesses_of(greedy)) is None
    assert replayable(trace, replace(guesses, token_ids=guesses.token_ids[:-1])) is None
    assert replay_of(tree_run(), None)["why_not"].startswith("The tree 4,2,1 has a depth of 3")
