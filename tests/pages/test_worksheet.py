"""The Worksheet page by AppTest: before any run, with runs, with what a visitor types. No engine, no models."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.core.judge import LOOKS, Judgement, judge
from specviz.core.trace import Trace
from specviz.ui.session import Session
from specviz.ui.watch.watch_state import ShownRun, WatchState
from specviz.ui.worksheet.controls import Worksheet
from specviz.ui.worksheet.worksheet_page import known_runs
from tests.support import app_pages
from tests.support.app_pages import texts, visit
from tests.support.fake_traces import fake_trace
from tests.support.pasted_counters import ISSUE
from tests.support.seen import seen, step

LINE = (
    "SpecDecoding metrics: Mean acceptance length: 2.79, Accepted: 25 tokens, Drafted: 28 tokens, "
    "Per-position acceptance rate: 0.929, 0.857, Avg Draft acceptance rate: 89.3%"
)
NOT_FOR_THE_MAP = f"{ISSUE}\nvllm:generation_tokens_total 9000"  # only some rounds draft
PASTED: list[tuple[str, str | float | None]] = [
    ("paste", LINE),
    ("paste", ISSUE),
    ("speedup", 0.94),
    ("speedup", None),
    ("paste", ""),
    ("paste", NOT_FOR_THE_MAP),
    ("speedup", 1.2),
    ("speedup", None),
    ("paste", ""),
]


def opened(link: Mapping[str, Any] = MappingProxyType({}), *parts: object, **more: Any) -> AppTest:
    """The page as app.py runs it, with these parts left in the session by other pages."""
    return app_pages.opened("pages/worksheet.py", Session(**more).put(*parts), **link)


def watched(*traces: Trace) -> WatchState:
    watching = WatchState()
    for trace in traces:
        watching.past.finish(ShownRun(trace, "live-1", "live", None))
    return watching


@pytest.fixture
def page() -> AppTest:
    return opened()


def metric(page: AppTest, label: str) -> str:
    return next(each.value for each in page.metric if each.label.startswith(label))


def judged(page: AppTest) -> Judgement:
    """Of what the sliders say."""
    return judge(visit(page).asked["worksheet"].model.terms.speedup, None, modelled=True)


def start_from(page: AppTest, part: str) -> str:
    label = next(option for option in page.selectbox(key="worksheet_start").options if part in option)
    page.selectbox(key="worksheet_start").set_value(label).run()
    return label


def test_it_starts_from_the_visitors_newest_run_and_explains_any() -> None:
    page = opened({}, watched(*(fake_trace(draft_length=length) for length in (2, 6))))
    assert page.slider(key="worksheet_gamma").value == 6
    assert page.selectbox(key="worksheet_start").value.startswith("your run 2")
    assert "Your last run, measured here." in texts(page)
    assert known_runs(visit(page)).last.settings.draft_length == 6, "the exercises are about it"
    before = texts(page)
    page.selectbox(key="worksheet_gap_of").set_value(1).run()
    assert texts(page) != before
    alone = opened({}, watched(fake_trace(plain=False)))
    assert alone.selectbox(key="worksheet_start").value.startswith("the recorded run")


def test_the_verdict_is_on_the_sliders_and_the_run_stands_beside_it_as_loaded(
    page: AppTest, snapshot: SnapshotAssertion
) -> None:
    before = seen(page)
    assert metric(page, "Speedup") == f"{judged(page).speedup:.2f}×"
    page.slider(key="worksheet_gamma").set_value(10).run()
    assert step(before, page) == snapshot
    assert f"**{judged(page).headline}.**" in texts(page)
    assert metric(page, "Speedup") == f"{judged(page).speedup:.2f}×"
    assert "44 of 75 guesses accepted at draft length 4, 81 % of the judged ones" in texts(page), "as it was loaded"
    verdicts = [look.looks for look in LOOKS.values()] + ["it helps", "it pays:", "no real gain"]
    assert [word for word in verdicts if word in texts(page)] == [], "one verdict, in the words of the judge"


def test_pasted_counters_alone_are_not_judged_and_with_a_measured_speedup_the_whole_page_agrees(
    page: AppTest, snapshot: SnapshotAssertion
) -> None:
    """Found: above counters that the map cannot show stood "Helps, 1.63×, modelled", of the recorded run."""
    before = seen(page)
    for at, (key, value) in enumerate(PASTED):
        page.get_by_key(f"worksheet_{key}").set_value(value).run()
        assert step(before, page) == snapshot(name=f"{at} {key}: {str(value)[:20]}")
    page.text_area(key="worksheet_paste").set_value(NOT_FOR_THE_MAP).run()
    start_from(page, "CodeLlama")
    assert "modelled.**" in texts(page).split("Predicted against measured")[0]
    page.text_area(key="worksheet_paste").set_value(ISSUE)
    page.number_input(key="worksheet_speedup").set_value(0.94).run()
    now = visit(page)
    again = opened({}, replace(now.of(Worksheet)), asked=now.asked, came=now.came)  # after another page
    assert again.number_input(key="worksheet_speedup").value == 0.94
    assert again.selectbox(key="worksheet_start").value == "from production: vLLM"


@pytest.mark.parametrize("start", ["the recorded run", "CodeLlama", "OPT-30B, one A100", "in batches of 4", "by hand"])
def test_moving_to_the_best_length_gives_the_speedup_that_was_promised(page: AppTest, start: str) -> None:
    by_hand = start == "by hand"
    start_from(page, "in batches of 4" if by_hand else start)
    page.slider(key="worksheet_gamma").set_value(7).run()
    if by_hand:
        page.slider(key="worksheet_verification").set_value(3.0).run()  # then it is the straight line
    best, promised = re.fullmatch(r"(\d+) \((.*)×\)", metric(page, "Best length")).groups()
    page.slider(key="worksheet_gamma").set_value(int(best)).run()
    assert float(metric(page, "Speedup")[:-1]) == pytest.approx(float(promised), abs=0.011 if by_hand else 0)
    assert metric(page, "Best length").startswith(f"{best} (")


def test_the_address_holds_every_value_and_brings_it_back(page: AppTest) -> None:
    moved = {"alpha": 0.33, "gamma": 9, "cost": 0.205, "batch": 8}
    for name, value in moved.items():
        page.get_by_key(f"worksheet_{name}").set_value(value)
    page.run()
    other = opened(dict(page.query_params))
    assert {name: other.get_by_key(f"worksheet_{name}").value for name in moved} == moved
    assert other.selectbox(key="worksheet_start").value == "the values in the link"
    assert not other.warning
    assert "as measured for wren-base" in texts(other), "the shape of the batch"
    label = start_from(page, "T5-large")  # an address of one of the starts is that start
    assert opened(page.query_params).selectbox(key="worksheet_start").value == label
    line = opened({"alpha": "0.6", "gamma": "4", "batch": "16", "shape": "0"})
    assert "a straight line" in texts(line)
