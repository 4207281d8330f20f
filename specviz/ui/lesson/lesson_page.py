"""A lesson: the screen of each moment with its bar, the presenter’s notes, and Learn’s part for teachers."""

from collections.abc import Callable
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.data.lessons.plans import FOLDER, OWN, WATCH, LessonPlan, Moment, PlanError, all_plans
from specviz.data.links.hidden import VIEWS
from specviz.data.links.page_names import TITLES
from specviz.data.texts import page_texts
from specviz.models.draft_menu import linked_names
from specviz.player.offline import lesson_page
from specviz.player.sheet import key_html, lesson_address, sheet_html
from specviz.service.sessions import is_public, normal_address
from specviz.ui.be_the_draft.turns import BeTheDraftState, new_game
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.lesson.place import LESSON, MOMENT, NOTES, OWN_PLANS, PREFIX, Walk, place_in, plan_named
from specviz.ui.session import session
from specviz.ui.shared import address
from specviz.ui.shared.components import component
from specviz.ui.shared.engine import visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, button, download, file_uploader, notices, page_button
from specviz.ui.shared.persistent_widgets import restore_widgets, set_widgets
from specviz.ui.shared.theme import PROJECT, page_file
from specviz.ui.watch.watch_state import WatchState

SAYS = page_texts("lesson")
FOLLOW = "lesson_follow"
LEARN = "learn"  # where `lesson` without a moment is a step of the story


def follow(role: Literal["screen", "notes"], walk: Walk) -> None:
    def moved() -> None:
        at = st.session_state[FOLLOW].get("moment")
        if type(at) is int:
            walk.go(at, told=False)

    data = {"role": role, "lesson": walk.plan.name, "moment": walk.at, "moves": walk.moves}
    _FOLLOW(key=FOLLOW, data=data, on_moment_change=moved)


_FOLLOW = component("specviz_lesson", '<div class="lesson-follow" hidden></div>', (), "components/follow")


def walk_lesson(page: str) -> None:
    """Follow the address into a lesson, and draw its bar; nothing where no lesson is under way."""
    _follow_address(page)
    walk = session().walk
    if walk is None:
        if (asked := asked_lesson(page)) is not None:
            notices([SAYS["no_own_plan" if asked.startswith(PREFIX) else "no_plan"].format(asked=asked[:40])])
        return
    screen = walk.moment.screen
    walk.here = screen.page == page
    if walk.entered != walk.at:
        if not walk.here:
            st.switch_page(page_file(screen.page), query_params=walk.link)
        _enter(walk)
    for name, value in walk.link.items() if walk.here else ():
        if st.query_params.get(name) != value:
            st.query_params[name] = value
    _draw_bar(walk)


def asked_lesson(page: str) -> str | None:
    asked = st.query_params.get(LESSON)
    return None if page == LEARN and MOMENT not in st.query_params else asked


def _follow_address(page: str) -> None:
    """Begin the lesson that the address names, or go to its moment, unless this is where the visitor is."""
    asked, walk = asked_lesson(page), session().walk
    plan = plan_named(asked) if asked else None
    if plan is None:
        return
    moment = st.query_params.get(MOMENT)
    if walk is None or walk.plan.name != plan.name:
        at, problem = place_in(plan, moment)
        session().walk = Walk(plan, at, problem, view_before=session().view)
    elif walk.here and walk.entered == walk.at and moment not in (None, str(walk.at)):  # the browser's Back
        walk.go(*place_in(plan, moment)[:1])


def _enter(walk: Walk) -> None:
    """Set up the screen of the moment. The page then reads the moment's link as its own address."""
    visitor, screen = session(), walk.moment.screen
    walk.entered, walk.times, walk.address = walk.at, walk.times + 1, screen.params
    visitor.hidden = screen.hides
    for key in st.session_state.get("times_set", {}):
        st.session_state.pop(key, None)  # the page sets its widgets to what the link says
    if screen.page == WATCH:
        asked = screen.last("view")
        visitor.view = next((view for view in VIEWS if view == asked), "projector")
        visitor.put(visitor.of(WatchState).begun_again())
    elif screen.page == "be_the_draft":
        game = visitor.of(BeTheDraftState)
        game.slot.reset()
        if game.all_turns:
            new_game(visitor, game.plan)
        else:  # after a reload the browser tab still has the game
            visitor.put(BeTheDraftState(name=game.name, before=game.before))
    visitor.arrival(screen.page).read = False
    visitor.of(LearnState).seen = {}


def _draw_bar(walk: Walk) -> None:
    st.html(BROWSER / "styles" / "lesson_bar.css")
    hides = walk.moment.screen.hides
    with st.container(key="lesson_bar", horizontal=True, vertical_alignment="center"):
        st.markdown(SAYS["moment_called"].format(at=walk.at, last=walk.last, title=plain(walk.moment.title)))
        if walk.here and address.hidden():
            button(SAYS["show_hidden"], "lesson_show", address.show_hidden)
        elif walk.here and hides:
            button(SAYS["hide_again"], "lesson_hide", setattr, session(), "hidden", hides)
        elif not walk.here:
            button(SAYS["back"], "lesson_again", walk.go, walk.at)
        _way_button("previous", "lesson", walk, walk.at - 1)
        _way_button("next", "lesson", walk, walk.at + 1)
        button(SAYS["leave"], "lesson_leave", _leave, icon="close")
    follow("screen", walk)
    notices([walk.problem])


def _way_button(way: Literal["previous", "next"], part: str, walk: Walk, at: int) -> None:
    button(SAYS[way], f"{part}_{way}", walk.go, at, disabled=not 1 <= at <= walk.last)


def _leave() -> None:
    """End the lesson; what is on screen stays, with everything around it."""
    visitor = session()
    before = visitor.walk.view_before if visitor.walk else None
    visitor.walk = None
    visitor.left_view = before
    address.stop_presenting()
    address.show_hidden()
    for name in (LESSON, MOMENT):
        st.query_params.pop(name, None)


def show_notes() -> bool:
    """Draw the notes where the address asks for them. Returns whether it did: then no page is drawn."""
    asked = st.query_params.get(LESSON)
    plan = plan_named(asked) if asked is not None and st.query_params.get(NOTES) == "1" else None
    if plan is None:
        return False
    walk = session().notes  # this window's own place, once it has one
    if walk is None or walk.plan.name != plan.name:
        walk = session().notes = Walk(plan, *place_in(plan, st.query_params.get(MOMENT)))
    st.query_params[MOMENT] = str(walk.at)
    moment = walk.moment
    st.set_page_config(page_title=f"{SAYS['notes'].format(title=walk.plan.title)} · {PROJECT}")
    st.html(BROWSER / "styles" / "lesson_notes.css")
    with st.container(key="notes"):
        st.markdown(f"# {SAYS['notes'].format(title=plain(walk.plan.title))}")
        notices([walk.problem])
        with st.container(key="notes_way", horizontal=True, vertical_alignment="center"):
            _way_button("previous", "notes", walk, walk.at - 1)
            st.markdown(SAYS["moment"].format(at=walk.at, last=walk.last))
            _way_button("next", "notes", walk, walk.at + 1)
        st.markdown(f"## {walk.at}. {plain(moment.title)}")
        before = sum(moment.minutes for moment in walk.plan.moments[: walk.at - 1])
        times = {"minutes": moment.minutes, "begins": before, "ends": before + moment.minutes}
        st.caption(SAYS["minutes_of"].format(**times, all=walk.plan.minutes))
        for name in ("do", "question", "answer", "mistakes"):
            if text := getattr(moment, name):
                st.markdown(SAYS[name].format(says=plain(text)))
        if walk.at < walk.last:
            st.caption(SAYS["next_moment"].format(title=plain(walk.plan.moments[walk.at].title)))
        st.link_button(SAYS["open_screen"], moment.screen.link, icon=":material/open_in_new:")
        st.caption(SAYS["follows"])
    follow("notes", walk)
    return True


def show_teachers(state: LearnState) -> None:
    st.markdown(f"## {SAYS['teachers']}")
    st.markdown(SAYS["about"])
    with st.container(key="lesson_board", border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(SAYS["board"])
        page_button(TITLES["class"], "class", "lesson_class_board", "groups")
    plans = {plan.name: plan for plan in (*all_plans(), *filter(None, map(plan_named, session().own_plans)))}
    names = {name: f"{plain(plan.title)} · {_minutes(plan)}" for name, plan in plans.items()}
    if st.session_state.get("lesson_plan") not in names:
        st.session_state.pop("lesson_plan", None)
    restore_widgets({"lesson_plan": next(iter(names))})
    chosen = st.radio(SAYS["plan"], list(names), key="lesson_plan", format_func=names.__getitem__, horizontal=True)
    _draw_plan(plans[chosen])
    with st.expander(SAYS["own_plan"], expanded=bool(session().plan_problems)):
        st.caption(SAYS["own_file"])
        kinds: Options = {"type": ["yaml", "yml"], "max_upload_size": 1}
        file_uploader(SAYS["plan_file"], "lesson_file", _take_plan, session().plan_problems, **kinds)


def _draw_plan(plan: LessonPlan) -> None:
    def begin() -> None:
        session().walk = Walk(plan, view_before=session().view)

    st.markdown("\n".join([SAYS["goals"], "", *(f"- {plain(goal)}" for goal in plan.goals)]))
    with st.container(key="lesson_start", horizontal=True):
        link = f"./?{urlencode({LESSON: plan.name, MOMENT: 1, NOTES: 1})}"
        st.link_button(SAYS["open_notes"], link, icon=":material/speaker_notes:")
        button(SAYS["start"], f"lesson_start_{plan.name}", begin, icon="present_to_all", type="primary")
        if plan.name in OWN:
            file = f"{plan.name}.yaml"
            download(SAYS["save_plan"], lambda: (FOLDER / file).read_bytes(), file)
    for at, moment in enumerate(plan.moments, start=1):
        link = f"./?{urlencode({LESSON: plan.name, MOMENT: at})}"
        line = f"{at}\\. **[{plain(moment.title)}]({link})** · {_minutes(moment)}"
        st.markdown(f"{line}  \n{plain(moment.question)}")
    st.caption(SAYS["bookmark"])
    st.code(address.page_address("", **{LESSON: plan.name, MOMENT: "1"}), language=None, wrap_lines=True)
    # three files, each made when it is asked for; the key is never part of the students' files
    here = address.page_address("") if st.context.url and not address.only_here() else None
    papers: dict[str, tuple[str, Callable[[], str]]] = {
        "sheet": ("description", lambda: sheet_html(plan, lesson_address(here, plan) if here else None)),
        "key": ("key", lambda: key_html(plan)),
        "lesson": ("download", lambda: lesson_page(plan, here)),
    }
    with st.container(key="lesson_papers", horizontal=True):
        for kind, (icon, made) in papers.items():
            download(SAYS[f"save_{kind}"], made, f"specviz-{plan.name}-{kind}.html", f"lesson_{kind}", icon)
    st.caption(SAYS["papers"])
    if here is None:
        st.warning(SAYS["only_here"], icon=":material/link_off:")


def _minutes(of: LessonPlan | Moment) -> str:
    return SAYS["minutes"].format(minutes=of.minutes)


def _take_plan(content: bytes, file: str) -> None:
    visit, ip_address = session(), normal_address(st.context.ip_address)
    owner = ip_address if is_public(ip_address) else visitor()
    try:
        plan = OWN_PLANS.add(content, linked_names(), owner)
    except PlanError as error:
        raise InputError(f"{SAYS['not_a_plan'].format(file=file)}\n{error}") from None
    if plan.name not in visit.own_plans:
        visit.own_plans.append(plan.name)
    set_widgets({"lesson_plan": plan.name})
