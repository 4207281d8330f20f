"""The tour of the first run: its places, and that only a run that shows it has it."""

from dataclasses import replace

from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import first_trace
from specviz.player.data import stage_data
from specviz.ui.watch.on_stage import move_tour
from specviz.ui.watch.watch_state import WatchState


def test_a_place_in_the_tour_is_remembered_and_a_wrong_one_is_not() -> None:
    watching = WatchState()
    place = watching.tour
    # the end is a place too: its card is on screen until the visitor closes it
    for begin, moved, closed in ((1, 3, 3), (3, 7, 0)):
        place.begin(begin)
        for to, found in ((moved, (moved, True, False)), (0, (closed, False, True))):
            watching.redraw = False
            move_tour(watching, to)
            assert (place.at, place.open, watching.redraw) == found
    assert place.started == 2


def test_a_run_that_does_not_show_it_has_no_tour_and_none_is_sent_unasked() -> None:
    trace = first_trace()
    assert tour_of(trace)
    assert tour_of(replace(trace, rounds=trace.rounds[:4])) is tour_of(replace(trace, rounds=trace.rounds[5:6])) is None
    assert "tour" not in stage_data(trace, run_id="first", source="recorded", running=False)
