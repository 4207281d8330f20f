"""The settings of one decode run: a table with a row for each, from which everything that shows them is made.

`DecodeSettings` declares its fields with rows, and assets/texts/tables/settings.yaml has their words.
`table_of` reads both, and whatever shows or reads settings goes through the rows.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from operator import mul
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from specviz.core.errors import InputError
from specviz.core.numbers import localize
from specviz.core.texts import AppTexts, Sentences, fill, join_choices

say = Sentences("settings")

OWN_NAME = "the name of the setting"
setting_words = AppTexts("tables/settings", dict[str, dict[str, Any]])
WORDS = setting_words.read().content
ON_PAGES = {"label", "help", "labels", "words"}  # what a page shows of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting. `table_of` fills in its words, and the first four attributes from the field that the row belongs to.

    A value of None means "not limited"; links and controls then hold `unset`.
    """

    name: str = ""  # in Python, JSON, and as the column of a CSV
    kind: type = object  # int, float, bool or str
    default: Any = None
    choices: tuple[str, ...] = ()  # of a Literal

    # what is allowed
    least: float | None = None
    most: float | None = None
    above: bool = False  # `least` itself is too little
    most_in_words: str = ""
    check: Callable[[str], object] | None = None  # of a text; raises InputError
    locked_by: str = ""  # the setting beside which this one keeps its default

    # pages
    label: str = ""  # of its control and among a run's facts; none: no page has a control for it
    help: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # of the choices
    offered: tuple[Any, ...] = ()  # by controls and links, least and most; or the texts to choose from
    step: float | None = None  # of a slider
    typed: bool = False  # a field for a number, not a slider
    unset: Any = None
    words: str | Mapping[str, str] = ""  # for lists of what is not usual: of the value, or by choice; none: not listed
    if_sampled: bool = False  # changes nothing in greedy runs

    # links
    link: str = OWN_NAME  # its name there and among controls; none: neither has it
    expected: str = ""  # what a link's value must be; by default one of the choices

    # the command line and files of sweeps
    flag: str = OWN_NAME  # a switch sets what is not the default; none: no command has it
    metavar: str | None = None
    option_help: str = ""
    later: bool = False  # files of before lack the column, and mean the default
    pooled: bool = False  # rows with different values may be averaged

    @property
    def here(self) -> "Setting":
        """With its words in the language of who reads them."""
        words = setting_words().get(self.name, {})
        here = replace(self, **{key: words[key] for key in ON_PAGES & words.keys()})
        expected = words.get("expected", self.expected).format(least=self.limits[0], most=self.limits[1])
        return replace(here, expected=expected or (join_choices(self.choices) if self.choices else ""))

    @property
    def rule(self) -> str:
        """What its values must be: "from 1 to 16"."""
        if self.choices:
            return join_choices(self.choices)
        most = self.most_in_words or f"{self.most:g}" if self.most is not None else ""
        if self.above:
            return say("above", least=self.least, most=most)
        return say("between", least=self.least, most=most) if most else say("at_least", least=self.least)

    def allows(self, value: Any) -> bool:
        """Whether the value is one of the choices, or within the limits; nan never is."""
        if value is None or not (self.choices or self.least is not None):
            return True
        if self.choices:
            return value in self.choices
        enough = value > self.least if self.above else value >= self.least
        return bool(enough and (self.most is None or value <= self.most))

    def shown(self, value: Any) -> Any:
        """The value as links and controls hold it."""
        return self.unset if value is None else float(value) if self.kind is float else value

    def taken(self, shown: Any) -> Any:
        """The value of what a link or a control holds."""
        return None if self.unset is not None and shown == self.unset else shown

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the most that controls and links offer."""
        return (self.offered[0], self.offered[1]) if self.offered else (self.least, self.most)


def table_of(owner: type) -> dict[str, Setting]:
    """The rows that a dataclass declares its fields with, by their names."""
    defaults, table = {each.name: each.default for each in fields(owner)}, dict[str, Setting]()
    for name, hint in get_type_hints(owner, include_extras=True).items():
        row = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Setting)), None)
        if row is None:
            continue
        declared = get_args(hint)[0]
        choices = get_args(declared) if get_origin(declared) is Literal else ()
        kinds = [str] if choices else [kind for kind in get_args(declared) or [declared] if kind is not NoneType]
        table[name] = replace(
            replace(row, **WORDS.get(name, {})),
            name=name,
            kind=kinds[0],
            default=defaults[name],
            choices=choices,
            link=name if row.link == OWN_NAME else row.link,
            flag=f"--{name.replace('_', '-')}" if row.flag == OWN_NAME else row.flag,
        )
    return table


def check(table: Mapping[str, Setting], values: Any) -> None:
    for row in table.values():
        value = getattr(values, row.name)
        if not row.allows(value):
            limited = row.default is not None
            raise InputError(say("wrong" if limited else "wrong_unless", name=row.name, rule=row.rule, value=value))
        if row.check and value is not None:
            row.check(value)
    for row in table.values():
        value = getattr(values, row.name)
        if row.locked_by and value != row.default and getattr(values, row.locked_by) != table[row.locked_by].default:
            raise InputError(say("locked", lock=row.locked_by, name=row.name, default=row.default, value=value))


MAX_DRAFT_LENGTH = 16  # and the most depths of a tree
MAX_NODES = 64  # of one tree; a round of a trace holds no more
DYNAMIC = "dynamic:"


@dataclass(frozen=True, slots=True)
class TreeShape:
    """The shape of a draft tree, from a setting: children a depth ("4,2,1") or a budget ("dynamic:16")."""

    children: tuple[int, ...] | None  # of each node, by depth; None: the most probable paths within `nodes`
    nodes: int  # the most drafted tokens in the tree

    @property
    def depth(self) -> int | None:
        """The longest path of a fixed shape; None: the draft length decides."""
        return None if self.children is None else len(self.children)


def parse_tree(text: str) -> TreeShape:
    if re.fullmatch(rf"{DYNAMIC}[0-9]{{1,3}}", text):
        return _sized(None, int(text.removeprefix(DYNAMIC)), text)
    if not re.fullmatch(r"[1-9][0-9]?(,[1-9][0-9]?){0,31}", text):
        raise InputError(say("no_tree", text=ascii(text[:40])))
    children = tuple(int(number) for number in text.split(","))
    if len(children) > MAX_DRAFT_LENGTH:
        raise InputError(say("deep_tree", most=MAX_DRAFT_LENGTH, count=len(children)))
    return _sized(children, sum(accumulate(children, mul)), text)


def _sized(children: tuple[int, ...] | None, nodes: int, text: str) -> TreeShape:
    if not 1 <= nodes <= MAX_NODES:
        raise InputError(say("large_tree", most=MAX_NODES, text=text, count=nodes))
    return TreeShape(children, nodes)


def resize_tree(text: str, depth: int) -> str:
    """The tree of this shape with so many depths: the deepest are left out, or one guess a node is added.

    A tree that would be too large loses children where it has most. A budget of nodes has any depth: it stays as it is.
    """
    shape = parse_tree(text)
    if shape.children is None:
        return text
    children = [*shape.children[:depth], *[1] * (depth - len(shape.children))]
    while sum(accumulate(children, mul)) > MAX_NODES:
        children[children.index(max(children))] -= 1
    return ",".join(map(str, children))


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

# What the target reads of a prompt. raw: its text. chat: the messages that the text is (`core/conversation.py`), in the
# model's own template.
PromptFormat = Literal["raw", "chat"]

NO_TREE = "none"  # in links and menus
TREES_OFFERED = (NO_TREE, "2,2", "4,2,1", "dynamic:8", "dynamic:16", "dynamic:32")


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Settings of both decoders, checked when they are made: the InputError names the setting."""

    max_new_tokens: Annotated[int, Setting(least=1, offered=(1, 256), link="tokens", pooled=True)] = 64
    # gamma: tokens proposed in a round; see draft_schedule
    draft_length: Annotated[int, Setting(least=1, most=MAX_DRAFT_LENGTH, link="gamma", pooled=True)] = 4
    temperature: Annotated[float, Setting(least=0, most=10, offered=(0.0, 2.0), step=0.1)] = 0.0  # 0 is greedy
    # only the k most probable tokens; None: all
    top_k: Annotated[int | None, Setting(least=1, offered=(0, 1000), typed=True, unset=0)] = None
    # only the smallest set with this much probability; None: all
    top_p: Annotated[float | None, Setting(least=0, above=True, most=1, step=0.01, unset=1.0)] = None
    seed: Annotated[int, Setting(least=0, most=MAX_SEED, offered=(0, MAX_SEED_OFFERED), typed=True, pooled=True)] = 0
    # False: always emit exactly max_new_tokens
    stop_at_eos: Annotated[bool, Setting(link="", flag="--ignore-eos", pooled=True)] = True
    draft_schedule: Annotated[DraftSchedule, Setting(locked_by="tree", link="schedule", pooled=True)] = "fixed"
    # Greedy runs always take the most probable token, and verify in one way.
    draft_sampling: Annotated[DraftSampling, Setting(if_sampled=True, later=True)] = "sample"
    verification: Annotated[VerificationMode, Setting(locked_by="tree", if_sampled=True, later=True)] = "token"
    # children a depth, like "4,2,1", or "dynamic:16"; None: the draft is a chain
    tree: Annotated[str | None, Setting(check=parse_tree, offered=TREES_OFFERED, unset=NO_TREE, later=True)] = None
    prompt_format: Annotated[PromptFormat, Setting(later=True)] = "raw"

    def __post_init__(self) -> None:
        check(SETTINGS, self)
        if (shape := self.tree_shape) and shape.depth not in (None, self.draft_length):
            raise InputError(say("tree_depths", tree=self.tree, count=shape.depth))

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
        said = list[str]()
        for row in SETTINGS.values():
            value = getattr(self, row.name)
            if row.words and value != row.default:
                words = row.here.words
                said.append(words.get(value, "") if isinstance(words, Mapping) else fill(words, {}, value))
        return "".join(f", {words}" for words in said if words)


SETTINGS = table_of(DecodeSettings)


def facts(settings: DecodeSettings) -> Iterator[tuple[str, str]]:
    """The label and the value of each setting that is not the usual one and that matters in this run."""
    for row in SETTINGS.values():
        value = getattr(settings, row.name)
        if row.words and value != row.default and not (row.if_sampled and settings.greedy):
            label = row.here.labels.get(value, "")
            said = localize(value, "g") if row.kind is float else str(value)
            yield row.here.label, label[0].lower() + label[1:] if label else said


def repeat_settings(settings: DecodeSettings, number: int) -> DecodeSettings:
    """The settings of a repeat, counted from 0: above temperature 0 it has its own seed."""
    return settings if settings.greedy else replace(settings, seed=(settings.seed + number) % (MAX_SEED + 1))
