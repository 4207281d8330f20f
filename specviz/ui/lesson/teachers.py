"""Learn's part for teachers: a plan, its start and its notes, and a plan of one's own."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from specviz.data.lessons.plan import Plan
from specviz.data.lessons.plan_reader import MAX_BYTES, PlanError
from specviz.data.lessons.plans import FOLDER, OWN, all_plans
from specviz.models.draft_menu import linked_names
from specviz.ui.learn.state import Learning
from specviz.ui.lesson.own_plans import OWN_PLANS, plan_named
from specviz.ui.lesson.papers import offer_papers
from specviz.ui.lesson.place import LESSON, MOMENT, NOTES
from specviz.ui.lesson.walk import begin_lesson
from specviz.ui.session import session
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import restore_widgets, set_widgets
from specviz.ui.shared.uploads import uploaded

ABOUT = (
    "A lesson plan is a list of moments. Each moment is one screen of this app with a question to the room, its "
    "answer, what students usually get wrong, and what to do. The runs are recorded, so they are there at once; only "
    "Be the draft needs the models. First open the notes and move that window to a screen that the room does not see. "
    "Then start the lesson: its page shows no notes."
)
OWN_FILE = (
    "Write a plan as a YAML file; docs/teaching.md describes the format. The plan stays in the memory of this server: "
    "its link works for everyone who has it, until the server starts again or newer plans need the place."
)


def show_teachers(state: Learning) -> None:
    """Everything for teachers."""
    st.markdown("## For teachers")
    st.markdown(ABOUT)
    plans = [*all_plans(), *filter(None, map(plan_named, session().own_plans))]
    _choose(plans)
    plan = next((plan for plan in plans if plan.name == st.session_state.lesson_plan), plans[0])
    _draw_plan(plan)
    with st.expander("Your own plan", expanded=bool(session().plan_problems)):
        _draw_upload()


def _choose(plans: list[Plan]) -> None:
    names = {plan.name: f"{plain(plan.title)} · {plan.minutes} min" for plan in plans}
    if st.session_state.get("lesson_plan") not in names:
        st.session_state.pop("lesson_plan", None)
    restore_widgets({"lesson_plan": plans[0].name})
    st.radio("Lesson plan", list(names), key="lesson_plan", format_func=names.__getitem__, horizontal=True)


def _draw_plan(plan: Plan) -> None:
    """What the plan is for, its buttons, and its moments; the answers are in the notes."""
    st.markdown("\n".join(["**Afterwards, students can:**", "", *(f"- {plain(goal)}" for goal in plan.goals)]))
    with st.container(key="lesson_start", horizontal=True):
        address = urlencode({LESSON: plan.name, MOMENT: 1, NOTES: 1})
        notes = "Open the notes in a window of your own"
        st.link_button(notes, f"./?{address}", icon=":material/speaker_notes:")
        start = ":material/present_to_all:"
        key = f"lesson_start_{plan.name}"
        st.button("Start the lesson", key=key, type="primary", icon=start, on_click=begin_lesson, args=(plan.name,))
        if plan.name in OWN:
            _offer_file(plan)
    for at, moment in enumerate(plan.moments, start=1):
        link = f"./?{urlencode({LESSON: plan.name, MOMENT: at})}"
        st.markdown(f"{at}\\. **[{plain(moment.title)}]({link})** · {moment.minutes} min  \n{plain(moment.question)}")
    st.caption("The link of the lesson, for a bookmark:")
    st.code(f"{_here()}?{urlencode({LESSON: plan.name, MOMENT: 1})}", language=None, wrap_lines=True)
    offer_papers(plan)


def _offer_file(plan: Plan) -> None:
    st.download_button(
        "Save this plan as a YAML file",
        lambda: (FOLDER / f"{plan.name}.yaml").read_bytes(),
        file_name=f"{plan.name}.yaml",
        mime="application/yaml",
        on_click="ignore",
        help="An example to change into a plan of your own.",
    )


def _here() -> str:
    """The app's address, where it is known."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}{here.path.rsplit('/', 1)[0]}/" if here.scheme else "./"


def _draw_upload() -> None:
    st.caption(OWN_FILE)
    notices(session().plan_problems, "error")
    st.file_uploader(
        "A lesson plan, a YAML file", type=["yaml", "yml"], key="lesson_file", max_upload_size=1, on_change=_take_file
    )


def _take_file() -> None:
    """Add the uploaded plan to this visitor's, and choose it; or say everything that is wrong with it."""
    visitor, file = session(), uploaded("lesson_file")
    visitor.plan_problems = []
    if file is None:
        return
    try:
        plan = OWN_PLANS.add(file.read(MAX_BYTES + 1), linked_names())
    except PlanError as error:
        name = file_label(file.name)
        visitor.plan_problems = [f"{name} is no lesson plan that can be shown:", *error.problems]
        return
    if plan.name not in visitor.own_plans:
        visitor.own_plans.append(plan.name)
    set_widgets({"lesson_plan": plan.name})
