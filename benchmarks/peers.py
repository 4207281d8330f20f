"""Our decoding loops beside transformers, llama.cpp and vLLM: the same models, prompts, draft length and threads.

    python -m benchmarks.peers CORPUS [--prompts 5] [--llama FOLDER [--rounds BUILD]] [--vllm URL]
        [--out FILE]

Every way writes the same number of tokens after the same prompt, greedily, one way after the other, on one thread. Its
time is milliseconds a token after the first one, which comes from the pass over the prompt. The fastest of the repeats
counts for a prompt, as other programs can only slow a run. A kind's times are medians over its prompts; its gain is the
geometric mean, with the 95 % interval over them. Texts are compared token by token. So are the counts of drafted and
accepted tokens, where a way reports them. All is float32.

FOLDER has `llama-server`, and `wren-base.gguf` and `wren-nano.gguf` in float32 as convert_hf_to_gguf.py of llama.cpp
writes them. URL is a vLLM server of the same pair, started with `--per-request-spec-decode-metrics detailed`: then its
texts and its rounds are compared with ours, and nothing is timed, so that the machine need not be quiet. `--rounds`
does the same with llama.cpp, of which BUILD is the number of its build: the server does not know it.
"""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from benchmarks.serving import free_port
from benchmarks.timing import asked, here, mean_ratio, report
from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.rounds import known_seconds
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.loaded_model import LoadedModel
from specviz.systems.fields import pieces_of
from specviz.systems.llama_cpp import steps_of

TARGET, DRAFT = "wren-base", "wren-nano"
SYSTEMS = ("ours", "transformers", "llama.cpp")
PATIENCE = 60.0  # seconds for a server to start, and for an answer


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
    options = asked(__doc__, given | {"--llama": (Path, None), "--rounds": (str, None), "--vllm": (str, None)})
    torch.set_num_threads(1)
    prompts = find_prompts(options.corpus, MODELS_FOLDER / TARGET, options.prompts)
    pair = Pair(load_model(TARGET, "float32"), load_model(DRAFT, "float32"), options.tokens, options.draft_length)
    every = [ids for each in prompts.values() for ids in each]
    said = {name: getattr(options, name) for name in ("prompts", "tokens", "draft_length")}
    said |= {"target": TARGET, "draft": DRAFT}
    if options.vllm:
        return report(here() | {"options": said} | agreement_with_vllm(options.vllm, pair, every), options.out)
    if options.rounds:
        counted = {"llama.cpp": options.rounds} | agreement_with_llama(options.llama, pair, every)
        return report(here() | {"options": said} | counted, options.out)
    with quiet_machine(TARGET) as quiet, ExitStack() as servers:
        ways = ways_in_python(pair)
        for name, arguments in llama_arguments(options.llama, pair).items() if options.llama else ():
            ways[f"llama.cpp {name}"] = servers.enter_context(llama_way(options.llama, pair, arguments))
        turns = {kind: [take_turns(ways, ids, options.repeats) for ids in each] for kind, each in prompts.items()}
        quiet.servers = sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children())
    found = {
        "options": said | {"repeats": options.repeats},
        "kinds": {kind: figures(each, options.tokens) for kind, each in turns.items()},
        "agreement": agreement([turn for each in turns.values() for turn in each]),
    }
    return report(here() | {"quiet": quiet.said()} | found, options.out)


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


@contextmanager
def llama_way(folder: Path, pair: Pair, arguments: list[str]) -> Iterator[Way]:
    """How a server of llama.cpp is asked, until the block ends."""
    with llama_server(folder, arguments) as client:
        yield partial(ask_llama, client, pair.tokens)


@contextmanager
def llama_server(folder: Path, arguments: list[str]) -> Iterator[httpx2.Client]:
    port = free_port()
    command = [f"{folder}/llama-server", "--host", "127.0.0.1", "--port", str(port), *arguments]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # It closes a connection after a stream, although it says that it keeps it.
        limits = httpx2.Limits(max_keepalive_connections=0)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, limits=limits) as client:
            wait_for(client)
            yield client
    finally:
        server.terminate()
        server.wait()


def wait_for(client: httpx2.Client) -> None:
    """Return when the server can answer. Raises: SystemExit, it does not come up."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if client.get("/health").is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"The server at {client.base_url} did not start within {PATIENCE:.0f} s.")


def ask_llama(client: httpx2.Client, tokens: int, prompt: list[int]) -> Answer:
    told = client.post("/completion", json=asked_of_llama(prompt, tokens)).raise_for_status().json()
    timings = told["timings"]
    counts = (timings["draft_n"], timings["draft_n_accepted"]) if "draft_n" in timings else None
    return Answer(told["tokens"], timings["predicted_ms"] / 1000, counts)


def asked_of_llama(prompt: list[int], tokens: int) -> dict[str, Any]:
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "ignore_eos": True}
    return body | {"cache_prompt": False, "return_tokens": True}


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


def agreement_with_vllm(url: str, pair: Pair, prompts: list[list[int]]) -> dict[str, Any]:
    """Its version; and on how many prompts vLLM wrote our text, in our rounds."""
    texts = rounds = 0
    with httpx2.Client(base_url=url, timeout=PATIENCE) as client:
        version = client.get("/version").raise_for_status().json()["version"]
        for prompt in prompts:
            body = {"model": TARGET, "prompt": prompt, "max_tokens": pair.tokens, "temperature": 0}
            body |= {"ignore_eos": True, "return_token_ids": True}
            told = client.post("/v1/completions", json=body).raise_for_status().json()
            steps = told["metrics"]["speculative_decoding"]
            ids, _, ours = pair.rounds(prompt)
            texts += told["choices"][0]["token_ids"] == ids
            theirs = list(zip(steps["per_step_drafted"], steps["per_step_accepted"], strict=True))
            rounds += same_rounds(theirs, ours, pair.draft_length)
    return {"vllm": version, "compared": len(prompts), "same_text": texts, "same_rounds": rounds}


def agreement_with_llama(folder: Path, pair: Pair, prompts: list[list[int]]) -> dict[str, Any]:
    """On how many prompts llama.cpp wrote our text, in our rounds, also near the last token: its drafts are cut too."""
    texts = rounds = 0
    with llama_server(folder, llama_arguments(folder, pair)["speculative"]) as client:
        for prompt in prompts:
            body = asked_of_llama(prompt, pair.tokens) | {"stream": True, "timings_per_token": True}
            parts = pieces_of(client.post("/completion", json=body).raise_for_status().content)
            ids, _, ours = pair.rounds(prompt)
            # Its streams leave out ids of a character that several tokens write.
            texts += "".join(part.value["content"] for part in parts) == pair.target.tokenizer.decode(ids)
            theirs = [(step.drafted, step.accepted) for step in steps_of(parts) if step.drafted]
            rounds += theirs == [each for each in ours if each[0]]
    return {"compared": len(prompts), "same_text": texts, "same_rounds": rounds}


def same_rounds(theirs: Sequence[tuple[int, int]], ours: Sequence[tuple[int, int]], draft_length: int) -> bool:
    """Whether another system had our rounds, up to the last token.

    Near it ours are shorter: vLLM drafts as many tokens as ever, and then drops those over the limit. So the rounds
    before that are compared.
    """
    whole = [each for each in ours if each[0] == draft_length]
    return list(theirs[: len(whole)]) == whole


if __name__ == "__main__":
    main()
