"""One measured row of a sweep. No torch and no pandas: the engine makes rows; `table` has them as a data frame."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any

from pydantic import Field

from specviz.core.drafters import spoken
from specviz.core.metrics import count
from specviz.core.numbers import localize
from specviz.core.rounds import known_seconds
from specviz.core.settings import SETTINGS, DecodeSettings
from specviz.core.texts import Sentences
from specviz.core.trace import Trace

say = Sentences("sweep")
_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_AtLeast1 = Annotated[int, Field(ge=1, le=10**9)]
_Rate = Annotated[float, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, le=10**7)]
_Above0 = Annotated[float, Field(ge=1e-9, le=10**7)]
_Speedup = Annotated[float, Field(ge=0.001, le=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSeries(DecodeSettings):
    """What may be pooled. Settings whose rows are pooled, as the draft length, hold their default."""

    target: _Text
    target_dtype: _Text
    draft: _Text
    draft_dtype: _Text | None
    threads: _AtLeast1
    machine: _Text

    def __post_init__(self) -> None:
        """`table` checks the settings that a file has."""

    @property
    def label(self) -> str:
        draft = spoken(self.draft) if self.draft_dtype is None else self.draft.rpartition("/")[2]
        formats = {self.target_dtype, self.draft_dtype} - {None, "float32"}
        with_formats = " (bfloat16)" if formats else ""
        only = f", top-k {self.top_k}" if self.top_k else ""
        only += f", top-p {localize(self.top_p, 'g')}" if self.top_p and self.top_p < 1 else ""
        name = f"{draft} → {self.target.rpartition('/')[2]}{with_formats}"
        return say("series", name=name, temperature=self.temperature, more=f"{only}{self.manner}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow(SweepSeries):
    """One prompt with one setting, timed once beside a plain run."""

    workload: _Text
    preset: _Text  # the prompt's name
    text_hash: _Text  # the first digits of the SHA-256 of the prompt's text
    constrained: bool  # whether both runs follow the prompt's grammar
    new_tokens: _AtLeast1
    plain_tokens: _AtLeast1  # of the plain run: sampled texts differ in length
    rounds: _AtLeast1
    drafted: _Count
    accepted: _Count
    rejected: _Count
    discarded: _Count
    acceptance_rate: _Rate | None
    per_judgement_rate: _Rate | None
    tokens_per_target_call: _Above0 | None
    autoregressive_seconds: _Above0
    speculative_seconds: _Above0
    draft_seconds: _Seconds
    verify_seconds: _Seconds
    overhead_seconds: _Seconds
    speedup: _Speedup
    identical: bool | None
    repetition: _Rate | None = None  # of the speculative output, see `core.metrics.repetition`; None: not measured
    node: _Text | None = None  # of the cluster that measured it, see `cluster`; None: where the sweep was asked for

    @property
    def key(self) -> tuple[str, ...]:
        return spell(getattr(self, name) for name in KEY)


MADE_BY = ("target", "target_dtype", "draft", "draft_dtype", "threads", "machine")
KEY = (*MADE_BY, "preset", "text_hash", "constrained", *SETTINGS)
SERIES = (*MADE_BY, *(name for name, row in SETTINGS.items() if not row.pooled))  # rows with the same are one series


def _columns() -> tuple[str, ...]:
    """The columns of a CSV: first those that every file has, then those that files of before lack."""
    own = {each.name: each.default is MISSING for each in fields(SweepRow) if each.name not in SETTINGS}
    first = [*(name for name, needed in own.items() if needed)]
    place = first.index("new_tokens")
    first[place:place] = [name for name, row in SETTINGS.items() if not row.later]
    return (*first, "repetition", *(name for name, row in SETTINGS.items() if row.later), "node")


COLUMNS = _columns()
NEEDED = COLUMNS[: COLUMNS.index("repetition")]


COUNTED = (
    *("rounds", "drafted", "accepted", "rejected", "discarded"),
    *("acceptance_rate", "per_judgement_rate", "tokens_per_target_call"),
)


def counted(trace: Trace) -> dict[str, Any]:
    counts = count(trace.rounds)
    phases = ("draft_seconds", "verify_seconds", "overhead_seconds")
    sums = {phase: sum(known_seconds(getattr(round, phase)) for round in trace.rounds) for phase in phases}
    return {name: getattr(counts, name) for name in COUNTED} | sums


def names_apart(prompts: Iterable[tuple[str, str]]) -> list[str]:
    """The name of each prompt, from names and hashes of texts; with the hash where two texts have one name."""
    prompts = list(prompts)
    texts = Counter(name for name, _ in {*prompts})
    return [f"{name} ({text_hash})" if texts[name] > 1 else name for name, text_hash in prompts]


def spell(values: Iterable[object]) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in values)
