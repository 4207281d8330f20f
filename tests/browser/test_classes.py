"""A class in a real Chromium: a teacher and two students, each in a browser of their own, engine and all."""

import csv

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.classes.membership import TEACHER_COOKIE
from tests.conftest import Visit
from tests.support.visitor import PHONE, wait_until_drawn, wait_until_still

INPUT = "input[aria-label='What are the next few words?']"
OTHER = {"color_scheme": "light"}  # with any option, another visitor comes


@pytest.fixture
def teacher(visit: Visit) -> Page:
    page = visit("class")
    page.get_by_role("button", name="Open a class").click()
    expect(page.locator(".class-join .code")).to_be_visible()
    return page


def code_of(teacher: Page) -> str:
    return teacher.locator(".class-join .code").inner_text()


def show(teacher: Page, part: str) -> None:
    teacher.get_by_test_id("stMain").get_by_text(part, exact=True).first.click()


def play(student: Page, words: str, number: int) -> None:
    wait_until_still(student)  # for a moment of a redraw the old field is there beside the new one
    student.locator(INPUT).fill(words)
    student.locator(INPUT).press("Enter")
    expect(student.get_by_text(f"round {number + 1} of 5")).to_be_visible()


def test_a_teacher_and_two_students(visit: Visit, teacher: Page) -> None:
    picture = teacher.locator(".class-join img.qr")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    assert code_of(teacher) in (picture.get_attribute("alt") or "")
    # one scans the code, on a phone, with a name that is no markup; the other types it, with none
    one = visit(f"be_the_draft?class={code_of(teacher)}", viewport=PHONE, color_scheme="dark")
    one.get_by_label("Your name on the board").fill("<b>Ada</b>")
    one.get_by_role("button", name="Join the class").click()
    expect(one.get_by_role("button", name=f"Class {code_of(teacher)}")).to_be_visible()
    other = visit("class", **OTHER)
    other.get_by_label("Code of the class").fill(code_of(teacher).lower().replace("-", " "))
    other.get_by_role("button", name="Join the class").click()
    expect(other.get_by_text("as student 2")).to_be_visible()
    other.get_by_role("button", name="Play the class’s game").click()
    expect(teacher.get_by_text("2 students have joined, 0 have played.")).to_be_visible()
    # their rounds and an answer arrive
    play(one, "Lily. She was", 1)
    play(other, "Lily and Tom", 1)
    show(teacher, "Scores")
    expect(teacher.get_by_text("2 students have joined, 2 have played.")).to_be_visible()
    expect(teacher.get_by_text("2 rounds so far.")).to_be_visible()
    other.goto(f"{other.url.partition('/be_the_draft')[0]}/learn?part=quiz")  # a new visit: the browser says who it is
    other.locator(".st-key-quiz-1-0 button").click()
    show(teacher, "Quiz")
    expect(teacher.get_by_text("1 answer", exact=True)).to_be_visible()
    show(teacher, "Students")
    expect(teacher.locator(".on-paper table")).to_contain_text("<b>Ada</b>")
    # a reload keeps everybody where they are, and counts nobody twice
    for page in (one, other, teacher):
        page.reload()
        wait_until_drawn(page)
    expect(one.locator(".st-key-class_chip button")).to_contain_text("Class")
    expect(teacher.locator(".on-paper table tr")).to_have_count(3)
    teacher.get_by_role("button", name="CSV", exact=True).click()
    with teacher.expect_download() as download:
        teacher.get_by_role("button", name="Rounds (CSV)").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    assert [(row["student"], row["name"], row["round"]) for row in rows] == [("1", "<b>Ada</b>", "1"), ("2", "", "1")]


def test_a_teachers_link_opens_the_board_and_no_server_is_asked_for_its_secret(visit: Visit, teacher: Page) -> None:
    """A browser never sends what stands behind a #: a proxy's log had the whole link."""
    teacher.get_by_role("button", name="More", exact=True).click()
    link = teacher.get_by_text("#board=").inner_text()
    secret = link.partition("#board=")[2]
    other = visit("class", **OTHER)
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto("about:blank")
    other.goto(link)
    expect(other.locator(".class-join .code")).to_have_text(code_of(teacher))
    assert secret
    assert asked
    assert not [url for url in (*asked, other.url) if secret in url.partition("#")[0]]
    assert "#" not in other.url


def test_a_board_looks_for_news_after_a_reload_too_and_without_any_draws_nothing(teacher: Page) -> None:
    teacher.wait_for_function("name => document.cookie.includes(name)", arg=TEACHER_COOKIE)
    with teacher.expect_websocket() as connected:
        teacher.reload()
    expect(teacher.locator(".class-join .code")).to_be_visible()
    for _ in range(2):  # the first look may still draw what the reload asked for
        connected.value.wait_for_event("framesent")
    wait_until_still(teacher)
    teacher.evaluate(
        """() => {
          window.changes = 0;
          const board = document.querySelector(".st-key-class_board");
          new MutationObserver((seen) => (window.changes += seen.length)).observe(
            board, { childList: true, subtree: true, characterData: true });
        }"""
    )
    for _ in range(3):  # the page asks whether there is something new; after the last time, two answers are there
        connected.value.wait_for_event("framesent")
    assert teacher.evaluate("window.changes") == 0
