"""A SCORM package in a small run-time: walked, answered, left, taken up again."""

import io
import zipfile

import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Page, Route, expect

from specviz.data.lessons.plans import find_plan
from specviz.data.lessons.story import quiz
from specviz.player.scorm import scorm_package
from tests.support.known import known

PLAN = known(find_plan("ten-minutes"))
SITE = "http://lms.example"
# A learning system as SCORM 1.2 has it: a window with an API, which keeps what it is told, and the lesson in a frame.
SYSTEM = """<!doctype html><title>LMS</title><script>
const values = JSON.parse(localStorage.values ?? '{"cmi.core.lesson_status": "not attempted"}');
window.API = {
  LMSInitialize: () => "true",
  LMSGetValue: (name) => values[name] ?? "",
  LMSSetValue: (name, value) => ((values[name] = value), "true"),
  LMSCommit: () => ((localStorage.values = JSON.stringify(values)), "true"),
  LMSFinish: () => ((localStorage.values = JSON.stringify(values)), "true"),
};
</script><iframe src="lesson/index.html" style="width:100%;height:96vh;border:0"></iframe>"""


@pytest.fixture
def served(context: BrowserContext) -> BrowserContext:
    """The system and the package's files, without a network."""
    with zipfile.ZipFile(io.BytesIO(scorm_package(PLAN))) as archive:
        files = {f"/lesson/{name}": archive.read(name) for name in archive.namelist()}
    files["/"] = SYSTEM.encode()

    def fulfill(route: Route) -> None:
        content = files.get(route.request.url.removeprefix(SITE).partition("#")[0])
        route.fulfill(status=200 if content else 404, content_type="text/html; charset=utf-8", body=content or b"")

    context.route(f"{SITE}/**", fulfill)
    return context


def told(page: Page) -> tuple[str, str]:
    """The status and the score that the system keeps."""
    values = page.evaluate("values")
    return values["cmi.core.lesson_status"], values["cmi.core.score.raw"]


def answer(frame: FrameLocator, number: int, *, right: bool = True) -> None:
    question, field = quiz()[number], frame.locator("fieldset.asked").nth(number)
    field.locator("input").nth(question.right if right else (question.right + 1) % len(question.options)).check()
    expect(field.locator(".meaning:not([hidden])")).to_have_count(1)


def test_a_lesson_is_walked_answered_left_and_taken_up_again(served: BrowserContext) -> None:
    page, score = served.new_page(), f"2 of {len(quiz())} answered, 1 right at the first choice."
    page.goto(f"{SITE}/")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".moments li")).to_have_count(len(PLAN.moments) + 1)
    *most, last = PLAN.moments
    for moment in most:
        frame.get_by_role("link", name=moment.title).first.click()
        expect(frame.get_by_role("heading", name=moment.title)).to_be_visible()
        frame.get_by_role("link", name="All moments").first.click()
    frame.get_by_role("link", name="Questions").click()
    answer(frame, 0, right=False)
    answer(frame, 0)  # only the first choice counts
    answer(frame, 1)
    expect(frame.locator(".score")).to_have_text(score)
    page.goto(f"{SITE}/")  # left, and opened again
    expect(frame.locator(".moments li")).to_have_count(len(PLAN.moments) + 1)
    assert told(page) == ("incomplete", str(round(100 / len(quiz()))))
    frame.get_by_role("link", name="Questions").click()
    expect(frame.locator(".score")).to_have_text(score)
    for number in range(2, len(quiz())):
        answer(frame, number)
    assert told(page)[0] == "incomplete"  # one moment was not opened
    frame.get_by_role("link", name="All moments").last.click()
    frame.get_by_role("link", name=last.title).first.click()
    expect(frame.get_by_role("heading", name=last.title)).to_be_visible()
    assert told(page) == ("completed", str(round(100 * (len(quiz()) - 1) / len(quiz()))))
