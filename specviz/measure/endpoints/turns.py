"""The order of a bench: which prompts are asked of which server when, and what is left after a stop.

A block is asked of one server and then of the other, so both meet the same moments of their machines. Alone, a block
is one prompt. The seed draws who is first for one of two neighbours; for the other it is the other server. With c
requests under way there are at least `BLOCKS`, each of at least 2 c requests of all kinds: they share its moment, so
the blocks are the sample. So they are where requests come at a rate, whatever is under way, at drawn moments (a
Poisson process) that are the same for both servers. One half of them, in a row that begins where the seed says, has
one server first. Where the order turns, a server has two moments after each other, which are alike: so it turns twice
at most. Before each the servers rest.
"""

import asyncio
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, count

from specviz.core.errors import InputError
from specviz.measure.endpoints.client import Endpoint
from specviz.measure.endpoints.reading import BadAnswer, Lines
from specviz.measure.endpoints.result import (
    MAX_ANSWERS,
    MAX_NOTES,
    Accepted,
    Answer,
    BenchResult,
    BenchSettings,
    Side,
    Span,
)
from specviz.measure.sweep.plan import SweepPrompt
from specviz.systems import counts_between, rests_between


class ServerGone(InputError):
    """A server that answered before answers no more; what was measured until then is in the result."""


BLOCKS = 6  # of a load, at least: the interval of four is half as wide again
FILLED = 2  # requests of a block, at least, for each that is under way; the last wave has fewer and fewer
SECONDS, FEWEST = 5, 8  # of a block at a rate: how long requests come, at least, and how many
ROOMY = 2  # times as many, where there are prompts enough
WARM = 3  # a server may compile something for the first text that it can draft for
MOST_SILENT = 3  # blocks without any answer, after which a server is given up
LOOK = 0.05  # seconds between two looks at a server that rests
MOST_REST = 3.0
Pages = dict[Side, str | None]  # /metrics of each server


@dataclass(frozen=True, slots=True)
class AskedBlock:
    number: int
    concurrency: int  # 0: they come at a rate
    jobs: tuple[tuple[int, int], ...]  # each a prompt's place and its repeat
    order: tuple[Side, ...]
    rate: float | None = None
    starts: tuple[float, ...] = ()  # when each request comes, in seconds; empty: as soon as there is room

    @property
    def load(self) -> float:
        return self.rate or self.concurrency


def plan(prompts: int, settings: BenchSettings, sides: Sequence[Side]) -> list[AskedBlock]:
    """All blocks, in the order in which they are measured. InputError: they have more answers than a file may hold."""
    loads: list[tuple[int, float | None]] = [*((each, None) for each in settings.concurrency)]
    loads += [(0, rate) for rate in settings.rates]
    answers, numbers, draw, found = 0, count(), random.Random(settings.seed), list[AskedBlock]()
    for concurrency, rate in loads:
        # Requests of a block, at least; and how often each prompt is asked, to fill the blocks.
        fill = max(FEWEST, math.ceil(SECONDS * rate)) if rate else FILLED * concurrency if concurrency > 1 else 1
        times = max(settings.repeats, -(-BLOCKS * fill // prompts) if fill > 1 else 1)
        answers += len(sides) * prompts * times
        if answers > MAX_ANSWERS:
            raise InputError(f"This asks {answers:,} times or more; at most {MAX_ANSWERS:,} are measured.")
        chunks = _chunks(prompts, times, fill, draw)
        half, shift = len(chunks) // 2, draw.randrange(len(chunks))
        first = [draw.randrange(2) for _ in chunks]  # of two neighbours
        for number, jobs in enumerate(chunks):
            prompt, turn = jobs[0]
            alone = (first[prompt // 2] + prompt + turn) % 2
            swapped = alone if concurrency == 1 else (number + shift) % len(chunks) < half
            starts = tuple(accumulate(draw.expovariate(rate) for _ in jobs)) if rate else ()
            order = tuple(sides[::-1] if swapped else sides)
            found.append(AskedBlock(next(numbers), concurrency, jobs, order, rate, starts))
    return found


def _chunks(prompts: int, times: int, fill: int, draw: random.Random) -> list[tuple[tuple[int, int], ...]]:
    """The jobs of each block. Neighbours among the prompts are of a kind, so they are not asked one after the other."""
    if fill == 1:
        return [((prompt, repeat),) for repeat in range(times) for prompt in draw.sample(range(prompts), prompts)]
    jobs = [(prompt, repeat) for repeat in range(times) for prompt in range(prompts)]
    blocks = max(BLOCKS, len(jobs) // (ROOMY * fill))
    turn = math.lcm(prompts, blocks)  # after which the same prompt would be dealt to the same block again
    return [
        tuple(job for place, job in enumerate(jobs) if (place + place // turn) % blocks == block)
        for block in range(blocks)
    ]


@dataclass
class BenchInTurns:
    """Measures blocks, and adds what it finds to a result."""

    result: BenchResult
    endpoints: Mapping[Side, Endpoint]
    prompts: Sequence[SweepPrompt]
    blocks: Sequence[AskedBlock]

    def __post_init__(self) -> None:
        last = max((answer.began + answer.seconds for answer in self.result.answers), default=0.0)
        self._silent: dict[Side, int] = {}  # blocks without any answer, one after the other
        self._began = time.perf_counter() - last  # a bench that was taken up again goes on in time

    async def measure(self, after_block: Callable[[int, int], None]) -> None:
        """Measure what is left; after each block `after_block` learns how many are done, of how many.

        At the end, blocks with failed requests are measured once more. Raises ServerGone where a server answers no
        more.
        """
        held = {(answer.block, answer.side, answer.prompt, answer.repeat) for answer in self.result.answers}
        todo = [
            block
            for block in self.blocks
            if not held.issuperset((block.number, side, *job) for side in block.order for job in block.jobs)
        ]
        warm = 0.0
        if self.result.answers and todo:
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            self._note(f"Interrupted with {len(todo)} of {len(self.blocks)} blocks to do; it went on at {now}.")
        for done, block in enumerate(todo):
            if block.load != warm:
                warm = block.load
                await self._warm_up(block)
            await self._measure(block)
            after_block(done + 1, len(todo))
        failed = [answer for answer in self.result.answers if answer.problem]
        for block in self.blocks:
            if block.number in {answer.block for answer in failed}:
                await self._measure(block)
        for side in self.endpoints:
            if problems := [answer.problem for answer in failed if answer.side == side]:
                how = "1 request failed and was" if len(problems) == 1 else f"{len(problems)} requests failed and were"
                self._note(f"{side}: {how} repeated at the end: {problems[0]}")

    async def _warm_up(self, block: AskedBlock) -> None:
        """As many requests as will be under way, of each server, and of several kinds; nothing of them is kept."""
        many = max(block.concurrency, min(WARM, len(self.prompts)))
        jobs = [(place * len(self.prompts) // many % len(self.prompts), 0) for place in range(many)]
        for side in block.order:
            await self._hear(side, replace(block, jobs=tuple(jobs), starts=()))

    async def _measure(self, block: AskedBlock) -> None:
        answers, spans = list[Answer](), list[Span]()
        for side in block.order:
            before = await self._rest()
            heard = await self._hear(side, block)
            after = await self._pages()
            found = [self._answer(side, block, job, each) for job, each in zip(block.jobs, heard, strict=True)]
            self._silent[side] = self._silent.get(side, 0) + 1 if all(answer.problem for answer in found) else 0
            if self._silent[side] == MOST_SILENT:
                raise ServerGone(f"{self.endpoints[side].address} answers no more: {found[0].problem}")
            answers += found
            spans += self._spans(side, block, found, before, after)
        self.result.answers[:] = [each for each in self.result.answers if each.block != block.number] + answers
        self.result.spans[:] = [each for each in self.result.spans if each.block != block.number] + spans

    async def _hear(self, side: Side, block: AskedBlock) -> list[Lines]:
        """What was heard of each job: asked when it comes, or as soon as there is room."""
        room, endpoint = asyncio.Semaphore(block.concurrency or len(block.jobs)), self.endpoints[side]

        async def one(prompt: int, start: float) -> Lines:
            await asyncio.sleep(start)
            async with room:
                return await endpoint.listen(self.prompts[prompt])

        asked = zip(block.jobs, block.starts or [0.0] * len(block.jobs), strict=True)
        return await asyncio.gather(*(one(prompt, start) for (prompt, _), start in asked))

    async def _pages(self) -> Pages:
        return {side: await endpoint.metrics() for side, endpoint in self.endpoints.items()}

    async def _rest(self) -> Pages:
        """The servers' pages once their counters are still; one without counters rests for one look."""
        until, before = time.perf_counter() + MOST_REST, await self._pages()
        while True:
            await asyncio.sleep(LOOK)
            after = await self._pages()
            if time.perf_counter() > until or all(map(rests_between, before.values(), after.values())):
                return after
            before = after

    def _answer(self, side: Side, block: AskedBlock, job: tuple[int, int], heard: Lines) -> Answer:
        began, most = max(0.0, round(heard.began - self._began, 6)), self.result.settings.max_new_tokens
        place = Answer(side, *job, block.concurrency, block.number, began, None, 0.0, None, rate=block.rate)
        try:
            answer = heard.answer(place)
        except BadAnswer as problem:
            return replace(place, problem=f"{problem}."[:500])
        if (answer.tokens or 0) > most:
            self._note(f"{side}: there are answers of more than the {most:,} tokens that were asked for.")
        return answer

    def _note(self, note: str) -> None:
        if note not in self.result.notes and len(self.result.notes) < MAX_NOTES:
            self.result.notes.append(note[:500])

    def _spans(
        self, asked: Side, block: AskedBlock, answers: Sequence[Answer], before: Pages, after: Pages
    ) -> Iterator[Span]:
        """What each server counted meanwhile: the one that was asked, and the one that should have rested."""
        for side in self.endpoints:
            first, last = before[side], after[side]
            if first is None or last is None:
                continue
            try:
                written, counts = counts_between(first, last)
            except InputError as error:
                self._note(f"{side}, block {block.number}: {error}")
                continue
            ours = sum(answer.tokens or 0 for answer in answers) if side == asked else 0
            wrote = None if written is None else round(written)
            accepted = Accepted.from_counts(counts)
            yield Span(side, block.concurrency, wrote, ours, accepted, block.number, side == asked, block.rate)
