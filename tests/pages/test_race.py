"""The Race page by AppTest: at first, a race under way, its results, a cancelled one, links. No engine."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.service.protocol import JobFinished, JobItem
from specviz.ui.race.race_page import RaceState, recorded_race
from specviz.ui.session import Session
from tests.support.app_pages import opened, texts, visit
from tests.support.fake_service import FakeService
from tests.support.payloads import payload_of


def lanes_of(page: AppTest) -> dict[str, Any]:
    """Of the race in the lanes."""
    racing = visit(page).of(RaceState)
    data: dict[str, Any] = payload_of(page.get_by_key(f"race_lanes-{racing.in_lanes or next(iter(racing.shown()))}"))
    return data


def test_the_visitors_race_stands_beside_the_recorded_one() -> None:
    """What the plot of both has: `tests/unit/test_race.py`."""
    recorded = recorded_race()
    run = recorded[3].speculative
    sampled = replace(run, settings=replace(run.settings, temperature=1.0, draft_schedule="heuristic"))
    own = [replace(recorded[3], speculative=sampled, speculative_seconds=recorded[3].plain_seconds)]
    page = opened("pages/race.py", Session().put(RaceState(laps=own)))
    assert texts(page).index("Your race (wren-nano → wren-base, γ = 4, ") < texts(page).index("The recorded race (wren")
    assert "γ = 4 (heuristic: +2 or −1), temperature 1" in texts(page)
    every = [*(lap.name for lap in recorded), "all together"]
    for choice, run_id, badge, prompts in (
        ("", "live", "measured on this machine", ["random-1"]),
        ("recorded", "recorded", "recorded on", every),
        ("live", "live", "measured on this machine", ["random-1"]),
    ):
        if choice:
            page.segmented_control(key="race_shown-live-recorded").set_value(choice).run()
        lanes = lanes_of(page)
        assert (lanes["run_id"], lanes["badge"][: len(badge)]) == (run_id, badge)
        assert list(page.dataframe[0].value["prompt"]) == prompts
        labels = payload_of(page.get_by_key("race_speedups"))["figure"]["layout"]["yaxis"]["categoryarray"]
        assert [label.partition("<br>")[0] for label in labels[:-3:-1]] == ["random-1, yours", "random-1, recorded"]


def test_a_race_is_of_what_was_chosen_plays_once_all_is_measured_and_stays_until_another_one(
    service: FakeService,
) -> None:
    page = opened("pages/race.py", preset=["code-1", "story-2"], gamma="6", repeats="99")
    assert page.multiselect(key="race_presets").value == ["code-1", "story-2"]
    assert "repeats=99 is not a number from 1 to 20: using 5" in texts(page)
    page.multiselect(key="race_presets").set_value(["story-1"])
    page.slider(key="race_repeats").set_value(2)
    page.text_area(key="race_own").set_value("\u200b").run()
    page.button(key="race_start").click().run()
    assert "control characters only" in texts(page)
    page.text_area(key="race_own").set_value("The dog ran to the").run()
    assert service.commands == [], "a link, a changed control and a bad prompt start nothing"
    page.button(key="race_start").click().run()
    (command,) = service.commands
    asked = ([each.name for each in command.prompts], command.repeats, command.request.settings.draft_length)
    assert asked == (["story-1", "own-1"], 2, 6)
    assert page.button(key="race_start").disabled
    assert "it depends on the kind of prompt" not in texts(page), "no verdict while the clock runs"
    assert not page.dataframe, "found: for ten seconds a table without a figure"
    with pytest.raises(KeyError):  # nothing plays while the clock runs
        lanes_of(page)
    service.tell(*(JobItem(1, "race", lap) for lap in recorded_race()[:2]), JobFinished(1))
    data = lanes_of(page.run())
    assert (data["run_id"], len(data["laps"])) == ("live-1", 2)
    assert {"preset", "prompt", "target", "gamma", "seed", "repeats", "same_length"} <= set(page.query_params)
    assert "From before" not in texts(page)
    page.slider(key="race_gamma").set_value(2).run()
    assert "From before you changed the settings" in texts(page)
    for key in ("race_start", "race_cancel"):
        page.button(key=key).click().run()
    assert "Cancelled. The previous results are shown." in texts(page)
    assert (lanes_of(page)["run_id"], page.button(key="race_start").disabled) == ("live-1", False)
