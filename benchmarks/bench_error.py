"""How often `specviz bench` says what is not so: two servers whose speeds are known, measured again and again.

python -m benchmarks.bench_error [--benches N] [--out FILE]

Plan, turns, pairs, doubts and intervals are those of the command. The servers and the clock are made up, so a bench
takes no time and the same numbers come again on each machine. Each server has moments in which all of its requests are
slower or faster together, as those of a machine that others use; two servers on one machine share them. A moment that
lasts for a third of a bench, on one of two machines, is a true difference while it lasts: no interval can know of it.
Results go to benchmarks/results.
"""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.timing import asked
from specviz.core.judge import HELPS, HURTS
from specviz.measure.endpoints.client import Endpoint, open_client
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.reading import Lines
from specviz.measure.endpoints.result import SIDES, BenchPrompt, BenchResult, BenchSettings, Server
from specviz.measure.endpoints.turns import BenchInTurns, plan
from specviz.measure.sweep.plan import SweepPrompt

STEP = 0.043  # seconds of a plain step
ROUNDS = (3, 1, 2, 4, 1, 1)  # tokens of each round of an answer with speculation
PROMPTS, TOKENS = 12, sum(ROUNDS)
ROUND = STEP * (TOKENS - 1) / (len(ROUNDS) - 1)  # seconds of a round at which speculation changes nothing
SPREAD = 0.15  # of the logarithm of a moment's slowness
MOMENTS = (0.25, 1.0, 4.0)  # seconds: a bench of these prompts takes about twelve
TRUTHS, LOADS, MACHINES = (1.0, 1.3), (1, 4, 8), (1, 2)
NOBODY = open_client(1)  # no server is asked
OUT = Path("benchmarks/results/bench_error.json")


class MadeUpTime(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next thing to do."""

    def __init__(self) -> None:
        super().__init__()
        self.now, select = 0.0, self._selector.select  # type: ignore[attr-defined]

        def jump(timeout: float) -> Any:
            self.now += timeout
            return select(0)

        self._selector.select = jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now


@cache
def slowness(machine: str, moment: int) -> float:
    return random.Random(f"{machine} {moment}").lognormvariate(0, SPREAD)


@dataclass
class KnownServer(Endpoint):
    """Writes so many tokens in each round, one round after the other, however many requests are under way."""

    machine: str = ""
    moment: float = 1.0
    truth: float = 1.0  # its speedup; 1: it does not speculate

    async def metrics(self) -> None:
        return None

    async def listen(self, prompt: SweepPrompt) -> Lines:
        lines = Lines(self.settings.max_new_tokens)
        now, plain = lines.began, self.truth == 1
        for tokens in (1,) * TOKENS if plain else ROUNDS:
            now += slowness(self.machine, int(now / self.moment)) * (STEP if plain else ROUND / self.truth)
            lines.came.append((now, line({"choices": [{"text": " word" * tokens}]})))
        usage = {"prompt_tokens": 9, "completion_tokens": TOKENS}
        lines.came += [(now, line({"choices": [], "usage": usage})), (now, b"data: [DONE]")]
        await asyncio.sleep(now - lines.began)
        return lines


def line(piece: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(piece).encode()


async def measure(truth: float, load: int, machines: int, moment: float, seed: int) -> BenchResult:
    settings = BenchSettings(TOKENS, 0.0, seed, 1, [load], "completions")
    asked = [SweepPrompt("story", f"prompt {number}", "") for number in range(PROMPTS)]
    prompts = [BenchPrompt(each.name, each.workload, "") for each in asked]
    result = BenchResult(1, "", "", settings, Server("http://with", ""), Server("http://without", ""), prompts)
    servers = {
        side: KnownServer(
            f"http://{side}", NOBODY, settings, has_metrics=False, moment=moment,
            machine=f"{side if machines > 1 else ''} {load} {moment} {seed}", truth=truth if side == "with" else 1.0,
        )
        for side in SIDES
    }  # fmt: skip
    await BenchInTurns(result, servers, asked, plan(PROMPTS, settings, SIDES)).measure(lambda *_: None)
    return result


def word_of(truth: float, load: int, machines: int, moment: float, seed: int) -> str:
    with asyncio.Runner(loop_factory=MadeUpTime) as runner, patch.object(time, "perf_counter", runner.get_loop().time):
        result = runner.run(measure(truth, load, machines, moment, seed))
    return BenchFindings(result).words[load]


def main() -> None:
    options = asked(__doc__, {"--benches": 40})
    rows = []
    for truth, load, machines, moment in product(TRUTHS, LOADS, MACHINES, MOMENTS):
        words = Counter(word_of(truth, load, machines, moment, seed) for seed in range(options.benches))
        false = words[HURTS] + (words[HELPS] if truth == 1 else 0)
        place = {"truth": truth, "concurrency": load, "machines": machines, "moment": moment}
        rows.append({**place, "false": false, "words": dict(words)})
        print(rows[-1], flush=True)
    Path(options.out or OUT).write_text(json.dumps(summed(rows), indent=1) + "\n")


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """With the shares that a bench is judged by. Long moments of one of two machines are left out: see above."""
    told = [row for row in rows if row["machines"] == 1 or row["moment"] < MOMENTS[-1]]
    equal, faster = ([row for row in told if row["truth"] == truth] for truth in TRUTHS)
    return {
        "spread": SPREAD,
        "prompts": PROMPTS,
        "tokens": TOKENS,
        "false": sum(row["false"] for row in equal) / sum(sum(row["words"].values()) for row in equal),
        "found": sum(row["words"].get(HELPS, 0) for row in faster) / sum(sum(row["words"].values()) for row in faster),
        "rows": rows,
    }


if __name__ == "__main__":
    main()
