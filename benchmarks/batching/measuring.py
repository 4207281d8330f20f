"""Measure what speculation brings in batches: the same prompts, decoded in batches of several sizes.

Every group of prompts is decoded by the target alone and with each draft length, back to back, so that a slow moment of
the machine slows all. The prompts are shuffled before each repeat: other texts then wait for each other. So an interval
says how far a figure would move with other timings and other groups of these prompts, not with other prompts.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean, median

from benchmarks.batching.passes import measure_passes
from benchmarks.batching.rounds import BatchRound, BatchRun
from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.core.settings import DecodeSettings
from specviz.data.measured.batches import BatchSpeedup, BatchStudy, Clock, Ratio
from specviz.measure.paired import total
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

Way = int | None  # a draft length; None: the target alone
Prompt = tuple[str, str | Sequence[int]]  # its name, and its text or token ids


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What is measured. Greedy, to the full length.

    Raises:
        InputError: there are too few repeats for an interval.
    """

    batches: tuple[int, ...] = (1, 2, 4, 8, 16)
    draft_lengths: tuple[int, ...] = (1, 2, 4)
    new_tokens: int = 64
    repeats: int = 6
    pass_lengths: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8)  # k of v(k)
    pass_repeats: int = 15
    clock: Clock = "wall"

    def __post_init__(self) -> None:
        if min(self.repeats, self.pass_repeats) < 2:
            raise InputError("An interval needs at least 2 repeats.")


@dataclass(slots=True)
class Work:
    """What one way did in one repeat, over all batches of one size."""

    rounds: list[BatchRound] = field(default_factory=list)
    full: list[BatchRound] = field(default_factory=list)  # those in which every text of the batch still wrote
    places: int = 0  # texts of the batch, summed over the rounds

    def add(self, rounds: Sequence[BatchRound], texts: int) -> None:
        """One batch."""
        self.rounds += rounds
        self.full += [each for each in rounds if len(each.rows) == texts]
        self.places += texts * len(rounds)

    @property
    def counts(self) -> Counts:
        """Of all texts, each with its own rounds."""
        return total([row.counts for each in self.rounds for row in each.rows])

    @property
    def seconds(self) -> float:
        """Decoding, without prefill."""
        return sum(each.seconds for each in self.rounds)

    @property
    def seconds_a_token(self) -> float:
        """While every text writes; the tokens of all texts count."""
        tokens = sum(len(row.emitted) for each in self.full for row in each.rows)
        return sum(each.seconds for each in self.full) / tokens

    @property
    def costs(self) -> tuple[float, float, float, float]:
        """Mean seconds of a draft step, of a check, of the rest of a round, and of a round, while every text writes."""
        steps = sum(max(row.drafted for row in each.rows) for each in self.full)
        return (
            sum(each.draft_seconds for each in self.full) / max(1, steps),
            fmean(each.verify_seconds for each in self.full),
            fmean(each.overhead_seconds for each in self.full),
            fmean(each.seconds for each in self.full),
        )


def measure_batches(
    target: LoadedModel,
    draft: LoadedModel,
    prompts: Mapping[str, str | Sequence[int]],
    plan: BatchPlan,
    tell: Callable[[str], None] = lambda _: None,
) -> BatchStudy:
    """Measure a pair on these prompts, by name; `tell` hears what is measured now.

    Raises:
        InputError: the number of prompts is no multiple of a batch's size, or a model cannot be read in batches.
    """
    if uneven := [size for size in plan.batches if len(prompts) % size]:
        raise InputError(f"{len(prompts)} prompts cannot be divided into batches of {uneven[0]}.")
    tell("passes")
    passes = measure_passes(target, plan.batches, plan.pass_lengths, plan.pass_repeats, plan.clock)
    work = _decode_repeats(target, draft, list(prompts.items()), plan, tell)
    return BatchStudy(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        recorded_on=describe_machine(),
        clock=plan.clock,
        target=target.name,
        target_dtype=target.info.dtype,
        draft=draft.name,
        draft_dtype=draft.info.dtype,
        prompts=list(prompts),
        new_tokens=plan.new_tokens,
        repeats=plan.repeats,
        pass_repeats=plan.pass_repeats,
        passes=passes,
        speedups=[
            speedup_of(size, length, work[size, length], work[size, None])
            for size in plan.batches
            for length in plan.draft_lengths
        ],
    )


def _decode_repeats(
    target: LoadedModel, draft: LoadedModel, prompts: Sequence[Prompt], plan: BatchPlan, tell: Callable[[str], None]
) -> dict[tuple[int, Way], list[Work]]:
    """Every repeat of every way in batches of every size: the work of each repeat."""
    ways: list[Way] = [None, *plan.draft_lengths]
    work: dict[tuple[int, Way], list[Work]] = {(size, way): [] for size in plan.batches for way in ways}
    for size in plan.batches:  # one batch of each size warms up
        decode_all(target, draft, prompts[:size], ways, size, plan)
    for repeat in range(plan.repeats):
        order = shuffled(prompts, repeat)
        turned = ways[repeat % len(ways) :] + ways[: repeat % len(ways)]  # so that none always comes first
        for size in plan.batches:
            tell(f"batches of {size}, repeat {repeat + 1} of {plan.repeats}")
            for way, done in decode_all(target, draft, order, turned, size, plan).items():
                work[size, way].append(done)
    return work


def decode_all(
    target: LoadedModel, draft: LoadedModel, prompts: Sequence[Prompt], ways: Sequence[Way], size: int, plan: BatchPlan
) -> dict[Way, Work]:
    """Decode these prompts in batches of one size, each batch in every way, back to back."""
    found: dict[Way, Work] = {way: Work() for way in ways}
    for start in range(0, len(prompts), size):
        group = prompts[start : start + size]
        for way in ways:
            settings = DecodeSettings(plan.new_tokens, draft_length=way or 1, stop_at_eos=False)
            run = BatchRun(target, draft if way else None, [text for _, text in group], settings, plan.clock)
            found[way].add(list(run.rounds()), len(group))
    return found


def shuffled(prompts: Sequence[Prompt], repeat: int) -> list[Prompt]:
    """The prompts in the order of this repeat."""
    order = list(prompts)
    random.Random(repeat).shuffle(order)
    return order


def speedup_of(batch: int, draft_length: int, drafted: Sequence[Work], plain: Sequence[Work]) -> BatchSpeedup:
    """One point, from the work of each repeat with and without the draft."""
    pairs = list(zip(drafted, plain, strict=True))
    costs = [[cost / alone.costs[-1] for cost in each.costs] for each, alone in pairs]
    draft_step, check, overhead, _ = zip(*costs, strict=True)
    return BatchSpeedup(
        batch=batch,
        draft_length=draft_length,
        speedup=Ratio.from_ratios([alone.seconds / each.seconds for each, alone in pairs]),
        full_speedup=Ratio.from_ratios([alone.seconds_a_token / each.seconds_a_token for each, alone in pairs]),
        cost_ratio=Ratio.from_ratios(draft_step),
        verification=Ratio.from_ratios(check),
        overhead=Ratio.from_ratios(overhead),
        counts=drafted[0].counts,
        empty_places=1 - sum(each.counts.rounds for each in drafted) / sum(each.places for each in drafted),
        tokens_per_second=median(each.counts.emitted / each.seconds for each in drafted),
        plain_tokens_per_second=median(each.counts.emitted / each.seconds for each in plain),
    )
