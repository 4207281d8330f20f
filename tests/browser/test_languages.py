"""The choice of a language, in Chromium. That no page has English in another language: `test_every_page.py`."""

import re

from playwright.sync_api import expect

from tests.conftest import Visit


def test_the_choice_in_the_header_changes_the_page_and_is_in_the_link_and_remembered(visit: Visit) -> None:
    page = visit("learn")
    menu = page.get_by_role("combobox", name="Language")
    menu.click()
    page.get_by_role("option", name="Español").click()
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page).to_have_url(re.compile("lang=es"))
    expect(page).to_have_title(re.compile("^Aprende"))
    page.wait_for_function("document.cookie.includes('specviz_lang=es')")
    page.goto(page.url.partition("?")[0])
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Idioma")).to_have_value("Español")
