"""The Race page by AppTest: at first, a race, a cancelled one, bad input, links. Bundled models."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.testing.v1 import AppTest

from specviz.ui.race import race_page
from specviz.ui.race.race_page import RaceState, recorded_race
from specviz.ui.session import Session
from tests.support.app_pages import opened, opened_in_app, texts, visit
from tests.support.app_pages import until as wait
from tests.support.fake_service import FakeService
from tests.support.payloads import payload_of


@pytest.fixture
def page() -> AppTest:
    return opened_in_app("race")


def lanes_of(page: AppTest) -> dict[str, Any]:
    """Of the race in the lanes."""
    races = visit(page).of(RaceState).shown()
    in_lanes = visit(page).of(RaceState).in_lanes or next(iter(races))
    data: dict[str, Any] = payload_of(page.get_by_key(f"race_lanes-{in_lanes}"))
    assert data["run_id"] == in_lanes
    return data


def small_race(page: AppTest, presets: list[str], own: str = "", tokens: int = 8, repeats: int = 2) -> AppTest:
    page.multiselect(key="race_presets").set_value(presets)
    page.text_area(key="race_own").set_value(own)
    page.slider(key="race_tokens").set_value(tokens)
    page.slider(key="race_repeats").set_value(repeats)
    return page.run()


@pytest.mark.usefixtures("through_the_app")
def test_a_press_counts_where_another_message_begins_the_script_again(
    page: AppTest, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: what a button returned was looked at where it is drawn, and an interrupted script did not come there."""
    said = race_page.size_sentence

    def interrupted(*arguments: Any) -> str:
        monkeypatch.setattr(race_page, "size_sentence", said)
        context = get_script_run_ctx()
        message = RerunData(page_script_hash=context.page_script_hash, widget_states=WidgetStates())
        context.script_requests.request_rerun(message)
        return said(*arguments)

    monkeypatch.setattr(race_page, "size_sentence", interrupted)
    page.button(key="race_start").click().run()
    assert len(service.commands) == 1


def test_the_visitors_race_stands_beside_the_recorded_one() -> None:
    """What the plot of both has: `tests/unit/test_race.py`."""
    recorded = recorded_race()
    own = [replace(recorded[3], speculative_seconds=recorded[3].plain_seconds)]
    page = opened("pages/race.py", Session().put(RaceState(laps=own)))
    assert texts(page).index("Your race (wren-nano → wren-base, γ = 4, ") < texts(page).index("The recorded race (wren")
    every = [*(lap.name for lap in recorded), "all together"]
    for choice, badge, prompts in (
        ("", "measured on this machine", ["random-1"]),
        ("recorded", "recorded on", every),
        ("live", "measured on this machine", ["random-1"]),
    ):
        if choice:
            page.segmented_control(key="race_shown-live-recorded").set_value(choice).run()
        assert lanes_of(page)["badge"].startswith(badge)
        assert list(page.dataframe[0].value["prompt"]) == prompts
        labels = payload_of(page.get_by_key("race_speedups"))["figure"]["layout"]["yaxis"]["categoryarray"]
        names = [label.partition("<br>")[0] for label in reversed(labels)]
        assert names[:3] == ["random-1, yours", "random-1, recorded", "story-1, recorded"], "both, whichever plays"


def test_a_link_and_a_changed_control_start_nothing_and_a_race_has_the_presets_and_ones_own_prompt() -> None:
    page = opened_in_app("race", preset=["code-1", "story-2"], gamma="6", repeats="99")
    assert page.multiselect(key="race_presets").value == ["code-1", "story-2"]
    assert page.slider(key="race_gamma").value == 6
    assert "repeats=99 is not a number from 1 to 20: using 5" in texts(page)
    small_race(page, ["story-1"], own="The dog ran to the")
    assert not visit(page).of(RaceState).slot.busy
    page.button(key="race_start").click().run()
    finish(page)
    data = lanes_of(page)
    assert (data["run_id"][:4], [lap["name"] for lap in data["laps"]]) == ("live", ["story-1", "own-1"])
    assert list(page.dataframe[0].value["quality"]) == ["identical"] * 3
    assert {"preset", "prompt", "target", "gamma", "seed", "repeats", "same_length"} <= set(page.query_params)
    assert "From before" not in texts(page)
    page.slider(key="race_gamma").set_value(2).run()
    assert "From before you changed the settings" in texts(page)
    assert lanes_of(page)["run_id"] == data["run_id"], "the last results stay"


def finish(page: AppTest) -> None:
    wait(page, lambda: not visit(page).of(RaceState).slot.busy)


def test_what_cannot_be_raced_gets_its_reason_and_a_sampled_race_compares_no_words(page: AppTest) -> None:
    small_race(page, ["story-1"], own="\u200b", repeats=1).button(key="race_start").click().run()
    assert "control characters only" in texts(page)
    assert not visit(page).of(RaceState).slot.busy
    assert lanes_of(page)["run_id"] == "recorded"
    page.selectbox(key="race_target").set_value("wren-mini").run()
    page.selectbox(key="race_draft").set_value("wren-medusa")
    small_race(page, ["story-1"], repeats=1).button(key="race_start").click().run()
    finish(page)
    assert "wren-medusa drafts from the hidden states of wren-base" in page.error[0].value
    page.selectbox(key="race_target").set_value("wren-base")
    page.slider(key="race_temperature").set_value(1.0)
    page.selectbox(key="race_draft").set_value("lookup")
    page.radio(key="race_schedule").set_value("heuristic")
    page.run().button(key="race_start").click().run()
    finish(page)
    assert "the two texts are different draws" in texts(page)
    assert "dentical" not in texts(page)
    assert "with prompt lookup, γ = 4 (heuristic: +2 or −1), temperature 1" in texts(page)


def test_after_a_cancelled_race_the_previous_results_are_shown(page: AppTest) -> None:
    small_race(page, ["story-1", "story-2", "story-3"], tokens=256, repeats=20)
    page.button(key="race_start").click().run()
    wait(page, lambda: "story-1: repeat 1 of 20" in page.get("progress")[0].proto.text)
    assert page.button(key="race_start").disabled
    assert "The lanes play when all are measured" in texts(page)
    assert not page.dataframe, "found: for ten seconds a table without a figure"
    with pytest.raises(KeyError):  # nothing plays while the clock runs
        lanes_of(page)
    assert "it depends on the kind of prompt" not in texts(page), "no verdict while the clock runs"
    page.button(key="race_cancel").click().run()
    finish(page)
    assert "Cancelled. The previous results are shown." in texts(page)
    assert lanes_of(page)["run_id"] == "recorded"
    assert not page.button(key="race_start").disabled
