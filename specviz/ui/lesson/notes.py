"""The presenter's notes: a page of their own, in a window that the room does not see."""

import streamlit as st

from specviz.core.files import ASSETS
from specviz.data.page_texts import page_texts
from specviz.ui.lesson.place import LESSON, MOMENT, NOTES, Walk, place_in, plan_named
from specviz.ui.lesson.walk import follow
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.pages import PROJECT
from specviz.ui.shared.parts import notices

SAYS = page_texts("lesson")


def show_notes() -> bool:
    """Draw the notes where the address asks for them. Returns whether it did: then no page is drawn."""
    walk = _asked()
    if walk is None:
        return False
    st.query_params[MOMENT] = str(walk.at)
    moment = walk.moment
    st.set_page_config(page_title=f"Notes: {walk.plan.title} · {PROJECT}")
    st.html(ASSETS / "lesson" / "notes.css")
    with st.container(key="notes"):
        st.markdown(f"# Notes: {plain(walk.plan.title)}")
        notices([walk.problem])
        with st.container(key="notes_way", horizontal=True, vertical_alignment="center"):
            st.button("Previous", key="notes_previous", disabled=walk.at == 1, on_click=walk.go, args=(walk.at - 1,))
            st.markdown(f"Moment {walk.at} of {walk.last}")
            st.button("Next", key="notes_next", disabled=walk.at == walk.last, on_click=walk.go, args=(walk.at + 1,))
        st.markdown(f"## {walk.at}. {plain(moment.title)}")
        before = sum(moment.minutes for moment in walk.plan.moments[: walk.at - 1])
        ends = before + moment.minutes
        st.caption(f"{moment.minutes} min, from minute {before} to {ends} of {walk.plan.minutes}")
        parts = {"Do": moment.do, "Ask": moment.question, "Answer": moment.answer, "Usual mistake": moment.mistakes}
        for name, text in parts.items():
            if text:
                st.markdown(f"**{name}.** {plain(text)}")
        if walk.at < walk.last:
            st.caption(f"Next: {plain(walk.plan.moments[walk.at].title)}")
        st.link_button("Open the screen of this moment", moment.screen.link, icon=":material/open_in_new:")
        st.caption(SAYS["follows"])
    follow("notes", walk)
    return True


def _asked() -> Walk | None:
    """The place that the address names; this window's own, once it has one."""
    asked = st.query_params.get(LESSON)
    if st.query_params.get(NOTES) != "1" or asked is None:
        return None
    plan, notes = plan_named(asked), session().notes
    if plan and (notes is None or notes.plan.name != plan.name):
        at, problem = place_in(plan, st.query_params.get(MOMENT))
        session().notes = Walk(plan, at, problem)
    return session().notes if plan else None
