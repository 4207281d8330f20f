"""A class in a real Chromium: a teacher and a student, each in a browser of their own, engine and all."""

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.classes.membership import TEACHER_COOKIE
from tests.conftest import Visit
from tests.support.visitor import PHONE, wait_until_drawn, wait_until_still

INPUT = "input[aria-label='What are the next few words?']"
OTHER = {"color_scheme": "light"}  # with any option, another visitor comes
COUNT_CHANGES = """() => {
  window.changes = 0;
  new MutationObserver((seen) => (window.changes += seen.length)).observe(
    document.querySelector(".st-key-class_board"), { childList: true, subtree: true, characterData: true });
}"""


@pytest.mark.full
def test_a_teacher_and_a_student(visit: Visit) -> None:
    teacher = visit("class")
    teacher.get_by_role("button", name="Open a class").click()
    picture = teacher.locator(".class-join img.qr")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    code = teacher.locator(".class-join .code").inner_text()
    # the student types the code, on a phone, and has a name that is no markup
    student = visit("class", **OTHER)
    student.set_viewport_size(PHONE)
    student.get_by_label("Code of the class").fill(code.lower().replace("-", " "))
    student.get_by_label("Your name on the board").fill("<b>Ada</b>")
    student.get_by_role("button", name="Join the class").click()
    student.get_by_role("button", name="Play the class’s game").click()
    expect(teacher.get_by_text("1 student has joined, 0 have played.")).to_be_visible()
    # a round and an answer arrive
    wait_until_still(student)  # for a moment of a redraw the old field is there beside the new one
    student.locator(INPUT).fill("Lily. She was")
    student.locator(INPUT).press("Enter")
    expect(teacher.get_by_text("1 student has joined, 1 has played.")).to_be_visible()
    student.goto(f"{student.url.partition('/be_the_draft')[0]}/learn?part=quiz")  # the browser says who it is
    student.locator(".st-key-quiz-1-0 button").click()
    teacher.get_by_test_id("stMain").get_by_text("Quiz", exact=True).first.click()
    expect(teacher.get_by_text("1 answer", exact=True)).to_be_visible()
    # a reload keeps everybody where they are, and counts nobody twice
    for page in (student, teacher):
        page.reload()
        wait_until_drawn(page)
    expect(student.locator(".st-key-class_chip button")).to_contain_text("Class")
    expect(teacher.get_by_text("1 answer", exact=True)).to_be_visible()
    expect_the_board_behind_its_link(visit("class", **OTHER), teacher, code)
    expect_nothing_drawn_without_news(teacher)


def expect_the_board_behind_its_link(other: Page, teacher: Page, code: str) -> None:
    """A browser never sends what stands behind a #: a proxy's log had the whole link."""
    teacher.get_by_role("button", name="More", exact=True).click()
    link = teacher.get_by_text("#board=").inner_text()
    secret = link.partition("#board=")[2]
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto("about:blank")
    other.goto(link)
    expect(other.locator(".class-join .code")).to_have_text(code)
    assert secret
    assert asked
    assert not [url for url in (*asked, other.url) if secret in url.partition("#")[0]]
    assert "#" not in other.url


def expect_nothing_drawn_without_news(teacher: Page) -> None:
    """A board looks for news after a reload too."""
    teacher.wait_for_function("name => document.cookie.includes(name)", arg=TEACHER_COOKIE)
    with teacher.expect_websocket() as connected:
        teacher.reload()
    expect(teacher.locator(".st-key-class_board")).to_be_visible()
    for _ in range(2):  # the first look may still draw what the reload asked for
        connected.value.wait_for_event("framesent")
    wait_until_still(teacher)
    teacher.evaluate(COUNT_CHANGES)
    for _ in range(3):  # the page asks whether there is something new; after the last time, two answers are there
        connected.value.wait_for_event("framesent")
    assert teacher.evaluate("window.changes") == 0
