"""A sweep's rows as points, and what they say in a sentence. Pure: no screen, no clock."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from specviz.core.metrics import Costs
from specviz.core.theory import break_even_acceptance
from specviz.core.verdict import NEUTRAL, interval_of_ratios
from specviz.data.workloads import find_workload
from specviz.measure.sweep.rows import SweepRow


@dataclass(frozen=True, slots=True)
class Series:
    """What may be pooled: the same pair in the same number formats, at one temperature, on one machine."""

    target: str
    target_dtype: str
    draft: str
    draft_dtype: str | None
    temperature: float
    top_k: int | None
    top_p: float | None
    threads: int
    machine: str

    @property
    def label(self) -> str:
        """For a menu."""
        draft = "prompt lookup" if self.draft_dtype is None else self.draft.rpartition("/")[2]
        formats = {self.target_dtype, self.draft_dtype} - {None, "float32"}
        with_formats = " (bfloat16)" if formats else ""
        only = f", top-k {self.top_k}" if self.top_k else ""
        only += f", top-p {self.top_p:g}" if self.top_p and self.top_p < 1 else ""
        return f"{draft} → {self.target.rpartition('/')[2]}{with_formats}, temperature {self.temperature:g}{only}"


def series_of(row: SweepRow) -> Series:
    """The series a row belongs to."""
    made_by = row.target, row.target_dtype, row.draft, row.draft_dtype
    return Series(*made_by, row.temperature, row.top_k, row.top_p, row.threads, row.machine)


@dataclass(frozen=True, slots=True)
class Point:
    """Rows of one kind of text at one setting, pooled."""

    workload: str
    draft_length: int
    rows: tuple[SweepRow, ...]

    @property
    def speedup(self) -> float:
        """The geometric mean over its rows: twice as fast and half as fast make 1."""
        return math.exp(fmean(math.log(row.speedup) for row in self.rows))

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted, all rows together; None where nothing was drafted."""
        drafted = sum(row.drafted for row in self.rows)
        return sum(row.accepted for row in self.rows) / drafted if drafted else None

    @property
    def per_judgement_rate(self) -> float | None:
        """Accepted / (accepted + rejected), all rows together: the estimate of α; None where nothing was judged."""
        accepted, rejected = sum(row.accepted for row in self.rows), sum(row.rejected for row in self.rows)
        return accepted / (accepted + rejected) if accepted + rejected else None

    @property
    def pays(self) -> bool:
        """Whether it is quicker than the target alone by more than a person would overlook."""
        return self.speedup > NEUTRAL

    @property
    def loses(self) -> bool:
        """Whether it is slower by as much."""
        return self.speedup < 1 / NEUTRAL

    @property
    def sure(self) -> bool:
        """Whether the 95 % interval of its prompts' speedups leaves out 1; never with a single prompt."""
        ratios = [prompt.speedup for prompt in self.prompts]
        if len(ratios) < 2:
            return False
        low, high = interval_of_ratios(ratios)
        return low > 1 or high < 1

    @property
    def prompts(self) -> list["Point"]:
        """The same, a prompt each."""
        names = dict.fromkeys(_prompt(row) for row in self.rows)
        groups = (tuple(row for row in self.rows if _prompt(row) == name) for name in names)
        return [Point(self.workload, self.draft_length, rows) for rows in groups]

    @property
    def lengths(self) -> list[int]:
        """The draft lengths of its rows."""
        return sorted({row.draft_length for row in self.rows})


def _prompt(row: SweepRow) -> tuple[str, str]:
    return row.preset, row.text_hash


def points(rows: Sequence[SweepRow], schedule: str = "fixed", constrained: bool = False) -> list[Point]:
    """Rows of this kind pooled by workload and draft length, in the order they first come."""
    kept = [row for row in rows if row.draft_schedule == schedule and row.constrained == constrained]
    keys = dict.fromkeys((row.workload, row.draft_length) for row in kept)
    return [
        Point(workload, length, tuple(row for row in kept if (row.workload, row.draft_length) == (workload, length)))
        for workload, length in keys
    ]


def best_points(every: Sequence[Point]) -> list[Point]:
    """Each workload's quickest point, the quickest workload first."""
    best: dict[str, Point] = {}
    for point in every:
        if point.workload not in best or point.speedup > best[point.workload].speedup:
            best[point.workload] = point
    return sorted(best.values(), key=lambda point: -point.speedup)


def fair_points(every: Sequence[Point]) -> list[Point]:
    """A point a workload: each of its prompts at the draft length that did best on the others, quickest first.

    The best of several noisy figures flatters; a draft length picked on other prompts cannot profit from a prompt's
    own luck. A workload with one prompt has no others: its own best.
    """
    fair = []
    for workload in dict.fromkeys(point.workload for point in every):
        its = [point for point in every if point.workload == workload]
        names = dict.fromkeys(_prompt(row) for point in its for row in point.rows)
        fair.append(Point(workload, 0, tuple(row for name in names for row in _fair_rows(its, name))))
    return sorted(fair, key=lambda point: -point.speedup)


def _fair_rows(its: Sequence[Point], name: tuple[str, str]) -> tuple[SweepRow, ...]:
    """One prompt's rows at the draft length that did best on the other prompts."""
    split = [
        (
            tuple(row for row in point.rows if _prompt(row) == name),
            tuple(row for row in point.rows if _prompt(row) != name),
        )
        for point in its
    ]
    both = [(own, others) for own, others in split if own and others]
    if both:
        return max(both, key=lambda pair: Point("", 0, pair[1]).speedup)[0]
    return max((own for own, _ in split if own), key=lambda own: Point("", 0, own).speedup)


def impossible_rows(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """Rows whose clock cannot be right: quicker than their target passes alone, each at least a plain step, allow."""
    return [
        row
        for row in rows
        if row.plain_tokens == row.new_tokens and row.speedup > NEUTRAL * row.new_tokens / row.rounds
    ]


def clock_sentence(rows: Sequence[SweepRow]) -> str:
    """How many rows a busy machine has spoilt beyond doubt; empty without any."""
    spoilt = len(impossible_rows(rows))
    if not spoilt:
        return ""
    return (
        f"{spoilt} of these {len(rows)} pairs {'is' if spoilt == 1 else 'are'} quicker than possible: the target runs "
        "once a round, so no speedup can exceed the tokens per target call. They are left out of the figures. The "
        "machine was busy with something else: take the other speedups with care, and measure again when it is quiet. "
        "Acceptance needs no clock."
    )


def workload_title(name: str) -> str:
    """As it stands on an axis; a visitor's own workload is its name."""
    known = find_workload(name)
    return known.title if known else name


def percent(rate: float | None) -> str:
    """A rate in words."""
    return "nothing drafted" if rate is None else f"{100 * rate:.0f} %"


def workload_sentence(fair: Sequence[Point]) -> str:
    """On how many workloads drafting pays, where most, where it makes no odds, and where it loses."""
    if not fair:
        return "Nothing is measured yet."
    pays, loses = [point for point in fair if point.pays], [point for point in fair if point.loses]
    parts = [_pays(pays, len(fair))]
    if even := len(fair) - len(pays) - len(loses):
        parts.append(f"about even on {even}")
    if loses:
        parts.append(
            "loses on " + ", ".join(f"{_name(each)} ({percent(each.acceptance_rate)} accepted)" for each in loses)
        )
    return "; ".join(parts) + "."


def _pays(pays: Sequence[Point], total: int) -> str:
    if not pays:
        return "Pays on none of these workloads"
    sure = sum(point.sure for point in pays)
    claim = "Pays on" if sure else "Looks like it pays on"
    how_sure = f", {sure} of them for sure" if 0 < sure < len(pays) else ""
    workloads = "workload" if total == 1 else "workloads"
    most = f"most on {_name(pays[0])} ({pays[0].speedup:.1f}×)"
    return f"{claim} {len(pays)} of {total} {workloads}{how_sure}, {most}"


def length_sentence(every: Sequence[Point]) -> str:
    """Whether one draft length is good enough everywhere, and how far the best ones lie apart."""
    best = best_points(every)
    if not best:
        return "Nothing is measured yet."
    if good := _good_lengths(every, best):
        lengths = " or ".join(f"γ = {length}" for length in good[:2])
        return f"{lengths} is within 5 % of the best on every workload, of the lengths tried."
    short, long = min(best, key=lambda point: point.draft_length), max(best, key=lambda point: point.draft_length)
    ends = " and ".join(
        f"γ = {point.draft_length} on {_name(point)} ({percent(point.acceptance_rate)} accepted)"
        for point in (short, long)
    )
    return f"No one draft length is best everywhere. Quickest here: {ends}."


def _good_lengths(every: Sequence[Point], best: Sequence[Point]) -> list[int]:
    """Draft lengths that come within the neutral band of each workload's best."""
    speedups = {(point.workload, point.draft_length): point.speedup for point in every}
    return [
        length
        for length in sorted({point.draft_length for point in every})
        if all(speedups.get((top.workload, length), 0.0) * NEUTRAL >= top.speedup for top in best)
    ]


def costs_of(rows: Sequence[SweepRow]) -> Costs | None:
    """c, v(γ+1) and o as these rows' own times have them, of fixed drafts without a constraint; None without any.

    v is a round's mean verification, so the last rounds, with shorter drafts, are in it.
    """
    kept = [row for row in rows if row.draft_schedule == "fixed" and not row.constrained and row.drafted]
    if not kept:
        return None
    step = median(row.autoregressive_seconds / row.plain_tokens for row in kept)
    rounds = sum(row.rounds for row in kept)
    lengths = sorted({row.draft_length for row in kept})
    return Costs(
        step_seconds=step,
        cost_ratio=median(row.draft_seconds / row.drafted for row in kept) / step,
        verification={
            length + 1: median(row.verify_seconds / row.rounds for row in kept if row.draft_length == length) / step
            for length in lengths
        },
        overhead=sum(row.overhead_seconds for row in kept) / rounds / step,
    )


def break_even_line(costs: Costs, lengths: Sequence[int]) -> list[float | None]:
    """The α, per judgement, at which each draft length breaks even; None where none is enough. Modelled."""
    return [break_even_acceptance(length, costs.cost_ratio, costs.verification, costs.overhead) for length in lengths]


def map_sentence(every: Sequence[Point], costs: Costs | None) -> str:
    """How many measured points fall on the side of the line that the theory gives them."""
    judged = [point for point in every if point.per_judgement_rate is not None]
    if not costs or not judged:
        return "Nothing is measured yet."
    sides = 0
    for point in judged:
        line = break_even_line(costs, [point.draft_length])[0]
        above = line is not None and (point.per_judgement_rate or 0.0) > line
        sides += above == (point.speedup > 1)
    return (
        f"{sides} of {len(judged)} measured points fall on the side of the break-even line that the theory gives "
        f"them, with c = {costs.cost_ratio:.2f} and o = {costs.overhead:.2f} from these rows."
    )


@dataclass(frozen=True, slots=True)
class Held:
    """One prompt with and without its grammar, all fixed draft lengths together."""

    prompt: str
    free: Point
    held: Point


def held_pairs(rows: Sequence[SweepRow]) -> list[Held]:
    """Prompts measured both ways at the same draft lengths."""
    fixed = [row for row in rows if row.draft_schedule == "fixed"]
    pairs = []
    for name in dict.fromkeys(row.preset for row in fixed if row.constrained):
        its = [row for row in fixed if row.preset == name]
        both = {row.draft_length for row in its if row.constrained} & {
            row.draft_length for row in its if not row.constrained
        }
        kept = [row for row in its if row.draft_length in both]
        if kept:
            sides = (tuple(row for row in kept if row.constrained == constrained) for constrained in (False, True))
            pairs.append(Held(name, *(Point(kept[0].workload, 0, side) for side in sides)))
    return pairs


def held_sentence(pairs: Sequence[Held]) -> str:
    """Whether the constraint makes drafts easier."""
    judged = [pair for pair in pairs if pair.free.acceptance_rate is not None and pair.held.acceptance_rate is not None]
    if not judged:
        return "No prompt has been measured both ways yet."
    higher = sum((pair.held.acceptance_rate or 0) > (pair.free.acceptance_rate or 0) for pair in judged)
    free = Point("", 0, tuple(row for pair in judged for row in pair.free.rows)).acceptance_rate
    held = Point("", 0, tuple(row for pair in judged for row in pair.held.rows)).acceptance_rate
    return (
        f"Held to its grammar, acceptance is higher on {higher} of {len(judged)} prompts: {percent(held)} of the "
        f"drafted tokens are accepted, {percent(free)} without it."
    )


@dataclass(frozen=True, slots=True)
class Adaptive:
    """A workload's best fixed draft length beside the schedules that choose it themselves."""

    workload: str
    fixed: Point
    schedules: dict[str, Point]


def adaptive_rows(rows: Sequence[SweepRow]) -> list[Adaptive]:
    """Workloads for which both a fixed length and a schedule were measured."""
    free = [row for row in rows if not row.constrained]
    found = []
    for best in best_points(points(free)):
        schedules = {
            schedule: Point(best.workload, its[0].draft_length, tuple(its))
            for schedule in ("heuristic", "confidence")
            if (its := [row for row in free if (row.workload, row.draft_schedule) == (best.workload, schedule)])
        }
        if schedules:
            found.append(Adaptive(best.workload, best, schedules))
    return found


def adaptive_sentence(found: Sequence[Adaptive]) -> str:
    """How often a schedule comes within 5 % of the best fixed length, which one has to know beforehand."""
    if not found:
        return "No schedule has been measured beside fixed draft lengths yet."
    parts = []
    for schedule, name in (("heuristic", "the heuristic"), ("confidence", "the confidence stop")):
        its = [each for each in found if schedule in each.schedules]
        near = sum(each.schedules[schedule].speedup * NEUTRAL >= each.fixed.speedup for each in its)
        if its:
            parts.append(f"{name} on {near} of {len(its)} workloads")
    return f"Within 5 % of the best fixed γ, which is known only afterwards, or better: {', '.join(parts)}."


def _name(point: Point) -> str:
    title = workload_title(point.workload)
    return title[0].lower() + title[1:] if find_workload(point.workload) else title
