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


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Settings of both decoders, checked when they are made.

    Raises:
        InputError: a value is outside its range; the sentence names the setting.
    """

    max_new_tokens: Annotated[
        int,
        Setting(
            least=1,
            label="New tokens",
            help="How many tokens each decoder writes at most.",
            offered=(1, 256),
            fact=False,
            link="tokens",
            expected="a number of tokens from 1 to 256",
            metavar="N",
            option_help="most tokens to write",
            in_every_file=True,
            pooled=True,
        ),
    ] = 64
    draft_length: Annotated[  # gamma: tokens proposed in a round; see draft_schedule
        int,
        Setting(
            least=1,
            most=MAX_DRAFT_LENGTH,
            label="Draft length",
            help="γ: how many tokens the draft proposes before the target checks them.",
            fact=False,
            link="gamma",
            expected=f"a draft length from 1 to {MAX_DRAFT_LENGTH}",
            metavar="G",
            option_help="tokens drafted a round (default: 4, or the depths of the tree)",
            in_every_file=True,
            pooled=True,
        ),
    ] = 4
    temperature: Annotated[  # 0 is greedy
        float,
        Setting(
            least=0,
            most=10,
            label="Temperature",
            help="0 always takes the most likely token (greedy). Above 0, tokens are drawn at random.",
            offered=(0.0, 2.0),
            step=0.1,
            fact=False,
            expected="a temperature from 0 to 2",
            metavar="X",
            option_help="0 is greedy",
            in_every_file=True,
        ),
    ] = 0.0
    top_k: Annotated[  # only the k most probable tokens; None: all
        int | None,
        Setting(
            least=1,
            label="Top-k (0 keeps every token)",
            help="Draw only from the k most likely tokens.",
            offered=(0, 1000),
            typed=True,
            unset=0,
            fact=False,
            expected="a top-k from 0 (keep all) to 1000",
            metavar="K",
            option_help="only the K most probable tokens (default: all)",
            in_every_file=True,
        ),
    ] = None
    top_p: Annotated[  # only the smallest set with this much probability; None: all
        float | None,
        Setting(
            least=0,
            above=True,
            most=1,
            label="Top-p (1 keeps every token)",
            help="Draw only from the most likely tokens that have this much probability together.",
            step=0.01,
            unset=1.0,
            fact=False,
            expected="a top-p above 0 and at most 1",
            metavar="P",
            option_help="only the most probable tokens that have this sum (default: all)",
            in_every_file=True,
        ),
    ] = None
    seed: Annotated[
        int,
        Setting(
            least=0,
            most=MAX_SEED,
            most_in_words="2^63 - 1",
            label="Seed",
            help="The same seed and settings give the same run.",
            offered=(0, MAX_SEED_OFFERED),
            typed=True,
            fact=False,
            expected=f"a whole number from 0 to {MAX_SEED_OFFERED}",
            metavar="S",
            option_help="of the random numbers",
            in_every_file=True,
            pooled=True,
        ),
    ] = 0
    stop_at_eos: Annotated[  # False: always emit exactly max_new_tokens
        bool,
        Setting(
            help="Whether a run ends where the text ends.",
            fact=False,
            link="",
            flag="--ignore-eos",
            option_help="always write all new tokens",
            in_every_file=True,
            pooled=True,
        ),
    ] = True
    draft_schedule: Annotated[
        DraftSchedule,
        Setting(
            label="Draft length schedule",
            help="Fixed: γ tokens in every round. Heuristic, an option of transformers: it starts at γ and drafts two "
            "more after a round that accepted all, one fewer after any other. Stop when unsure: up to γ tokens, and it "
            "stops after a token to which the draft gives less than 0.4. The default of transformers is nearest to "
            "that: up to 20 tokens, and a limit that starts there and adapts where scikit-learn is installed.",
            labels={"fixed": "Fixed", "heuristic": "Heuristic: +2 or −1", "confidence": "Stop when unsure"},
            locked_by="tree",
            fact=False,
            link="schedule",
            expected="a draft length schedule known here",
            option_help="how the draft length changes",
            in_every_file=True,
            pooled=True,
        ),
    ] = "fixed"
    draft_sampling: Annotated[  # greedy runs always take the most probable token
        DraftSampling,
        Setting(
            label="The draft takes",
            help="Above temperature 0. A random token: drawn from the draft’s probabilities q. Its most probable "
            "token: as llama.cpp does, and vLLM and SGLang unless told otherwise; its q is then 1. The text has the "
            "target’s distribution either way.",
            labels={"sample": "A random token", "argmax": "Its most probable token"},
            words={"argmax": "most probable drafts"},
            if_sampled=True,
            option_help="how the draft chooses a token",
        ),
    ] = "sample"
    verification: Annotated[  # greedy runs: the two are the same
        VerificationMode,
        Setting(
            label="Verification",
            help="Above temperature 0. Token by token: the first rejected token ends the round. The block at once: the "
            "draft is judged as a whole (block verification, arXiv 2403.10444), and on average no fewer tokens are "
            "accepted. The text has the target’s distribution either way.",
            labels={"token": "Token by token", "block": "The block at once"},
            locked_by="tree",
            words={"block": "block verification"},
            if_sampled=True,
            option_help="token by token, or the draft jointly",
        ),
    ] = "token"
    tree: Annotated[  # children a depth, like "4,2,1", or "dynamic:16"; None: the draft is a chain
        str | None,
        Setting(
            check=parse_tree,
            label="Tree",
            help="Several guesses for one place, all checked in one pass of the target. 4,2,1: four guesses for the "
            "first place, two after each of them, one after each of those. Dynamic: the most probable paths, as in "
            "EAGLE-2. The draft length is the depth of the tree. A tree has a fixed draft length, and is verified "
            "token by token.",
            offered=(NO_TREE, "2,2", "4,2,1", "dynamic:8", "dynamic:16", "dynamic:32"),
            unset=NO_TREE,
            words="tree {}",
            expected="the shape of a tree known here",
            metavar="SHAPE",
            option_help='children a depth, like "4,2,1", or "dynamic:16" (default: a chain)',
        ),
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
        if row.fact and value != row.default and not (row.if_sampled and settings.greedy):
            yield row.label, row.in_facts(value)


def repeat_settings(settings: DecodeSettings, number: int) -> DecodeSettings:
    """The settings of a repeat, counted from 0: above temperature 0 it has its own seed."""
    return settings if settings.greedy else replace(settings, seed=(settings.seed + number) % (MAX_SEED + 1))
