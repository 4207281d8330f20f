"""The controls of "When it helps": what to measure, how long that takes, Start and Cancel, files in and out."""

import streamlit as st

from specviz.core.numbers import localize
from specviz.core.request import RunRequest
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, SETTINGS
from specviz.data.links.permalink import VARIED
from specviz.data.prompts.workloads import find_workload
from specviz.data.texts import page_texts
from specviz.measure.sweep.plan import plain_runs
from specviz.measure.sweep.prompt_files import MAX_PROMPTS
from specviz.models.draft_menu import model_label, offered_drafts
from specviz.ui.session import session
from specviz.ui.shared.engine import limit_sentence, pace_here, quiet_pace, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import Form
from specviz.ui.shared.parts import Options, button, file_uploader, notices
from specviz.ui.shared.run_controls import offered_workloads
from specviz.ui.when_it_helps.when_it_helps_state import (
    MOST_DRAFTS,
    TEMPERATURES,
    TOKEN_STEP,
    SweepChoice,
    WhenItHelpsState,
    estimated_seconds,
)

SAYS = page_texts("when_it_helps")
FORM = Form("when_it_helps", SweepChoice())
SCHEDULES = page_texts("schedules")
MORE = ("draft_sampling", "verification", "seed", "top_k", "top_p")
MOST_TOKENS = SETTINGS["max_new_tokens"].limits[1]


def next_measurement() -> None:
    """Folded until it is wanted: it says what is measured next, and filters none of the figures."""
    sweeps = session().when_it_helps
    sweeps.refresh()  # how long the next one takes goes by the last one
    sweeps.unfolded |= FORM.open() != FORM.start
    notices(FORM.came.notes)
    with st.expander(SAYS["next"], expanded=sweeps.unfolded):
        for column, draw in zip(st.columns(3, gap="large"), (_what, _draw_choices, _how), strict=True):
            with column:
                draw(sweeps)
        FORM.read()
        _start_bar(sweeps)


def _start_bar(sweeps: WhenItHelpsState) -> None:
    if sweeps.slot.busy:
        return  # what is left is said beside the figures, at this machine's pace
    problem = FORM.asked.problem(sweeps.own_prompts)

    def start() -> None:
        if FORM.asked.problem(sweeps.own_prompts) is None:
            FORM.came.acted = True
            sweeps.start(FORM.asked.plan(sweeps.own_prompts))

    with st.container(horizontal=True, vertical_alignment="center", key="when_it_helps_start_bar"):
        able: Options = {"type": "primary", "disabled": problem is not None}
        button(SAYS["measure"], "when_it_helps_start", start, icon="play_arrow", **able)
        st.markdown(f":gray[{problem}]" if problem else _size_sentence(sweeps), width="stretch")


def _size_sentence(sweeps: WhenItHelpsState) -> str:
    plan = FORM.asked.plan(sweeps.own_prompts)
    cells = plan.cells()
    runs = {"runs": len(cells), "alone": plain_runs(cells)}
    asked = {pair: RunRequest("", pair.target, pair.draft) for pair in plan.pairs}
    here = {pair: pace_here(request) for pair, request in asked.items()}
    seconds = estimated_seconds(cells, {pair: here[pair] or quiet_pace(request) for pair, request in asked.items()})
    return SAYS["size"].format(**runs, took=took(seconds, all(here.values())), limit=limit_sentence(seconds))


SEVERAL: Options = {"selection_mode": "multi", "wrap": True}


def _what(sweeps: WhenItHelpsState) -> None:
    chosen = FORM.asked.workloads
    offered = offered_workloads(FORM.asked.target, [f"{name}-1" for name in chosen])
    titles = {workload.name: workload.here.title for workload in offered}
    FORM.draw("workloads", list(titles), format_func=titles.__getitem__, **SEVERAL)
    with st.expander(SAYS["about_workloads"]):
        for workload in filter(None, map(find_workload, chosen)):
            st.caption(f"**{workload.here.title}.** {workload.here.about}")
    FORM.draw("prompts")
    with st.expander(SAYS["own_prompts"]):  # a label that changed would close it
        label = SAYS["prompt_file"].format(most=MAX_PROMPTS)
        more: Options = {"take": sweeps.read_prompts, "problems": sweeps.own_problems, "help": SAYS["file_help"]}
        file_uploader(label, key="when_it_helps_file", **more)
        if sweeps.own:
            count, problems = len(sweeps.own.prompts), [*sweeps.own.notes, *sweeps.own.problems]
            st.caption(SAYS["prompts_taken"].format(count=count))
            button(SAYS["leave_out"], "when_it_helps_leave", setattr, sweeps, "own", None)
            for line in problems[:10]:
                st.markdown(plain(line))
            if len(problems) > 10:
                st.markdown(SAYS["more_lines"].format(count=len(problems) - 10))


def _draw_choices(sweeps: WhenItHelpsState) -> None:
    FORM.controls.target()
    drafts = list(dict.fromkeys([*offered_drafts(FORM.asked.target), *FORM.asked.drafts]))
    FORM.draw("drafts", drafts, format_func=model_label, max_selections=MOST_DRAFTS)
    FORM.draw("draft_lengths", list(range(1, MAX_DRAFT_LENGTH + 1)), **SEVERAL)


def _how(_: WhenItHelpsState) -> None:
    FORM.draw("schedules", DRAFT_SCHEDULES, format_func=SCHEDULES.__getitem__, **SEVERAL)
    FORM.draw("temperatures", TEMPERATURES, format_func=lambda x: localize(x, "g"), **SEVERAL)
    FORM.controls.draw("max_new_tokens", offered=(TOKEN_STEP, MOST_TOKENS), step=TOKEN_STEP)
    FORM.draw("constrain")
    with st.expander(SAYS["more"]):
        FORM.controls.draw("tree")
        st.caption(SAYS["above_0"])
        FORM.controls.more([MORE], elsewhere=(*VARIED, "max_new_tokens", "tree"))
