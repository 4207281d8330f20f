"""How much a page shows around the run: `view` in a link, else the visitor's own choice of before.

The choice is kept in a cookie of this site, because the server must know it before the first drawing.
"""

from typing import get_args

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.player.payload import View
from specviz.ui.session import session
from specviz.ui.shared.cookies import remember, remembered

VIEWS: tuple[View, ...] = get_args(View)
CHOICES: tuple[View, ...] = ("simple", "full")  # what a visitor chooses for good; the others come by a link
TOUR = "tour"  # a link to a place in the tour of a first visit
STYLES: dict[View, tuple[str, ...]] = {"projector": ("alone.css", "projector.css"), "stage": ("alone.css",)}
PARAMETER, COOKIE = "view", "specviz_view"


def view() -> View:
    """What this visitor sees. A link with settings and no view shows everything, as links always did."""
    visitor = session()
    if visitor.view is None:
        newcomer: View | None = "simple" if TOUR in st.query_params else None
        visitor.view = _asked() or newcomer or _remembered() or ("full" if st.query_params else "simple")
    return visitor.view


def unknown_view() -> str | None:
    """One line where the link asks for a view that there is not."""
    asked = st.query_params.get(PARAMETER)
    if asked is None or asked in VIEWS:
        return None
    return f"view={asked[:40]} is not one of {', '.join(VIEWS)}: using {view()}."


def view_in_link() -> dict[str, str]:
    """What the page's address says of the view, so that a reload shows the same; nothing where everything is shown."""
    return {} if view() == "full" else {PARAMETER: view()}


def apply_view() -> None:
    """Take away what the view does not show of the page around the run."""
    for name in STYLES.get(view(), ()):
        st.html(ASSETS / name)


def present() -> None:
    """Change to the projector view, for this visit only. Its address says so: a reload does not end a lesson."""
    session().left_view = view()
    session().view = st.query_params[PARAMETER] = "projector"


def stop_presenting() -> None:
    """Back to the view before; to everything where the projector view came by a link."""
    session().view = session().left_view or _remembered() or "full"
    st.query_params.pop(PARAMETER, None)


def show_in_view(wanted: View) -> None:
    """The view of a lesson's moment, for as long as the lesson lasts. The address is the lesson's."""
    session().view = wanted


def choose(chosen: View) -> None:
    """Change the view, for this visit and the next ones."""
    session().view = session().chosen_view = chosen
    st.query_params.pop(PARAMETER, None)


def remember_choice() -> None:
    """Hand a choice that was just made to the browser. Nothing is to be seen of it."""
    if chosen := session().chosen_view:
        remember(COOKIE, chosen)


def _asked() -> View | None:
    asked = st.query_params.get(PARAMETER)
    return next((known for known in VIEWS if known == asked), None)


def _remembered() -> View | None:
    kept = remembered(COOKIE)
    return next((known for known in CHOICES if known == kept), None)
