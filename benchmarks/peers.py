"""Our decoding loops beside transformers and llama.cpp: the same models, prompts, draft length and threads.

    python -m benchmarks.peers CORPUS [--prompts 5] [--llama FOLDER] [--out FILE]

Every way writes the same number of tokens after the same prompt, greedily, one way after the other, on one thread. Its
time is milliseconds a token after the first one, which comes from the pass over the prompt. The fastest of the repeats
counts for a prompt, as other programs can only slow a run. A kind's times are medians over its prompts; its gain is the
geometric mean, with the 95 % interval over them. Texts are compared token by token. So are the counts of drafted and
accepted tokens, where a way reports them. All is float32.

FOLDER has `llama-server`, and `wren-base.gguf` and `wren-nano.gguf` in float32 as convert_hf_to_gguf.py of llama.cpp
writes them. Round by round, llama.cpp and vLLM are compared with ours by `make test-servers`.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil
import torch
from torch import Tensor

from benchmarks.held_out import find_prompts
from benchmarks.quiet import quiet_machine
from benchmarks.serving import ROOT, free_port
from benchmarks.timing import asked, here, mean_ratio, report
from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.rounds import known_seconds
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.loaded_model import LoadedModel
from tests.servers.running import answering

TARGET, DRAFT = "wren-base", "wren-nano"
SYSTEMS = ("ours", "transformers", "llama.cpp")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one way wrote after a prompt."""

    token_ids: list[int]
    seconds: float  # of all tokens after the first
    counts: tuple[int, int] | None = None  # drafted and accepted tokens, where they are reported


Way = Callable[[list[int]], Answer]
Turn = Mapping[str, Answer]  # by the way's name


@dataclass(frozen=True, slots=True)
class Pair:
    """Both models, loaded, and how far they write."""

    target: LoadedModel
    draft: LoadedModel
    tokens: int
    draft_length: int

    def plain(self, prompt: list[int]) -> Answer:
        first = self.first(prompt)
        trace = autoregressive_decode(self.target, prompt + first, _settings(self.tokens - 1))
        assert trace.autoregressive is not None
        return Answer(first + trace.output.token_ids, sum(trace.autoregressive.seconds_per_token))

    def speculative(self, prompt: list[int]) -> Answer:
        ids, seconds, rounds = self.rounds(prompt)
        drafted, accepted = map(sum, zip(*rounds, strict=True))
        return Answer(ids, seconds, (drafted, accepted))

    def rounds(self, prompt: list[int]) -> tuple[list[int], float, list[tuple[int, int]]]:
        """Ids, seconds, and the drafted and accepted tokens of each round after the first token."""
        first = self.first(prompt)
        how = _settings(self.tokens - 1, self.draft_length)
        trace = speculative_decode(self.target, ModelDrafter(self.draft), prompt + first, how, record=False)
        seconds = sum(known_seconds(round.seconds) for round in trace.rounds)
        return first + trace.output.token_ids, seconds, [(len(each.drafted), each.accepted) for each in trace.rounds]

    def first(self, prompt: list[int]) -> list[int]:
        """The token that the pass over the prompt gives."""
        return autoregressive_decode(self.target, prompt, _settings(1)).output.token_ids

    def generated(self, prompt: list[int], **options: Any) -> Answer:
        """What transformers' `generate` writes; `options` may name an assistant."""
        clock = Clock()
        with torch.inference_mode():
            written = self.target.model.generate(
                torch.tensor([prompt]),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                max_new_tokens=self.tokens,
                min_new_tokens=self.tokens,
                do_sample=False,
                streamer=clock,
                **options,
            )
        return Answer(written[0, len(prompt) :].tolist(), clock.seconds_after_the_first(self.tokens))


class Clock:
    """A streamer, which notes when `generate` hands out tokens: the prompt first, then what each pass gave."""

    def __init__(self) -> None:
        self._handed: list[tuple[float, int]] = []

    def put(self, value: Tensor) -> None:
        self._handed.append((time.perf_counter(), value.numel()))

    def end(self) -> None:
        """Nothing comes after the last token."""

    def seconds_after_the_first(self, tokens: int) -> float:
        """Assisted generation hands out several tokens with its first pass: seconds are scaled to all but one."""
        (began, first), (ended, _) = self._handed[1], self._handed[-1]
        return (ended - began) * (tokens - 1) / (tokens - first)


def _settings(tokens: int, draft_length: int = 1) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=draft_length, stop_at_eos=False)


def main() -> None:
    given: dict[str, Any] = {"corpus": Path, "--prompts": 5, "--repeats": 3, "--tokens": 64, "--draft-length": 4}
    options = asked(__doc__, given | {"--llama": (Path, None)})
    torch.set_num_threads(1)
    prompts = find_prompts(options.corpus, MODELS_FOLDER / TARGET, options.prompts)
    pair = Pair(load_model(TARGET, "float32"), load_model(DRAFT, "float32"), options.tokens, options.draft_length)
    said = {name: getattr(options, name) for name in ("prompts", "tokens", "draft_length", "repeats")}
    with quiet_machine(TARGET) as quiet, ExitStack() as servers:
        ways = ways_in_python(pair)
        for name, arguments in llama_arguments(options.llama, pair).items() if options.llama else ():
            port = free_port()
            command = [f"{options.llama}/llama-server", "--host", "127.0.0.1", "--port", str(port), *arguments]
            client = servers.enter_context(answering(command, port, Path(os.devnull), ROOT))
            ways[f"llama.cpp {name}"] = partial(ask_llama, client, options.tokens)
        turns = {kind: [take_turns(ways, ids, options.repeats) for ids in each] for kind, each in prompts.items()}
        quiet.servers = sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children())
    found = {
        "options": said | {"target": TARGET, "draft": DRAFT},
        "kinds": {kind: figures(each, options.tokens) for kind, each in turns.items()},
        "agreement": agreement([turn for each in turns.values() for turn in each]),
    }
    report(here() | {"quiet": quiet.said()} | found, options.out)


def ways_in_python(pair: Pair) -> dict[str, Way]:
    assistant = pair.draft.model
    assert assistant.generation_config is not None
    assistant.generation_config.update(  # generate() reads these from the assistant only
        num_assistant_tokens=pair.draft_length,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )
    return {
        "ours plain": pair.plain,
        "ours speculative": pair.speculative,
        "transformers plain": pair.generated,
        "transformers speculative": partial(pair.generated, assistant_model=assistant),
    }


def llama_arguments(folder: Path, pair: Pair) -> dict[str, list[str]]:
    """Arguments of both servers. The cache has float32 as ours has in float32."""
    cache, draft_cache = ["-ctk", "f32", "-ctv", "f32"], ["-ctkd", "f32", "-ctvd", "f32"]
    plain = ["-m", f"{folder}/{TARGET}.gguf", *cache, "-t", "1", "-c", "512", "-np", "1"]
    draft = ["--spec-type", "draft-simple", "-md", f"{folder}/{DRAFT}.gguf", *draft_cache, "-td", "1"]
    return {"plain": plain, "speculative": [*plain, *draft, "--spec-draft-n-max", str(pair.draft_length)]}


def ask_llama(client: httpx2.Client, tokens: int, prompt: list[int]) -> Answer:
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "ignore_eos": True}
    body |= {"cache_prompt": False, "return_tokens": True}
    told = client.post("/completion", json=body).raise_for_status().json()
    timings = told["timings"]
    counts = (timings["draft_n"], timings["draft_n_accepted"]) if "draft_n" in timings else None
    return Answer(told["tokens"], timings["predicted_ms"] / 1000, counts)


def take_turns(ways: Mapping[str, Way], prompt: list[int], repeats: int) -> dict[str, Answer]:
    """Each way's fastest answer of `repeats` turns, after one to warm up."""
    turns = [{name: way(prompt) for name, way in ways.items()} for _ in range(repeats + 1)][1:]
    return {name: min((turn[name] for turn in turns), key=lambda answer: answer.seconds) for name in ways}


def figures(prompts: Sequence[Turn], tokens: int) -> dict[str, dict[str, Any]]:
    """For each system of one kind of text: ms a token, plain and speculative, and its gain with a 95 % interval."""
    table: dict[str, dict[str, Any]] = {}
    for system in SYSTEMS:
        if f"{system} plain" in prompts[0]:
            both = [(turn[f"{system} plain"].seconds, turn[f"{system} speculative"].seconds) for turn in prompts]
            gain = mean_ratio([plain / speculative for plain, speculative in both])
            plain_ms, speculative_ms = (1000 * median(each) / (tokens - 1) for each in zip(*both, strict=True))
            table[system] = {
                "plain_ms": round(plain_ms, 3),
                "speculative_ms": round(speculative_ms, 3),
                "gain": gain["value"],
                "interval": [gain["low"], gain["high"]],
            }
    return table


def agreement(prompts: Sequence[Turn]) -> dict[str, dict[str, Any]]:
    """For each way, on how many prompts its text and its counts are ours, and its text its own plain decoding's."""
    found: dict[str, dict[str, Any]] = {}
    for name in prompts[0]:
        texts = sum(turn[name].token_ids == turn["ours plain"].token_ids for turn in prompts)
        found[name] = {"prompts": len(prompts), "same_text": texts}
        if (alone := name.replace("speculative", "plain")) in prompts[0]:
            found[name]["same_as_plain"] = sum(turn[name].token_ids == turn[alone].token_ids for turn in prompts)
        if prompts[0][name].counts:
            found[name]["same_counts"] = sum(turn[name].counts == turn["ours speculative"].counts for turn in prompts)
    return found


if __name__ == "__main__":
    main()
