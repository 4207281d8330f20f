"""Back, Forward, a reload and a change of page lose no game, no answer, no setting, no choice, in a real Chromium."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Visit
from tests.support.visitor import wait_until_still

ROUND = "Text 1 of 3 · round {} of 5"
Act = Callable[[Page], object]


def play_a_round(page: Page) -> None:
    """By keyboard alone."""
    words = page.get_by_label("What are the next few words?")
    expect(words).to_be_focused()
    page.keyboard.type("Lily. She xylophoned")
    page.keyboard.press("Enter")
    sees_the_round(page)
    expect(words).to_be_focused()
    expect(words).to_have_value("")


def sees_the_round(page: Page) -> None:
    expect(page.get_by_text(ROUND.format(2))).to_be_visible()
    expect(page.get_by_role("region", name="The result of the draft").locator(".headline")).to_contain_text("3 of ")
    expect(page.locator(".play .so-far mark")).to_have_text(re.compile(r"^Lily\. She \w+"))


def play_again(page: Page) -> None:
    page.get_by_role("button", name="End the game").click()
    page.get_by_role("button", name="Play again").click()


def answer(page: Page) -> None:
    page.locator(".st-key-quiz-1-0 button").click()


def set_repeats(page: Page) -> None:
    page.get_by_role("slider", name="Repeats").press("ArrowRight")
    page.wait_for_url("**repeats=6*")


def is_new(page: Page) -> None:
    expect(page.get_by_text("so far.")).to_have_count(0)


# Of a page: its name in the menu, what a visitor does there, and what is then to be seen; how it begins again.
KEPT: dict[str, tuple[str, Act, Act, Act | None, Act]] = {
    "be_the_draft?seed=3": (
        "Be the draft",
        play_a_round,
        sees_the_round,
        play_again,
        lambda page: expect(page.get_by_text(ROUND.format(1))).to_be_visible(),
    ),
    "learn?part=quiz": (
        "",
        answer,
        lambda page: expect(page.locator(".st-key-reveal-quiz-1")).to_be_visible(),
        lambda page: page.get_by_role("button", name="Try again").click(),
        is_new,
    ),
    "race": (
        "Race",
        set_repeats,
        lambda page: expect(page.get_by_role("slider", name="Repeats")).to_have_value("6"),
        None,
        is_new,
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("path", KEPT)
def test_what_was_done_is_there_after_a_reload_back_forward_and_other_pages_until_it_begins_again(
    visit: Visit, path: str
) -> None:
    name, does, sees, again, new = KEPT[path]
    page = visit(path)

    def still_sees(seen: Act = sees) -> None:
        seen(page)
        wait_until_still(page)  # the tab holds what was done at the end of the script that draws it
        seen(page)

    def go_to(title: str) -> None:
        page.get_by_role("link", name=title, exact=True).first.click()
        expect(page).to_have_title(f"{title} · specviz")  # a loaded server begins late, and is still until then
        wait_until_still(page)

    does(page)
    still_sees()
    page.reload()
    still_sees()
    go_to("Same quality")
    page.go_back()  # one step: not through the settings of before
    still_sees()
    page.go_forward()
    expect(page).to_have_title("Same quality · specviz")
    if again:  # the tab holds it, and not only the server
        page.reload()
        wait_until_still(page)
    if name:
        go_to(name)
    else:
        page.go_back()
    still_sees()
    page.reload()
    still_sees()
    if again:
        again(page)
        still_sees(new)
        page.reload()
        still_sees(new)


def test_the_view_and_the_language_are_remembered_by_the_browser(visit: Visit) -> None:
    page = visit()
    expect(page.locator(".stage[data-view=simple]")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(page.get_by_role("slider", name="Temperature")).to_be_visible()
    page.wait_for_function("document.cookie.includes('specviz_view=full')")
    page.get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name="Español").click()
    expect(page.get_by_role("combobox", name="Idioma")).to_have_value("Español")
    expect(page).to_have_url(re.compile("lang=es"))
    page.wait_for_function("document.cookie.includes('specviz_lang=es')")
    again = visit()
    expect(again.locator(".stage[data-view=full]")).to_be_visible()
    expect(again.get_by_role("combobox", name="Idioma")).to_have_value("Español")
