"""The Same quality page by AppTest: recorded at first, bad input, a failed task, results that come in. No engine."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.core.trace import dump_trace
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run
from specviz.measure.proof.rows import FORGETFUL, DrawBatch, recorded_proof
from specviz.service.protocol import EnumerateRules, JobFailed, JobFinished, JobItem, JobProgress
from specviz.ui.same_quality.proof import SameQualityState
from tests.support.app_pages import opened, texts, visit
from tests.support.fake_service import FakeService
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.seen import seen, step, whole

FOUND = known(recorded_proof())


@pytest.fixture
def page(service: FakeService) -> AppTest:
    return opened("pages/same_quality.py")


def press(page: AppTest, name: str) -> AppTest:
    return page.button(key=f"same_quality_{name}").click().run()


def batches(rule: str) -> list[DrawBatch]:
    return next(draws.batches for draws in FOUND.draws if draws.rule == rule)


def items(task: str, *found: object, job: int = 1) -> list[JobItem]:
    return [JobItem(job, task, each) for each in found]


def test_the_first_screen_is_the_recorded_proof(page: AppTest, snapshot: SnapshotAssertion) -> None:
    assert whole(page) == snapshot


def test_drawing_asks_for_what_the_controls_or_a_link_say(page: AppTest, service: FakeService) -> None:
    for name, value in (("temperature", 0.7), ("position", "second"), ("draws", 500)):
        page.get_by_key(f"same_quality_{name}").set_value(value).run()
    press(page, "draw")
    assert page.button(key="same_quality_draw").disabled
    assert (page.query_params["position"], page.query_params["temperature"]) == ("second", "0.7")
    service.tell(JobFailed(1, "The engine stopped."))
    assert [error.value for error in page.run().error] == ["The engine stopped."]
    assert "Passes the test." in texts(page), "what was recorded stays"
    page.radio(key="same_quality_rule").set_value("uncropped").run()
    press(page, "break")
    press(opened("pages/same_quality.py", draft="early-exit:2", draft_sampling="argmax", verification="block"), "draw")
    each_manner = ", most probable drafts, block verification"
    assert [
        (each.rule, each.position, each.draws, each.request.draft, settings.temperature, settings.manner)
        for each in service.commands
        for settings in [each.request.settings]
    ] == [
        ("lossless", "second", 500, "wren-nano", 0.7, ""),
        ("uncropped", "after", 500, "wren-nano", 0.7, ""),  # it shows after a rejection only
        ("lossless", "first", 2000, "early-exit:2", 1, each_manner),
    ]


def test_an_empty_prompt_starts_nothing(page: AppTest, snapshot: SnapshotAssertion) -> None:
    before = seen(page)
    page.text_area(key="same_quality_prompt").set_value("  ").run()
    assert step(before, page) == snapshot


def test_results_stay_and_an_early_end_has_no_verdict(
    page: AppTest, service: FakeService, snapshot: SnapshotAssertion
) -> None:
    """Found in the app: they were replaced by empty ones, while the page said that they stay."""
    before = seen(page)
    press(page, "draw")
    service.tell(JobProgress(1, "drawing", 10, draws=1000), *items("prove", *batches("lossless")[:3]))
    assert step(before, page.run()) == snapshot(name="under way")
    assert step(before, press(page, "cancel")) == snapshot(name="cancelled")
    press(page, "draw")
    service.tell(*items("prove", *batches("lossless")[:4], job=2))
    before = seen(page.run())
    service.expire("ada")
    assert step(before, page.run()) == snapshot(name="expired")


def test_the_greedy_break_is_recorded_as_failing_and_runs_here(
    page: AppTest, service: FakeService, snapshot: SnapshotAssertion
) -> None:
    before = seen(page)
    page.radio(key="same_quality_rule").set_value(FORGETFUL.name).run()
    assert step(before, page) == snapshot(name="recorded")
    press(page, "forget")
    (command,) = service.commands
    assert (command.forgets, command.presets) == (True, [])
    service.tell(*items("compare greedy", FOUND.greedy[0]), JobFinished(1))
    assert step(before, page.run()) == snapshot(name="of this visit, without a difference")


@pytest.mark.parametrize("target", ["wren-base", "another"])
def test_a_comparison_fails_beyond_rounding_where_the_limit_is_known(
    page: AppTest, service: FakeService, snapshot: SnapshotAssertion, target: str
) -> None:
    """The verdict over all prompts takes the worst one, and this one is shown in detail."""
    before = seen(page)
    press(page, "greedy")
    row = replace(known(FOUND.forgotten_row), target=target)
    service.tell(*items("compare greedy", FOUND.greedy[0], row), JobFinished(1))
    assert step(before, page.run()) == snapshot


def test_every_combination_is_computed_for_the_visitors_prompt(
    page: AppTest, service: FakeService, snapshot: SnapshotAssertion
) -> None:
    page.text_area(key="same_quality_prompt").set_value("The sea").run()
    before = seen(page)
    press(page, "enumerate")
    (command,) = service.commands
    assert (type(command), command.request.prompt) == (EnumerateRules, "The sea")
    found = known(FOUND.enumerated)
    service.tell(*items("enumerate rules", replace(found, guesses=[" <b>", *found.guesses[1:]])), JobFinished(1))
    assert step(before, page.run()) == snapshot


def test_the_draws_of_a_students_own_rule_are_tested(page: AppTest, snapshot: SnapshotAssertion) -> None:
    student, wrong = visit(page).of(SameQualityState).student, batches("no-residual")
    before = seen(page)
    drawn = [DrawnPosition("second", wrong[:1]), DrawnPosition("first", wrong)]
    student.open(dump_run(fake_trace(), LabDraws(drawn, "replaced_from_draft")).encode())
    assert step(before, page.run()) == snapshot(name="the token that fails is first")
    page.button_group(key="same_quality_student").set_value("second").run()
    assert step(before, page) == snapshot(name="too few draws")
    before = seen(page)
    with pytest.raises(InputError, match="has a run and no draws"):
        student.open(dump_trace(fake_trace()).encode())
    assert step(before, page.run()) == ""
