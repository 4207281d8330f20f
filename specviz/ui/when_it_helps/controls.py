"""The controls of "When it helps": what to measure, how long that takes, Start and Cancel, files in and out."""

from typing import Any

import streamlit as st

from specviz.core.numbers import localize
from specviz.core.request import RunRequest
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, SETTINGS
from specviz.data.links.permalink import VARIED
from specviz.data.prompts.workloads import ALL_WORKLOADS, find_workload
from specviz.data.texts import page_texts
from specviz.measure.sweep.plan import plain_runs
from specviz.measure.sweep.prompt_files import MAX_PROMPTS
from specviz.models.draft_menu import linked_names, model_label, offered_drafts
from specviz.ui.session import session
from specviz.ui.shared.address import address, hidden_in_link, write_address
from specviz.ui.shared.engine import limit_sentence, pace_here, quiet_pace, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, button, file_uploader, notices
from specviz.ui.shared.persistent_widgets import bind_default, bind_value, held, restore_widgets
from specviz.ui.shared.run_controls import RunControls, offered_workloads
from specviz.ui.when_it_helps.when_it_helps_state import (
    MAX_PROMPTS_EACH,
    MOST_DRAFTS,
    TEMPERATURES,
    SweepChoice,
    WhenItHelpsState,
    choice_from_link,
    estimated_seconds,
)

SAYS = page_texts("when_it_helps")
CONTROLS = RunControls("when_it_helps_")
SCHEDULES = page_texts("schedules")
MORE = ("draft_sampling", "verification", "seed", "top_k", "top_p")
TOKEN_STEP = 8  # of the slider
MOST_TOKENS = SETTINGS["max_new_tokens"].limits[1]


def next_measurement() -> None:
    """Folded until it is wanted: it says what is measured next, and filters none of the figures."""
    sweeps = session().when_it_helps
    sweeps.refresh()  # how long the next one takes goes by the last one
    linked = sweeps.came.read_once(address(), lambda given: choice_from_link(given, linked_names()))
    sweeps.choice = linked if linked and address() else sweeps.choice
    values = {_key(name): list(value) if isinstance(value, tuple) else value for name, value in sweeps.choice}
    tokens = sweeps.choice.request.settings.max_new_tokens
    restore_widgets(values | {"when_it_helps_tokens": max(TOKEN_STEP, tokens // TOKEN_STEP * TOKEN_STEP)})
    notices(sweeps.came.notes)
    sweeps.came.notes = []
    sweeps.unfolded |= sweeps.choice != SweepChoice()
    with st.expander(SAYS["next"], expanded=sweeps.unfolded):
        for column, draw in zip(st.columns(3, gap="large"), (_what, _draw_choices, _how), strict=True):
            with column:
                draw(sweeps)
        _read_controls(sweeps)
        _start_bar(sweeps)


def _read_controls(sweeps: WhenItHelpsState) -> None:
    """Take in what the controls say."""
    values: dict[str, Any] = {name: held(_key(name)) for name in SweepChoice.model_fields}
    in_order = {"workloads": [workload.name for workload in ALL_WORKLOADS], "schedules": DRAFT_SCHEDULES}
    values |= {name: [one for one in order if one in values[name]] for name, order in in_order.items()}
    values |= {"temperatures": sorted(values["temperatures"]), "top_p": round(values["top_p"], 2)}
    chosen = SweepChoice.model_validate(values)
    if chosen != sweeps.choice:
        sweeps.choice = chosen
        sweeps.came.acted = True
    if sweeps.came.acted:
        write_address({**chosen.parameters(), **hidden_in_link()})


def _start_bar(sweeps: WhenItHelpsState) -> None:
    if sweeps.slot.busy:
        return  # what is left is said beside the figures, at this machine's pace
    problem = sweeps.choice.problem(sweeps.own_prompts)

    def start() -> None:
        if sweeps.choice.problem(sweeps.own_prompts) is None:
            sweeps.came.acted = True
            sweeps.start(sweeps.choice.plan(sweeps.own_prompts))

    with st.container(horizontal=True, vertical_alignment="center", key="when_it_helps_start_bar"):
        able: Options = {"type": "primary", "disabled": problem is not None}
        button(SAYS["measure"], "when_it_helps_start", start, icon="play_arrow", **able)
        st.markdown(f":gray[{problem}]" if problem else _size_sentence(sweeps), width="stretch")


def _size_sentence(sweeps: WhenItHelpsState) -> str:
    plan = sweeps.choice.plan(sweeps.own_prompts)
    cells = plan.cells()
    runs = {"runs": len(cells), "alone": plain_runs(cells)}
    asked = {pair: RunRequest("", pair.target, pair.draft) for pair in plan.pairs}
    here = {pair: pace_here(request) for pair, request in asked.items()}
    seconds = estimated_seconds(cells, {pair: here[pair] or quiet_pace(request) for pair, request in asked.items()})
    return SAYS["size"].format(**runs, took=took(seconds, all(here.values())), limit=limit_sentence(seconds))


SEVERAL: Options = {"selection_mode": "multi", "wrap": True}


def _what(sweeps: WhenItHelpsState) -> None:
    offered = offered_workloads(held("when_it_helps_target"), [f"{name}-1" for name in held("when_it_helps_workloads")])
    titles, chosen = (
        {workload.name: workload.here.title for workload in offered},
        bind_default("when_it_helps_workloads"),
    )
    st.pills(SAYS["workloads_label"], list(titles), format_func=titles.__getitem__, **SEVERAL, **chosen)
    with st.expander(SAYS["about_workloads"]):
        for workload in filter(None, map(find_workload, held("when_it_helps_workloads"))):
            st.caption(f"**{workload.here.title}.** {workload.here.about}")
    st.slider(SAYS["prompts"], 1, MAX_PROMPTS_EACH, help=SAYS["prompts_help"], **bind_value("when_it_helps_prompts"))
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
    CONTROLS.target()
    drafts = list(dict.fromkeys([*offered_drafts(sweeps.choice.target), *sweeps.choice.drafts]))
    chosen = bind_default("when_it_helps_drafts") | {"max_selections": MOST_DRAFTS, "help": SAYS["drafts_help"]}
    st.multiselect(SAYS["tab_drafts"], drafts, format_func=model_label, **chosen)
    lengths = list(range(1, MAX_DRAFT_LENGTH + 1))
    st.pills(SAYS["draft_lengths"], lengths, **SEVERAL, **bind_default("when_it_helps_lengths"))


def _how(_: WhenItHelpsState) -> None:
    chosen, labels = (
        bind_default("when_it_helps_schedules") | {"help": SAYS["schedules_help"]},
        SCHEDULES.__getitem__,
    )
    st.pills(SAYS["schedules_label"], DRAFT_SCHEDULES, format_func=labels, **SEVERAL, **chosen)
    chosen = bind_default("when_it_helps_temperatures")
    st.pills(SAYS["temperatures_label"], TEMPERATURES, format_func=lambda x: localize(x, "g"), **SEVERAL, **chosen)
    CONTROLS.draw("max_new_tokens", offered=(TOKEN_STEP, MOST_TOKENS), step=TOKEN_STEP)
    st.toggle(SAYS["constrain"], help=SAYS["constrain_help"], **bind_value("when_it_helps_constrain"))
    with st.expander(SAYS["more"]):
        CONTROLS.draw("tree")
        st.caption(SAYS["above_0"])
        CONTROLS.more([MORE], elsewhere=(*VARIED, "max_new_tokens", "tree"))


def _key(name: str) -> str:
    return f"when_it_helps_{name.removeprefix('draft_') if name == 'draft_lengths' else name}"
