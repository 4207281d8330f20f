"""What the stage component gets from Python, as types.

The JavaScript has the same types: `scripts/write_payload_types.py` writes them to assets/shared/payloads.d.ts.
"""

from typing import Literal, NotRequired, TypedDict

from specviz.core.rounds import TargetStatus
from specviz.core.settings import DraftSchedule
from specviz.data.lessons.story import Focus, Picture
from specviz.data.lessons.tour import Light, Until
from specviz.data.texts import Words

Phase = Literal["propose", "check", "judge"]
View = Literal["simple", "full", "projector", "stage"]  # how much is shown around the tokens
ChipStatus = Literal["accepted", "rejected", "discarded", "not taken", "correction", "bonus", "own"]
# how a draft is judged: token after token, along a tree, or all of it together
Rule = Literal["token", "tree", "block"]
CandidateRow = tuple[str, float, float | None, bool]  # text, p, q, whether it is this token
ShareRow = tuple[str, float, bool]  # text, its share of a distribution, whether it is this token
ReplayedRound = tuple[
    int, int, TargetStatus, list[str], int
]  # accepted, rejected, what the target added, known guesses, unknown ones


class JudgedChip(TypedDict):
    """A drafted token that the target judged."""

    text: str
    status: Literal["accepted", "rejected"]
    p: float | None
    q: float | None
    accept_prob: float | None
    u: float | None
    candidates: list[CandidateRow]


class DiscardedChip(TypedDict):
    """A drafted token that was never judged: only what the draft thought of it is sent."""

    text: str
    status: Literal["discarded"]
    q: float | None


class NotTakenChip(TypedDict):
    """A guess of a tree that was never judged. The target's pass read it all the same."""

    text: str
    status: Literal["not taken"]
    p: float | None
    q: float | None


class TargetChip(TypedDict):
    """The target's own token at the end of a round."""

    text: str
    status: Literal["correction", "bonus", "own"]
    p: float | None
    candidates: list[CandidateRow]
    residual: list[ShareRow]


Chip = JudgedChip | DiscardedChip | NotTakenChip | TargetChip


class TreePayload(TypedDict):
    """The shape of a round's draft.

    `parents` has an entry for each guess: the one that it follows, or -1, the text. `rows` are its guesses as they are
    drawn, from the top. `folded` are rows that are hidden at first; `best` is the draft's probability of the most
    probable path among them.
    """

    parents: list[int]
    rows: list[list[int]]
    folded: list[int]
    best: float | None


class FiguresAfter(TypedDict):
    """The figures after a round; `positions` are (accepted, judged) so far at each position of the draft."""

    emitted: int
    accepted: int
    drafted: int
    judged: int
    acceptance: float | None
    judgement: float | None
    speedup: float | None
    positions: list[tuple[int, int]]


class RoundPayload(TypedDict):
    """A round: a sentence for each phase, its chips, and when each phase begins and ends.

    `ms` are the starts of the three phases and the end; `alone` is what the target alone had written by the end of each
    phase; `draft_tokens` is what a draft with another tokenizer wrote, in its own tokens; `tree` is there where the
    draft is a tree.
    """

    sentences: tuple[str, str, str]
    chips: list[Chip]
    draft_tokens: NotRequired[list[str]]
    tree: NotRequired[TreePayload]
    ms: tuple[float, float, float, float]
    alone: tuple[int, int, int] | None
    after: FiguresAfter


class PromptPayload(TypedDict):
    """The prompt's last tokens, and how many come before them."""

    hidden: int
    tokens: list[str]


class ReplayedLength(TypedDict):
    """The run as it would have been at another draft length."""

    rounds: list[ReplayedRound]
    accepted: int
    rejected: int
    discarded: int
    per_call: float
    speedup: float | None


class NoReplay(TypedDict):
    """Why the run cannot be replayed at other draft lengths."""

    why_not: str


class Replays(TypedDict):
    """The run at every draft length.

    `times` says where the costs are from; where `exact` is false, nearly equal tokens may be
    chosen differently in a real run.
    """

    why_not: None
    tokens: list[str]
    lengths: dict[str, ReplayedLength]
    times: str
    exact: bool


class ResultPayload(TypedDict):
    """The result of a run in words. `trusted` is false where the machine was too busy for its time to say anything;
    `estimated` is the speedup at calibrated costs."""

    says: str
    reason: str
    trusted: bool
    estimated: float | None


class ComparedPayload(TypedDict):
    """The run that the one on screen is compared with: the one before it, or one that the visitor pinned.

    `name` is its draft and draft length, `differs` what else is not as in the run on screen. Acceptance and speedup
    after each round, and in `lengths` both at each draft length from 1, where it was replayed. `per_call` is its tokens
    per target call, `estimated` its speedup at calibrated costs.
    """

    name: str
    differs: str
    draft_length: int
    acceptance: list[float | None]
    speedup: list[float | None]
    lengths: list[tuple[float | None, float | None]]
    per_call: float | None
    estimated: float | None
    trusted: bool
    pinned: bool


class PassPayload(TypedDict):
    """A measured pass: the milliseconds of weights, attention, the program and the rest, and its time over that of one
    token in the same number format."""

    dtype: str
    tokens: int
    ms: tuple[float, float, float, float]
    ratio: float


class PassesPayload(TypedDict):
    """A lesson's measured passes over one token and over several, in each number format."""

    tokens: int
    passes: list[PassPayload]


class BatchPayload(TypedDict):
    """Measured passes over several tokens of one text and of many; times are over that of one token of each text."""

    texts: int
    tokens: int
    alone: float
    together: float
    empty: float  # share of the places in the passes over many texts: of texts that had ended


class LosslessPayload(TypedDict):
    """One place of a sampled run: the text, p and q of its most probable tokens; and of all others together p, q and
    Σ min(p, q)."""

    round: int  # its number, from 1
    tokens: list[tuple[str, float, float]]
    others: tuple[float, float, float]


class StopsPayload(TypedDict):
    """Measured speedups with their 95 % intervals, by schedule and in batches; and the limit of the confidence stop.

    `schedules` are (schedule, value, low, high); `batches` (texts, draft length, value, low, high); `measured` says
    over how many prompts and on which machine, for each of the two.
    """

    limit: float
    schedules: list[tuple[DraftSchedule, float, float, float]]
    batches: list[tuple[int, int, float, float, float]]
    measured: tuple[str, str]


class DiagramPayload(TypedDict):
    """A lesson: its picture, the part of the stage it is about, and its place in the run."""

    words: Words
    focus: Focus
    picture: Picture
    passes: NotRequired[PassesPayload]  # of the picture "weights"
    batch: NotRequired[BatchPayload]  # of the picture "texts"
    rule: NotRequired[LosslessPayload]  # of the picture "lossless"
    stops: NotRequired[StopsPayload]  # of the picture "stops"
    step: int
    place: str


class BeatPayload(TypedDict):
    """A beat of the tour: what it says and asks for, where the playhead stands, and what is said once it is done."""

    until: Until
    says: str
    asks: str
    keys: str
    round: int
    phase: Phase
    lights: list[Light]
    did: dict[str, str]
    least: int
    moves: bool


class TourPayload(TypedDict):
    """The tour of a first visit.

    `started` counts how often the visitor began it; `at` is the beat to begin with, from 1; `next` are the addresses,
    names and purposes of the pages to go to after it.
    """

    started: int
    at: int
    beats: list[BeatPayload]
    end: str
    next: list[tuple[str, str, str]]


class RunPart(TypedDict):
    """What stays as it is while a page is drawn again: nearly all of a payload. The browser is sent it once."""

    replay: NoReplay | Replays
    prompt: PromptPayload
    rounds: list[RoundPayload]
    plain: list[float] | None


class HeldRun(TypedDict):
    """The part, and what names it."""

    key: str
    run: RunPart


class MethodPayload(TypedDict):
    """What the stage needs to know of the way to draft: facts and parts of sentences, see `core/drafters.py`."""

    by_hand: bool
    at_once: bool
    sees_state: bool
    title: str
    gives: str
    certain: str


class HowPayload(TypedDict):
    """How the run was drafted and judged.

    `drafter` is the kind of method, as in traces. `point_mass` is true where the draft does not draw its guesses, so
    that q is 1 on each; `tree` is the setting; `translated` says that the draft's tokens are not the target's.
    """

    greedy: bool
    drafter: str
    method: MethodPayload
    rule: Rule
    point_mass: bool
    tree: str | None
    translated: bool


class StageState(HowPayload):
    """What may change at each drawing: a few hundred bytes.

    `stream` and `version` order what a page draws and what its feed sends: the stage never goes back to an older one.
    """

    stream: str
    version: int
    run_id: str
    name: str
    differs: str  # what else is not as in the run before
    running: bool
    more: bool
    phases: list[Phase]
    longest_draft: int
    notice: str | None
    badge: str
    measured: str
    idle: str
    link: dict[str, str]
    playhead: int | None
    timed: bool  # False: the rounds have no times, their `ms` are 0, and the stage draws no timeline
    imported: bool  # another system wrote the run
    draft_length: int
    gamma: int
    result: NotRequired[ResultPayload]  # missing: the stage has no line for it
    before: NotRequired[ComparedPayload]  # missing: there was no run before
    diagram: NotRequired[DiagramPayload]
    view: NotRequired[View]  # missing: full
    hide: NotRequired[list[str]]  # names of parts that a link takes away
    tour: NotRequired[TourPayload]  # missing: none is under way


class StagePayload(StageState, RunPart):
    """Everything the stage shows of one run."""


class StageMount(StageState):
    """What the stage itself is sent; `part` names the `HeldRun` that belongs to it."""

    part: str


class StageGrowth(TypedDict):
    """What is new of a run: its rounds from `start` on, and the plain steps from `plain_start` on."""

    run_id: str
    running: bool
    more: bool
    notice: str | None
    badge: str
    idle: str
    start: int
    rounds: list[RoundPayload]
    plain_start: int
    plain: list[float]


class FeedPayload(TypedDict):
    """What the feed sends to the stage of its page: a whole run, or only what is new of it."""

    stream: str
    version: int
    whole: StagePayload | None
    growth: StageGrowth | None
