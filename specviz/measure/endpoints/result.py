"""The result of a bench: what was asked of which server, and when each answer came. No torch, no network.

The dataclasses mirror the JSON file field by field. Times are seconds by the client's clock.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter

from specviz.core.errors import InputError
from specviz.core.outside import MostItems, read_outside
from specviz.core.texts import Sentences
from specviz.systems.counts import Counts

say = Sentences("files")

SCHEMA: Literal[1] = 1
MAX_PROMPTS = 200
MAX_TOKENS = 4_096  # of one answer
MAX_ANSWERS = 20_000
MAX_NOTES = 50
MAX_POSITIONS = 64
MOST_MEGABYTES = 32

PrefixCache = Literal["", "cold", "warm"]
Side = Literal["with", "without"]
SIDES: tuple[Side, Side] = ("with", "without")
BenchName = Annotated[str, Field(max_length=300)]
AnswerText = Annotated[str, Field(max_length=100_000)]
Sentence = Annotated[str, Field(max_length=500)]
BenchCount = Annotated[int, Field(ge=0, le=10**12)]
Concurrency = Annotated[int, Field(ge=0, le=1_024)]  # 0: requests come at a rate
Rate = Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)]  # requests a second
BenchSeconds = Annotated[float, Field(ge=0, le=10**7, allow_inf_nan=False)]
PerPosition = Annotated[list[BenchCount], MostItems(MAX_POSITIONS)]


@dataclass(frozen=True, slots=True)
class Server:
    url: BenchName  # without user, password, query; empty: an imported file does not say
    model: BenchName
    system: BenchName = ""  # "vLLM", "llama.cpp"; empty: it does not say
    version: BenchName = ""
    takes_ignore_eos: bool = False  # so that each answer has as many tokens as were asked for
    drafts: BenchName = ""  # how it drafts, in its own words; empty: it does not say
    slots: BenchCount | None = None  # requests that it answers at once: more wait; None: it does not say


@dataclass(frozen=True, slots=True)
class BenchPrompt:
    name: BenchName
    workload: BenchName
    text_hash: Annotated[str, Field(max_length=64)]  # the first digits of the SHA-256 of its text


@dataclass(frozen=True, slots=True)
class BenchSettings:
    max_new_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)]
    temperature: Annotated[float, Field(ge=0, le=100)]
    seed: int
    repeats: Annotated[int, Field(ge=1, le=1_000)]
    concurrency: Annotated[list[Annotated[int, Field(ge=1, le=1_024)]], MostItems(20)]
    api: Literal["completions", "chat"]
    extra_body: Annotated[str, Field(max_length=2_000)] = ""  # further fields of each request, as JSON
    prefix_cache: PrefixCache = ""  # whether servers may take a prompt from their cache; empty: as they do
    rates: Annotated[list[Rate], MostItems(20)] = field(default_factory=list)  # in place of `concurrency`

    @property
    def greedy(self) -> bool:
        return self.temperature == 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a server counts of speculation, in one definition.

    `drafted` and `accepted` leave out the target's own token of a round (the bonus or the correction). What the limit
    of tokens cut off is in `accepted` if the server counts it so; `BenchResult` says how many tokens were written.
    """

    drafted: BenchCount
    accepted: BenchCount
    rounds: BenchCount | None = None  # that checked a draft; None: not counted
    per_position: PerPosition = field(default_factory=list)  # rounds that accepted position 1, 2, …; empty: not counted

    @classmethod
    def from_counts(cls, counts: Counts | None) -> Self | None:
        """Of what a system counts; None where it does not say how much was drafted and accepted."""
        if counts is None or counts.drafted is None or counts.accepted is None:
            return None
        if (rounds := counts.rounds) is None:
            return cls(round(counts.drafted), round(counts.accepted))
        places = [round(share * rounds) for share in counts.survival]
        return cls(round(counts.drafted), round(counts.accepted), round(rounds), places)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. An answer with a `problem` failed: its other figures are those until then."""

    side: Side
    prompt: Annotated[int, Field(ge=0, lt=MAX_PROMPTS)]  # its place in the prompts
    repeat: Annotated[int, Field(ge=0, lt=MAX_ANSWERS)]
    concurrency: Concurrency
    block: Annotated[int, Field(ge=0, le=10**6)]  # answers of one block were asked for together, on one side
    began: BenchSeconds  # after the begin of the measurement
    first: BenchSeconds | None  # from the request to the first part with text
    seconds: BenchSeconds  # from the request to the last part with text
    tokens: BenchCount | None  # that the server says it wrote; None: it does not say; a part of a stream is no token
    prompt_tokens: BenchCount | None = None
    text: AnswerText = ""
    token_ids: Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], MostItems(MAX_TOKENS)] = field(
        default_factory=list
    )  # empty: not given
    finish: Annotated[str, Field(max_length=40)] = ""  # "length", "stop"
    part_seconds: Annotated[list[BenchSeconds], MostItems(MAX_TOKENS)] = field(default_factory=list)  # of each part
    part_tokens: Annotated[list[BenchCount], MostItems(MAX_TOKENS)] = field(default_factory=list)  # empty: not given
    accepted: Accepted | None = None  # in the answer itself; None: see `Span`
    problem: Sentence = ""
    rate: Rate | None = None
    reasoning: Annotated[float, Field(ge=0, le=1)] = 0.0  # what share of it: of its tokens, else of its text

    @property
    def load(self) -> float:
        return self.rate or self.concurrency


@dataclass(frozen=True, slots=True)
class Span:
    """What a server's /metrics counted during some answers of one side."""

    side: Side
    concurrency: Concurrency
    written: BenchCount | None  # tokens that the server wrote meanwhile, for us and for others
    ours: BenchCount  # tokens of our answers, those that failed too
    accepted: Accepted | None = None  # None: it counts no speculation
    block: Annotated[int, Field(ge=0, le=10**6)] = 0
    asked: bool = True  # False: the other server was asked meanwhile, so this one should have rested
    rate: Rate | None = None

    @property
    def load(self) -> float:
        return self.rate or self.concurrency

    @property
    def counted(self) -> int:
        """Tokens that the server wrote, as far as is known."""
        return self.ours if self.written is None else self.written

    @property
    def others(self) -> int:
        """Tokens that the server wrote for somebody else."""
        return max(0, self.counted - self.ours)


@dataclass(frozen=True, slots=True)
class BenchResult:
    schema: Literal[1]
    created: BenchName  # ISO 8601, UTC
    client: BenchName  # the machine that asked, and this program's version
    settings: BenchSettings
    with_: Annotated[Server, Field(alias="with")]
    without: Server | None  # None: one server alone was measured
    prompts: Annotated[list[BenchPrompt], MostItems(MAX_PROMPTS)]
    answers: Annotated[list[Answer], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    spans: Annotated[list[Span], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    notes: Annotated[list[Sentence], MostItems(MAX_NOTES)] = field(default_factory=list)  # what was seen on the way
    imported: BenchName = ""  # the tool whose files it is from; empty: this program measured
    against_itself: bool = False  # both sides are one server, so every difference is chance
    blocks_timed: bool = True  # False: an imported file does not say when its requests began, so no throughput follows

    def server(self, side: Side) -> Server | None:
        return self.with_ if side == "with" else self.without

    def done(self) -> Iterator[Answer]:
        return (answer for answer in self.answers if not answer.problem)


_RESULT: TypeAdapter[BenchResult] = TypeAdapter(BenchResult)


def dump_result(result: BenchResult) -> str:
    return _RESULT.dump_json(result, by_alias=True, exclude_defaults=True).decode()


def read_result(content: bytes) -> BenchResult:
    """The result in a bench file; InputError, one sentence, where it is none or contradicts itself."""
    if len(content) > MOST_MEGABYTES * 10**6:
        raise InputError(say("too_large", most=MOST_MEGABYTES))
    raw = content.removeprefix(BOM_UTF8)
    if b'"schema"' not in raw:
        raise InputError(say("no_bench"))
    result: BenchResult = read_outside(_RESULT, raw, "bench file")
    if problem := next(_contradictions(result), None):
        raise InputError(say("contradicts", problems=problem))
    return result


def _contradictions(result: BenchResult) -> Iterator[str]:
    for number, answer in enumerate(result.answers):
        if answer.prompt >= len(result.prompts):
            yield f"answers.{number} is of prompt {answer.prompt}, and there are {len(result.prompts)}"
        if result.server(answer.side) is None:
            yield f"answers.{number} is of a server that the file does not name"
        if answer.first is not None and answer.first > answer.seconds:
            yield f"answers.{number} has its first part after its last"
    found: list[tuple[str, Answer | Span]] = [(f"answers.{number}", each) for number, each in enumerate(result.answers)]
    found += [(f"spans.{number}", each) for number, each in enumerate(result.spans)]
    loads = result.settings.rates or result.settings.concurrency
    for where, each in found:
        counts = each.accepted
        if bool(each.rate) != bool(result.settings.rates) or each.load not in loads:  # each load is looked at alone
            yield f"{where} has not the kind of load that the settings name, or none of theirs"
        if counts and counts.accepted > counts.drafted:
            yield f"{where} accepts more guesses than it drafts"
        if counts and counts.rounds is not None and max(counts.per_position, default=0) > counts.rounds:
            yield f"{where} accepts a position in more rounds than there are"
