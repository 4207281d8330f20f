"""How a race is timed and what its files say, whole: the order of the runs, the pair that is shown, JSON and CSV."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.core.rounds import DraftedToken, EmittedToken, Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, DrafterInfo, Output, Prompt, Trace
from specviz.measure import compare as comparing
from specviz.measure.compare import PairedRuns, decode_seconds, median_index, shown_pair
from specviz.measure.paired import Comparison, GreedyQuality, SampledRepeat
from specviz.measure.race import (
    burst_clock,
    burst_texts,
    differing_kinds,
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
from tests.support.fake_traces import run_of

GREEDY = DecodeSettings(max_new_tokens=5, draft_length=3, temperature=0.0)
WARM = replace(GREEDY, temperature=0.7, seed=11)


def fast(seconds: float, settings: DecodeSettings = GREEDY) -> Trace:
    """5 tokens in two rounds that take these seconds together: 4 drafted, 3 accepted, 1 rejected."""
    drafted = [DraftedToken(at, f" d{at}", fate) for at, fate in enumerate(("accepted", "accepted", "rejected"))]  # type: ignore[arg-type]
    rounds = [
        Round(0, 0.1 * seconds, 0.4 * seconds, 0.1 * seconds, drafted, EmittedToken("correction", 9, " c")),
        Round(1, 0.05 * seconds, 0.3 * seconds, 0.05 * seconds, drafted[:1], EmittedToken("bonus", 8, " b")),
    ]
    return run_of(rounds, settings=settings, drafter=DrafterInfo("model", "D", 1, "bfloat16", "0"), prompt=PROMPT)


PROMPT = Prompt("one two =3", [1, 2, 3], ["one", " two", " =3"])
IDS = [0, 1, 9, 0, 8]


def alone(seconds: float, tokens: int = 5, settings: DecodeSettings = GREEDY) -> Trace:
    ids = IDS[:tokens]
    output = Output(ids, "text", "length" if tokens == 5 else "eos")
    steps = Autoregressive([seconds / tokens] * tokens, ids)
    return run_of([], steps, drafter=None, output=output, settings=settings, prompt=PROMPT)


def a_lap(
    name: str, ours: list[float], plain: list[float], settings: DecodeSettings = GREEDY, **changes: Any
) -> Comparison:
    made = Comparison(
        speculative=fast(ours[0], settings),
        plain=alone(plain[0], settings=settings),
        speculative_seconds=ours,
        plain_seconds=plain,
        name=name,
        speculative_prefill=[0.125 * (at + 1) for at in range(len(ours))],
        plain_prefill=[0.0625 * (at + 1) for at in range(len(ours))],
        plain_tokens=[f" p{at}" for at in range(5)],
        quality=GreedyQuality(None, None),
    )
    return replace(made, **changes)


DRAWS = [SampledRepeat(11 + at, Counts(2 + at, 4 + at, 3, 1, at, 5 + at), 4 + at) for at in range(3)]
STORY = a_lap("story-1", [0.5, 0.625, 0.75], [1.0, 1.5, 1.25])
OTHER = a_lap("code-1", [2.0, 2.25, 2.5], [1.0, 1.125, 1.0625])
SAMPLED = a_lap("=own", [0.5, 0.25, 0.75], [1.0, 1.5, 1.25], WARM, draws=DRAWS)
ONCE = a_lap("story-2", [0.5], [1.0])
RACES = {
    "one": [STORY],
    "two kinds": [STORY, OTHER],
    "once": [ONCE],
    "sampled": [SAMPLED],
    "two stories": [STORY, ONCE],
}


def four(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: four(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [four(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", RACES)
def test_the_file_of_a_race(name: str, snapshot: SnapshotAssertion) -> None:
    written = dump_race(RACES[name])
    assert [dump_race([each]) for each in parse_race(written)] == [dump_race([each]) for each in RACES[name]]
    content = json.loads(written)
    laps = [
        {key: value for key, value in each.items() if key not in ("figures", "speculative", "plain")}
        for each in content["laps"]
    ]
    assert four(content | {"laps": [json.dumps(four(each)) for each in laps]}) == snapshot


def test_the_figures_of_a_prompt_and_its_rows(snapshot: SnapshotAssertion) -> None:
    assert {name: four(lap_figures(each)) for name, each in {"greedy": STORY, "sampled": SAMPLED}.items()} == snapshot
    frame = race_frame([STORY, SAMPLED])
    own = [name for name in frame if name not in lap_figures(STORY)] + ["prompt", "seed"]
    assert [" ".join(own), *(" ".join(map(str, four([*row]))) for row in frame[own].to_numpy())] == snapshot
    assert race_csv([SAMPLED]).splitlines()[1].startswith("'=own,target,float32,D,bfloat16,")


def test_laps_are_pooled_and_kinds_differ_where_their_intervals_do() -> None:
    terms = pooled_terms([STORY, OTHER])
    assert terms
    assert (terms.alpha, terms.draft_length) == (0.75, 3)
    assert [kind.name for kind in kinds_of([STORY, OTHER, SAMPLED])] == ["story", "code", "own"]
    assert [kind.prompts for kind in differing_kinds([STORY, OTHER])] == [("story-1",), ("code-1",)]
    assert differing_kinds([STORY, ONCE]) == differing_kinds([STORY]) == []
    assert overall_verdict([STORY]) == STORY.verdict
    assert overall_verdict([STORY, OTHER]).speedup == pytest.approx((STORY.speedup * OTHER.speedup) ** 0.5)


def test_tokens_come_in_bursts_after_each_round() -> None:
    assert burst_texts(fast(1.0)) == [
        [(" d0", "accepted"), (" d1", "accepted"), (" c", "correction")],
        [(" d0", "accepted"), (" b", "bonus")],
    ]
    assert burst_clock(fast(1.0)) == pytest.approx([0.6, 1.0])


@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", "{}", '{"schema": 2, "laps": [1]}', '{"schema": 1, "laps": []}', '{"schema": 1, "laps": {}}'],
)
def test_what_is_no_race_is_refused(text: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(InputError) as refused:
        parse_race(text)
    assert str(refused.value) == snapshot(name="no race")


def test_a_lap_that_is_not_valid_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"The race is not valid at speculative: "):
        load_lap({})


# What is timed


def test_greedy_each_decoders_median_is_shown_and_sampled_the_median_pair() -> None:
    pairs = [(fast(3.0), alone(1.0)), (fast(1.0), alone(3.0)), (fast(2.0), alone(2.0))]
    assert shown_pair(pairs) == (pairs[2][0], pairs[2][1])
    assert shown_pair([(fast(3.0), alone(2.0)), (fast(1.0), alone(3.0)), (fast(2.0), alone(1.0))]) == (
        fast(2.0),
        alone(2.0),
    )
    ratios = [(1.0, 4.0, 5), (3.0, 4.0, 5), (1.0, 2.0, 2)]  # of seconds a token: 0.25, 0.75, 0.2
    sampled = [(fast(ours, WARM), alone(plain, tokens, WARM)) for ours, plain, tokens in ratios]
    assert shown_pair(sampled) == sampled[0]
    assert decode_seconds(fast(2.5)) == pytest.approx(2.5)
    assert decode_seconds(alone(1.5)) == pytest.approx(1.5)
    assert [median_index(each) for each in ([1.0], [2.0, 1.0], [3.0, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0])] == [0, 1, 2, 2]


class Ran(PairedRuns):
    """Both decoders as a list of what was run, with how many tokens and which seed."""

    def speculative_steps(self, settings: DecodeSettings) -> Iterator[None]:  # type: ignore[override]
        return self._run("speculative", settings, fast(0.5, settings))

    def plain_steps(self, settings: DecodeSettings) -> Iterator[None]:  # type: ignore[override]
        return self._run("plain", settings, alone(1.0, settings=settings))

    def _run(self, which: str, settings: DecodeSettings, run: Trace) -> Any:
        yield
        RAN.append((which, settings.max_new_tokens, settings.seed))
        return run


RAN: list[tuple[str, int, int]] = []


class AnyDrafter:
    loaded = None

    def set_up(self, target: object, prompt: object, settings: DecodeSettings) -> None:
        RAN.append(("set up", settings.max_new_tokens, settings.seed))


def test_a_comparison_warms_both_up_and_then_times_them_alternately(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: without its warm-up the first repeat was of another machine, and no test said so."""
    RAN.clear()
    said: list[str] = []
    costs: list[Any] = []
    monkeypatch.setattr(comparing, "PairedRuns", Ran)
    monkeypatch.setattr(comparing, "comparison_of", lambda measured, target, costs: (measured, target, costs))
    monkeypatch.setattr(comparing, "measure_costs", lambda *given: costs.append(given) or "costs")
    settings = replace(WARM, max_new_tokens=50)
    drafter: Any = AnyDrafter()
    made: Any = comparing.compare("target", drafter, "prompt", settings, 3, said.append)  # type: ignore[arg-type]
    assert RAN == [
        ("set up", 50, 11), ("speculative", 8, 11), ("plain", 8, 11),
        ("plain", 50, 11), ("speculative", 50, 11),
        ("speculative", 50, 12), ("plain", 50, 12),
        ("plain", 50, 13), ("speculative", 50, 13),
    ]  # fmt: skip
    assert said == ["warming up", "repeat 1 of 3", "repeat 2 of 3", "repeat 3 of 3", "calibrating"]
    assert [(ours.settings.seed, plain.settings.seed) for ours, plain in made[0]] == [(11, 11), (12, 12), (13, 13)]
    assert made[1:] == ("target", "costs")
    assert costs == [("target", drafter, settings, comparing.LENGTHS)]
    with pytest.raises(InputError, match="repeats must be at least 1, not 0"):
        comparing.compare("target", drafter, "prompt", settings, 0)  # type: ignore[arg-type]
