"""The names of the pages: of their files, folders, addresses and texts, in the order of the menu."""

from specviz.data.texts import page_texts, pages

TITLES = page_texts("titles")
PAGES = tuple(pages.read().content["titles"])
IN_MENU = [name for name in PAGES if name != "class"]  # which is reached from other pages and by its address
FORMER = {"helps": "when_it_helps", "proof": "same_quality", "play": "be_the_draft"}  # in links of before, for ever


def page_name(name: str) -> str | None:
    """The page's name of today; None where there is no such page."""
    today = FORMER.get(name, name)
    return today if today in PAGES else None
