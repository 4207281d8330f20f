"""The settings of one decode run, and their allowed values."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from specviz.core.errors import InputError
from specviz.core.tree_shape import MAX_DEPTH, TreeShape, parse_tree

MAX_DRAFT_LENGTH = MAX_DEPTH
MAX_SEED = 2**63 - 1  # the largest seed of a torch.Generator

# How many tokens a round drafts. fixed: draft_length. heuristic: starts there, 2 more after a round that accepted all,
# 1 fewer after any other. confidence: up to draft_length, but a token that the draft is unsure of is the last one.
DraftSchedule = Literal["fixed", "heuristic", "confidence"]
DRAFT_SCHEDULES: tuple[DraftSchedule, ...] = get_args(DraftSchedule)

# How the draft chooses a token above temperature 0. sample: a draw from q. argmax: its most probable token; q is then a
# point mass on it.
DraftSampling = Literal["sample", "argmax"]
DRAFT_SAMPLINGS: tuple[DraftSampling, ...] = get_args(DraftSampling)

# How a sampled draft is verified; both ways are lossless. token: token after token. block: all of it together.
VerificationMode = Literal["token", "block"]
VERIFICATIONS: tuple[VerificationMode, ...] = get_args(VerificationMode)


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
    draft_sampling: DraftSampling = "sample"  # greedy runs always take the most probable token
    verification: VerificationMode = "token"  # greedy runs: the two are the same
    tree: str | None = None  # children a depth, like "4,2,1", or "dynamic:16"; None: the draft is a chain

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
        _require_one_of(DRAFT_SCHEDULES, "draft_schedule", self.draft_schedule)
        _require_one_of(DRAFT_SAMPLINGS, "draft_sampling", self.draft_sampling)
        _require_one_of(VERIFICATIONS, "verification", self.verification)
        if self.tree is not None:
            self._check_tree(parse_tree(self.tree))

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always chosen (top-k and top-p then change nothing)."""
        return self.temperature == 0

    @property
    def tree_shape(self) -> TreeShape | None:
        """The shape of the draft; None: a chain."""
        return None if self.tree is None else parse_tree(self.tree)

    @property
    def manner(self) -> str:
        """What is not usual in how tokens are drafted and verified, for a list: ", tree 4,2,1"; or empty."""
        words = {
            "most probable drafts": self.draft_sampling == "argmax",
            "block verification": self.verification == "block",
            f"tree {self.tree}": self.tree is not None,
        }
        return "".join(f", {word}" for word, holds in words.items() if holds)

    def _check_tree(self, shape: TreeShape) -> None:
        if shape.depth not in (None, self.draft_length):
            raise InputError(f"tree {self.tree} has {shape.depth} depths, so draft_length must be {shape.depth}.")
        _require(self.draft_schedule == "fixed", "with a tree, draft_schedule must be fixed", self.draft_schedule)
        _require(self.verification == "token", "with a tree, verification must be token", self.verification)


def repeat_settings(settings: DecodeSettings, number: int) -> DecodeSettings:
    """The settings of a repeat, counted from 0: above temperature 0 it has its own seed."""
    return settings if settings.greedy else replace(settings, seed=(settings.seed + number) % (MAX_SEED + 1))


def _require(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise InputError(f"{rule}, not {value}.")


def _require_one_of(names: tuple[str, ...], setting: str, value: str) -> None:
    _require(value in names, f"{setting} must be {', '.join(names[:-1])} or {names[-1]}", value)
