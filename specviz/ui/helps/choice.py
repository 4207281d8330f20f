"""What a visitor wants swept: as a plan, as a link and back, and how long it will take. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, PROMPT_LOOKUP, Precision
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule
from specviz.data.permalink import MAX_NEW_TOKENS, MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K, PRECISIONS, REAL, SCHEDULES
from specviz.data.workloads import WORKLOADS, find_workload
from specviz.measure.sweep.plan import Cell, SweepPair, SweepPlan, SweepPrompt, plain_runs, workload_prompts
from specviz.measure.sweep.rows import SweepRow

MAX_CELLS = 1000
MAX_PROMPTS_EACH = 5
MOST_DRAFTS = 4
WARM_UP_TOKENS = 6  # of both decoders before each group of runs, about

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the page's controls say."""

    workloads: tuple[str, ...] = ("story", "code", "structured", "copy", "prose", "random")
    target: str = DEFAULT_TARGET
    drafts: tuple[str, ...] = (DEFAULT_DRAFT,)
    draft_lengths: tuple[int, ...] = (1, 2, 4, 8)
    temperatures: tuple[float, ...] = (0.0,)
    schedules: tuple[DraftSchedule, ...] = ("fixed",)
    tokens: int = 64
    prompts: int = 3  # of each workload
    constrain: bool = False
    precision: Precision = "exact"
    seed: int = 0
    top_k: int = 0  # 0 keeps every token
    top_p: float = 1.0  # 1 keeps every token

    def plan(self, own: Sequence[SweepPrompt] = ()) -> SweepPlan:
        """The sweep asked for, with the visitor's own prompts after the workloads'."""
        chosen = [workload for name in self.workloads if (workload := find_workload(name))]
        return SweepPlan(
            prompts=(*workload_prompts(chosen, self.prompts), *own),
            pairs=tuple(SweepPair(self.target, draft) for draft in self.drafts),
            draft_lengths=self.draft_lengths,
            temperatures=self.temperatures,
            schedules=self.schedules,
            constrain=self.constrain,
            settings=DecodeSettings(
                max_new_tokens=self.tokens,
                seed=self.seed,
                top_k=self.top_k or None,
                top_p=None if self.top_p == 1 else self.top_p,
            ),
            precision=self.precision,
        )

    def problem(self, own: Sequence[SweepPrompt] = ()) -> str | None:
        """Why this cannot be measured, in one sentence; None where it can."""
        missing = [
            (self.workloads or own, "a workload, or a file of your own prompts"),
            (self.drafts, "a draft"),
            (self.draft_lengths, "a draft length"),
            (self.temperatures, "a temperature"),
            (self.schedules, "a schedule"),
        ]
        for given, what in missing:
            if not given:
                return f"Nothing to measure yet: choose {what}."
        cells = len(self.plan(own).cells())
        if cells > MAX_CELLS:
            return f"That is {cells:,} runs, and at most {MAX_CELLS:,} are taken at once: choose fewer of something."
        return None if cells else "Nothing to measure yet: prompt lookup has no confidence to stop by."

    def link(self) -> list[tuple[str, str]]:
        """The page's address: every setting, those with several values repeated."""
        return [
            *(("workload", name) for name in self.workloads),
            ("target", self.target),
            *(("draft", draft) for draft in self.drafts),
            *(("gamma", str(length)) for length in self.draft_lengths),
            *(("temperature", f"{temperature:g}") for temperature in self.temperatures),
            *(("schedule", schedule) for schedule in self.schedules),
            ("tokens", str(self.tokens)),
            ("prompts", str(self.prompts)),
            ("constrain", str(int(self.constrain))),
            ("dtype", self.precision),
            ("seed", str(self.seed)),
            ("top_k", str(self.top_k)),
            ("top_p", f"{self.top_p:g}"),
        ]


def choice_from_link(params: Mapping[str, Sequence[str]], known_models: Collection[str]) -> tuple[Choice, list[str]]:
    """What an address asks for, and one line for each part of it that cannot be; those fall back to the default."""
    default, problems = Choice(), list[str]()
    models = {name: name for name in known_models}
    drafts = models | {PROMPT_LOOKUP: PROMPT_LOOKUP}
    names = {workload.name: workload.name for workload in WORKLOADS}

    def several(
        name: str, parse: Callable[[str], Value | None], usual: tuple[Value, ...], most: int = 16
    ) -> tuple[Value, ...]:
        given = list(params.get(name, ()))[:50]
        found = list(dict.fromkeys(value for text in given if (value := parse(text)) is not None))[:most]
        if any(parse(text) is None for text in given):
            problems.append(f"A {name} in the link is not known here: left out.")
        return tuple(found) if found else usual

    def one(name: str, parse: Callable[[str], Value | None], usual: Value) -> Value:
        return several(name, parse, (usual,))[-1]

    choice = Choice(
        workloads=several("workload", names.get, default.workloads),
        target=one("target", models.get, default.target),
        drafts=several("draft", drafts.get, default.drafts, MOST_DRAFTS),
        draft_lengths=tuple(sorted(several("gamma", _whole(MAX_DRAFT_LENGTH), default.draft_lengths))),
        temperatures=several("temperature", _temperature, default.temperatures),
        schedules=several("schedule", SCHEDULES.get, default.schedules),
        tokens=one("tokens", _whole(MAX_NEW_TOKENS), default.tokens),
        prompts=one("prompts", _whole(MAX_PROMPTS_EACH), default.prompts),
        constrain=one("constrain", {"0": False, "1": True}.get, default.constrain),
        precision=one("dtype", PRECISIONS.get, default.precision),
        seed=one("seed", _whole(MAX_SEED, 0), default.seed),
        top_k=one("top_k", _whole(MAX_TOP_K, 0), default.top_k),
        top_p=one("top_p", _share, default.top_p),
    )
    return choice, problems


TEMPERATURES = (0.0, 0.3, 0.5, 0.7, 1.0, 1.5)  # what the page offers


def _temperature(text: str) -> float | None:
    number = float(text) if REAL.fullmatch(text) else -1.0
    return number if number in TEMPERATURES and number <= MAX_TEMPERATURE else None


def _share(text: str) -> float | None:
    number = round(float(text), 2) if REAL.fullmatch(text) else 0.0
    return number if 0.01 <= number <= 1 else None


def _whole(most: int, least: int = 1) -> Callable[[str], int | None]:
    def parse(text: str) -> int | None:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 17 else least - 1
        return number if least <= number <= most else None

    return parse


@dataclass(frozen=True, slots=True)
class Pace:
    """How quickly a pair runs, taken from earlier rows; seconds a token."""

    speculative: float
    plain: float


def pace_of(rows: Sequence[SweepRow], target: str, draft: str) -> Pace | None:
    """The pair's pace in these rows; None where they hold none of it."""
    its = [row for row in rows if row.target == target and is_draft(row, draft)]
    if not its:
        return None
    return Pace(
        median(row.speculative_seconds / row.new_tokens for row in its),
        median(row.autoregressive_seconds / row.plain_tokens for row in its),
    )


def is_draft(row: SweepRow, draft: str) -> bool:
    """Whether a row is of this draft, as controls and links name it."""
    return row.draft_dtype is None if draft == PROMPT_LOOKUP else row.draft == draft


def estimated_seconds(cells: Sequence[Cell], paces: Mapping[SweepPair, Pace]) -> float | None:
    """About how long these cells take, warm-ups included; None where a pair's pace is not known."""
    if any(cell.pair not in paces for cell in cells):
        return None
    total = 0.0
    for pair in dict.fromkeys(cell.pair for cell in cells):
        its, pace = [cell for cell in cells if cell.pair == pair], paces[pair]
        tokens = sum(cell.settings.max_new_tokens for cell in its)
        plain = plain_runs(its) * (its[0].settings.max_new_tokens + WARM_UP_TOKENS)
        total += tokens * pace.speculative + plain * pace.plain
    return total


def in_minutes(seconds: float) -> str:
    """About so long, in words."""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
