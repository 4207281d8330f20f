"""What speculation brings in batches of 1 to 16 texts, and what a check costs there.

    python -m benchmarks.batches [--target wren-base] [--draft wren-nano] [--batches 1 2 4 8 16] [--draft-lengths 1 2 4]
        [--prompts 4] [--repeats 6] [--new-tokens 64] [--out assets/measured/batches.json]

The prompts are the app's own (`data/prompts/workloads.py`), the first few of each of four kinds, so that the texts of a
batch are accepted at different rates. Every group of prompts is decoded, greedy and to the full length, by the target
alone and with each draft length, back to back, so that a slow moment of the machine slows all. The prompts are shuffled
before each repeat: other texts then wait for each other. So an interval says how far a figure would move with other
timings and other groups of these prompts, not with other prompts. One torch thread; decoding only. A speedup is the
geometric mean of the ratios of the repeats, with its 95 % interval. It is measured twice: until the slowest text of
each batch has ended, and while every text still writes, as on a server that gives a free place to the next text at
once.

The app shows the file assets/measured/batches.json: When it helps, Learn and the Worksheet.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from statistics import fmean, median
from time import perf_counter

import torch

from benchmarks.batching.model import BatchModel
from benchmarks.batching.rounds import BatchRound, decode_batch
from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, report
from specviz import load_model
from specviz.core.metrics import Counts
from specviz.core.steps import result_of
from specviz.data.measured.batches import BatchPass, BatchSpeedup, BatchStudy, Check, Ratio
from specviz.data.measured.measured_methods import KINDS, Quiet
from specviz.data.prompts.workloads import WORKLOADS, Preset
from specviz.measure.paired import total
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import CONTEXT_TOKENS, interleave

PASS_LENGTHS = (1, 2, 3, 4, 5, 6, 8)  # k of v(k)
WARM_UP = 2  # turns of passes that do not count
Way = int | None  # a draft length; None: the target alone


@dataclass(slots=True)
class Work:
    """What one way did in one repeat, over all batches of one size."""

    rounds: list[BatchRound] = field(default_factory=list)
    full: list[BatchRound] = field(default_factory=list)  # those in which every text of the batch still wrote
    places: int = 0  # texts of the batch, summed over the rounds

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


def main() -> None:
    """Measure and print JSON; what is measured now goes to standard error."""
    given = {"--target": "wren-base", "--target-dtype": "float32", "--draft": "wren-nano", "--prompts": 4}
    given |= {"--batches": ([int], [1, 2, 4, 8, 16]), "--draft-lengths": ([int], [1, 2, 4]), "--new-tokens": 64}
    options = asked(__doc__, given | {"--repeats": 6, "--pass-repeats": 15})
    prompts = [each for kind in WORKLOADS if kind.name in KINDS for each in kind.prompts[: options.prompts]]
    if uneven := [size for size in options.batches if len(prompts) % size]:
        raise SystemExit(f"{len(prompts)} prompts cannot be divided into batches of {uneven[0]}.")
    torch.set_num_threads(1)
    target, draft = load_model(options.target, options.target_dtype), load_model(options.draft)
    with quiet_machine(options.target, options.target_dtype) as quiet:
        passes = measure_passes(target, options.batches, options.pass_repeats)
        work = decode_repeats(target, draft, prompts, options)
    study = BatchStudy(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        recorded_on=describe_machine(),
        clock="wall",
        target=target.name,
        target_dtype=target.info.dtype,
        draft=draft.name,
        draft_dtype=draft.info.dtype,
        prompts=[prompt.name for prompt in prompts],
        new_tokens=options.new_tokens,
        repeats=options.repeats,
        pass_repeats=options.pass_repeats,
        passes=passes,
        speedups=[
            speedup_of(size, length, work[size, length], work[size, None])
            for size in options.batches
            for length in options.draft_lengths
        ],
    )
    report(asdict(replace(study, quiet=Quiet(**quiet.said()))), options.out)


def measure_passes(target: LoadedModel, batches: Sequence[int], repeats: int) -> list[BatchPass]:
    """v(k): passes over each of some numbers of tokens in batches of each size, in blocks that take turns."""
    works = {(texts, tokens): timed_passes(target, texts, tokens) for texts in batches for tokens in PASS_LENGTHS}
    blocks = result_of(interleave(works, repeats + WARM_UP))
    counted = {key: [median(block) for block in taken[WARM_UP:]] for key, taken in blocks.items()}

    def ratio(one: tuple[int, int], other: tuple[int, int]) -> Ratio:
        return Ratio.from_ratios([a / b for a, b in zip(counted[one], counted[other], strict=True)])

    return [
        BatchPass(
            batch=texts,
            step_seconds=median(counted[texts, 1]),
            growth=ratio((texts, 1), (min(batches), 1)),
            checks=[Check(tokens, ratio((texts, tokens), (texts, 1))) for tokens in PASS_LENGTHS],
        )
        for texts in batches
    ]


def timed_passes(loaded: LoadedModel, texts: int, tokens: int) -> Iterator[float]:
    """The seconds of a pass over so many tokens of each of several texts, which have been read, again and again."""
    read = min(CONTEXT_TOKENS, loaded.context - max(PASS_LENGTHS))
    ids = torch.randint(loaded.rows, (texts, read + tokens), generator=torch.Generator().manual_seed(0)).tolist()
    model = BatchModel(loaded, loaded.rows, texts)
    model.prefill([each[:read] for each in ids])
    unread = [each[read:] for each in ids]
    while True:
        began = perf_counter()
        model.read(unread)
        taken = perf_counter() - began
        model.crop([read] * texts)
        yield taken


def decode_repeats(
    target: LoadedModel, draft: LoadedModel, prompts: Sequence[Preset], options: Namespace
) -> dict[tuple[int, Way], list[Work]]:
    """Every repeat of every way in batches of every size: the work of each repeat."""
    ways: list[Way] = [None, *options.draft_lengths]
    work: dict[tuple[int, Way], list[Work]] = {(size, way): [] for size in options.batches for way in ways}
    for size in options.batches:  # one batch of each size warms up
        decode_all(target, draft, prompts[:size], ways, size, options.new_tokens)
    for repeat in range(options.repeats):
        order = list(prompts)
        Random(repeat).shuffle(order)
        turned = ways[repeat % len(ways) :] + ways[: repeat % len(ways)]  # so that none always comes first
        for size in options.batches:
            print(f"batches of {size}, repeat {repeat + 1} of {options.repeats}", file=sys.stderr)
            for way, done in decode_all(target, draft, order, turned, size, options.new_tokens).items():
                work[size, way].append(done)
    return work


def decode_all(
    target: LoadedModel, draft: LoadedModel, prompts: Sequence[Preset], ways: Sequence[Way], size: int, tokens: int
) -> dict[Way, Work]:
    """Decode these prompts in batches of one size, each batch in every way, back to back."""
    found: dict[Way, Work] = {way: Work() for way in ways}
    for start in range(0, len(prompts), size):
        group = [prompt.text for prompt in prompts[start : start + size]]
        for way in ways:
            done, rounds = found[way], list(decode_batch(target, draft if way else None, group, tokens, way or 1))
            done.rounds += rounds
            done.full += [each for each in rounds if len(each.rows) == size]
            done.places += size * len(rounds)
    return found


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


if __name__ == "__main__":
    main()
