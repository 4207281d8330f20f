"""The Race page: what to race on, the race under way, which race is on screen, and everything drawn from it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import prod
from statistics import fmean
from typing import Annotated, Self

import streamlit as st
from pydantic import Field, SkipValidation

from specviz.core.drafters import spoken
from specviz.core.files import ASSETS
from specviz.core.names import first_words, short_name
from specviz.core.once import cache_once
from specviz.core.request import MAX_PROMPT_CHARACTERS, RunRequest, prompt_problem
from specviz.core.settings import SETTINGS
from specviz.core.texts import fill
from specviz.data.links import page_link as links
from specviz.data.links.permalink import SettingsLink
from specviz.data.prompts.workloads import ALL_WORKLOADS, find_preset
from specviz.data.texts import page_texts
from specviz.measure.paired import Comparison, Pace, show_duration
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS, RacePrompt, parse_race
from specviz.service.job import JobView
from specviz.service.protocol import Race
from specviz.ui.race.lanes import describe_pair, lanes_data, race_lanes
from specviz.ui.race.results import formats, rows, show_results, show_verdict
from specviz.ui.shared.engine import limit_sentence, pace_here, quiet_pace, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import Form, offered_presets
from specviz.ui.shared.job_slot import JobSlot, beside_line, done_share, show_progress, waiting_line
from specviz.ui.shared.parts import MOST_TYPED, Options, button, choice, data_table, notices, offer_download
from specviz.ui.shared.persistent_widgets import Widget

SAYS = page_texts("race")
PRESET_NAMES = [preset.name for workload in ALL_WORKLOADS for preset in workload.prompts]


class RaceEntry(SettingsLink):
    """What a visitor wants raced, as the link and the widgets hold it."""

    presets: Annotated[
        tuple[Annotated[str, links.one_of(PRESET_NAMES)], ...],
        links.unique(most=len(PRESET_NAMES)),
        Field(validation_alias="preset"),
        Widget("multiselect"),
    ] = ("story-1", "code-2", "structured-1", "random-1")
    # one prompt a line; `problem` says what is wrong with it
    own: Annotated[SkipValidation[str], Field(validation_alias="prompt"), Widget("text_area")] = ""
    repeats: Annotated[int, links.DIGITS, links.within(1, MAX_REPEATS), Widget("slider")] = 5
    same_length: Annotated[
        bool, links.ZERO_OR_ONE, links.expecting(lambda: page_texts("links")["zero_or_one"]), Widget("checkbox")
    ] = True

    @classmethod
    def read(cls, params: links.Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """See `PageLink.read`. A link with prompts of its own and no presets has no presets."""
        entry, problems = super().read(params, default, context)
        alone = entry.own.strip() and "presets" not in entry.model_fields_set
        return entry.model_copy(update={"presets": ()}) if alone else entry, problems

    def request(self, prompt: str = "") -> RunRequest:
        request = super().request(prompt)
        return replace(request, settings=replace(request.settings, stop_at_eos=not self.same_length))

    @property
    def prompts(self) -> list[RacePrompt]:
        """Presets first, then the visitor's own lines; blank lines are left out."""
        chosen = [RacePrompt(name, preset.text) for name in self.presets if (preset := find_preset(name))]
        own = self.own[: MAX_PROMPT_CHARACTERS + 1]  # `problem` refuses more, and many lines take much memory
        lines = [line for line in own.splitlines() if line.strip()]
        return chosen + [RacePrompt(f"own-{number}", line) for number, line in enumerate(lines, start=1)]

    @property
    def problem(self) -> str | None:
        if self.own.strip() and (too_long := prompt_problem(self.own)):
            return too_long
        prompts = self.prompts
        if not prompts:
            return SAYS["no_prompt"]
        if len(prompts) > MAX_PROMPTS:
            return SAYS["many_prompts"].format(most=MAX_PROMPTS, count=len(prompts))
        for prompt in prompts:
            if problem := prompt_problem(prompt.text):
                return SAYS["prompt_problem"].format(name=prompt.name, problem=problem)
        return None


RECORDED, RECORDED_ID = ASSETS / "traces" / "race.json", "recorded"


@dataclass(slots=True)
class RaceState:
    started: RaceEntry | None = None  # what was last raced, or is being raced
    slot: JobSlot = field(default_factory=lambda: JobSlot("race"))
    laps: list[Comparison] = field(default_factory=list)  # the visitor's own; the recorded race stands beside them
    raced: RaceEntry | None = None  # what those laps are of
    own_id: str = "live"  # of those laps
    in_lanes: str = ""  # which race plays; empty: the first of those shown
    places: dict[str, float] = field(default_factory=dict)  # where the playback's clock was left, by race

    def start(self, entry: RaceEntry) -> None:
        self.started = entry
        self.slot.start(lambda job: Race(job, entry.request(), entry.prompts, entry.repeats))

    def refresh(self) -> bool:
        """Ask how far it is, and show its results once it is over; whether another prompt is finished."""
        before = len(self.so_far)
        if self.slot.refresh() and self.so_far:
            self.laps, self.raced, self.own_id = list(self.so_far), self.started, f"live-{self.slot.view.job}"
            self.in_lanes, self.places = "", {}
        return len(self.so_far) > before

    @property
    def ended(self) -> str:
        """How the last race ended, and what is shown of it; empty where all of it was run."""
        if self.started is None or self.slot.busy or not self.slot.ended:
            return ""
        shown = SAYS["some_shown" if self.so_far else "none_shown"]
        state = self.slot.view.state
        why = self.slot.ended if state == "failed" else SAYS[state]
        return f"{why} {shown.format(done=len(self.so_far), total=len(self.started.prompts))}"

    def shown(self) -> dict[str, list[Comparison]]:
        return ({self.own_id: self.laps} if self.laps else {}) | {RECORDED_ID: recorded_race()}

    @property
    def so_far(self) -> Sequence[Comparison]:
        return self.slot.view.items


@cache_once
def recorded_race() -> list[Comparison]:
    """The race made by `scripts.record race`."""
    return parse_race(RECORDED.read_text(encoding="utf-8"))


NEAR = ("draft_length", "temperature", "max_new_tokens")
MORE = (("seed",), ("top_k", "top_p"), ("tree", "draft_schedule"), ("draft_sampling", "verification"))
FORM = Form("race", RaceEntry())
SHOWN_CHARACTERS = 18  # of a preset in the menu


def race(racing: RaceState) -> None:
    racing.refresh()
    controls, asked = FORM.controls, FORM.open()

    def label(name: str) -> str:
        """The name first: the lanes and the table go by it."""
        preset = find_preset(name)
        return f"{name} · {first_words(preset.text if preset else '', SHOWN_CHARACTERS)}"

    def begin() -> None:
        entry = FORM.read()
        FORM.came.change()
        if not entry.problem:
            racing.start(entry)

    with st.container(key="controls"):
        prompts, models, sliders = st.columns([3.2, 1.6, 2.4], gap="medium")
        with prompts:
            names = offered_presets(asked.target, asked.presets)
            FORM.draw("presets", names, format_func=label, placeholder=SAYS["presets_empty"])
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
            button(SAYS["start"], "race_start", begin, icon="flag", **look)
        with more, st.expander(SAYS["more"]):
            columns = st.columns(4, gap="medium")
            with columns[0]:
                FORM.draw("same_length")
            controls.more(MORE, NEAR, columns)
    entry = FORM.read()
    notices([*FORM.came.notes, entry.problem, links.explain_left_out(entry.own)])
    if not entry.problem:
        st.caption(size_sentence(entry, pace_here(entry.request()), quiet_pace(entry.request())))


def size_sentence(entry: RaceEntry, known: Pace | None, recorded: Pace | None = None) -> str:
    """How much is written, and how long that takes, by what the pair costs: known of this server, or recorded."""
    tokens, pace = entry.request().settings.max_new_tokens, known or recorded
    figures = {"prompts": len(entry.prompts), "repeats": entry.repeats, "tokens": tokens}
    seconds = prod(figures.values()) * pace.both if pace else None
    return fill(SAYS["size"], {**figures, "took": took(seconds, known is not None), "limit": limit_sentence(seconds)})


def show_race(racing: RaceState) -> None:
    offer_download(racing.slot)
    if racing.slot.busy:
        _show_measuring(racing)
        return
    failed = racing.slot.view.state == "failed"
    notices([racing.ended], "error" if failed else "info")
    notices([beside_line(racing.slot.view.beside)], "info")
    races = racing.shown()
    machine = races[RECORDED_ID][0].speculative.recorded_on.machine
    where = {racing.own_id: SAYS["measured_here"], RECORDED_ID: SAYS["recorded_on"].format(machine=machine)}
    names = {each: SAYS["recorded_race" if each == RECORDED_ID else "your_race"] for each in races}
    with st.container(key="run"):
        for run_id, laps in races.items():
            pair = f" ({plain(describe_pair(laps[0]))})" if len(races) > 1 else ""  # two races may differ in it
            show_verdict(laps, f"{names[run_id]}{pair}", where[run_id])
        # the newest, until one is chosen
        run_id = choice(SAYS["in_lanes"], names, f"race_shown-{'-'.join(races)}", racing.in_lanes)
        racing.in_lanes = run_id if len(races) > 1 else racing.in_lanes
        laps = races[run_id]
        st.caption(_caption(racing, run_id, laps))
        data = lanes_data(laps, run_id=run_id, badge=where[run_id], place=racing.places.get(run_id))
        place = race_lanes(data, key=f"race_lanes-{run_id}")  # each race has its own clock
    if place is not None:
        racing.places[run_id] = place
    with st.container(key="outcome"):
        short = {each: SAYS["recorded" if each == RECORDED_ID else "yours"] for each in races}  # at a row of the plot
        show_results({short[each]: its for each, its in races.items()}, laps)


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


def _show_measuring(racing: RaceState) -> None:
    with st.container(border=True, key="race_progress"):
        show_progress(racing.slot, lambda view: progress_line(view, racing.so_far), racing.refresh, SO_FAR)
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
    """What is measured now, and how long the rest takes, going by the finished prompts."""
    if line := waiting_line(view):
        waiting = f"{line[0].upper()}{line[1:]}".rstrip(".")
        return SAYS["waiting_some" if laps else "waiting_none"].format(waiting=waiting, count=len(laps))
    if (progress := view.progress) is None:
        return SAYS["starting"]
    step = SAYS["step_timing" if progress.phase == "timing" else "step_warming"]
    step = step.format(**asdict(progress), number=progress.done + 1)
    each = [sum(both) for lap in laps for both in zip(lap.alone.latency, lap.ours.latency, strict=True)]
    if not each or done_share(progress) == 1:
        return SAYS["step_alone"].format(step=step)
    left = fmean(each) * progress.repeats * progress.total * (1 - done_share(progress))
    return SAYS["step_left"].format(step=step, duration=show_duration(left).capitalize())
