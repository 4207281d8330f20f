"""What one visitor watches: the run on screen, the runs before it, and what the controls ask for. No drawing."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import uuid4

from specviz.core.metrics import Costs
from specviz.core.once import cache_once
from specviz.core.replay import DraftGuesses
from specviz.core.request import RunRequest
from specviz.core.trace import Trace, drop_candidates
from specviz.core.verdict import doubts
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from specviz.data.prompts.workloads import DEFAULT_PRESET
from specviz.data.texts import page_texts
from specviz.player.data import RunSource
from specviz.service.job import RunResult, tokens_in
from specviz.service.protocol import MOST_ATTEMPTS, Calibrate, CostsResult, Run
from specviz.service.run_store import StoredRun
from specviz.ui.shared.job_slot import JobSlot, beside_line, waiting_line
from specviz.ui.shared.stage import SentSoFar

SAYS = page_texts("watch")
MAX_RUNS = 50  # finished runs of a visitor that stay in the server's memory; the oldest go first
MAX_TOKENS = 20_000  # of all these runs, drafted and emitted, about 450 bytes each
LIST_BYTES = 10_000_000  # of the files that are read to bring them back: about as many tokens
UNDO_STEPS = 50
FIRST_ROUNDS_SECONDS = 0.25  # how long a script waits for a run's first rounds before it draws
FIRST_STEPS_SECONDS = 0.1  # how long it then waits for the target's own first tokens
WHOLE_RUN_SECONDS = 1.5  # how long it then waits for the end: most runs need no polling
FIRST = "first"  # the recorded run of the first screen, in links and as the id of what is on screen

PairKey: TypeAlias = tuple[str, str]  # target, draft


@dataclass(slots=True)
class Changes:
    # what the controls last said that can be run
    current: RunRequest = field(default_factory=lambda: RunRequest(DEFAULT_PRESET.text))
    past: deque[RunRequest] = field(default_factory=lambda: deque(maxlen=UNDO_STEPS))
    problem: str | None = None  # why what the controls say cannot be run: what is shown is an earlier run
    again: bool = False  # "Run again" was pressed

    def change(self, request: RunRequest) -> None:
        """Ask for something else; `undo` goes back."""
        self.past.append(self.current)
        self.current = request

    def undo(self) -> RunRequest | None:
        if not self.past:
            return None
        self.current = self.past.pop()
        return self.current


@dataclass(frozen=True, slots=True, eq=False)
class ShownRun:
    trace: Trace
    run_id: str
    source: RunSource
    plain_text: str | None  # what the target alone wrote; None where it is not known
    draft_guesses: DraftGuesses | None = None  # what its draft would guess along the output
    stored_id: str = ""  # in links: in the server's run store, or a recorded run's name; empty where neither has it
    linked: bool = True  # whether a link can ask for it; not where nothing here can run what a file holds
    asked: RunRequest | None = None  # what asked for it, of a run that was measured here

    @property
    def state(self) -> tuple[object, ...]:
        """Which run in which state. A trace is never changed, so traces need not be compared."""
        return self.run_id, self.plain_text, self.stored_id, id(self.trace)


def recorded_run(trace: Trace, run_id: str, stored_id: str = "") -> ShownRun:
    """A trace from a file. It holds the target's own ids, and its text only where that is the output's."""
    same = trace.autoregressive is not None and trace.autoregressive.token_ids == trace.output.token_ids
    return ShownRun(trace, run_id, "recorded", trace.output.text if same else None, stored_id=stored_id)


@cache_once
def first_run() -> ShownRun:
    return replace(recorded_run(first_trace(), FIRST, FIRST), draft_guesses=first_draft_guesses())


def measured_run(run: RunResult, run_id: str, source: RunSource, asked: RunRequest | None) -> ShownRun:
    return ShownRun(run.trace, run_id, source, run.plain_text or None, run.draft_guesses, run.id, asked=asked)


def stored_run(run: StoredRun) -> ShownRun:
    return measured_run(run.result, f"live-{run.result.id}", "stored", run.request)


@dataclass(slots=True)
class TourPlace:
    at: int = 0  # the beat, from 1; one more than the beats: the end; 0 where the tour begins
    open: bool = False  # on screen
    started: int = 0  # how often it was opened

    def begin(self, at: int) -> None:
        self.at, self.open, self.started = at, True, self.started + 1


@dataclass(slots=True)
class Feed:
    stream: str = field(default_factory=lambda: uuid4().hex)  # the name of this page's feed
    version: int = 0  # how many times the stage was drawn or fed
    sent: SentSoFar | None = None
    last: bytes | None = None  # the news that were fed last; None where the stage was drawn since
    drawn: list[Any] = field(default_factory=list)  # see `on_stage._kept`: the payload of a run that only they see
    compared: list[Any] = field(default_factory=list)  # ... and of the run before


@dataclass(slots=True)
class PastRuns:
    finished: deque[ShownRun] = field(default_factory=lambda: deque(maxlen=MAX_RUNS))  # measured here
    count: int = 0  # how many were finished, also those no longer in `finished`
    files: int = 0  # how many were opened from a file
    asked_for: bool = False  # those that the browser tab held before a reload
    gone: int | None = None  # of those before a reload, how many are not here any more; None until they came back
    opened: Trace | None = None  # the one opened last
    opened_as: int = 0  # what `count` was then

    def finish(self, shown: ShownRun) -> None:
        """Add a run that was measured here, in the memory that its figures need; one that is shown again is there."""
        if shown.stored_id and shown.stored_id in self.ids:
            return
        slim = replace(shown, trace=drop_candidates(shown.trace), plain_text=None, draft_guesses=None)
        self.finished.append(slim)
        while len(self.finished) > 1 and sum(tokens_in(run.trace) for run in self.finished) > MAX_TOKENS:
            self.finished.popleft()
        self.count += 1

    @property
    def ids(self) -> list[str]:
        return [run.stored_id for run in self.finished if run.stored_id]

    def bring_back(self, earlier: Sequence[ShownRun]) -> None:
        """Put runs of before a reload in front of those that were finished since."""
        since, self.count = [*self.finished], 0
        self.finished.clear()
        for run in (*earlier, *since):
            self.finish(run)

    def open(self, trace: Trace) -> None:
        self.opened, self.opened_as, self.files = drop_candidates(trace), self.count, self.files + 1


@dataclass(slots=True)
class PairCosts:
    slot: JobSlot = field(default_factory=lambda: JobSlot("costs"))
    measured: PairKey | None = None  # whose costs the slot's are
    found: dict[PairKey, CostsResult] = field(default_factory=dict)

    def of(self, pair: PairKey) -> Costs | None:
        return self.found[pair].costs if pair in self.found else None

    def note(self, pair: PairKey) -> str:
        """What was under way beside them, or why they could not be measured once more."""
        if self.measured == pair and self.slot.view.state == "failed":
            return self.slot.view.message
        return (beside_line(self.found[pair].beside) or "") if pair in self.found else ""

    def measure(self, request: RunRequest, run: Trace | None = None) -> None:
        """Have the costs of a pair measured; a few times again where a run that was timed here doubts them."""
        self.collect()
        wanted = pair_key(request)
        known = self.found.get(wanted)
        attempt = known.attempt + 1 if known else 1
        doubted = known is not None and run is not None and attempt <= MOST_ATTEMPTS and doubts(run, known.costs)
        failed = self.measured == wanted and self.slot.view.state == "failed"  # it would fail again
        if not self.slot.busy and (known is None or doubted) and not failed:
            self.measured = wanted
            self.slot.start(lambda job: Calibrate(job, request, attempt=attempt))
            self.collect()  # what was measured for another visitor is there at once

    def collect(self) -> None:
        pair = self.measured  # first: another script of this visitor may start the next pair in the middle
        if self.slot.refresh() and pair and self.slot.view.items:
            self.found[pair] = self.slot.view.items[-1]


@dataclass(slots=True)
class WatchState:
    form: Changes = field(default_factory=Changes)
    tour: TourPlace = field(default_factory=TourPlace)
    step: int | None = None  # the playhead; None starts at the first
    shown: ShownRun = field(default_factory=first_run)
    before: ShownRun | None = None  # the whole run that was on screen before
    pinned: ShownRun | None = None  # the run to compare with instead
    redraw: bool = False  # what the stage has just reported changes the page around it
    listed: bool = False  # whether the list of what was tried is open
    chats_chosen: int = 0  # how often; then a new field takes the place of the choice, and begins closed
    asked: RunRequest | None = None  # last submitted
    run: JobSlot = field(default_factory=lambda: JobSlot("run"))
    message: str = ""  # why the last run failed
    file_is_record: bool = False  # of another system: there are fields for what it lacks
    file_problem: str = ""  # why a file cannot be shown; the run on screen stays as it was
    feed: Feed = field(default_factory=Feed)
    past: PastRuns = field(default_factory=PastRuns)
    costs: PairCosts = field(default_factory=PairCosts)

    def begun_again(self) -> "WatchState":
        """As at the first visit, before a link is read; what was measured here stays."""
        self.run.reset()
        return WatchState(feed=self.feed, past=self.past, costs=self.costs, file_is_record=self.file_is_record)

    def submit(self, request: RunRequest, *, fresh: bool) -> None:
        """Ask for a run. One that this server has is there at once, unless it is to be measured `fresh`."""
        if self.asked:
            self.step = None  # a link's playhead belongs to the link's run
        self.tour.open = False  # it is about the recorded first run
        self.asked, self.message, self.file_problem = request, "", ""
        if self.costs.slot.view.state == "failed":
            self.costs.measured = None  # the machine may be quiet now
        self.run.start(lambda job: Run(job, request), fresh=fresh)

    def wait_for_first_round(self) -> None:
        """Most first rounds are there at once, and soon after them the target's own: so every plot has a point."""
        ended = self.run.wait(FIRST_ROUNDS_SECONDS)
        if self.run.view.rounds:
            ended = self.run.wait(FIRST_STEPS_SECONDS, lambda view: view.compared) or ended
        self._update(ended)

    def wait_for_end(self) -> None:
        """Wait until the run is over, but not for long; on a busy server only until its first rounds are there."""
        wait = self.run.wait if self.shows_previous_run else self.run.wait_for_end
        self._update(ended=wait(WHOLE_RUN_SECONDS))

    def refresh(self) -> bool:
        """Ask how far the run is, and once it is over have the pair's costs measured; False: the feed draws alone."""
        if self.run.busy:
            self._update(ended=self.run.refresh())
        if not self.run.busy and self.asked:
            # an older run, or one that another visitor asked for, may be of another machine
            live, trace = self.shown.source == "live", self.shown.trace
            timed = trace if live and trace.output.stopped_by else None
            self.costs.collect() if self.message else self.costs.measure(self.asked, timed)
        return False

    @property
    def notice(self) -> str | None:
        """What the run waits for or does; None while its rounds come, and when it is over."""
        if not self.run.busy:
            return None
        run = self.run.view.run
        if run and run.trace.output.stopped_by and (plain := run.trace.autoregressive):
            alone = len(plain.token_ids)
            if alone > len(run.trace.output.token_ids):  # where it writes a longer text
                return SAYS["alone_now"].format(count=alone)
        return waiting_line(self.run.view)

    def open_stored(self, run: StoredRun) -> None:
        """Show a run that this server has, and take its settings as those asked for."""
        shown = stored_run(run)
        self.asked = shown.asked
        self.shown = shown
        self.past.finish(shown)

    def _update(self, ended: bool) -> None:
        """Bring what is shown up to date with the run. Until its first round, the previous run stays on screen."""
        seen, run = self.run.view, self.run.view.run
        if run and run.trace.rounds:
            source: RunSource = "stored" if seen.stored else "live"
            shown = measured_run(run, f"live-{seen.job}", source, self.asked)
            if shown.state != self.shown.state:
                self._show(shown)
        if ended and seen.state == "failed":
            self.message = seen.message
        if ended and seen.state == "done":
            self.past.finish(self.shown)

    def _show(self, shown: ShownRun) -> None:
        """Put a run on screen. The one that it takes the place of, if that was whole, is the run before."""
        last = self.shown
        if last.run_id != shown.run_id and last.trace.output.stopped_by is not None:
            self.before = last
        self.shown = shown

    @property
    def compared_with(self) -> ShownRun | None:
        others = (self.pinned, self.before)
        return next((other for other in others if other and other.run_id != self.shown.run_id), None)

    def bring_back(self, shown: ShownRun) -> None:
        """Show a run of this session again, exactly as it was. A run under way ends."""
        self.run.reset()
        self.message, self.file_problem, self.step, self.tour.open = "", "", None, False
        self._show(shown)

    def costs_of(self, shown: ShownRun) -> Costs | None:
        """The costs of its pair, where they were measured here."""
        return self.costs.of(pair_key(shown.asked)) if shown.source != "recorded" and shown.asked else None

    @property
    def shows_previous_run(self) -> bool:
        """Whether the run on screen is the one before that under way, which has no round yet."""
        return self.run.busy and self.shown.run_id != f"live-{self.run.view.job}"

    def open_recorded(self, shown: ShownRun) -> None:
        """Show a run that was recorded before; a run under way ends."""
        self.bring_back(shown)
        self.before = None  # a lesson's run or a file's is no answer to a change of settings


def pair_key(request: RunRequest) -> PairKey:
    return request.target, request.draft
