"""What a sweep measures, before anything is loaded: prompts, pairs and settings in, a list of cells out. No torch."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, zip_longest

from specviz.core.request import PROMPT_LOOKUP, Precision
from specviz.core.settings import DecodeSettings, DraftSchedule
from specviz.data.grammars import Grammar
from specviz.data.workloads import Workload

CELLS_A_PLAIN_RUN = 2


@dataclass(frozen=True, slots=True)
class SweepPrompt:
    """A prompt and the kind of text it stands for."""

    workload: str
    name: str
    text: str
    grammar: Grammar | None = None  # what its output may be held to

    @property
    def text_hash(self) -> str:
        """The first digits of the text's SHA-256: a name from a file need not keep its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class SweepPair:
    """A target and where its drafts come from."""

    target: str
    draft: str  # a model, or PROMPT_LOOKUP

    @property
    def models(self) -> list[str]:
        """The models to load, target first."""
        return [self.target] if self.draft == PROMPT_LOOKUP else [self.target, self.draft]


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement: a speculative run, and the plain run beside it."""

    pair: SweepPair
    prompt: SweepPrompt
    settings: DecodeSettings
    constrained: bool = False  # whether the output is held to the prompt's grammar

    @property
    def block(self) -> tuple[object, ...]:
        """What a plain run can be shared within: all but the draft length and its schedule."""
        settings = self.settings
        return self.pair, self.prompt, self.constrained, settings.temperature

    @property
    def label(self) -> str:
        """What is being measured, for a line of progress."""
        settings = self.settings
        schedule = "" if settings.draft_schedule == "fixed" else f" ({settings.draft_schedule})"
        constrained = ", constrained" if self.constrained else ""
        draft = "prompt lookup" if self.pair.draft == PROMPT_LOOKUP else self.pair.draft
        return f"{self.prompt.name}, γ = {settings.draft_length}{schedule}{constrained}, drafted by {draft}"


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that is varied, and the settings that are not."""

    prompts: tuple[SweepPrompt, ...]
    pairs: tuple[SweepPair, ...]
    draft_lengths: tuple[int, ...]
    temperatures: tuple[float, ...] = (0.0,)
    schedules: tuple[DraftSchedule, ...] = ("fixed",)
    constrain: bool = False  # measure prompts that have a grammar with it as well as without
    settings: DecodeSettings = field(default_factory=DecodeSettings)  # draft length, temperature and schedule apart
    precision: Precision = "exact"

    def cells(self) -> list[Cell]:
        """The measurements in the order they are made: the same for the same plan, so that a count says how far it is.

        Drafts of a fixed length are measured at each length. The schedules that choose the length themselves are
        measured once: the heuristic from the plan's middle length on, the confidence stop with its longest as limit
        (not with prompt lookup, which is never unsure).

        Raises:
            InputError: a setting is outside its range.
        """
        return [
            Cell(pair, prompt, settings, constrained)
            for pair in self.pairs
            for temperature in self.temperatures
            for prompt in self.prompts
            for constrained in ((False, True) if self.constrain and prompt.grammar else (False,))
            for settings in self._drafting(temperature)
            if pair.draft != PROMPT_LOOKUP or settings.draft_schedule != "confidence"
        ]

    def _drafting(self, temperature: float) -> list[DecodeSettings]:
        lengths = self.draft_lengths
        own = {"heuristic": sorted(lengths)[len(lengths) // 2 : len(lengths) // 2 + 1], "confidence": [max(lengths)]}
        base = replace(self.settings, temperature=temperature)
        return [
            replace(base, draft_length=length, draft_schedule=schedule)
            for schedule in self.schedules
            for length in own.get(schedule, lengths)
        ]


def groups(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    """Cells that share a plain run: at most two, neighbours in the list and of one block."""
    for _, block in groupby(cells, key=lambda cell: cell.block):
        while group := list(islice(block, CELLS_A_PLAIN_RUN)):
            yield group


def plain_runs(cells: Sequence[Cell]) -> int:
    """How many runs of the target alone these cells need."""
    return sum(1 for _ in groups(cells))


def workload_prompts(workloads: Sequence[Workload], count: int | None = None) -> list[SweepPrompt]:
    """The first `count` prompts of each workload (all where None), a workload after the other.

    Every workload's first prompt comes before any second one: a sweep that is cut short has seen something of each.
    """
    columns = [
        [SweepPrompt(each.name, preset.name, preset.text, preset.grammar) for preset in each.prompts[:count]]
        for each in workloads
    ]
    return [prompt for row in zip_longest(*columns) for prompt in row if prompt is not None]
