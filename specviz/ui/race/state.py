"""Which race is on screen, and how it got there. No drawing."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.measure.race import RaceLap
from specviz.measure.race_file import parse_race
from specviz.service.protocol import Race
from specviz.service.results import RaceResult
from specviz.ui.race.link import Entry
from specviz.ui.shared.job_slot import JobSlot

RECORDED = ASSETS / "traces" / "race.json"
LOST = "The race has expired because this page was left or the server restarted: {shown}. Start it again."


@dataclass(slots=True)
class Racing:
    """One visitor's race."""

    entry: Entry = field(default_factory=Entry)  # what the controls say
    notes: list[str] = field(default_factory=list)  # what of a link could not be used
    started: Entry | None = None  # what was last raced, or is being raced
    slot: JobSlot[RaceResult] = field(default_factory=lambda: JobSlot("race", RaceResult))
    laps: list[RaceLap] = field(default_factory=list)  # on screen; empty: the recorded race is
    raced: Entry | None = None  # what those laps are of
    run_id: str = "recorded"
    place: float | None = None  # of the playback's clock
    message: str = ""  # why there is nothing newer
    finished: str = ""  # how the last race ended, where not all of it was run
    link_read: bool = False
    acted: bool = False  # the visitor chose something or opened a link: from here on the address says what

    def start(self) -> None:
        """Race what the controls say."""
        entry = self.started = self.entry
        self.message, self.finished, self.notes = "", "", []
        self.slot.start(lambda job: Race(job, entry.request, entry.prompts, entry.repeats))

    def refresh(self) -> bool:
        """Ask how far the race is; True once it is over, and its results are shown."""
        ended = self.slot.refresh()
        if ended:
            self._take()
        return ended

    def look(self) -> bool:
        """As `refresh`; True where another prompt is finished."""
        before = len(self.so_far)
        self.refresh()
        return len(self.so_far) > before

    @property
    def so_far(self) -> Sequence[RaceLap]:
        """The prompts that are finished in the race under way."""
        return self.slot.result.items if self.slot.result else ()

    def _take(self) -> None:
        """Show the prompts that were finished, whatever ended the race."""
        slot, asked = self.slot, self.started
        assert asked is not None
        laps = list(self.so_far)
        done, total = len(laps), len(asked.prompts)
        finished = f"the {done} of {total} prompts that were finished are shown"
        shown = finished if laps else "the previous results are shown"
        if slot.state == "failed":
            self.message, self.finished = slot.message, f"{shown[0].upper()}{shown[1:]}."
        elif slot.state == "cancelled":
            self.finished = f"Cancelled: {shown}."
        elif slot.state == "lost":
            self.finished = LOST.format(shown=shown)
        if laps:
            self.laps, self.raced, self.run_id, self.place = laps, asked, f"live-{slot.job}", None


@cache
def recorded_race() -> list[RaceLap]:
    """The race made by `scripts/record_race.py`; empty where it is missing or damaged."""
    try:
        return parse_race(RECORDED.read_text(encoding="utf-8"))
    except (OSError, InputError) as error:
        logging.getLogger(__name__).error("No recorded race for the first screen: %s", error)
        return []
