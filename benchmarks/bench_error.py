"""How often `specviz bench` says what is not so: two servers whose speeds are known, measured again and again.

python -m benchmarks.bench_error [--benches N] [--loads 1,4,8] [--truth 1.0,1.3] [--out FILE]

The servers only wait, so the truth does not depend on this machine. Each has moments of about a second in which all of
its requests are slower or faster together, as those of a machine that others use. Results go to benchmarks/results.
"""

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from specviz.core.judge import HELPS, HURTS
from specviz.measure.endpoints.address import parse_address
from specviz.measure.endpoints.client import Asked, Endpoint, open_client
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import SIDES, BenchPrompt, BenchResult, BenchSettings, Server
from specviz.measure.endpoints.turns import BenchInTurns, plan

STEP = 0.008  # seconds of a plain step
ROUNDS = (3, 1, 2, 4, 1, 3, 2, 2)  # tokens of each round of the server with speculation
SPREAD = 0.15  # of the logarithm of a moment's slowness
MOMENT = 1.0  # seconds
PROMPTS, TOKENS = 12, 64
OUT = Path("benchmarks/results/bench_error.json")


@dataclass
class KnownServer:
    """Writes so many tokens in each round, one round after the other, however many requests are under way."""

    speedup: float | None  # None: without speculation
    seed: int

    def rounds(self, tokens: int) -> Iterator[tuple[int, float]]:
        place, mean = 0, sum(ROUNDS) / len(ROUNDS)
        while tokens > 0:
            size = 1 if self.speedup is None else min(ROUNDS[place % len(ROUNDS)], tokens)
            yield size, STEP if self.speedup is None else STEP * mean / self.speedup
            tokens, place = tokens - size, place + 1

    def slowness(self) -> float:
        moment = int(time.monotonic() / MOMENT)
        return float(random.Random(f"{self.seed} {moment}").lognormvariate(0, SPREAD))

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                length = 0
                while header := (await reader.readline()).strip().lower():
                    if header.startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                asked = json.loads(await reader.readexactly(length)) if length else {}
                if line.startswith(b"GET"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                else:
                    await self._stream(writer, int(asked["max_tokens"]))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter, tokens: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        due = time.perf_counter()
        for size, seconds in self.rounds(tokens):
            due += seconds * self.slowness()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(b"data: " + json.dumps({"choices": [{"text": " word" * size}]}).encode() + b"\n\n")
        usage = {"prompt_tokens": 9, "completion_tokens": tokens}
        writer.write(b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\ndata: [DONE]\n\n")
        await writer.drain()
        writer.close()


def _serve(server: KnownServer, port: Connection) -> None:
    async def run() -> None:
        listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
        port.send(listening.sockets[0].getsockname()[1])
        await listening.serve_forever()

    asyncio.run(run())


@contextmanager
def served(server: KnownServer) -> Iterator[str]:
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(server, there), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.terminate()
        process.join()


async def measure(urls: list[str], load: int, seed: int) -> BenchResult:
    settings = BenchSettings(TOKENS, 0.0, seed, 1, [load], "completions")
    prompts = [BenchPrompt(f"prompt {number}", "story", "") for number in range(PROMPTS)]
    servers = [Server(url, "known") for url in urls]
    result = BenchResult(1, "", "", settings, servers[0], servers[1], prompts)
    questions = [Asked(prompt.name, (), TOKENS, 0.0, seed) for prompt in prompts]
    async with open_client(load) as http:
        endpoints = {
            side: Endpoint(parse_address(url, side), http, "completions", model="known", has_metrics=False)
            for side, url in zip(SIDES, urls, strict=True)
        }
        await BenchInTurns(result, endpoints, questions, plan(PROMPTS, settings, SIDES)).measure(lambda *_: None)
    return result


def words_of(truth: float, load: int, benches: int) -> Counter[str]:
    """How often each word is said."""
    words, ours, plain = Counter[str](), KnownServer(truth if truth != 1 else None, 1), KnownServer(None, 2)
    with served(ours) as with_, served(plain) as without:
        for seed in range(benches):
            [found] = BenchFindings(asyncio.run(measure([with_, without], load, seed))).measured
            assert found.speedup
            words[found.speedup.judged.word] += 1
    return words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benches", type=int, default=40)
    parser.add_argument("--loads", default="1,4,8")
    parser.add_argument("--truth", default="1.0,1.3")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    rows = []
    for truth in map(float, options.truth.split(",")):
        for load in map(int, options.loads.split(",")):
            words = words_of(truth, load, options.benches)
            false = words[HURTS] + (words[HELPS] if truth == 1 else 0)
            rows.append({"truth": truth, "concurrency": load, "benches": options.benches, "false": false, **words})
            print(rows[-1], flush=True)
    options.out.write_text(json.dumps({"spread": SPREAD, "tokens": TOKENS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
