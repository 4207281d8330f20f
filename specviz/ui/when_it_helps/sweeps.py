"""What a visitor wants swept, as link and widgets hold it; its controls, the sweep under way, and what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import streamlit as st
from pydantic import AfterValidator, Field

from specviz.core.drafters import named
from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.numbers import localize
from specviz.core.once import cache_once
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, SHOWN, RunRequest, unlocked
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, SETTINGS, DraftSchedule, parse_tree
from specviz.data.links.page_link import DIGITS, REAL_NUMBER, ZERO_OR_ONE, PageLink, one_of, real, unique
from specviz.data.links.permalink import VARIED, DraftName, FixedLink, Target
from specviz.data.prompts.workloads import ALL_WORKLOADS, find_workload
from specviz.data.texts import page_texts
from specviz.measure.paired import Pace
from specviz.measure.sweep.plan import SweepCell, SweepPair, SweepPlan, SweepPrompt, plain_runs, workload_prompts
from specviz.measure.sweep.prompt_files import MAX_PROMPTS, PromptFile, read_prompts
from specviz.measure.sweep.rows import SweepRow, frame_of, joined, parse_rows, read_frame
from specviz.models.draft_menu import model_label, offered_drafts
from specviz.service.protocol import Sweep
from specviz.ui.session import session
from specviz.ui.shared.engine import limit_sentence, pace_here, quiet_pace, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import Form, offered_workloads
from specviz.ui.shared.job_slot import JobSlot
from specviz.ui.shared.parts import Options, button, file_uploader, notices
from specviz.ui.shared.persistent_widgets import Widget

if TYPE_CHECKING:
    import pandas as pd

    from specviz.measure.sweep.study import Study

SAYS = page_texts("when_it_helps")
SHARED = page_texts("shared")
MAX_CELLS = 1000
MAX_PROMPTS_EACH = 10
MOST_DRAFTS = 4
TOKEN_STEP = 8  # of the slider
WARM_UP_TOKENS = 6  # of both decoders before each group of runs, about
TEMPERATURES = (0.0, 0.3, 0.5, 0.7, 1.0, 1.5)  # what the page offers
USUAL_LENGTHS = (1, 2, 4, 8)
CHOICES = {  # what must have a value, and its label
    "workloads": "workloads_label",
    "drafts": "tab_drafts",
    "draft_lengths": "draft_lengths",
    "temperatures": "temperatures_label",
    "schedules": "schedules_label",
}

WorkloadName = Annotated[str, one_of([workload.name for workload in ALL_WORKLOADS])]
SweptLength = Annotated[int, DIGITS, Field(ge=1, le=MAX_DRAFT_LENGTH)]
Temperature = Annotated[float, REAL_NUMBER, one_of(TEMPERATURES)]
IN_ORDER = AfterValidator(lambda values: tuple(sorted(values)))


class SweepChoice(FixedLink):
    """What the page's controls say, and so what its link holds: a run's settings, some of them with several values."""

    REFUSED: ClassVar[str] = PageLink.LEFT_OUT

    workloads: Annotated[
        tuple[WorkloadName, ...], unique(), Field(validation_alias="workload"), Widget("pills", "workloads_label")
    ] = ("story", "code", "structured", "copy", "prose", "random")
    target: Target = DEFAULT_TARGET
    drafts: Annotated[
        tuple[DraftName, ...], unique(MOST_DRAFTS), Field(validation_alias="draft"), Widget("multiselect", "tab_drafts")
    ] = (DEFAULT_DRAFT,)
    draft_lengths: Annotated[
        tuple[SweptLength, ...], unique(), IN_ORDER, Field(validation_alias="gamma"), Widget("pills")
    ] = USUAL_LENGTHS
    temperatures: Annotated[
        tuple[Temperature, ...],
        unique(),
        Field(validation_alias="temperature"),
        Widget("pills", "temperatures_label"),
    ] = (0.0,)
    schedules: Annotated[
        tuple[DraftSchedule, ...], unique(), Field(validation_alias="schedule"), Widget("pills", "schedules_label")
    ] = ("fixed",)
    prompts: Annotated[int, DIGITS, Field(ge=1, le=MAX_PROMPTS_EACH), Widget("slider")] = 3  # of each workload
    constrain: Annotated[bool, ZERO_OR_ONE, Widget("toggle")] = False
    top_p: Annotated[float, real(decimals=2), Field(ge=0.01, le=1)] = 1.0  # what the slider can hold

    def fitted(self) -> Self:
        tokens = max(TOKEN_STEP, self.request.settings.max_new_tokens // TOKEN_STEP * TOKEN_STEP)
        in_order: dict[str, Sequence[object]] = {
            "workloads": [each.name for each in ALL_WORKLOADS if each.name in self.workloads],
            "schedules": [each for each in DRAFT_SCHEDULES if each in self.schedules],
            "draft_lengths": sorted(self.draft_lengths),
            "temperatures": sorted(self.temperatures),
        }
        chosen = {name: tuple(values) for name, values in in_order.items()}
        return self.model_copy(update={**chosen, "tokens": tokens, "top_p": round(self.top_p, 2)})

    @property
    def request(self) -> RunRequest:
        """What all runs have in common; a tree of a fixed shape sets the draft length."""
        usual = RunRequest("").shown()
        shown = unlocked({**usual, **{name: value for name, value in self if name in usual}})
        shape = None if (tree := SHOWN["tree"].taken(shown["tree"])) is None else parse_tree(tree)
        if shape and shape.depth:
            shown["gamma"] = shape.depth
        return RunRequest.from_shown("", self.target, "", shown)

    def plan(self, own: Sequence[SweepPrompt] = ()) -> SweepPlan:
        chosen = [workload for name in self.workloads if (workload := find_workload(name))]
        request = self.request
        return SweepPlan(
            prompts=(*workload_prompts(chosen, self.prompts), *own),
            pairs=tuple(SweepPair(self.target, draft) for draft in self.drafts),
            draft_lengths=self.draft_lengths,
            temperatures=self.temperatures,
            schedules=self.schedules,
            constrain=self.constrain,
            settings=request.settings,
        )

    def problem(self, own: Sequence[SweepPrompt] = ()) -> str | None:
        for name, label in CHOICES.items():
            if not getattr(self, name) and not (name == "workloads" and own):
                return SAYS["choose"].format(what=SAYS[label])
        if self.request.settings.tree is not None:
            for method in filter(None, map(named, self.drafts)):
                if not method.trees:
                    label = method.here.label
                    return SAYS["no_tree"].format(draft=f"{label[0].upper()}{label[1:]}")
            if self.schedules != ("fixed",):
                return SAYS["tree_is_fixed"]
        cells = len(self.plan(own).cells())
        if cells > MAX_CELLS:
            return SAYS["too_many"].format(runs=cells, most=MAX_CELLS)
        return None if cells else SAYS["no_confidence"]


def estimated_seconds(cells: Sequence[SweepCell], paces: Mapping[SweepPair, Pace | None]) -> float | None:
    """About how long these cells take, warm-ups included; None where a pair's pace is not known."""
    total = 0.0
    for pair in dict.fromkeys(cell.pair for cell in cells):
        if (pace := paces[pair]) is None:
            return None
        its = [cell for cell in cells if cell.pair == pair]
        plain = plain_runs(its) * (its[0].settings.max_new_tokens + WARM_UP_TOKENS)
        total += sum(cell.settings.max_new_tokens for cell in its) * pace.speculative + plain * pace.plain
    return total


HERE, RECORDED = "measured here", "recorded"  # rows, as the program calls them
MAX_FILES = 5  # opened CSV files of a visitor that stay in the server's memory; the oldest go first
FILE = ASSETS / "traces" / "sweep.csv"


@dataclass(slots=True)
class WhenItHelpsState:
    csv_problems: list[str] = field(default_factory=list)  # why the file last opened cannot be shown
    own_problems: list[str] = field(default_factory=list)  # why the file of prompts last opened cannot be used
    unfolded: bool = False  # the next measurement: something of it was chosen, by the visitor or by a link
    own: PromptFile | None = None  # prompts from the visitor's file
    rows: dict[str, "pd.DataFrame"] = field(default_factory=dict)  # by where they are from: here, or a file's name
    studied: dict[str, "tuple[pd.DataFrame, list[Study]]"] = field(default_factory=dict)  # see the function
    cleared: dict[str, "pd.DataFrame"] | None = None  # what Clear took away
    shown: str = ""  # which of them the figures show; empty: the newest there is
    slot: JobSlot = field(default_factory=lambda: JobSlot("sweep"))
    taken: int = 0  # of its items
    problems: list[str] = field(default_factory=list)  # cells that could not be measured, prompts not taken
    measured: int = 0  # of its cells
    began: float = 0.0  # when it began to measure, by the monotonic clock

    @property
    def own_prompts(self) -> tuple[SweepPrompt, ...]:
        return self.own.prompts if self.own else ()

    def take_prompts(self, content: bytes, _: str) -> None:
        """The visitor's own prompts; an InputError, and no change, where the file cannot be used."""
        self.own = read_prompts(content)

    def refresh(self) -> bool:
        """Ask how far the sweep is, and take in what it has found since; whether that is something."""
        self.slot.refresh()
        items = self.slot.view.items
        new, self.taken = items[self.taken :], len(items)
        found = [item for item in new if isinstance(item, SweepRow)]
        if found and not self.measured:
            self.began = monotonic() - sum(row.speculative_seconds + row.autoregressive_seconds for row in found)
        if new:
            self.measured += len(found)
            self.rows |= _both(self.rows, {HERE: frame_of(found)})
            self.problems = list(dict.fromkeys([*self.problems, *(item for item in new if isinstance(item, str))]))
        return bool(new)

    def start(self, plan: SweepPlan) -> None:
        self.slot.start(lambda job: Sweep(job, plan))
        self.taken = self.measured = 0
        self.problems, self.shown = [], HERE

    def cancel(self) -> None:
        self.slot.cancel()
        self.refresh()

    def clear(self) -> None:
        self.cleared, self.rows, self.studied, self.shown = self.rows, {}, {}, ""

    def undo_clear(self) -> None:
        self.rows, self.cleared = _both(self.cleared or {}, self.rows), None

    def load(self, content: bytes, name: str) -> None:
        """Show a sweep's CSV, or raise an InputError. Only the newest few files stay."""
        try:
            rows = read_frame(content, name)
        except InputError as error:
            raise InputError(SHARED["file_refused"].format(problem=error)) from None
        source = SAYS["from_file"].format(name=name[:60])
        self.rows.pop(source, None)
        self.rows[source], self.shown = rows, source
        files = [each for each in self.rows if each != HERE]
        for oldest in files[:-MAX_FILES]:
            del self.rows[oldest]
        self.studied = {source: study for source, study in self.studied.items() if source in self.rows}

    def sources(self) -> list[str]:
        own = [source for source in dict.fromkeys((HERE, *reversed(self.rows))) if len(self.rows_of(source))]
        return [*own, RECORDED]

    def rows_of(self, source: str) -> "pd.DataFrame":
        recorded = recorded_sweep()
        return recorded if source == RECORDED else self.rows.get(source, recorded[:0])


def _both(first: dict[str, "pd.DataFrame"], then: dict[str, "pd.DataFrame"]) -> dict[str, "pd.DataFrame"]:
    both = {name: [rows[name] for rows in (first, then) if name in rows] for name in (*first, *then)}
    return {name: joined(*rows) for name, rows in both.items()}


@cache_once
def recorded_sweep() -> "pd.DataFrame":
    """The rows recorded for everyone by `scripts.record sweep`."""
    return frame_of(parse_rows(FILE.read_text(encoding="utf-8"), FILE.name))


def studied(sweeps: WhenItHelpsState, source: str) -> "list[Study]":
    """The studies of the rows from there, by series; computed again only where other rows have come."""
    from specviz.measure.sweep.study import studies_of  # pandas starts slowly

    if source == RECORDED:
        return recorded_studies()
    rows = sweeps.rows_of(source)
    known = sweeps.studied.get(source)
    if known is None or known[0] is not rows:
        known = sweeps.studied[source] = rows, studies_of(rows)
    return known[1]


@cache_once
def recorded_studies() -> "list[Study]":
    """Of the recorded rows: the same for every visitor, so computed once in this server."""
    from specviz.measure.sweep.study import studies_of  # see above

    return studies_of(recorded_sweep())


FORM = Form("when_it_helps", SweepChoice())
SCHEDULES = page_texts("schedules")
MORE = ("draft_sampling", "verification", "seed", "top_k", "top_p")
SEVERAL: Options = {"selection_mode": "multi", "wrap": True}
MOST_TOKENS = SETTINGS["max_new_tokens"].limits[1]


def next_measurement() -> None:
    """Folded until it is wanted: it says what is measured next, and filters none of the figures."""
    sweeps = session().of(WhenItHelpsState)
    sweeps.refresh()  # how long the next one takes goes by the last one
    sweeps.unfolded |= FORM.open() != FORM.start
    notices(FORM.came.notes)
    with st.expander(SAYS["next"], expanded=sweeps.unfolded):
        texts, pairs, settings = st.columns(3, gap="large")
        with texts:
            _draw_texts(sweeps)
        with pairs:
            FORM.controls.target()
            drafts = list(dict.fromkeys([*offered_drafts(FORM.asked.target), *FORM.asked.drafts]))
            FORM.draw("drafts", drafts, format_func=model_label, max_selections=MOST_DRAFTS)
            FORM.draw("draft_lengths", list(range(1, MAX_DRAFT_LENGTH + 1)), **SEVERAL)
        with settings:
            FORM.draw("schedules", DRAFT_SCHEDULES, format_func=SCHEDULES.__getitem__, **SEVERAL)
            FORM.draw("temperatures", TEMPERATURES, format_func=lambda x: localize(x, "g"), **SEVERAL)
            FORM.controls.draw("max_new_tokens", offered=(TOKEN_STEP, MOST_TOKENS), step=TOKEN_STEP)
            FORM.draw("constrain")
            with st.expander(SAYS["more"]):
                FORM.controls.draw("tree")
                st.caption(SAYS["above_0"])
                FORM.controls.more([MORE], elsewhere=(*VARIED, "max_new_tokens", "tree"))
        FORM.read()
        _start_bar(sweeps)


def _start_bar(sweeps: WhenItHelpsState) -> None:
    if sweeps.slot.busy:
        return  # what is left is said beside the figures, at this machine's pace
    problem, said = FORM.asked.problem(sweeps.own_prompts), ""
    if problem is None:
        plan = FORM.asked.plan(sweeps.own_prompts)
        cells = plan.cells()
        asked = {pair: RunRequest("", pair.target, pair.draft) for pair in plan.pairs}
        here = {pair: pace_here(request) for pair, request in asked.items()}
        seconds = estimated_seconds(cells, {pair: here[pair] or quiet_pace(request) for pair, request in asked.items()})
        figures = {"runs": len(cells), "alone": plain_runs(cells), "limit": limit_sentence(seconds)}
        said = SAYS["size"].format(**figures, took=took(seconds, all(here.values())))

    def start() -> None:
        if FORM.asked.problem(sweeps.own_prompts) is None:
            FORM.came.acted = True
            sweeps.start(FORM.asked.plan(sweeps.own_prompts))

    with st.container(horizontal=True, vertical_alignment="center", key="when_it_helps_start_bar"):
        able: Options = {"type": "primary", "disabled": problem is not None}
        button(SAYS["measure"], "when_it_helps_start", start, icon="play_arrow", **able)
        st.markdown(f":gray[{problem}]" if problem else said, width="stretch")


def _draw_texts(sweeps: WhenItHelpsState) -> None:
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
        look: Options = {"help": SAYS["file_help"]}
        file_uploader(label, "when_it_helps_file", sweeps.take_prompts, sweeps.own_problems, **look)
        if sweeps.own:
            count, problems = len(sweeps.own.prompts), [*sweeps.own.notes, *sweeps.own.problems]
            st.caption(SAYS["prompts_taken"].format(count=count))
            button(SAYS["leave_out"], "when_it_helps_leave", setattr, sweeps, "own", None)
            for line in problems[:10]:
                st.markdown(plain(line))
            if len(problems) > 10:
                st.markdown(SAYS["more_lines"].format(count=len(problems) - 10))
