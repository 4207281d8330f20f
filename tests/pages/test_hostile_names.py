"""Every page by AppTest with names that a harmful file, link or prompt may hold: all of them stay text. No engine."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import pandas as pd
import pytest

from specviz.core.metrics import Costs
from specviz.core.trace import DrafterInfo, Machine, ModelInfo, Trace
from specviz.data.links import page_names
from specviz.game.game import GamePlan, Offer, Turn
from specviz.measure.endpoints.result import dump_result
from specviz.measure.proof.rows import FORGETFUL, recorded_proof
from specviz.measure.sweep.prompt_files import PromptFile
from specviz.measure.sweep.rows import frame_of
from specviz.service import JobView
from specviz.service.protocol import CostsResult, Loading
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.race.race_page import RaceEntry, RaceState, recorded_race
from specviz.ui.same_quality.proof import Found, SameQualityState
from specviz.ui.session import Arrival, Session
from specviz.ui.watch.watch_state import PairCosts, WatchState, recorded_run
from specviz.ui.when_it_helps.sweeps import HERE, WhenItHelpsState
from specviz.ui.when_it_helps.your_server import YourServer
from tests.support.app_pages import alone, opened, opened_in_app
from tests.support.bench_results import make_bench
from tests.support.fake_rows import row_at
from tests.support.fake_service import FakeService
from tests.support.fake_traces import fake_trace
from tests.support.hostile import ALL_NAMES, NAME, NAMES, ODD_NAMES, markdown_of, raw_names_in
from tests.support.known import known


def hostile_trace() -> Trace:
    trace = fake_trace(greedy=True, hostile=True)
    return replace(
        trace,
        recorded_on=Machine(NAME, "2.13.0", "5.23.0", 1),
        target=ModelInfo(NAME, 7_500_000, NAME, "00"),
        drafter=DrafterInfo("model", NAME, 700_000, "float32", "11"),
    )


def a_watch_page() -> Session:
    shown = recorded_run(hostile_trace(), "file-1")
    watching = WatchState(shown=shown, message=NAME)
    watching.past.finish(shown)
    return Session().put(watching)


def a_race_page() -> Session:
    lap = recorded_race()[0]
    changed = {"recorded_on": Machine(NAME, "2", "5", 1), "target": ModelInfo(NAME, 1, NAME, "00")}
    changed["drafter"] = DrafterInfo("model", NAME, 1, "float32", "11")
    laps = [replace(lap, name=name, speculative=replace(lap.speculative, **changed)) for name in ALL_NAMES]
    racing = RaceState(laps=laps, raced=RaceEntry(), started=RaceEntry())
    racing.slot.view = JobView(1, "failed", message=NAME)
    return Session(came={"race": Arrival(True, notes=[NAME])}).put(racing)


def hostile_rows() -> pd.DataFrame:
    names = {"machine": NAME, "target": NAME, "draft": NAME}
    return frame_of(
        replace(row_at("story", length, speedup, **names), workload=f"{name}{number}", preset=name, constrained=held)
        for number, (name, speedup) in enumerate(
            zip(ALL_NAMES, cycle((0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5)), strict=False)
        )
        for length in (2, 4)
        for held in (False, True)
    )


def a_when_it_helps_page() -> Session:
    rows = {f"from {NAME}.csv": hostile_rows(), HERE: hostile_rows()}
    sweeps = WhenItHelpsState(own=PromptFile((), (NAME,)), rows=rows, problems=[NAME], shown=f"from {NAME}.csv")
    sweeps.slot.view = JobView(1, state="failed", message=NAME)
    sweeps.csv_problems = sweeps.own_problems = [NAME]
    bench = make_bench({1: 1.5, 4: 1.2}, prompts=[(name, name) for name in ALL_NAMES if len(name) < 300])
    server = replace(bench.with_, model=NAME, system=NAME, version=NAME, drafts=NAME)
    answers = [replace(answer, text=f"{NAME}{answer.side}\n# big") for answer in bench.answers]
    answers[0] = replace(answers[0], problem=NAME)
    bench = replace(bench, with_=server, client=NAME, created=NAME, imported=NAME, notes=[NAME], answers=answers)
    own = YourServer()
    own.open(dump_result(bench).encode(), NAME)
    return Session().put(sweeps, own)


def a_worksheet_page() -> Session:
    costs = Costs(0.004, 0.1, {1: 1.0, 5: 1.3}, 0.05)
    watching = WatchState(costs=PairCosts(found={(NAME, NAME): CostsResult(costs)}))
    watching.past.finish(recorded_run(hostile_trace(), "file-1"))
    return a_race_page().put(watching, WhenItHelpsState(rows={HERE: hostile_rows()}))


def a_same_quality_page() -> Session:
    found = known(recorded_proof())
    request = replace(found.request, target=NAME, draft=NAME)
    here: list[Found] = []
    for each in found.draws:
        tokens = [f"{n}{NAME}" for n in range(len(each.batches[0].tokens))]
        batches = [replace(batch, tokens=tokens) for batch in each.batches]
        here.append(Found(each.rule, request, "live", batches, each.position))
    tie = replace(found.near_tie, preset=NAME, target=NAME, draft=NAME)
    place = replace(known(tie.near_tie), text=NAME, plain_token=NAME, speculative_token=NAMES[1])
    tie = replace(tie, near_tie=place)
    here += [Found(name, request, "live", [tie]) for name in ("greedy", "near-tie", FORGETFUL.name)]
    proving = SameQualityState(found={each.name: each for each in here}, place="greedy", asked=here[-3])
    proving.slot.view = JobView(1, state="failed", message=NAME)
    return Session().put(proving)


def a_be_the_draft_page() -> Session:
    offers = [Offer(name, [number]) for number, name in enumerate(NAMES)]
    here = Turn(NAME, [1, 2, 3], joins=False, ended=False, offers=offers)
    return came_to_play(BeTheDraftState(GamePlan(mode="pick"), here=here, message=NAME, name=NAME))


def came_to_play(game: BeTheDraftState) -> Session:
    return Session(came={"be_the_draft": Arrival(True, notes=[NAME])}).put(game)


PAGES: list[tuple[str, Callable[[], Session]]] = [
    ("watch", a_watch_page),
    ("race", a_race_page),
    ("when_it_helps", a_when_it_helps_page),
    ("worksheet", a_worksheet_page),
    ("same_quality", a_same_quality_page),
    ("be_the_draft", a_be_the_draft_page),
    ("be_the_draft", lambda: came_to_play(BeTheDraftState(GamePlan(), place=99, name=NAME))),  # its end
    ("learn", lambda: Session().put(LearnState(problems=[NAME]))),
]


@pytest.mark.parametrize(("name", "state"), PAGES, ids=range(len(PAGES)))
def test_names_from_a_file_stay_text(name: str, state: Callable[[], Session]) -> None:
    page = opened(f"pages/{name}.py", state())
    assert raw_names_in(page) == []
    assert any("evil" in text for text in markdown_of(page)), "the page shows the names at all"


LINK = ("preset", "prompt", "target", "draft", "gamma", "temperature", "workload", "rule", "position", "draws", "seed")
LINK += ("mode", "set", "lesson", "part", "words", "alpha", "c", "run", "view", "dtype", "repeats", "class", "board")


@pytest.mark.parametrize("name", page_names.PAGES)
def test_values_from_a_link_stay_text(name: str) -> None:
    odd = " ".join(ODD_NAMES)  # a page shows the first words
    page = opened(f"pages/{name}.py", Session(), **(dict.fromkeys(LINK[::2], NAME) | dict.fromkeys(LINK[1::2], odd)))
    assert raw_names_in(page) == []


def test_pasted_counters_stay_text() -> None:
    line = "SpecDecoding metrics: Mean acceptance length: 2.79, Accepted: 25 tokens, Drafted: 28 tokens, "
    page = opened("pages/worksheet.py", Session())
    for text in (NAME, f"{line}{NAME}", f'vllm:spec_decode_num_drafts_total{{model="{NAME}"}} {NAME}'):
        page.text_area(key="worksheet_paste").set_value(text).run()
        assert raw_names_in(page) == []


MOMENT = {"title": NAMES[2], "minutes": 1, "link": "./?run=first", "question": NAME, "answer": NAME, "do": NAME}
PLAN = {"title": NAMES[0], "minutes": 2, "goals": [NAME], "moments": [MOMENT | {"mistakes": NAME}, MOMENT]}


@pytest.mark.usefixtures("through_the_app")
def test_a_teachers_own_plan_stays_text() -> None:
    """On the page where it is opened, above the pages that it shows, and in its notes."""
    page = opened_in_app("learn", part="teach")
    page.get_by_key("lesson_file").set_value(("mine.yaml", json.dumps(PLAN).encode(), "application/yaml")).run()
    name = page.radio(key="lesson_plan").value
    for shown in (page, opened(lesson=name), opened(lesson=name, notes="1")):
        assert raw_names_in(shown) == []
        assert any("javascript" in text for text in markdown_of(shown))


@pytest.mark.parametrize(("name", "start"), [("race", "race_start"), ("be_the_draft", "be_the_draft_skip")])
def test_a_model_that_is_loaded_stays_text(name: str, start: str, service: FakeService) -> None:
    page = opened(f"pages/{name}.py", Session())
    page.button(key=start).click().run()
    service.tell(Loading(1, NAME))
    assert raw_names_in(page.run()) == []
    assert any("evil" in text for text in markdown_of(page))


def test_what_is_looked_for_would_be_found() -> None:
    def unescaped() -> None:
        import streamlit as st

        from specviz.ui.shared.parts import chart
        from tests.support.hostile import NAMES

        st.segmented_control("choice", [NAMES[0]])
        st.expander(NAMES[1])
        st.selectbox("shown as text", [NAMES[2]])
        chart({"data": [{"type": "bar", "x": [NAMES[1]], "y": [1]}], "layout": {"height": 300}}, "bars", "Bars.")

    assert len(raw_names_in(alone(unescaped))) == 3
