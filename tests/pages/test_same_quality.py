"""The Same quality page by AppTest: recorded at first, bad input, a failed task, results that come in. No engine."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.errors import InputError
from specviz.core.trace import dump_trace
from specviz.data.lessons.lab_words import lab_words
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run
from specviz.measure.proof.rows import FORGETFUL, RULES, recorded_proof
from specviz.service.protocol import EnumerateRules, JobFailed, JobFinished, JobItem, JobProgress
from specviz.ui.same_quality.proof import SameQualityState
from tests.support.app_pages import opened, texts, visit
from tests.support.fake_service import FakeService
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.payloads import payload_of


@pytest.fixture
def page(service: FakeService) -> AppTest:
    return opened("pages/same_quality.py")


def test_the_first_screen_is_the_recorded_proof(page: AppTest) -> None:
    assert [header.value for header in page.header] == [
        "Greedy: token for token",
        "Sampling: same distribution",
        "Break it on purpose",
        "Your rule",
    ]
    for said in ("RECORDED", "Passes the test.", "evidence, not certainty"):
        assert said in texts(page)
    assert "LIVE" not in texts(page)
    options = page.radio(key="same_quality_rule").options
    switches = [rule for rule in (*RULES, FORGETFUL) if rule.name != "lossless"]
    assert [("✗" in option, "by design" in option) for option in options] == [
        (not rule.lossless, rule.by_design) for rule in switches
    ]
    assert {rule.name for rule in switches if rule.by_design} == {"lenient", "typical", "ensemble"}
    folded = [each for each in page.expander if each.label == "The statistics of this test"]
    assert len(folded) == 2, "of the real rule, and of the broken one"
    for each in folded:
        assert not each.proto.expanded
        [row] = [html.proto.body for html in each.get("html") if "statistics" in html.proto.body]
        assert (row.count("<tr"), row.count("<th "), row.count("<td ")) == (2, 8, 8)
        assert "p-value: the probability" in each.caption[0].value
    for said in (
        "the places of the drawn tokens are spread evenly",
        "are not tested",
        "In every row: draft length 4, draft wren-nano and target wren-base",
    ):
        assert said in texts(page)
    assert list(page.dataframe[0].value.columns) == ["prompt", "same", "difference", "drafts accepted"]


def test_drawing_asks_for_what_the_controls_or_a_link_say(page: AppTest, service: FakeService) -> None:
    page.slider(key="same_quality_temperature").set_value(0.7).run()
    page.radio(key="same_quality_position").set_value("second").run()
    page.select_slider(key="same_quality_draws").set_value(500).run()
    page.button(key="same_quality_draw").click().run()
    (command,) = service.commands
    assert (command.rule, command.position, command.draws) == ("lossless", "second", 500)
    assert command.request.settings.temperature == 0.7
    assert page.button(key="same_quality_draw").disabled
    assert (page.query_params["position"], page.query_params["temperature"]) == ("second", "0.7")
    service.tell(JobFailed(1, "The engine stopped."))
    page.run()
    assert [error.value for error in page.error] == ["The engine stopped."]
    assert "Passes the test." in texts(page)
    page.radio(key="same_quality_rule").set_value("uncropped").run()
    page.button(key="same_quality_break").click().run()
    assert (service.commands[1].rule, service.commands[1].position) == ("uncropped", "after"), "after a rejection only"
    linked = opened("pages/same_quality.py", draft="early-exit:2", draft_sampling="argmax", verification="block")
    linked.button(key="same_quality_draw").click().run()
    assert service.commands[2].request.draft == "early-exit:2"
    assert service.commands[2].request.settings.manner == ", most probable drafts, block verification"
    linked.text_area(key="same_quality_prompt").set_value("  ").run()
    assert "The prompt is empty" in texts(linked)
    starts = ("same_quality_draw", "same_quality_break", "same_quality_greedy", "same_quality_greedy_own")
    assert all(linked.button(key=key).disabled for key in starts)


def batches(rule: str, number: int) -> list[JobItem]:
    found = next(draws.batches for draws in known(recorded_proof()).draws if draws.rule == rule)
    assert len(found) >= number
    return [JobItem(1, "prove", batch) for batch in found[:number]]


@pytest.mark.parametrize("end", ["Cancelled.", "This has expired."])
def test_results_stay_and_an_early_end_has_no_verdict(page: AppTest, service: FakeService, end: str) -> None:
    """Found in the app: they were replaced by empty ones, while the page said that they stay."""
    page.button(key="same_quality_draw").click().run()
    service.tell(JobProgress(1, "drawing", 10, draws=1000), *batches("lossless", 3))
    for said in ("After 3,000 draws", "LIVE · this machine", "nothing distinguishes the two yet"):
        assert said in texts(page.run())
    assert "3 of 10 parts, drawing 1,000 tokens each way" in page.get("progress")[0].proto.text
    if end == "Cancelled.":
        page.button(key="same_quality_cancel").click().run()
        assert service.cancelled == ["proof"]
    else:
        service.expire("ada")
        page.run()
    for said in (f"{end} What was found stays.", "Stopped early: no verdict.", "LIVE · this machine", "3,000"):
        assert said in texts(page)
    assert not page.error
    assert not page.button(key="same_quality_draw").disabled


def test_the_greedy_break_is_recorded_as_failing_and_runs_here(page: AppTest, service: FakeService) -> None:
    page.radio(key="same_quality_rule").set_value(FORGETFUL.name).run()
    assert "FAILS: this difference is larger than rounding explains" in texts(page)
    page.button(key="same_quality_forget").click().run()
    (command,) = service.commands
    assert (command.forgets, command.presets) == (True, [])
    found = known(recorded_proof())
    service.tell(JobItem(1, "compare greedy", found.greedy[0]), JobFinished(1))
    page.run()
    assert "No difference: all" in texts(page)
    assert "LIVE · this machine" in texts(page)


@pytest.mark.parametrize(("target", "word"), [("wren-base", "FAILS"), ("another", "is not known")])
def test_a_comparison_fails_beyond_rounding(page: AppTest, service: FakeService, target: str, word: str) -> None:
    """The verdict over all prompts takes the worst one, and this one is shown in detail."""
    found = known(recorded_proof())
    page.button(key="same_quality_greedy").click().run()
    row = replace(known(found.forgotten_row), target=target)
    service.tell(JobItem(1, "compare greedy", found.greedy[0]), JobItem(1, "compare greedy", row), JobFinished(1))
    page.run()
    assert word in next(one.value for one in page.markdown if "tokens identical" in one.value)


def test_every_combination_is_computed_for_the_visitors_prompt(page: AppTest, service: FakeService) -> None:
    page.text_area(key="same_quality_prompt").set_value("The sea").run()
    page.button(key="same_quality_enumerate").click().run()
    (command,) = service.commands
    assert (type(command), command.request.prompt) == (EnumerateRules, "The sea")
    found = known(known(recorded_proof()).enumerated)
    service.tell(JobItem(1, "enumerate rules", replace(found, guesses=[" <b>", *found.guesses[1:]])), JobFinished(1))
    page.run()
    assert "LIVE · this machine" in texts(page)
    figure = payload_of(page.get_by_key("same_quality_own_places"))["figure"]
    assert figure["layout"]["xaxis"]["ticktext"][0] == "1. ␣&lt;b&gt;"


def test_the_draws_of_a_students_own_rule_are_tested(page: AppTest) -> None:
    student = visit(page).of(SameQualityState).student
    batches = next(draws.batches for draws in known(recorded_proof()).draws if draws.rule == "no-residual")
    drawn = [DrawnPosition("second", batches[:1]), DrawnPosition("first", batches)]
    student.open(dump_run(fake_trace(), LabDraws(drawn, "replaced_from_draft")).encode())
    page.run()
    for said in ("YOUR FILE", lab_words()["judge"].kinds["replaced_from_draft"], "2,000 draws each way"):
        assert said in texts(page)
    assert texts(page).count("Fails the test.") == 2, "of the switch, and of the file: the token that fails is first"
    page.button_group(key="same_quality_student").set_value("second").run()
    assert "Stopped early: no verdict." in texts(page), "too few draws in the file"
    with pytest.raises(InputError, match="has a run and no draws"):
        student.open(dump_trace(fake_trace()).encode())
    assert "YOUR FILE" in texts(page.run()), "what was open stays"
