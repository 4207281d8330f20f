"""The Learn page in a real Chromium: the story by keyboard, the picture that follows, the quiz, a phone, stillness."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from specviz.data.lessons.quiz import QUIZ
from specviz.data.lessons.steps import STEPS
from tests.conftest import PATIENCE, AppServer
from tests.support.visitor import expect_no_sideways_scroll, wait_until_drawn, wait_until_still

LONG = PATIENCE
BOXES = (".box.draft", ".box.target")
ARRIVED = "(node) => Promise.all(node.getAnimations({ subtree: true }).map((token) => token.finished))"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="no-preference")
    made.set_default_timeout(LONG)
    yield made
    made.close()


def open_learn(context: BrowserContext, server: AppServer, query: str = "", wait: str = ".stage .round .chip") -> Page:
    page = context.new_page()
    page.failures = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.failures.append(str(error)))  # type: ignore[attr-defined]
    page.goto(server.url)  # the app's own navigation is known to a server only after its first page
    wait_until_drawn(page, ".stage")
    page.goto(f"{server.url}/learn{query}")
    page.wait_for_selector(wait)
    return page


def expect_title(page: Page, text: str) -> None:
    """One title in the end: while a page is being drawn, what it replaces stands beside it for a moment."""
    expect(page.get_by_role("heading", level=2)).to_have_text([text])


def picture(page: Page) -> Locator:
    return page.locator(".diagram svg")


def test_the_story_is_walked_end_to_end_by_keyboard(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server)
    for number, step in enumerate(STEPS, start=1):
        expect_title(page, f"{number}. {step.title.technical}")
        expect(page.get_by_role("img", name=f"Step {number} of {len(STEPS)}")).to_be_visible()
        expect(page.locator(f".stage.lesson[data-focus={step.focus}]")).to_be_visible()
        right = page.locator(f".st-key-step-{step.name}-{step.question.right} button")
        right.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Right.", exact=True)).to_be_visible()
        page.keyboard.press("PageDown")
    expect_title(page, "What do you remember?")
    assert "part=quiz" in page.url
    assert page.failures == []  # type: ignore[attr-defined]


def test_page_up_goes_back_and_arrows_still_move_the_stage(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=3")
    number = page.locator(".stage .sentence")
    before = number.text_content() or ""
    page.keyboard.press("ArrowRight")
    expect(number).not_to_have_text(before)
    expect_title(page, f"3. {STEPS[2].title.technical}")
    wait_until_still(page)  # the key is heard once the page's script has ended
    page.keyboard.press("PageUp")
    expect_title(page, f"2. {STEPS[1].title.technical}")


def test_the_picture_follows_the_playhead(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=3")
    expect(picture(page)).to_have_attribute("data-phase", "propose")
    expect(picture(page)).to_have_attribute("aria-label", re.compile("Now: draft model"))
    for phase in ("check", "judge"):
        page.keyboard.press("ArrowRight")
        expect(picture(page)).to_have_attribute("data-phase", phase)
    expect(picture(page)).to_have_attribute("aria-label", re.compile("1 rejected.*then one correction"))
    picture(page).evaluate(ARRIVED)
    accepted, failed, own = (
        page.locator(f".diagram .guess.{kind}").first.bounding_box() for kind in ("accepted", "rejected", "correction")
    )
    assert accepted is not None
    assert failed is not None
    assert own is not None
    assert failed["x"] < accepted["x"]  # an accepted token moves on to the text, a rejected one does not
    assert abs(own["x"] - accepted["x"]) < 3
    assert abs(own["y"] - failed["y"]) < 3  # the correction takes its row
    page.keyboard.press("Home")
    expect(picture(page)).to_have_attribute("data-phase", "propose")
    assert page.failures == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(("words", "said"), [("technical", "hidden state goes back"), ("plain", "notes go back")])
def test_a_heads_picture_shows_the_state_that_it_reads(
    context: BrowserContext, app_server: AppServer, words: str, said: str
) -> None:
    page = open_learn(context, app_server, f"?lesson=head&words={words}")
    expect(picture(page)).to_have_attribute("aria-label", re.compile(said))
    back, draft, target = (page.locator(f".diagram {part}").bounding_box() for part in (".arrow.state", *BOXES))
    assert back is not None
    assert draft is not None
    assert target is not None
    edges = 4  # pixels: lines have a width, and it is counted
    assert draft["x"] + draft["width"] - edges < back["x"]
    assert back["x"] + back["width"] < target["x"] + edges
    page.goto(f"{app_server.url}/learn?lesson=tree&words={words}")
    expect(picture(page)).to_have_attribute("aria-label", re.compile("draft model|intern"))
    expect(page.locator(".diagram .arrow")).to_have_count(2)
    assert page.failures == []  # type: ignore[attr-defined]


def test_a_token_drawn_by_lot_is_drawn_phase_by_phase(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=sampled")
    expect(picture(page)).to_have_attribute("data-phase", "check")
    expect(page.locator(".diagram .roll")).to_be_hidden()
    expect(page.locator(".diagram .odds.left").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".diagram .roll")).to_be_visible()
    expect(picture(page)).to_have_attribute(
        "aria-label", re.compile(r"target model, p \.22.*dice roll u.*\.81.*leftover")
    )
    page.keyboard.press("Home")
    expect(page.locator(".diagram .odds.left").first).to_be_hidden()
    assert page.failures == []  # type: ignore[attr-defined]


def test_the_measured_times_of_a_pass_are_drawn(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=arithmetic")
    expect(page.locator(".diagram .book")).to_have_count(2)
    expect(page.locator(".diagram")).to_contain_text("bfloat16")
    expect(picture(page)).to_have_attribute("aria-label", re.compile("5 tokens at once, float32: [0-9.]+×"))


def test_plain_words_reach_the_stages_labels_and_go_again(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=5")
    page.get_by_text("Plain words", exact=True).click()
    expect(page.locator(".legend .chip.rejected")).to_have_text("crossed out")
    expect(page.locator(".under .keys")).to_contain_text("suggesting")
    expect(page.locator(".caption")).to_contain_text("the editor alone")
    expect(page.locator(".stage .sentence")).to_contain_text("crossed out")
    expect(page.locator(".current .chip.rejected")).to_have_attribute("aria-label", re.compile("crossed out"))
    page.get_by_text("Technical", exact=True).click()
    expect(page.locator(".legend .chip.rejected")).to_have_text("rejected")
    expect(page.locator(".current .chip.rejected")).to_have_attribute("aria-label", re.compile("rejected"))
    assert page.failures == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("lesson", ["sampled", "arithmetic"])
def test_the_pictures_fit_a_phone(browser: Browser, app_server: AppServer, lesson: str) -> None:
    narrow = browser.new_context(viewport={"width": 390, "height": 844})
    narrow.set_default_timeout(LONG)
    page = open_learn(narrow, app_server, f"?lesson={lesson}", wait=".diagram svg")
    page.keyboard.press("End")
    svg, texts = page.locator(".diagram svg").bounding_box(), page.locator(".diagram text").all()
    assert svg is not None
    assert len(texts) > 5
    for text in texts:
        found = text.bounding_box()
        assert found is None or found["x"] + found["width"] <= svg["x"] + svg["width"] + 1, text.text_content()
    expect_no_sideways_scroll(page)
    narrow.close()


def test_the_reveal_moves_the_stage_to_its_place(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=4")
    expect(picture(page)).to_have_attribute("data-phase", "check")
    page.locator(".st-key-step-acceptance-0 button").click()
    expect(page.get_by_text("Not quite.")).to_be_visible()
    expect(picture(page)).to_have_attribute("data-phase", "judge")
    page.get_by_role("button", name="Ask me again").click()
    expect(picture(page)).to_have_attribute("data-phase", "check")


def test_a_visitor_who_leaves_comes_back_to_the_same_step(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=6&words=plain")
    expect_title(page, f"6. {STEPS[5].title.plain}")
    page.get_by_role("link", name="Watch").click()
    expect(page.locator(".stage:not(.lesson) .round .chip").first).to_be_visible()
    page.get_by_role("link", name="Learn", exact=True).click()
    expect_title(page, f"6. {STEPS[5].title.plain}")
    expect(page.locator(".diagram .title.draft")).to_have_text("intern")


def test_text_and_stage_fit_a_projector(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=5")
    expect(page.locator(".stage .lanes svg").first).to_be_attached()
    stage, options = page.locator(".stage").bounding_box(), page.locator(".st-key-step-rejection-2").bounding_box()
    assert stage is not None
    assert options is not None
    assert stage["y"] + stage["height"] <= 720
    assert options["y"] + options["height"] <= 720


def test_a_tree_its_picture_and_the_timeline_are_in_sight_together(
    context: BrowserContext, app_server: AppServer
) -> None:
    page = open_learn(context, app_server, "?lesson=tree")
    expect(page.locator(".stage .lanes svg").first).to_be_attached()
    strip, lanes = page.locator(".stage .strip").bounding_box(), page.locator(".stage .lanes").bounding_box()
    assert strip is not None
    assert lanes is not None
    assert strip["y"] >= 0
    assert lanes["y"] + lanes["height"] <= 720


def test_a_word_explains_itself_on_focus(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?lesson=5")
    word = page.get_by_role("button", name="discarded", exact=True).first
    tip = page.locator("#tip-step-rejection-discarded")
    expect(tip).to_be_hidden()
    page.locator(".explained").get_by_text("discarded").focus()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("never judged")
    expect(word).to_be_attached()


def test_the_quiz_by_keyboard(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?part=quiz", wait=".st-key-quiz-1-0")
    for number, question in enumerate(QUIZ, start=1):
        page.locator(f".st-key-quiz-{number}-{question.right} button").focus()
        page.keyboard.press("Enter")
        expect(page.locator(f".st-key-reveal-quiz-{number}")).to_contain_text(
            question.options[question.right].meaning.technical
        )
    expect(page.get_by_text(f"{len(QUIZ)} of {len(QUIZ)} right.")).to_be_visible()


def test_the_vocabulary_shows_chips_and_leads_to_the_step(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?part=words", wait=".words .entry")
    entry = page.locator(".words .entry").filter(has=page.get_by_role("heading", name="bonus", exact=True))
    expect(entry.locator(".chip.bonus.ringed")).to_have_count(1)
    entry.get_by_role("link").click()
    expect_title(page, f"6. {STEPS[5].title.technical}")


@pytest.mark.parametrize("part", ["story", "methods", "quiz", "words", "why"])
def test_nothing_is_wider_than_a_phone(browser: Browser, app_server: AppServer, part: str) -> None:
    narrow = browser.new_context(viewport={"width": 390, "height": 844})
    narrow.set_default_timeout(LONG)
    waits = {"story": ".diagram svg", "methods": ".family", "quiz": ".st-key-quiz-1-0", "words": ".words .entry"}
    waits["why"] = ".st-key-why-busy"
    page = open_learn(narrow, app_server, f"?part={part}&lesson=5", wait=waits[part])
    expect_no_sideways_scroll(page)
    if part in ("story", "why"):
        page.locator(".explained").first.focus()
        expect_no_sideways_scroll(page)
    narrow.close()


def test_with_reduced_motion_the_picture_jumps(browser: Browser, app_server: AppServer) -> None:
    still = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    still.set_default_timeout(LONG)
    page = open_learn(still, app_server, "?lesson=3")
    moving = page.locator(".diagram .guess").first.evaluate("(node) => getComputedStyle(node).transitionDuration")
    assert moving == "0s"
    page.keyboard.press("ArrowRight")
    expect(picture(page)).to_have_attribute("data-phase", "check")
    still.close()


def test_the_family_fits_one_screen_and_a_row_leads_to_its_run(context: BrowserContext, app_server: AppServer) -> None:
    page = open_learn(context, app_server, "?part=methods", wait=".family")
    box = page.locator(".family").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720
    page.get_by_role("link", name="Prompt lookup: see its run").click()
    expect(page.locator(".stage .round .chip").first).to_be_visible()
    assert "run=method-prompt-lookup" in page.url
