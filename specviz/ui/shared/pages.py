"""The pages of the app: one list, in the order of the menu, for the menu and for previews of links."""

from dataclasses import dataclass

from specviz.data.links.page_names import TITLES, page_name
from specviz.data.texts import page_texts

PROJECT = "specviz"


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # of its file in pages/, and its path; the first page is also at "/"
    title: str
    description: str  # one or two sentences for someone who has not opened it
    in_menu: bool = True

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


HIDDEN = {"class"}  # reached from other pages and by its address
_ABOUT = page_texts("descriptions")
PAGES = tuple(Page(name, title, _ABOUT[name], name not in HIDDEN) for name, title in TITLES.items())


def page_at(path: str) -> Page | None:
    """The page with this path, or with this one before; None for a file or an address of Streamlit's own."""
    name = page_name(path.strip("/") or PAGES[0].name)
    return next((page for page in PAGES if page.name == name), None)
