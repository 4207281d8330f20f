"""A race while it is measured: how far it is, Cancel, and a table that grows."""

from collections.abc import Sequence
from statistics import fmean

import pandas as pd
import streamlit as st

from specviz.data.page_texts import page_texts
from specviz.measure.paired import in_minutes
from specviz.measure.race import RaceLap, RacePrompt
from specviz.service.job import JobView
from specviz.service.protocol import Progress
from specviz.ui.race.race_state import Racing
from specviz.ui.race.results import prompt_row
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import waiting_line, while_busy
from specviz.ui.shared.parts import data_table, texts

SAYS = page_texts("race")

SO_FAR = "race_so_far"  # the part of the page that grows with a race
FIGURES = ("speedup", "quality", "accepted", "rejected", "target calls", "target alone, s", "speculative, s")


def show_measuring(racing: Racing) -> None:
    def progress() -> None:
        if view := racing.slot.view:
            st.progress(race_share(view.progress), plain(progress_line(view, racing.so_far)))

    with st.container(border=True, key="race_progress"):
        while_busy(lambda: racing.slot.busy, progress, racing.look, part=SO_FAR)
        st.caption(SAYS["expect"])
        st.button("Cancel", key="race_cancel", icon=":material/close:", on_click=racing.slot.cancel)

    @st.fragment(key=SO_FAR)
    def found() -> None:
        if racing.started:
            laps, prompts = racing.so_far, racing.started.prompts
            st.markdown(SAYS["so_far"].format(done=len(laps), total=len(prompts)))
            columns = texts(*(name for name in FIGURES if name != "quality"))
            data_table(pd.DataFrame(rows_so_far(laps, prompts)), "race_table_so_far", columns=columns)

    found()


def race_share(progress: Progress | None) -> float:
    """How much of the race is done, from 0 to 1: finished prompts, and the finished repeats of the one being timed."""
    if progress is None or not progress.total:
        return 0.0
    within = (progress.repeat - 1) / progress.repeats if progress.repeat else 0.0
    return min(1.0, (progress.done + within) / progress.total)


def progress_line(view: JobView, laps: Sequence[RaceLap]) -> str:
    if line := waiting_line(view):
        measured = f"{len(laps)} prompts are measured so far" if laps else "nothing is measured yet"
        return f"{line[0].upper()}{line[1:]}".rstrip(".") + f"; {measured}."
    if view.progress is None:
        return "Starting: nothing is measured yet."
    left = race_left(view.progress, laps)
    return f"{race_step(view.progress)}." + (f" {in_minutes(left).capitalize()} of measuring left." if left else "")


def race_step(progress: Progress) -> str:
    timing = f"repeat {progress.repeat} of {progress.repeats}, both decoders in turns"
    doing = timing if progress.phase == "timing" else f"{progress.phase} both decoders, not timed"
    return f"Prompt {progress.done + 1} of {progress.total}, {progress.prompt}: {doing}"


def race_left(progress: Progress, laps: Sequence[RaceLap]) -> float | None:
    """Seconds of timed runs that are still to come, going by the finished prompts; None before there is one."""
    each = [one + other for lap in laps for one, other in zip(lap.plain_latency, lap.speculative_latency, strict=True)]
    if not each:
        return None
    return fmean(each) * progress.repeats * progress.total * (1 - race_share(progress))


def rows_so_far(laps: Sequence[RaceLap], prompts: Sequence[RacePrompt]) -> list[dict[str, str]]:
    shown = [(lap, prompt_row(lap)) for lap in laps]
    finished = [
        {"prompt": lap.name, "so far": lap.verdict.judgement.said, **{name: str(row[name]) for name in FIGURES}}
        for lap, row in shown
    ]
    coming = [{"prompt": prompt.name, "so far": "to come", **dict.fromkeys(FIGURES, "")} for prompt in prompts]
    for row in coming[len(laps) : len(laps) + 1]:
        row["so far"] = "next"
    return [*finished, *coming[len(laps) :]]
