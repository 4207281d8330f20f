"""The order of a bench: which prompts are asked of which server when, and what is left after a stop.

A block is asked of one server and then of the other, so both meet the same moments of their machines; who is first
changes from block to block. Alone, a block is one prompt. With c requests under way it is many more than c, so that
little of its time has fewer under way.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from specviz.core.errors import InputError
from specviz.measure.endpoints.client import Asked, Endpoint, Heard
from specviz.measure.endpoints.reading import BadAnswer
from specviz.measure.endpoints.result import (
    MAX_ANSWERS,
    SIDES,
    Accepted,
    Answer,
    BenchResult,
    BenchSettings,
    Side,
    Span,
)
from specviz.systems import counts_between, counts_in_answer


class ServerGone(InputError):
    """A server that answered before answers no more; what was measured until then is in the result."""


WAVES = 4  # requests of a block for each that is under way; the last wave has fewer and fewer
WARM = 3  # a server may compile something for the first text that it can draft for
MOST_SILENT = 3  # blocks without any answer, after which a server is given up
Pages = dict[Side, str | None]  # /metrics of each server


@dataclass(frozen=True, slots=True)
class AskedBlock:
    number: int
    concurrency: int
    jobs: tuple[tuple[int, int], ...]  # each a prompt's place and its repeat
    order: tuple[Side, ...]


def plan(prompts: int, settings: BenchSettings, sides: Sequence[Side]) -> list[AskedBlock]:
    """All blocks, in the order in which they are measured. InputError: they have more answers than a file may hold."""
    answers = sum(len(sides) * prompts * _times(prompts, settings.repeats, each) for each in settings.concurrency)
    if answers > MAX_ANSWERS:
        raise InputError(f"This asks {answers:,} times; at most {MAX_ANSWERS:,} are measured: take fewer prompts.")
    numbers = count()
    return [
        AskedBlock(next(numbers), concurrency, jobs, _order(sum(jobs[0]) if concurrency == 1 else place, sides))
        for concurrency in settings.concurrency
        for place, jobs in enumerate(_chunks(_jobs(prompts, settings.repeats, concurrency), concurrency))
    ]


def _times(prompts: int, repeats: int, concurrency: int) -> int:
    """How often each prompt is asked: more often where there would not even be two requests for each under way."""
    return max(repeats, -(-2 * concurrency // prompts) if concurrency > 1 else 1)


def _jobs(prompts: int, repeats: int, concurrency: int) -> list[tuple[int, int]]:
    return [(prompt, repeat) for repeat in range(_times(prompts, repeats, concurrency)) for prompt in range(prompts)]


def _chunks(jobs: Sequence[tuple[int, int]], concurrency: int) -> Iterator[tuple[tuple[int, int], ...]]:
    if concurrency == 1:
        yield from ((job,) for job in jobs)
        return
    blocks = max(1, round(len(jobs) / (WAVES * concurrency)))
    edges = [round(place * len(jobs) / blocks) for place in range(blocks + 1)]
    yield from (tuple(jobs[start:end]) for start, end in pairwise(edges))


def _order(place: int, sides: Sequence[Side]) -> tuple[Side, ...]:
    return tuple(sides if place % 2 == 0 else reversed(sides))


def left(blocks: Sequence[AskedBlock], result: BenchResult) -> list[AskedBlock]:
    """The blocks that the result does not hold whole, on every side."""
    held = {(answer.block, answer.side, answer.prompt, answer.repeat) for answer in result.answers}
    return [
        block
        for block in blocks
        if any((block.number, side, *job) not in held for side in block.order for job in block.jobs)
    ]


@dataclass
class BenchInTurns:
    """Measures blocks, and adds what it finds to a result. `questions` has one question for each prompt."""

    result: BenchResult
    endpoints: Mapping[Side, Endpoint]
    questions: Sequence[Asked]
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
        todo, warm = left(self.blocks, self.result), 0
        for done, block in enumerate(todo):
            if block.concurrency != warm:
                warm = block.concurrency
                await self._warm_up(block)
            await self._measure(block)
            after_block(done + 1, len(todo))
        await self._repeat_failed()

    async def _warm_up(self, block: AskedBlock) -> None:
        """As many requests as will be under way, of each server, and of several kinds; nothing of them is kept."""
        many = max(block.concurrency, min(WARM, len(self.questions)))
        jobs = [(place * len(self.questions) // many % len(self.questions), 0) for place in range(many)]
        for side in block.order:
            await self._hear(side, jobs, block.concurrency)

    async def _measure(self, block: AskedBlock) -> None:
        answers, spans = list[Answer](), list[Span]()
        for side in block.order:
            before = await self._pages()
            heard = await self._hear(side, block.jobs, block.concurrency)
            after = await self._pages()
            found = [self._answer(side, block, job, each) for job, each in zip(block.jobs, heard, strict=True)]
            self._check_life(side, found)
            answers += found
            spans += self._spans(side, block, found, before, after)
        self.result.answers[:] = [each for each in self.result.answers if each.block != block.number] + answers
        self.result.spans[:] = [each for each in self.result.spans if each.block != block.number] + spans

    def _check_life(self, side: Side, found: Sequence[Answer]) -> None:
        """Raise ServerGone where a server has answered nothing for some blocks."""
        self._silent[side] = self._silent.get(side, 0) + 1 if all(answer.problem for answer in found) else 0
        if self._silent[side] == MOST_SILENT:
            raise ServerGone(f"{self.endpoints[side].address.base} answers no more: {found[0].problem}")

    async def _repeat_failed(self) -> None:
        failed = [answer for answer in self.result.answers if answer.problem]
        numbers = {answer.block for answer in failed}
        for block in self.blocks:
            if block.number in numbers:
                await self._measure(block)
        for side in SIDES:
            if problems := [answer.problem for answer in failed if answer.side == side]:
                again = sum(bool(answer.problem) for answer in self.result.answers if answer.side == side)
                how = f"{again} failed again" if again else "and answered then"
                failures = (
                    "1 request failed and was" if len(problems) == 1 else f"{len(problems)} requests failed and were"
                )
                note = f"{side}: {failures} repeated at the end, {how}: {problems[0]}"
                self.result.notes.append(note[:500])

    async def _hear(self, side: Side, jobs: Sequence[tuple[int, int]], concurrency: int) -> list[Heard]:
        """What was heard of each job, with at most so many under way."""
        room, endpoint = asyncio.Semaphore(concurrency), self.endpoints[side]

        async def one(prompt: int) -> Heard:
            async with room:
                return await endpoint.listen(self.questions[prompt])

        waiting: list[Awaitable[Heard]] = [one(prompt) for prompt, _ in jobs]
        return list(await asyncio.gather(*waiting))

    async def _pages(self) -> Pages:
        return {side: await endpoint.metrics() for side, endpoint in self.endpoints.items()}

    def _answer(self, side: Side, block: AskedBlock, job: tuple[int, int], heard: Heard) -> Answer:
        began = max(0.0, round(heard.began - self._began, 6))
        place = (side, *job, block.concurrency, block.number, began)
        try:
            read = heard.answer()
        except BadAnswer as problem:
            return Answer(*place, None, 0.0, None, problem=f"{problem}."[:500])
        return Answer(
            *place,
            first=read.part_seconds[0] if read.part_seconds else None,
            seconds=read.part_seconds[-1] if read.part_seconds else 0.0,
            tokens=read.tokens,
            prompt_tokens=read.prompt_tokens,
            text=read.text,
            token_ids=read.token_ids,
            finish=read.finish[:40],
            part_seconds=read.part_seconds,
            part_tokens=read.part_tokens,
            accepted=Accepted.from_counts(counts_in_answer(read.pieces)),
        )

    def _spans(
        self, asked: Side, block: AskedBlock, answers: Sequence[Answer], before: Pages, after: Pages
    ) -> Iterator[Span]:
        """What each server counted meanwhile: the one that was asked, and the one that should have rested."""
        kinds = {self.result.prompts[answer.prompt].workload for answer in answers}
        for side in self.endpoints:
            first, last = before[side], after[side]
            if first is None or last is None:
                continue
            try:
                written, counts = counts_between(first, last)
            except InputError as error:
                self.result.notes.append(f"{side}, block {block.number}: {error}"[:500])
                continue
            ours = sum(answer.tokens or 0 for answer in answers) if side == asked else 0
            kind = kinds.copy().pop() if len(kinds) == 1 else ""
            wrote = None if written is None else round(written)
            accepted = Accepted.from_counts(counts)
            yield Span(side, block.concurrency, kind, wrote, ours, accepted, block.number, side == asked)
