"""What a sweep will measure, before any model is loaded: prompts, pairs and settings in, cells out. No torch."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest

from specviz.core.drafters import named, needs_nothing, spoken
from specviz.core.settings import DecodeSettings, DraftSchedule, repeat_settings
from specviz.data.prompts.grammars import Grammar
from specviz.data.prompts.workloads import Workload

CELLS_A_PLAIN_RUN = 2
OWN_WORKLOAD = "own"  # of prompts from a file, unless it names one


@dataclass(frozen=True, slots=True)
class SweepPrompt:
    workload: str
    name: str
    text: str
    grammar: Grammar | None = None  # what its output can be limited to
    messages: tuple[tuple[str, str], ...] = ()  # of a conversation, each a role and a text; `text` then only shows them

    @property
    def text_hash(self) -> str:
        """The first digits of the text's SHA-256: the same name may later have another text in a visitor's file."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class SweepPair:
    target: str
    draft: str  # as in `RunRequest`

    @property
    def models(self) -> list[str]:
        return [self.target] if needs_nothing(self.draft) else [self.target, self.draft]


@dataclass(frozen=True, slots=True)
class SweepCell:
    pair: SweepPair
    prompt: SweepPrompt
    settings: DecodeSettings
    constrained: bool = False  # whether the output follows the prompt's grammar

    @property
    def block(self) -> tuple[object, ...]:
        """Cells of one block can share a plain run: only the draft length and its schedule differ."""
        settings = self.settings
        return self.pair, self.prompt, self.constrained, settings.temperature, settings.seed

    @property
    def label(self) -> str:
        settings = self.settings
        schedule = "" if settings.draft_schedule == "fixed" else f" ({settings.draft_schedule})"
        constrained = ", constrained" if self.constrained else ""
        tree = f", tree {settings.tree}" if settings.tree else ""
        draft = spoken(self.pair.draft)
        return f"{self.prompt.name}, γ = {settings.draft_length}{schedule}{tree}{constrained}, drafted by {draft}"


@dataclass(frozen=True, slots=True)
class SweepPlan:
    prompts: tuple[SweepPrompt, ...]
    pairs: tuple[SweepPair, ...]
    draft_lengths: tuple[int, ...]
    temperatures: tuple[float, ...] = (0.0,)
    schedules: tuple[DraftSchedule, ...] = ("fixed",)
    constrain: bool = False  # measure prompts that have a grammar with it as well as without
    settings: DecodeSettings = field(default_factory=DecodeSettings)  # without draft length, temperature and schedule
    repeats: int = 1  # how often all this is measured; above temperature 0 each time with the next seed

    def cells(self) -> list[SweepCell]:
        """Always in this order: a count of finished cells shows the progress. InputError: a setting is impossible."""
        return [
            SweepCell(pair, prompt, repeat_settings(settings, repeat), constrained)
            for pair in self.pairs
            for repeat in range(self.repeats)
            for temperature in self.temperatures
            for prompt in self.prompts
            for constrained in ((False, True) if self.constrain and prompt.grammar else (False,))
            for settings in self._drafting(temperature)
            if settings.draft_schedule != "confidence" or not (method := named(pair.draft)) or method.samples
        ]

    def _drafting(self, temperature: float) -> list[DecodeSettings]:
        shape = self.settings.tree_shape
        lengths = (shape.depth,) if shape and shape.depth else self.draft_lengths
        own = {"heuristic": sorted(lengths)[len(lengths) // 2 : len(lengths) // 2 + 1], "confidence": [max(lengths)]}
        base = replace(self.settings, temperature=temperature)
        return [
            replace(base, draft_length=length, draft_schedule=schedule)
            for schedule in self.schedules
            for length in own.get(schedule, lengths)
        ]


def groups(cells: Iterable[SweepCell]) -> Iterator[list[SweepCell]]:
    """The cells that share a plain run: neighbours of one block, and no cell twice."""
    for _, block in groupby(cells, key=lambda cell: cell.block):
        group = list[SweepCell]()
        for cell in block:
            if cell in group or len(group) == CELLS_A_PLAIN_RUN:
                yield group
                group = []
            group.append(cell)
        yield group


def plain_runs(cells: Sequence[SweepCell]) -> int:
    return sum(1 for _ in groups(cells))


def workload_prompts(workloads: Sequence[Workload], count: int | None = None) -> list[SweepPrompt]:
    """`count` prompts of each, every first one before any second: a sweep cut short has then measured each workload."""
    columns = [
        [SweepPrompt(each.name, preset.name, preset.text, preset.grammar) for preset in each.all_prompts[:count]]
        for each in workloads
    ]
    return [prompt for row in zip_longest(*columns) for prompt in row if prompt is not None]
