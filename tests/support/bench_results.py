"""Benches of two servers that no server ran, made from a known time per token: each finding has a known truth."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from specviz.measure.endpoints.result import (
    Accepted,
    Answer,
    BenchPrompt,
    BenchResult,
    BenchSettings,
    Server,
    Side,
    Span,
)

STEP = 0.02  # seconds of a plain step, alone
FIRST = 0.05
TEXT = "Once upon a time there was a small bird that sang. "
SPEEDUPS = {1: 1.6, 4: 1.3, 8: 0.8}  # by concurrency
PROMPTS = tuple((f"{kind} {number}", kind) for kind in ("story", "code", "copy") for number in range(1, 5))
SERVER = Server("http://one.test:8101/v1", "wren-base", "vLLM", "0.32.0", takes_ignore_eos=True)


def make_answer(side: Side, token_seconds: float, **given: object) -> Answer:
    """An answer whose time per output token is exactly this one, one token a part."""
    tokens = given.get("tokens", 33)
    assert isinstance(tokens, int)
    times = [FIRST + token_seconds * at for at in range(tokens)]
    fields: dict[str, object] = {
        "prompt": 0, "repeat": 0, "concurrency": 1, "block": 0, "began": 0.0, "first": FIRST, "seconds": times[-1],
        "tokens": tokens, "text": TEXT, "finish": "length", "part_seconds": times, "part_tokens": [1] * tokens,
    }  # fmt: skip
    return Answer(side=side, **(fields | given))  # type: ignore[arg-type]


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
    draw, answers, began, block = random.Random(seed), list[Answer](), 0.0, 0
    factors = [1 + noise * (2 * place / max(1, len(prompts) - 1) - 1) for place in range(len(prompts))]
    for load, speedup in speedups.items():
        for repeat in range(repeats):
            sides: list[Side] = ["with", "without"] if repeat % 2 else ["without", "with"]
            jitter = [1 + noise / 5 * draw.uniform(-1, 1) for _ in prompts]
            for side in sides:
                longest = 0.0
                for place, factor in enumerate(factors):
                    step = STEP * (1 + 0.1 * load) * jitter[place]
                    moment = 1 + noise / 5 * (-1) ** repeat
                    seconds = step * moment / (speedup * factor) if side == "with" else step
                    counts = accepted_of(33) if counted and side == "with" else None
                    answer = make_answer(
                        side, seconds, prompt=place, repeat=repeat, concurrency=load, block=block, began=began,
                        accepted=counts, text=f"{prompts[place][0]}: {TEXT}",
                    )  # fmt: skip
                    answers.append(answer)
                    longest = max(longest, answer.seconds)
                began += longest + 0.01
            block += 1
    return BenchResult(
        schema=1,
        created="2026-11-26T22:00:00Z",
        client="specviz on a machine of a test, 2 cores",
        settings=BenchSettings(33, 0.0, 7, repeats, list(speedups), "completions"),
        with_=replace(SERVER, drafts="draft_model"),
        without=replace(SERVER, url="http://one.test:8102/v1"),
        prompts=[BenchPrompt(name, kind, "0" * 16) for name, kind in prompts],
        answers=answers,
    )


def with_spans(result: BenchResult, *, others: int = 0) -> BenchResult:
    """The same, where the server's counters say what was accepted and not its answers; each block has `others` more."""
    spans = [
        Span("with", its[0].concurrency, 33 * len(its) + others, 33 * len(its), _sum(its), number)
        for number in sorted({answer.block for answer in result.answers})
        if (its := [each for each in result.answers if each.block == number and each.side == "with"])
    ]
    answers = [replace(answer, accepted=None) for answer in result.answers]
    return replace(result, answers=answers, spans=spans)


def _sum(answers: Sequence[Answer]) -> Accepted:
    counts = [answer.accepted for answer in answers if answer.accepted]
    positions = [sum(column) for column in zip(*(each.per_position for each in counts), strict=True)]
    drafted, accepted, rounds = (
        sum(getattr(each, name) for each in counts) for name in ("drafted", "accepted", "rounds")
    )
    return Accepted(drafted, accepted, rounds, positions)
