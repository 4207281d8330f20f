"""The tour of a first visit: what its beats say is what the recorded first run shows."""

import re
from dataclasses import replace

import pytest

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.data.lessons.tour import DRAG_TO, LAST_ROUNDS, NEXT, Beat, Tour, tour_of
from specviz.player.data import PHASES, stage_data
from specviz.player.replay import replay_data
from specviz.ui.shared.pages import PAGES
from specviz.ui.watch.state import TourPlace

SHORT = 330  # characters: a card that a phone shows above the tokens


@pytest.fixture
def trace() -> Trace:
    found = first_trace()
    assert found
    return found


@pytest.fixture
def tour(trace: Trace) -> Tour:
    found = tour_of(trace)
    assert found
    return found


def beat(tour: Tour, until: str) -> Beat:
    (found,) = [one for one in tour.beats if one.until == until]
    return found


def test_the_six_beats_wait_for_six_different_things(tour: Tour) -> None:
    asked = [one.until for one in tour.beats]
    assert asked == ["checked", "guessed", "opened", "full", "length", "ended"]
    for one in tour.beats:
        assert one.phase in PHASES
        assert one.lights
        assert len(one.says + one.asks) <= SHORT, one.until


def test_the_first_round_shows_accepted_tokens(trace: Trace) -> None:
    assert trace.rounds[0].accepted


def test_the_first_three_beats_are_one_round_with_every_kind_of_guess(trace: Trace, tour: Tour) -> None:
    guess, check, judge = tour.beats[:3]
    assert guess.round == check.round == judge.round
    assert (guess.phase, check.phase, judge.phase) == ("propose", "check", "judge")
    round = trace.rounds[judge.round]
    assert (round.accepted >= 1, round.rejected, round.discarded >= 1) == (True, 1, True)
    assert round.emitted.kind == "correction"
    assert trace.settings.greedy  # "its own first choice"
    assert "“the ball and ran”" in guess.says
    assert "“the ball” ✓" in judge.says
    assert "“and” ✗" in judge.says
    assert "“to” ↻" in judge.says
    assert set(check.did) == {"accepted", "rejected", "discarded"}


def test_no_round_between_has_all_guesses_accepted_before_the_one_that_was_asked_for(trace: Trace, tour: Tour) -> None:
    """The visitor looks for the first such round; the next beat stands there."""
    start, found = beat(tour, "full").round, beat(tour, "length").round
    full = [round.index for round in trace.rounds if round.drafted and round.accepted == len(round.drafted)]
    assert found == min(index for index in full if index > start)
    assert found - start <= 5  # presses of a button
    assert len(trace.rounds[found].drafted) == trace.settings.draft_length
    assert trace.rounds[found].emitted.kind == "bonus"


def test_a_longer_draft_saves_passes_and_wastes_guesses_as_the_tour_says(trace: Trace, tour: Tour) -> None:
    said = beat(tour, "length").did["done"]
    stated = [int(number) for number in re.findall(r"instead of (\d+)", said)]
    wasted = sum(round.rejected + round.discarded for round in trace.rounds)
    assert stated == [len(trace.rounds), wasted]
    guesses = first_draft_guesses()
    assert guesses
    replays = replay_data(trace, guesses, None, running=False)
    assert replays["why_not"] is None
    assert replays["exact"]
    for length in range(DRAG_TO, MAX_DRAFT_LENGTH + 1):
        run = replays["lengths"][str(length)]
        assert len(run["rounds"]) < len(trace.rounds)
        assert run["rejected"] + run["discarded"] > wasted


def test_the_last_beat_ends_with_the_counts_of_the_run(trace: Trace, tour: Tour) -> None:
    last = tour.beats[-1]
    assert len(trace.rounds) - last.round == LAST_ROUNDS
    assert last.round * len(PHASES) < len(trace.rounds) * len(PHASES) - 1
    assert f"wrote {len(trace.output.token_ids)} tokens in {len(trace.rounds)} passes" in tour.end


def test_what_comes_next_are_pages_of_the_app() -> None:
    assert {(address, name) for address, name, _ in NEXT} <= {(page.name, page.title) for page in PAGES}


def test_a_run_that_does_not_show_it_has_no_tour(trace: Trace) -> None:
    assert tour_of(replace(trace, rounds=trace.rounds[:4])) is None
    assert tour_of(replace(trace, rounds=trace.rounds[5:6])) is None


def test_opening_the_stage_without_a_tour_sends_none_of_it(trace: Trace) -> None:
    assert "tour" not in stage_data(trace, run_id="first", source="recorded", running=False)


def test_a_place_is_remembered_when_the_visitor_leaves_and_forgotten_at_the_end() -> None:
    place = TourPlace()
    place.begin(1)
    place.take(3, beats=6)
    assert (place.at, place.open, place.left) == (3, True, False)
    place.take(0, beats=6)
    assert (place.at, place.open, place.left) == (3, False, True)
    place.begin(place.at)
    place.take(7, beats=6)
    assert (place.at, place.open) == (0, False)
    assert place.started == 2
