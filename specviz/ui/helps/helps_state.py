"""A visitor's sweeps: the one under way, what it found, and what was there before."""

import logging
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.replay import Prospect
from specviz.data.workloads import DEFAULT_PRESET
from specviz.measure.sweep.plan import SweepPlan, SweepPrompt
from specviz.measure.sweep.prompt_files import PromptFile
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.table import frame_of, joined, read_frame
from specviz.service.job import Items
from specviz.service.protocol import Sweep
from specviz.ui.helps.choice import Choice
from specviz.ui.shared.arrival import Arrival
from specviz.ui.shared.job_slot import JobSlot

if TYPE_CHECKING:
    import pandas as pd

    from specviz.measure.sweep.study import Study

HERE, RECORDED = "measured here", "recorded"
CANCELLED = "Cancelled: what was measured stays."
LOST = "The sweep has expired because this page was left or the server restarted: what was measured stays."
DRAFTS_STAY: dict[str, str] = {
    "cancelled": "Cancelled: the drafts so far stay.",
    "lost": "This comparison has expired: the drafts so far stay.",
}
MAX_FILES = 5  # opened CSV files of a visitor that stay in the server's memory; the oldest go first
FILE = ASSETS / "traces" / "sweep.csv"


@dataclass(slots=True)
class Sweeps:
    came: Arrival = field(default_factory=Arrival)
    csv_problem: str = ""  # why the file last opened cannot be shown
    own_problem: str = ""  # why the file of prompts last opened cannot be used
    choice: Choice = field(default_factory=Choice)
    own: PromptFile | None = None  # prompts from the visitor's file
    rows: dict[str, "pd.DataFrame"] = field(default_factory=dict)  # by where they are from: here, or a file's name
    studied: dict[str, "tuple[pd.DataFrame, list[Study]]"] = field(default_factory=dict)  # see the function
    cleared: dict[str, "pd.DataFrame"] | None = None  # what Clear took away
    shown: str = ""  # which of them the figures show; empty: the newest there is
    slot: JobSlot[Items[SweepRow | str]] = field(default_factory=lambda: JobSlot("sweep", Items))
    taken: int = 0  # of its items
    problems: list[str] = field(default_factory=list)  # cells that could not be measured, prompts not taken
    outcome: str = ""  # how the last sweep ended, where not by being done
    began: float = 0.0  # when the sweep was asked for, by the monotonic clock

    @property
    def own_prompts(self) -> tuple[SweepPrompt, ...]:
        return self.own.prompts if self.own else ()

    def leave_own(self) -> None:
        self.own = None

    def refresh(self) -> bool:
        """Ask how far the sweep is, and take in what it has found since; whether that is something."""
        ended = self.slot.refresh()
        items = self.slot.result.items if self.slot.result else ()
        new, self.taken = items[self.taken :], len(items)
        if new:
            self.rows |= _both(self.rows, {HERE: frame_of(item for item in new if isinstance(item, SweepRow))})
            self.problems = list(dict.fromkeys([*self.problems, *(item for item in new if isinstance(item, str))]))
        if ended:
            self.outcome = {"cancelled": CANCELLED, "lost": LOST}.get(self.slot.state, self.slot.message)
        return bool(new)

    def start(self, plan: SweepPlan) -> None:
        self.slot.start(lambda job: Sweep(job, plan))
        self.taken, self.began = 0, monotonic()
        self.problems, self.outcome, self.shown = [], "", HERE

    def cancel(self) -> None:
        self.slot.cancel()
        self.refresh()

    def clear(self) -> None:
        self.cleared, self.rows, self.studied, self.shown = self.rows, {}, {}, ""

    def undo_clear(self) -> None:
        self.rows, self.cleared = _both(self.cleared or {}, self.rows), None

    def load(self, content: bytes, name: str) -> None:
        """Show a sweep's CSV, or raise an InputError. Only the newest few files stay."""
        rows = read_frame(content, name)
        source = f"from {name[:60]}"
        self.rows.pop(source, None)
        self.rows[source], self.shown = rows, source
        files = [each for each in self.rows if each != HERE]
        for oldest in files[:-MAX_FILES]:
            del self.rows[oldest]
        self.studied = {source: study for source, study in self.studied.items() if source in self.rows}

    def sources(self) -> list[str]:
        own = dict.fromkeys((HERE, *reversed(self.rows)))
        return [source for source in (*own, RECORDED) if len(self.rows_of(source))]

    def rows_of(self, source: str) -> "pd.DataFrame":
        if source == RECORDED:
            return recorded_sweep()
        return self.rows[source] if source in self.rows else no_rows()


@dataclass(slots=True)
class ByDraft:
    preset: str = DEFAULT_PRESET.name  # chosen
    slot: JobSlot[Items[Prospect]] = field(default_factory=lambda: JobSlot("by draft", Items))
    shown: str = ""  # the preset the prospects are of
    prospects: list[Prospect] = field(default_factory=list)
    message: str = ""

    def refresh(self, patience: float = 0.0) -> bool:
        """Ask how far it is, and take in what was found since, whether that is something."""
        ended, before = self.slot.first_look(patience), len(self.prospects)
        if self.slot.result:
            self.prospects = list(self.slot.result.items)
        if ended:
            self.message = DRAFTS_STAY.get(self.slot.state, self.slot.message)
        return len(self.prospects) > before


def _both(first: dict[str, "pd.DataFrame"], then: dict[str, "pd.DataFrame"]) -> dict[str, "pd.DataFrame"]:
    both = {name: [rows[name] for rows in (first, then) if name in rows] for name in (*first, *then)}
    return {name: joined(*rows) for name, rows in both.items()}


@cache
def no_rows() -> "pd.DataFrame":
    """The columns without a row; made once, because every script run asks for it."""
    return frame_of(())


@cache
def recorded_sweep() -> "pd.DataFrame":
    """The rows recorded for everyone by `scripts/record_sweep.py`; none where the file is missing or damaged."""
    try:
        return read_frame(FILE.read_bytes(), FILE.name)
    except (InputError, OSError) as error:
        logging.getLogger(__name__).error("No recorded sweep: %s", error)
        return frame_of(())


def studied(sweeps: Sweeps, source: str) -> "list[Study]":
    """The studies of the rows from there, by series; computed again only where other rows have come."""
    from specviz.measure.sweep.study import studies_of  # pandas starts slowly

    if source == RECORDED:
        return recorded_studies()
    rows = sweeps.rows_of(source)
    known = sweeps.studied.get(source)
    if known is None or known[0] is not rows:
        known = sweeps.studied[source] = rows, studies_of(rows)
    return known[1]


@cache
def recorded_studies() -> "list[Study]":
    """Of the recorded rows: the same for every visitor, so computed once in this server."""
    from specviz.measure.sweep.study import studies_of  # see above

    return studies_of(recorded_sweep())
