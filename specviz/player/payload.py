"""What the stage component gets from Python, as types.

The JavaScript has the same types: `scripts/write_payload_types.py` writes them to assets/browser/dist/payloads.d.ts.
"""

from typing import Any, Literal, NewType, NotRequired, TypedDict

from specviz.core.judge import Interval, Judgement
from specviz.core.settings import DraftSchedule
from specviz.core.texts import Words
from specviz.core.verdict import Verdict
from specviz.data.lessons.story import Focus, Phase, Picture, Tour
from specviz.data.links.hidden import View

ChipStatus = Literal["accepted", "rejected", "discarded", "not taken", "correction", "bonus", "own"]
ShareRow = tuple[str, float, bool]  # text, its share of a distribution, whether it is this token
# As JSON: `scripts/write_payload_types.py` gives them the types of what they hold.
TraceJson = NewType("TraceJson", dict[str, Any])
RoundJson = NewType("RoundJson", dict[str, Any])
DraftGuessesJson = NewType("DraftGuessesJson", dict[str, Any])
# Where costs are from: names of texts in assets/texts/browser/trace.json.
CostsOf = Literal["of_pair", "of_pair_unsure", "of_run", "of_both", "of_both_unsure", "unknown_busy", "unknown_times"]


class TokenPayload(TypedDict):
    text: str
    status: ChipStatus


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


class TourPayload(TypedDict):
    """The tour of a first visit: how often the visitor began it, and the beat to begin with, from 1."""

    started: int
    at: int
    tour: Tour


class MethodPayload(TypedDict):
    """What the stage needs to know of the way to draft: facts and parts of sentences, see `core/drafters.py`.

    `subject` is who guesses, as in the middle of a sentence, and `several` whether these are several.
    """

    kind: str
    by_hand: bool
    at_once: bool
    sees_state: bool
    title: str
    gives: str
    certain: str
    subject: str
    several: bool
    proposes: str
    nothing: str


class ReplayTimes(TypedDict):
    """What replayed rounds take: `steps` for 0, 1, ... guesses, in target steps, so that the run's own speedup is the
    measured one; None where it is not known. `between` is their 95 % interval, low ends and high ends. `said` is where
    they are from."""

    steps: list[float] | None
    between: tuple[list[float], list[float]] | None
    said: CostsOf


class RunName(TypedDict):
    """What a run is called beside another one: its draft and draft length, and what else is different."""

    draft: str
    draft_length: int
    target: str
    prompt: str  # the same for equal prompts
    words: str  # the first ones of the prompt
    temperature: float
    manner: str  # what is not usual in the settings
    max_new_tokens: int
    machine: str
    created: str


class SentRun(TypedDict):
    """What stays as it is while a page is drawn again: a run as its trace, without what the stage does not show.

    `hidden` counts the prompt's tokens before those of the trace. `guesses` are there where the run can be replayed at
    other draft lengths, and then `times` too.
    """

    trace: TraceJson
    hidden: int
    method: MethodPayload
    guesses: DraftGuessesJson | None
    times: ReplayTimes | None
    named: RunName


class ComparedPayload(TypedDict):
    """The run that the one on screen is compared with: the one before it, or one that the visitor pinned.

    Acceptance and speedup after each round, and in `lengths` both at each draft length from 1, where it can be
    replayed. `per_call` is its tokens per target call.
    """

    named: RunName
    acceptance: list[float | None]
    speedup: list[float | None]
    lengths: list[tuple[float | None, float | None]]
    per_call: float | None
    trusted: bool  # False: the machine was busy, so its times say nothing


class ResultPayload(TypedDict):
    """What the result of a run has beside its counts; the browser says it."""

    verdict: Verdict | None
    spans: NotRequired[tuple[Interval, Interval] | None]  # 95 % of a guess and a check; missing: by the run's own costs
    rough: NotRequired[bool]  # a coarse clock has measured it
    quiet: Judgement | None  # at costs of a quiet moment, where the measured one is not trusted
    source: str  # of these costs
    where: str  # it was timed, such as "measured here"
    same: str  # whether both decoders wrote the same text; empty where nothing can be said of it
    previous: bool  # it is not what was asked for last


class HeldRun(TypedDict):
    key: str
    run: SentRun


class StageState(TypedDict):
    """What may change at each drawing: a few hundred bytes.

    `stream` and `version` order what a page draws and what its feed sends: the stage never goes back to an older one.
    """

    stream: str
    version: int
    run_id: str
    running: bool
    phases: list[Phase]
    notice: str | None
    badge: str
    measured: str
    idle: str
    link: dict[str, str]
    playhead: int | None
    gamma: int
    why_not: NotRequired[str]  # there are no other draft lengths; missing: the trace says why
    result: NotRequired[ResultPayload]  # missing: the stage has no line for it
    before: NotRequired[ComparedPayload]  # missing: there was no run before
    diagram: NotRequired[DiagramPayload]
    view: NotRequired[View]  # missing: full
    hide: NotRequired[list[str]]  # names of parts that a link takes away
    tour: NotRequired[TourPayload]  # missing: none is under way


class SentStage(StageState):
    run: SentRun


class StageMount(StageState):
    """What the stage itself is sent; `part` names the `HeldRun` that belongs to it."""

    part: str


class StageGrowth(TypedDict):
    """What is new of a run: its rounds from `start` on, and the seconds of the plain steps from `plain_start` on."""

    run_id: str
    running: bool
    notice: str | None
    badge: str
    idle: str
    start: int
    rounds: list[RoundJson]
    plain_start: int
    plain: list[float]


class FeedPayload(TypedDict):
    """What the feed sends to the stage of its page: a whole run, or only what is new of it."""

    stream: str
    version: int
    whole: SentStage | None
    growth: StageGrowth | None
