"""The Race page: what to race on, the race under way, which race is on screen, and everything drawn from it."""

from collections.abc import Sequence
from statistics import fmean

import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.names import first_words, short_name
from specviz.core.settings import SETTINGS
from specviz.core.texts import fill
from specviz.data.links.page_link import explain_left_out
from specviz.data.prompts.workloads import find_preset
from specviz.data.texts import page_texts
from specviz.measure.paired import Comparison, Pace, show_duration
from specviz.service.job import JobView
from specviz.service.protocol import JobProgress
from specviz.ui.race.lanes import describe_pair, lanes_data, race_lanes
from specviz.ui.race.race_state import RECORDED_ID, RaceEntry, RaceState
from specviz.ui.race.results import formats, rows, show_results, show_verdict
from specviz.ui.shared.engine import limit_sentence, pace_here, quiet_pace, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import Form
from specviz.ui.shared.job_slot import beside_line, done_share, show_progress, waiting_line
from specviz.ui.shared.parts import MOST_TYPED, Options, button, data_table, notices, offer_download
from specviz.ui.shared.run_controls import offered_presets

SAYS = page_texts("race")
NEAR = ("draft_length", "temperature", "max_new_tokens")
MORE = (("seed",), ("top_k", "top_p"), ("tree", "draft_schedule"), ("draft_sampling", "verification"))
FORM = Form("race", RaceEntry())
SHOWN_CHARACTERS = 18  # of a preset in the menu


def race_controls(racing: RaceState) -> RaceEntry:
    """Draw the controls; what they say."""
    controls, asked = FORM.controls, FORM.open()
    with st.container(key="controls"):
        prompts, models, sliders = st.columns([3.2, 1.6, 2.4], gap="medium")
        with prompts:
            names = offered_presets(asked.target, asked.presets)
            FORM.draw("presets", names, format_func=preset_label, placeholder=SAYS["presets_empty"])
            FORM.draw("own", height=68, max_chars=MOST_TYPED)
        with models:
            controls.target()
            controls.draft()
        with sliders:
            places = [*st.columns(2, gap="medium"), *st.columns(2, gap="medium")]
            for place, name in zip(places, NEAR, strict=False):
                with place:
                    controls.draw(name)
            with places[-1]:
                FORM.draw("repeats")
        start, more = st.columns([1, 3.8], gap="medium")
        with start:
            look: Options = {"type": "primary", "width": "stretch", "disabled": racing.slot.busy}
            button(SAYS["start"], "race_start", _start, racing, icon="flag", **look)
        with more, st.expander(SAYS["more"]):
            columns = st.columns(4, gap="medium")
            with columns[0]:
                FORM.draw("same_length")
            controls.more(MORE, NEAR, columns)
    return FORM.read()


def _start(racing: RaceState) -> None:
    entry = FORM.read()
    FORM.came.change()
    if not entry.problem:
        racing.start(entry)


def preset_label(name: str) -> str:
    """The name first: the lanes and the table go by it."""
    preset = find_preset(name)
    return f"{name} · {first_words(preset.text if preset else '', SHOWN_CHARACTERS)}"


def race(racing: RaceState) -> None:
    racing.refresh()
    entry = race_controls(racing)
    notices([*FORM.came.notes, entry.problem, explain_left_out(entry.own)])
    if not entry.problem:
        st.caption(size_sentence(entry, pace_here(entry.request()), quiet_pace(entry.request())))


def size_sentence(entry: RaceEntry, known: Pace | None, recorded: Pace | None = None) -> str:
    """How much is written, and how long that takes, by what the pair costs: known of this server, or recorded."""
    tokens, pace = entry.request().settings.max_new_tokens, known or recorded
    seconds = entry.all_tokens * pace.both if pace else None
    figures = {"prompts": len(entry.prompts), "repeats": entry.repeats, "tokens": tokens}
    return fill(SAYS["size"], {**figures, "took": took(seconds, known is not None), "limit": limit_sentence(seconds)})


def show_race(racing: RaceState) -> None:
    offer_download(racing.slot)
    if racing.slot.busy:
        show_measuring(racing)
        return
    notices([racing.message], "error")
    notices([racing.finished, beside_line(racing.slot.beside)], "info")
    races = racing.shown()
    if not races:
        return notices([SAYS["nothing"]], "info")
    where = dict.fromkeys(races, SAYS["measured_here"])
    if RECORDED_ID in races:
        machine = races[RECORDED_ID][0].speculative.recorded_on.machine
        where[RECORDED_ID] = SAYS["recorded_on"].format(machine=machine)
    with st.container(key="run"):
        for run_id, laps in races.items():
            pair = f" ({plain(describe_pair(laps[0]))})" if len(races) > 1 else ""  # two races may differ in it
            show_verdict(laps, f"{_name(run_id)}{pair}", where[run_id])
        run_id = racing.in_lanes if racing.in_lanes in races else next(iter(races))  # the newest, until one is chosen
        if len(races) > 1:
            named: Options = {"default": run_id, "format_func": _name, "key": f"race_shown-{'-'.join(races)}"}
            run_id = str(st.segmented_control(SAYS["in_lanes"], list(races), required=True, **named))
            racing.in_lanes = run_id
        laps = races[run_id]
        st.caption(_caption(racing, run_id, laps))
        data = lanes_data(laps, run_id=run_id, badge=where[run_id], place=racing.places.get(run_id))
        place = race_lanes(data, key=f"race_lanes-{run_id}")  # each race has its own clock
    if place is not None:
        racing.places[run_id] = place
    with st.container(key="outcome"):
        short = {each: SAYS["recorded" if each == RECORDED_ID else "yours"] for each in races}  # at a row of the plot
        show_results({short[each]: its for each, its in races.items()}, laps)


def _name(run_id: str) -> str:
    return SAYS["recorded_race" if run_id == RECORDED_ID else "your_race"]


def _caption(racing: RaceState, run_id: str, laps: list[Comparison]) -> str:
    first, settings = laps[0].speculative, laps[0].speculative.settings
    assert first.drafter is not None
    schedule = SETTINGS["draft_schedule"].here.labels[settings.draft_schedule].lower()
    policy = "" if settings.draft_schedule == "fixed" else SAYS["policy"].format(schedule=schedule)
    seeds = laps[0].seeds
    seeded = SAYS["new_seeds" if len(seeds) > 1 else "one_seed"].format(first=seeds[0], last=seeds[-1])
    figures = {
        "target": plain(short_name(first.target.name)),
        "dtype": plain(first.target.dtype),
        "drafter": plain(spoken(short_name(first.drafter.name))),
        "gamma": settings.draft_length,
        "policy": policy,
        "manner": settings.manner,
        "temperature": settings.temperature,
        "tokens": settings.max_new_tokens,
        "repeats": len(laps[0].plain_seconds),
        "drawn": "" if settings.greedy else seeded,
    }
    of = fill(SAYS["run_of"], figures)
    if run_id == RECORDED_ID:
        return SAYS["recorded_of"].format(of=of)
    return SAYS["your_race_of" if racing.raced == FORM.asked else "your_race_before"].format(of=of)


SO_FAR = "race_so_far"  # the part of the page that grows with a race


def show_measuring(racing: RaceState) -> None:
    with st.container(border=True, key="race_progress"):
        show_progress(racing.slot, lambda view: progress_line(view, racing.so_far), racing.look, SO_FAR)
        st.caption(SAYS["expect"])
        button(SAYS["cancel"], "race_cancel", racing.slot.cancel, icon="close")

    @st.fragment(key=SO_FAR)
    def found() -> None:
        if racing.started:
            laps = racing.so_far
            st.markdown(SAYS["so_far"].format(done=len(laps), total=len(racing.started.prompts)))
            if laps:  # no empty table: the line above says what is being measured
                data_table([row for lap in laps for row in rows([lap])], "race_table_so_far", columns=formats())

    found()


def progress_line(view: JobView, laps: Sequence[Comparison]) -> str:
    if line := waiting_line(view):
        waiting = f"{line[0].upper()}{line[1:]}".rstrip(".")
        return SAYS["waiting_some" if laps else "waiting_none"].format(waiting=waiting, count=len(laps))
    if view.progress is None:
        return SAYS["starting"]
    step, left = race_step(view.progress), race_left(view.progress, laps)
    duration = show_duration(left).capitalize() if left else ""
    return SAYS["step_left" if left else "step_alone"].format(step=step, duration=duration)


def race_step(progress: JobProgress) -> str:
    figures = {"number": progress.done + 1, "repeat": progress.repeat, "repeats": progress.repeats}
    step = SAYS["step_timing" if progress.phase == "timing" else "step_warming"]
    return step.format(total=progress.total, prompt=progress.prompt, **figures)


def race_left(progress: JobProgress, laps: Sequence[Comparison]) -> float | None:
    """Seconds of timed runs that are still to come, going by the finished prompts; None before there is one."""
    each = [one + other for lap in laps for one, other in zip(lap.plain_latency, lap.speculative_latency, strict=True)]
    if not each:
        return None
    return fmean(each) * progress.repeats * progress.total * (1 - done_share(progress))
