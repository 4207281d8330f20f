"""The settings of one decode run, and their allowed values."""

from dataclasses import dataclass
from typing import Literal, get_args

from specviz.core.errors import InputError

MAX_DRAFT_LENGTH = 16
MAX_SEED = 2**63 - 1  # the largest seed of a torch.Generator

# How many tokens a round drafts. fixed: draft_length. heuristic: starts there, 2 more after a round that accepted all,
# 1 fewer after any other. confidence: up to draft_length, but a token that the draft is unsure of is the last one.
DraftSchedule = Literal["fixed", "heuristic", "confidence"]
DRAFT_SCHEDULES: tuple[DraftSchedule, ...] = get_args(DraftSchedule)


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Settings of both decoders, checked when they are made.

    Raises:
        InputError: a value is outside its range; the sentence names the setting.
    """

    max_new_tokens: int = 64
    draft_length: int = 4  # gamma: tokens proposed in a round, 1 to 16; see draft_schedule
    temperature: float = 0.0  # 0 is greedy
    top_k: int | None = None  # only the k most probable tokens; None: all
    top_p: float | None = None  # only the smallest set with this much probability; None: all
    seed: int = 0
    stop_at_eos: bool = True  # False: always emit exactly max_new_tokens
    draft_schedule: DraftSchedule = "fixed"

    def __post_init__(self) -> None:
        _require(self.max_new_tokens >= 1, "max_new_tokens must be at least 1", self.max_new_tokens)
        _require(
            1 <= self.draft_length <= MAX_DRAFT_LENGTH,
            f"draft_length must be from 1 to {MAX_DRAFT_LENGTH}",
            self.draft_length,
        )
        # written so that nan fails too
        _require(0 <= self.temperature <= 10, "temperature must be from 0 to 10", self.temperature)
        _require(self.top_k is None or self.top_k >= 1, "top_k must be at least 1", self.top_k)
        _require(self.top_p is None or 0 < self.top_p <= 1, "top_p must be above 0 and at most 1", self.top_p)
        _require(0 <= self.seed <= MAX_SEED, "seed must be from 0 to 2^63 - 1", self.seed)
        _require(
            self.draft_schedule in DRAFT_SCHEDULES,
            f"draft_schedule must be {', '.join(DRAFT_SCHEDULES[:-1])} or {DRAFT_SCHEDULES[-1]}",
            self.draft_schedule,
        )

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always chosen (top-k and top-p then change nothing)."""
        return self.temperature == 0


def _require(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise InputError(f"{rule}, not {value}.")
