"""A visitor's sweeps: what is under way, what came of it, and what was there before. Lives in the session."""

import logging
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

import pandas as pd
import streamlit as st

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.measure.sweep.plan import SweepPlan
from specviz.measure.sweep.prompt_files import PromptFile
from specviz.measure.sweep.rows import SweepRow, read_result
from specviz.measure.sweep.table import frame_of, read_frame
from specviz.service.job import JobView
from specviz.service.protocol import Sweep
from specviz.ui.helps.choice import Choice
from specviz.ui.shared.engine import engine, visitor

HERE, RECORDED = "measured here", "recorded"
CANCELLED = "Cancelled: what was measured stays."
FILE = ASSETS / "traces" / "sweep.csv"


@dataclass(slots=True)
class Sweeps:
    """Everything the page keeps while the visitor goes elsewhere."""

    choice: Choice = field(default_factory=Choice)
    own: PromptFile | None = None  # prompts from the visitor's file
    rows: dict[str, pd.DataFrame] = field(default_factory=dict)  # by where they are from: here, or a file's name
    cleared: dict[str, pd.DataFrame] | None = None  # what Clear took away
    shown: str = ""  # which of them the figures show; empty: the newest there is
    job: int | None = None  # the sweep under way
    taken: int = 0  # of its results
    problems: list[str] = field(default_factory=list)  # cells that could not be measured, prompts not taken
    outcome: str = ""  # how the last sweep ended, where not by being done
    began: float = 0.0  # when the sweep was asked for, by the monotonic clock

    def take(self, view: JobView) -> None:
        """Bring the rows up to date with the sweep's view."""
        new = [read_result(item) for item in view.results[self.taken :]]
        self.rows |= joined(self.rows, {HERE: frame_of(row for row in new if isinstance(row, SweepRow))})
        self.problems = list(dict.fromkeys([*self.problems, *(problem for problem in new if isinstance(problem, str))]))
        self.taken = max(self.taken, len(view.results))
        if view.finished:
            self.job = None
            self.outcome = view.message or (CANCELLED if view.state == "cancelled" else "")

    def sources(self) -> list[str]:
        """What can be shown: the visitor's own first."""
        own = dict.fromkeys((HERE, *reversed(self.rows)))
        return [source for source in (*own, RECORDED) if len(self.rows_of(source))]

    def rows_of(self, source: str) -> pd.DataFrame:
        """The rows from there; without any, an empty frame."""
        return recorded_sweep() if source == RECORDED else self.rows.get(source, frame_of(()))


def sweeps() -> Sweeps:
    """This visitor's."""
    found: Sweeps = st.session_state.setdefault("sweeps", Sweeps())
    return found


def start_sweep(plan: SweepPlan) -> None:
    """Submit a sweep; it runs in the background, and what was measured before stays."""
    kept = sweeps()
    engine().start()
    kept.job = engine().submit_task(visitor().id, "background", lambda job: Sweep(job, plan))
    kept.taken, kept.began = 0, monotonic()
    kept.problems, kept.outcome, kept.shown = [], "", HERE


def cancel_sweep() -> None:
    """End the sweep under way, if it is; its rows stay."""
    kept = sweeps()
    if kept.job is not None:
        engine().cancel(visitor().id, "background")
        take_results()


def take_results() -> None:
    """Take over what the sweep under way has found. Before other background work replaces a finished one, too."""
    kept = sweeps()
    if kept.job is not None:
        kept.take(engine().view(kept.job))


def clear_rows() -> None:
    """Forget every row, until `undo_clear`."""
    kept = sweeps()
    kept.cleared, kept.rows, kept.shown = kept.rows, {}, ""


def undo_clear() -> None:
    """Bring back what was cleared, before what came since."""
    kept = sweeps()
    kept.rows, kept.cleared = joined(kept.cleared or {}, kept.rows), None


def joined(first: dict[str, pd.DataFrame], then: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The rows of both under each name."""
    both = {name: [rows[name] for rows in (first, then) if name in rows] for name in (*first, *then)}
    return {name: pd.concat(rows, ignore_index=True) for name, rows in both.items()}


def load_rows(content: bytes, name: str) -> None:
    """Show a sweep's CSV.

    Raises:
        InputError: it is none.
    """
    kept = sweeps()
    rows = read_frame(content, name)
    source = f"from {name[:60]}"
    kept.rows.pop(source, None)
    kept.rows[source], kept.shown = rows, source


@cache
def recorded_sweep() -> pd.DataFrame:
    """The rows recorded for everyone by `scripts/record_sweep.py`; none where the file is missing or damaged."""
    try:
        return read_frame(FILE.read_bytes(), FILE.name)
    except (InputError, OSError) as error:
        logging.getLogger(__name__).error("No recorded sweep: %s", error)
        return frame_of(())
