"""The greedy speedups of the bundled models over several kinds of plain decoding, all timed alternately.

    python -m benchmarks.baselines CORPUS [--out benchmarks/results/baselines.json]

A speedup is a ratio, and a slow baseline makes it look better. So the target decodes plainly in both number formats,
with all layers and without the four layers that were added last, and so does every draft with it. "own" is the speedup
over plain decoding in the same format, "quickest" is over the faster of the two formats. Decoding only, one torch
thread. The shallower target is cut out of the bundled one without training; its held-out losses are reported too.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer

from benchmarks.family import find_prompts, settings
from benchmarks.quiet import quiet_machine
from benchmarks.timing import report
from specviz import ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.rounds import known_seconds
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import Dtype, LoadedModel
from training.data import read_corpus
from training.report import held_out_losses, save_model
from training.shapes import load_llama, with_layers

TARGET = MODELS_FOLDER / "wren-base"
DRAFTS = ("wren-nano", "wren-mini", "wren-small")
FIRST = (0, 1, 2, 4, 6, 8, 10, 11)  # the layers before four were added; see training/README.md
FORMATS: tuple[Dtype, ...] = ("float32", "bfloat16")  # of the target; drafts run in float32
KINDS = ("story", "structured")
SAID = ("prompts", "gammas", "repeats", "tokens")


class Way(NamedTuple):
    """One way to decode; without a draft it is plain decoding."""

    layers: int
    dtype: Dtype
    draft: str = ""
    gamma: int = 0


Turns = list[dict[Way, float]]  # seconds of each way, turn by turn


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    prompts = find_prompts(options.corpus, TARGET, options.prompts)
    with _targets() as folders, quiet_machine() as quiet:
        turns = {kind: _all_turns(options, folders, prompts[kind]) for kind in KINDS}
        result = {
            "machine": asdict(describe_machine()),
            "options": {name: getattr(options, name) for name in SAID},
            "losses": losses(options, folders),
            "plain": [row for kind in KINDS for row in plain_rows(kind, turns[kind], options.tokens)],
            "speedups": [row for kind in KINDS for row in speedup_rows(kind, turns[kind])],
        }
    report(result | {"quiet": quiet.said()}, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--cache", type=Path, help="file that stores the corpus as ids")
    parser.add_argument("--prompts", type=int, default=8, help="of each kind")
    parser.add_argument("--gammas", type=int, nargs="+", default=[3, 4, 6])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--out")
    return parser.parse_args()


@contextmanager
def _targets() -> Iterator[dict[int, Path]]:
    """Folders of both targets by their number of layers."""
    with TemporaryDirectory() as made:
        whole = load_llama(TARGET)
        save_model(with_layers(whole, FIRST), TARGET, Path(made), {})
        yield {whole.config.num_hidden_layers: TARGET, len(FIRST): Path(made)}


def losses(options: argparse.Namespace, folders: Mapping[int, Path]) -> dict[int, dict[str, float]]:
    """Held-out nats per token, by number of layers and domain."""
    domains = read_corpus(options.corpus, Tokenizer.from_file(str(TARGET / "tokenizer.json")), options.cache)
    return {layers: held_out_losses(load_llama(folder), domains) for layers, folder in folders.items()}


def _all_turns(options: argparse.Namespace, folders: Mapping[int, Path], prompts: Iterable[list[int]]) -> Turns:
    """Every way on every prompt, alternately. The first turn of a prompt is a warm-up."""
    targets = {(layers, dtype): load_model(str(folders[layers]), dtype) for layers, dtype in product(folders, FORMATS)}
    drafts = {name: load_model(str(MODELS_FOLDER / name)) for name in DRAFTS}
    plain = [Way(*key) for key in targets]
    ways = plain + [Way(*key, draft, gamma) for key, draft, gamma in product(targets, DRAFTS, options.gammas)]
    turns: Turns = []
    for prompt in prompts:
        for repeat in range(options.repeats + 1):
            turn = {way: seconds(way, targets[way[:2]], drafts, prompt, options.tokens) for way in ways}
            turns += [turn] if repeat else []
    return turns


def seconds(way: Way, target: LoadedModel, drafts: Mapping[str, LoadedModel], prompt: list[int], tokens: int) -> float:
    """Seconds of greedy decoding, without prefill."""
    how = settings(tokens, way.gamma or 1, temperature=0.0)
    if way.draft:
        rounds = speculative_decode(target, ModelDrafter(drafts[way.draft]), prompt, how, record=False).rounds
        return sum(known_seconds(round.seconds) for round in rounds)
    plain = autoregressive_decode(target, prompt, how).autoregressive
    assert plain is not None
    return sum(plain.seconds_per_token)


def plain_rows(kind: str, turns: Turns, tokens: int) -> Iterator[dict[str, Any]]:
    """Milliseconds per token of the plain ways."""
    for way in turns[0]:
        if not way.draft:
            spent = median(turn[way] for turn in turns) / tokens * 1000
            yield {"kind": kind, "layers": way.layers, "dtype": way.dtype, "ms_per_token": round(spent, 2)}


def speedup_rows(kind: str, turns: Turns) -> Iterator[dict[str, Any]]:
    """Median over turns of plain seconds over speculative ones, of each speculative way."""
    for way in turns[0]:
        if way.draft:
            own = Way(way.layers, way.dtype)
            quickest = min((Way(way.layers, dtype) for dtype in FORMATS), key=lambda it: median(t[it] for t in turns))
            gains = {
                name: round(median(turn[base] / turn[way] for turn in turns), 3)
                for name, base in (("own", own), ("quickest", quickest))
            }
            yield {"kind": kind} | way._asdict() | gains


if __name__ == "__main__":
    main()
