"""The page's address: what it asks for, what the page writes into it, what it hides, and how much is shown."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit, urlunsplit

import streamlit as st

from specviz.core.files import BROWSER
from specviz.data.links.hidden import PARAMETER, VIEWS, View, hidden_in, unknown_line, written
from specviz.data.texts import join_choices, page_texts
from specviz.models.draft_menu import allows_typing, linked_names
from specviz.ui.session import session
from specviz.ui.shared.below_streamlit import came_by_history
from specviz.ui.shared.components import remembered
from specviz.ui.shared.language import LANGUAGE, language_in_link, language_menu, unknown_language
from specviz.ui.shared.parts import notices

SAYS = page_texts("shared")


def address() -> dict[str, list[str]]:
    """The address's parameters, each with all its values; on the page of a lesson's moment, those of the moment."""
    walk = session().walk
    if walk and walk.here:
        return walk.address
    return whole_query()


def whole_query() -> dict[str, list[str]]:
    """What stands in the browser's address, whatever page is shown."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def write_address(link: Mapping[str, str | Sequence[str]]) -> None:
    """Have the address say this, and what every page's says: the language and what is hidden, for a reload."""
    link = {**link, **language_in_link(), **({PARAMETER: written(hidden())} if hidden() else {})}
    wanted = {name: [value] if isinstance(value, str) else list(value) for name, value in link.items()}
    walk = session().walk
    if walk and walk.here:
        walk.address = wanted  # the browser's address stays the lesson's
    elif address() != wanted:
        st.query_params.from_dict(wanted)


def went_there(asked: object, written: object, before: object) -> bool:
    """Whether the visitor went to what the address asks for, by a link or the Back key.

    A page writes into the address what is on screen. A browser that has not received that yet, when the visitor is
    faster, sends once more what it sent `before`: no reason to go back there.
    """
    return asked != written and (came_by_history() or asked != before)


def own_address() -> SplitResult:
    return urlsplit(str(st.context.url or ""))


def page_address(name: str, **parameters: str) -> str:
    here = own_address()
    folder = here.path.rpartition("/")[0]
    return urlunsplit((here.scheme, here.netloc, f"{folder}/{name}", urlencode(parameters), ""))


def only_here() -> bool:
    host = own_address().hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def models_in(link: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The names of models and heads that a link may hold: the menus', or what it says where the operator allows any."""
    asked = [*link.get("target", []), *link.get("draft", [])] if allows_typing() else []
    return frozenset([*linked_names(), *asked])


def hidden() -> frozenset[str]:
    visitor = session()
    if visitor.hidden is None:
        visitor.hidden = hidden_in(st.query_params.get_all(PARAMETER))[0]
    return visitor.hidden


def is_hidden(name: str) -> bool:
    return name in hidden()


def show_hidden() -> None:
    session().hidden = frozenset()
    st.query_params.pop(PARAMETER, None)


def draw_header() -> None:
    """What the app adds to the menu of pages; or nothing of all this, where a link hides the menu."""
    if is_hidden("menu"):
        st.html(BROWSER / "styles" / "no_menu.css")
    else:
        language_menu()
    notices([unknown_language()])


CHOICES: tuple[View, ...] = ("simple", "full")  # what a visitor chooses for good; the others come by a link
TOUR = "tour"  # a link to a place in the tour of a first visit
STYLES: dict[View, tuple[str, ...]] = {"projector": ("alone.css", "projector.css"), "stage": ("alone.css",)}
VIEW, COOKIE = "view", "specviz_view"


def view() -> View:
    """What this visitor sees. A link with settings and no view shows everything, as links always did."""
    visitor = session()
    if visitor.view is None:
        newcomer: View | None = "simple" if TOUR in st.query_params else None
        asked, before = _one_of(VIEWS, st.query_params.get(VIEW)), _one_of(CHOICES, remembered(COOKIE))
        visitor.view = asked or newcomer or before or ("full" if {*st.query_params} - {LANGUAGE} else "simple")
    return visitor.view


def unknown() -> list[str]:
    """A line each for a view and for hidden controls that there are not."""
    asked, hidden = st.query_params.get(VIEW), hidden_in(st.query_params.get_all(PARAMETER))[1]
    lines = [unknown_line(hidden)] if hidden else []
    if asked is not None and asked not in VIEWS:
        lines.insert(0, SAYS["unknown_view"].format(asked=asked[:40], views=join_choices([*VIEWS], "and"), view=view()))
    return lines


def view_in_link() -> dict[str, str]:
    """What the page's address says of the view: a reload shows the same, and so does the address sent to others."""
    return {VIEW: view()}


def apply_view() -> None:
    """Take away what the view does not show of the page around the run."""
    for name in STYLES.get(view(), ()):
        st.html(BROWSER / "styles" / name)


def present() -> None:
    """Change to the projector view, for this visit only. Its address says so: a reload does not end a lesson."""
    session().left_view = view()
    session().view = st.query_params[VIEW] = "projector"


def stop_presenting() -> None:
    """Back to the view before; to everything where the projector view came by a link."""
    session().view = st.query_params[VIEW] = (
        _one_of(CHOICES, session().left_view) or _one_of(CHOICES, remembered(COOKIE)) or "full"
    )


def projector_button(**options: Any) -> None:
    st.button(SAYS["projector"], key="present", icon=":material/present_to_all:", on_click=present, **options)


def leave_button() -> None:
    st.button(SAYS["leave_projector"], key="leave", icon=":material/close:", on_click=stop_presenting)


def choose(chosen: View) -> None:
    session().view = session().chosen_view = st.query_params[VIEW] = chosen


def _one_of(views: tuple[View, ...], name: str | None) -> View | None:
    return next((known for known in views if known == name), None)
