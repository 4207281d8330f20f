"""Benches of two servers that no server ran, made from a known time per token: each finding has a known truth."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from specviz.measure.endpoints import result as bench_file
from specviz.measure.endpoints.result import SIDES, Accepted, Answer, BenchResult, Side, Span

STEP = 0.02  # seconds of a plain step, alone
FIRST = 0.05
TEXT = "Once upon a time there was a small bird that sang. "
SPEEDUPS = {1: 1.6, 4: 1.3, 8: 0.8}  # by concurrency
PROMPTS = tuple((f"{kind} {number}", kind) for kind in ("story", "code", "copy") for number in range(1, 5))
SERVER = bench_file.Server("http://one.test:8101/v1", "wren-base", "vLLM", "0.32.0", takes_ignore_eos=True)


def make_answer(side: Side, token_seconds: float, tokens: int = 33, **given: Any) -> Answer:
    """An answer whose time per output token is exactly this one, one token a part."""
    times = [FIRST + token_seconds * at for at in range(tokens)]
    fields: dict[str, Any] = {
        "prompt": 0, "repeat": 0, "concurrency": 1, "block": 0, "began": 0.0, "first": FIRST, "seconds": times[-1],
        "tokens": tokens, "text": TEXT, "finish": "length", "part_seconds": times, "part_tokens": [1] * tokens,
    }  # fmt: skip
    return Answer(side, **(fields | given))


def accepted_of(tokens: int, drafted: int = 4, rates: Sequence[float] = (0.8, 0.6, 0.4, 0.2)) -> Accepted:
    """Counts of rounds that write about so many tokens, after the first one."""
    rounds = max(1, round((tokens - 1) / (1 + sum(rates))))
    positions = [round(rounds * rate) for rate in rates]
    return Accepted(rounds * drafted, sum(positions), rounds, positions)


def make_bench(
    speedups: Mapping[int, float] = SPEEDUPS,
    *,
    prompts: Sequence[tuple[str, str]] = PROMPTS,
    repeats: int = 4,
    noise: float = 0.05,
    seed: int = 1,
    counted: bool = True,
) -> BenchResult:
    """Both servers in turns. Each prompt's own factor and the noise average to 1 over the prompts."""
    draw, answers, began = random.Random(seed), list[Answer](), 0.0
    factors = [1 + noise * (2 * place / max(1, len(prompts) - 1) - 1) for place in range(len(prompts))]
    blocks = [(load, repeat) for load in speedups for repeat in range(repeats)]
    for block, (load, repeat) in enumerate(blocks):
        plain = [STEP * (1 + 0.1 * load) * (1 + noise / 5 * draw.uniform(-1, 1)) for _ in prompts]
        moment = 1 + noise / 5 * (-1) ** repeat
        for side in SIDES if repeat % 2 else reversed(SIDES):
            its = [
                make_answer(
                    side, step * moment / (speedups[load] * factor) if side == "with" else step, prompt=place,
                    repeat=repeat, concurrency=load, block=block, began=began, text=f"{prompts[place][0]}: {TEXT}",
                    accepted=accepted_of(33) if counted and side == "with" else None,
                )
                for place, (step, factor) in enumerate(zip(plain, factors, strict=True))
            ]  # fmt: skip
            answers += its
            began += max(answer.seconds for answer in its) + 0.01
    return BenchResult(
        schema=1,
        created="2026-11-26T22:00:00Z",
        client="specviz on a machine of a test, 2 cores",
        settings=bench_file.BenchSettings(33, 0.0, 7, repeats, list(speedups), "completions"),
        with_=replace(SERVER, drafts="draft_model"),
        without=replace(SERVER, url="http://one.test:8102/v1"),
        prompts=[bench_file.BenchPrompt(name, kind, "0" * 16) for name, kind in prompts],
        answers=answers,
    )


def with_spans(result: BenchResult, *, others: int = 0) -> BenchResult:
    """The same, where the server's counters say what was accepted and not its answers; each block has `others` more."""
    spans, one = list[Span](), accepted_of(33)
    for number in sorted({answer.block for answer in result.answers}):
        its = [each for each in result.answers if each.block == number and each.side == "with"]
        many = len(its)
        positions = [many * rounds for rounds in one.per_position]
        counts = Accepted(many * one.drafted, many * one.accepted, many * (one.rounds or 0), positions)
        spans.append(Span("with", its[0].concurrency, 33 * many + others, 33 * many, counts, number))
    return replace(result, answers=[replace(answer, accepted=None) for answer in result.answers], spans=spans)
