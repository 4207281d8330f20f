"""Learn's part for teachers: a plan, its start, its notes and papers, and a plan of one's own."""

from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.lessons.plan import Plan
from specviz.data.lessons.plans import FOLDER, MAX_BYTES, OWN, PlanError, all_plans
from specviz.data.texts import page_texts
from specviz.models.draft_menu import linked_names
from specviz.player.offline_lesson import lesson_page
from specviz.player.sheet import key_html, lesson_address, sheet_html
from specviz.service.sessions import is_public, normal_address
from specviz.ui.learn.learn_state import Learning
from specviz.ui.lesson.place import LESSON, MOMENT, NOTES, OWN_PLANS, plan_named
from specviz.ui.lesson.walk import begin_lesson
from specviz.ui.session import session
from specviz.ui.shared.address import only_here, page_address
from specviz.ui.shared.engine import visitor
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.parts import Options, download, notices, uploaded
from specviz.ui.shared.persistent_widgets import restore_widgets, set_widgets

SAYS = page_texts("lesson")


def offer_papers(plan: Plan) -> None:
    """Three files, each made when it is asked for. The key is never part of the students' files."""
    address = page_address("") if st.context.url and not only_here() else None
    link = lesson_address(address, plan) if address else None
    papers: tuple[tuple[str, str, Callable[[], str], str], ...] = (
        ("Save the students’ sheet", "sheet", lambda: sheet_html(plan, link), "description"),
        ("Save the key and the notes", "key", lambda: key_html(plan), "key"),
        ("Save the lesson as a page that plays offline", "lesson", lambda: lesson_page(plan, address), "download"),
    )
    with st.container(key="lesson_papers", horizontal=True):
        for label, kind, made, icon in papers:
            options: Options = {"key": f"lesson_{kind}", "icon": f":material/{icon}:"}
            download(label, made, f"specviz-{plan.name}-{kind}.html", **options)
    st.caption(SAYS["papers"])
    if address is None:
        st.warning(SAYS["only_here"], icon=":material/link_off:")


def show_teachers(state: Learning) -> None:
    st.markdown("## For teachers")
    st.markdown(SAYS["about"])
    with st.container(key="lesson_board", border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(SAYS["board"])
        if st.button("Class board", key="lesson_class_board", icon=":material/groups:"):
            st.switch_page("pages/class.py")
    plans = [*all_plans(), *filter(None, map(plan_named, session().own_plans))]
    _choose(plans)
    plan = next((plan for plan in plans if plan.name == st.session_state.lesson_plan), plans[0])
    _draw_plan(plan)
    with st.expander("Your own plan", expanded=bool(session().plan_problems)):
        st.caption(SAYS["own_file"])
        notices(session().plan_problems, "error")
        more: Options = {"type": ["yaml", "yml"], "max_upload_size": 1, "on_change": _take_file}
        st.file_uploader("A lesson plan, a YAML file", key="lesson_file", **more)


def _choose(plans: list[Plan]) -> None:
    names = {plan.name: f"{plain(plan.title)} · {plan.minutes} min" for plan in plans}
    if st.session_state.get("lesson_plan") not in names:
        st.session_state.pop("lesson_plan", None)
    restore_widgets({"lesson_plan": plans[0].name})
    st.radio("Lesson plan", list(names), key="lesson_plan", format_func=names.__getitem__, horizontal=True)


def _draw_plan(plan: Plan) -> None:
    st.markdown("\n".join(["**Afterwards, students can:**", "", *(f"- {plain(goal)}" for goal in plan.goals)]))
    with st.container(key="lesson_start", horizontal=True):
        address = urlencode({LESSON: plan.name, MOMENT: 1, NOTES: 1})
        notes = "Open the notes in a window of your own"
        st.link_button(notes, f"./?{address}", icon=":material/speaker_notes:")
        start: Options = {"key": f"lesson_start_{plan.name}", "icon": ":material/present_to_all:", "type": "primary"}
        st.button("Start the lesson", on_click=begin_lesson, args=(plan.name,), **start)
        if plan.name in OWN:
            file, more = f"{plan.name}.yaml", {"help": "An example to change into a plan of your own."}
            download("Save this plan as a YAML file", lambda: (FOLDER / file).read_bytes(), file, **more)
    for at, moment in enumerate(plan.moments, start=1):
        link = f"./?{urlencode({LESSON: plan.name, MOMENT: at})}"
        st.markdown(f"{at}\\. **[{plain(moment.title)}]({link})** · {moment.minutes} min  \n{plain(moment.question)}")
    st.caption("The link of the lesson, for a bookmark:")
    st.code(page_address("", **{LESSON: plan.name, MOMENT: "1"}), language=None, wrap_lines=True)
    offer_papers(plan)


def _take_file() -> None:
    visit, file = session(), uploaded("lesson_file")
    visit.plan_problems = []
    if file is None:
        return
    address = normal_address(st.context.ip_address)
    try:
        owner = address if is_public(address) else visitor().id
        plan = OWN_PLANS.add(file.read(MAX_BYTES + 1), linked_names(), owner)
    except PlanError as error:
        visit.plan_problems = [f"{file_label(file.name)} is no lesson plan that can be shown:", *error.problems]
        return
    except InputError as error:
        visit.plan_problems = [str(error)]
        return
    if plan.name not in visit.own_plans:
        visit.own_plans.append(plan.name)
    set_widgets({"lesson_plan": plan.name})
