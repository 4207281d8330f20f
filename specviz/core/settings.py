"""The settings of one decode run: a table with a row for each, from which everything that shows them is made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

from specviz.core.errors import InputError
from specviz.core.setting import Setting, check, table_of
from specviz.core.tree_shape import MAX_DEPTH, TreeShape, parse_tree

MAX_DRAFT_LENGTH = MAX_DEPTH
# transformers' default `assistant_confidence_threshold` (generation/configuration_utils.py, 5.23). Its default draft
# length is a constant 20, so "confidence" is nearest to what it does unless told otherwise; "heuristic" is an option.
UNSURE_BELOW = 0.4
MAX_SEED = 2**63 - 1  # the largest seed of a torch.Generator
MAX_SEED_OFFERED = 2**53 - 1  # the largest whole number that a browser's number field holds exactly

# How many tokens a round drafts. fixed: draft_length. heuristic: starts there, 2 more after a round that accepted all,
# 1 fewer after any other. confidence: up to draft_length, but a token that the draft is unsure of is the last one.
DraftSchedule = Literal["fixed", "heuristic", "confidence"]
DRAFT_SCHEDULES: tuple[DraftSchedule, ...] = get_args(DraftSchedule)

# How the draft chooses a token above temperature 0. sample: a draw from q. argmax: its most probable token; q is then a
# point mass on it.
DraftSampling = Literal["sample", "argmax"]

# How a sampled draft is verified; both ways are lossless. token: token after token. block: all of it together.
VerificationMode = Literal["token", "block"]

NO_TREE = "none"  # in links and menus
TREES_OFFERED = (NO_TREE, "2,2", "4,2,1", "dynamic:8", "dynamic:16", "dynamic:32")


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Settings of both decoders, checked when they are made.

    Raises:
        InputError: a value is outside its range; the sentence names the setting.
    """

    max_new_tokens: Annotated[
        int, Setting(least=1, offered=(1, 256), link="tokens", in_every_file=True, pooled=True)
    ] = 64
    draft_length: Annotated[  # gamma: tokens proposed in a round; see draft_schedule
        int, Setting(least=1, most=MAX_DRAFT_LENGTH, link="gamma", in_every_file=True, pooled=True)
    ] = 4
    temperature: Annotated[  # 0 is greedy
        float, Setting(least=0, most=10, offered=(0.0, 2.0), step=0.1, in_every_file=True)
    ] = 0.0
    top_k: Annotated[  # only the k most probable tokens; None: all
        int | None, Setting(least=1, offered=(0, 1000), typed=True, unset=0, in_every_file=True)
    ] = None
    top_p: Annotated[  # only the smallest set with this much probability; None: all
        float | None, Setting(least=0, above=True, most=1, step=0.01, unset=1.0, in_every_file=True)
    ] = None
    seed: Annotated[
        int, Setting(least=0, most=MAX_SEED, offered=(0, MAX_SEED_OFFERED), typed=True, in_every_file=True, pooled=True)
    ] = 0
    stop_at_eos: Annotated[  # False: always emit exactly max_new_tokens
        bool, Setting(link="", flag="--ignore-eos", in_every_file=True, pooled=True)
    ] = True
    draft_schedule: Annotated[
        DraftSchedule, Setting(locked_by="tree", link="schedule", in_every_file=True, pooled=True)
    ] = "fixed"
    # Greedy runs always take the most probable token, and verify in one way.
    draft_sampling: Annotated[DraftSampling, Setting(if_sampled=True)] = "sample"
    verification: Annotated[VerificationMode, Setting(locked_by="tree", if_sampled=True)] = "token"
    tree: Annotated[  # children a depth, like "4,2,1", or "dynamic:16"; None: the draft is a chain
        str | None, Setting(check=parse_tree, offered=TREES_OFFERED, unset=NO_TREE)
    ] = None

    def __post_init__(self) -> None:
        check(SETTINGS, self)
        if (shape := self.tree_shape) and shape.depth not in (None, self.draft_length):
            raise InputError(f"tree {self.tree} has {shape.depth} depths, so draft_length must be {shape.depth}.")

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always chosen (top-k and top-p then change nothing)."""
        return self.temperature == 0

    @property
    def tree_shape(self) -> TreeShape | None:
        return None if self.tree is None else parse_tree(self.tree)

    @property
    def manner(self) -> str:
        """What is not usual in how tokens are drafted and verified, for a list: ", tree 4,2,1"; or empty."""
        return "".join(f", {words}" for row in SETTINGS.values() if (words := row.in_words(getattr(self, row.name))))


SETTINGS = table_of(DecodeSettings)


def facts(settings: DecodeSettings) -> Iterator[tuple[str, str]]:
    """The label and the value of each setting that is not the usual one and that matters in this run."""
    for row in SETTINGS.values():
        value = getattr(settings, row.name)
        if row.words and value != row.default and not (row.if_sampled and settings.greedy):
            yield row.label, row.in_facts(value)


def repeat_settings(settings: DecodeSettings, number: int) -> DecodeSettings:
    """The settings of a repeat, counted from 0: above temperature 0 it has its own seed."""
    return settings if settings.greedy else replace(settings, seed=(settings.seed + number) % (MAX_SEED + 1))
