"""Every page by AppTest with names that a harmful file, link or prompt may hold: all of them stay text. No engine."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from specviz.core.metrics import Costs
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
from tests.support.fake_service import FakeService
from tests.support.hostile import (
    ALL_NAMES,
    DRAFTER,
    MACHINE,
    NAME,
    NAMES,
    ODD_NAMES,
    TARGET,
    hostile_rows,
    hostile_trace,
    markdown_of,
    raw_names_in,
)
from tests.support.known import known

FAILED = JobView(1, "failed", message=NAME)


def came(page: str, *parts: object) -> Session:
    return Session(came={page: Arrival(True, notes=[NAME])}).put(*parts)


def watched(**more: object) -> WatchState:
    shown = recorded_run(hostile_trace(), "file-1")
    watching = WatchState(shown=shown, message=NAME, **more)
    watching.past.finish(shown)
    return watching


def raced() -> RaceState:
    lap = recorded_race()[0]
    speculative = replace(lap.speculative, recorded_on=MACHINE, target=TARGET, drafter=DRAFTER)
    laps = [replace(lap, name=name, speculative=speculative) for name in ALL_NAMES]
    racing = RaceState(laps=laps, raced=RaceEntry(), started=RaceEntry())
    racing.slot.view = FAILED
    return racing


def swept() -> WhenItHelpsState:
    rows = {f"from {NAME}.csv": frame_of(hostile_rows()), HERE: frame_of(hostile_rows())}
    sweeps = WhenItHelpsState(own=PromptFile((), (NAME,)), rows=rows, problems=[NAME], shown=f"from {NAME}.csv")
    sweeps.slot.view = FAILED
    sweeps.csv_problems = sweeps.own_problems = [NAME]
    return sweeps


def own_server() -> YourServer:
    bench = make_bench({1: 1.5, 4: 1.2}, prompts=[(name, name) for name in ALL_NAMES if len(name) < 300])
    server = replace(bench.with_, model=NAME, system=NAME, version=NAME, drafts=NAME)
    answers = [replace(answer, text=f"{NAME}{answer.side}\n# big") for answer in bench.answers]
    answers[0] = replace(answers[0], problem=NAME)
    bench = replace(bench, with_=server, client=NAME, created=NAME, imported=NAME, notes=[NAME], answers=answers)
    own = YourServer()
    own.open(dump_result(bench).encode(), NAME)
    return own


def a_worksheet_page() -> Session:
    costs = {(NAME, NAME): CostsResult(Costs(0.004, 0.1, {1: 1.0, 5: 1.3}, 0.05))}
    return came("race", raced(), watched(costs=PairCosts(found=costs)), swept())


def a_same_quality_page() -> Session:
    found = known(recorded_proof())
    request, here = replace(found.request, target=NAME, draft=NAME), list[Found]()
    for each in found.draws:
        tokens = [f"{n}{NAME}" for n in range(len(each.batches[0].tokens))]
        batches = [replace(batch, tokens=tokens) for batch in each.batches]
        here.append(Found(each.rule, request, "live", batches, each.position))
    place = replace(known(found.near_tie.near_tie), text=NAME, plain_token=NAME, speculative_token=NAMES[1])
    tie = replace(found.near_tie, preset=NAME, target=NAME, draft=NAME, near_tie=place)
    here += [Found(name, request, "live", [tie]) for name in ("greedy", "near-tie", FORGETFUL.name)]
    proving = SameQualityState(found={each.name: each for each in here}, place="greedy", asked=here[-3])
    proving.slot.view = FAILED
    return Session().put(proving)


def a_be_the_draft_page() -> Session:
    offers = [Offer(name, [number]) for number, name in enumerate(NAMES)]
    here = Turn(NAME, [1, 2, 3], joins=False, ended=False, offers=offers)
    return came("be_the_draft", BeTheDraftState(GamePlan(mode="pick"), here=here, message=NAME, name=NAME))


PAGES: list[tuple[str, Callable[[], Session]]] = [
    ("watch", lambda: Session().put(watched())),
    ("race", lambda: came("race", raced())),
    ("when_it_helps", lambda: Session().put(swept(), own_server())),
    ("worksheet", a_worksheet_page),
    ("same_quality", a_same_quality_page),
    ("be_the_draft", a_be_the_draft_page),
    ("be_the_draft", lambda: came("be_the_draft", BeTheDraftState(GamePlan(), place=99, name=NAME))),  # its end
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
