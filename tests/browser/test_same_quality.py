"""The Same quality page in a real Chromium, engine and all: recorded at first, then proved and broken live."""

import re

from playwright.sync_api import FilePayload, expect

from specviz.data.lessons.lab_words import lab_words
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run
from specviz.measure.proof.rows import RULES, recorded_proof
from tests.conftest import AppServer, Visit
from tests.support.fake_traces import fake_trace
from tests.support.known import known

READY = "text=Break it on purpose"
WRONG = [rule for rule in RULES if not rule.lossless]


def test_greedy_is_compared_live_and_the_near_tie_runs_here(visit: Visit, real_app_server: AppServer) -> None:
    page = visit("same_quality", READY, real_app_server)
    page.get_by_role("button", name="Run this example here").click()
    expect(page.get_by_text("LIVE · this machine").first).to_be_visible()
    expect(page.get_by_role("button", name="Compare my prompt")).to_be_enabled()
    page.get_by_role("button", name="Compare my prompt").click()
    expect(page.get_by_text("64 of 64 tokens identical, id for id.")).to_be_visible()


def test_it_works_by_keyboard(visit: Visit, app_server: AppServer) -> None:
    page = visit("same_quality?draws=20000&preset=copy-1", READY)
    page.get_by_test_id("stRadio").get_by_role("radio", name=WRONG[0].title).focus()
    page.keyboard.press("ArrowDown")
    _, _, after = WRONG[1].does.removesuffix(" tokens.").partition("guess ")  # both words have explanations inside
    assert after
    expect(page.get_by_text(after)).to_be_visible()
    with app_server.at_most(prove=2):
        page.get_by_role("button", name="Draw 20,000 times", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        page.get_by_role("button", name="Cancel").focus()
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Draw 20,000 times", exact=True)).to_be_enabled()


def test_a_rule_is_made_of_pieces_and_a_students_draws_are_tested(visit: Visit, app_server: AppServer) -> None:
    page = visit("same_quality", READY)
    rule = page.get_by_test_id("stRadio")
    expect(page.get_by_text("Lossy.", exact=True)).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_role("radio", name="Accept only exact matches").click()
    expect(page.get_by_text("Lossless.", exact=True)).to_be_visible()
    expect(rule.get_by_role("radio", name="p without the rejected token")).to_be_checked()
    rule.get_by_role("radio", name="with probability min(1, p/q)").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("only where a guess is accepted with probability p")).to_be_visible()
    page.wait_for_url(re.compile("accept=ratio&replace=without_rejected"))
    page.get_by_role("button", name="Compute it for my prompt").click()
    expect(page.get_by_text("LIVE · this machine")).to_be_visible()
    page.get_by_text("Test a rule that you wrote").click()
    batches = next(each.batches for each in known(recorded_proof()).draws if each.rule == "no-residual")
    content = dump_run(fake_trace(), LabDraws([DrawnPosition("first", batches)], "replaced_from_target")).encode()
    file: FilePayload = {"name": "run.json", "mimeType": "application/json", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text(lab_words()["judge"].kinds["replaced_from_target"])).to_be_visible()
    expect(page.get_by_text("Fails the test.")).to_have_count(2)  # of the switch, and of the file
