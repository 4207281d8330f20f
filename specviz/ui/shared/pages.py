"""The pages of the app: one list, in the order of the menu, for the menu and for previews of links."""

from dataclasses import dataclass

from specviz.data.links.page_names import FORMER, TITLES
from specviz.data.links.page_names import PAGES as NAMES
from specviz.data.texts import page_texts

PROJECT = "specviz"


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # of its file in pages/, and its path; the first page is also at "/"

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @property
    def description(self) -> str:
        """One or two sentences for someone who has not opened it."""
        return _ABOUT[self.name]

    @property
    def in_menu(self) -> bool:
        return self.name not in HIDDEN

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


HIDDEN = {"class"}  # reached from other pages and by its address
_ABOUT = page_texts("descriptions")
PAGES = tuple(map(Page, NAMES))
_OF_TODAY = {page.name: page for page in PAGES}
ADDRESSES = _OF_TODAY | {name: _OF_TODAY[today] for name, today in FORMER.items()}  # also those of before


def page_at(path: str) -> Page | None:
    """The page with this path; None for a file or an address of Streamlit's own."""
    return ADDRESSES.get(path.strip("/") or PAGES[0].name)
