"""One measured row of a sweep. No torch and no pandas: the engine makes rows; `table` has them as a data frame."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated

from pydantic import Field

from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSampling, DraftSchedule, VerificationMode

FIRST_COLUMNS = ("target", "target_dtype", "draft", "draft_dtype", "threads")  # of every version

_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_AtLeast1 = Annotated[int, Field(ge=1, le=10**9)]
_Rate = Annotated[float, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, le=10**7)]
_Above0 = Annotated[float, Field(gt=0, le=10**7)]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One prompt with one setting, measured once: a speculative run, and a plain run timed right before or after it."""

    target: _Text
    target_dtype: _Text
    draft: _Text
    draft_dtype: _Text | None
    threads: _AtLeast1
    machine: _Text
    workload: _Text
    preset: _Text  # the prompt's name
    text_hash: _Text  # the first digits of the SHA-256 of the prompt's text
    constrained: bool  # whether both runs follow the prompt's grammar
    max_new_tokens: _Count
    draft_length: Annotated[int, Field(ge=1, le=MAX_DRAFT_LENGTH)]
    temperature: Annotated[float, Field(ge=0, le=10)]
    top_k: _AtLeast1 | None
    top_p: float | None
    seed: int
    stop_at_eos: bool
    draft_schedule: DraftSchedule
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
    speedup: _Above0
    identical: bool | None
    repetition: _Rate | None = None  # of the speculative output, see `core.metrics.repetition`; None: not measured
    draft_sampling: DraftSampling = "sample"
    verification: VerificationMode = "token"
    tree: Annotated[str, Field(max_length=64)] | None = None
    node: _Text | None = (
        None  # of the cluster that measured it, see `spread`; None: measured where the sweep was asked for
    )

    @property
    def key(self) -> tuple[str, ...]:
        """What tells this measurement from others; as text, so that it matches a row read from CSV."""
        return _as_text(getattr(self, name) for name in KEY)


SERIES = (
    *("target", "target_dtype", "draft", "draft_dtype", "temperature", "top_k", "top_p", "threads", "machine"),
    *("draft_sampling", "verification", "tree"),
)
KEY = (
    *FIRST_COLUMNS,
    "machine",
    "preset",
    "text_hash",
    "constrained",
    *(field.name for field in fields(DecodeSettings)),
)
COLUMNS = tuple(field.name for field in fields(SweepRow))
MACHINE = KEY.index("machine")  # the place of the machine in a key
# Of files that can be read: of now, from before there were clusters, trees, and a measure of repetition.
VERSIONS = (COLUMNS, COLUMNS[:-1], COLUMNS[:-4], COLUMNS[:-5])


def row_key(made_by: Iterable[object], cell: Iterable[object], settings: DecodeSettings) -> tuple[str, ...]:
    """The key of a row that is not measured yet.

    Args:
        made_by: target, its dtype, draft, its dtype, threads, machine.
        cell: the prompt's name, its text's hash, whether it is constrained.
        settings: of the run.
    """
    return _as_text((*made_by, *cell, *(getattr(settings, field.name) for field in fields(DecodeSettings))))


def _as_text(values: Iterable[object]) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in values)
