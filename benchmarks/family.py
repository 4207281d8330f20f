"""The bundled models: losses on held-out text, then acceptance, costs and speedup of each pair.

    python -m benchmarks.family CORPUS [--pairs [TARGET:DRAFT ...] --keep] [--out benchmarks/results/family.json]

CORPUS is the folder that the models were trained on. Its last documents were held out. Their beginnings are prompts
here, together with the app's workloads. Rates are computed over all prompts together. A speedup is the median over
prompts of the median ratio, timed alternately (the target alone, then each draft length), decoding only, one torch
thread. The model cards take their tables from this program's JSON: python -m scripts.write_cards.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from tokenizers import Tokenizer

from benchmarks.quiet import quiet_machine, steady_calibration
from benchmarks.timing import report
from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.metrics import Counts, count
from specviz.core.rounds import known_seconds
from specviz.data.prompts.workloads import find_workload
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import Dtype, LoadedModel
from training.data import held_out_count, read_corpus, read_documents
from training.report import held_out_losses
from training.shapes import load_llama

DOMAINS = {"story": "tinystories", "code": "python", "structured": "structured", "prose": "prose"}
MODELS = ("wren-base", "wren-small", "wren-mini", "wren-nano")
PAIRS = ("wren-base:wren-nano", "wren-base:wren-mini", "wren-base:wren-small", "wren-mini:wren-nano")
TEMPERATURES = {"greedy": 0.0, "temperature 1": 1.0}
PROMPT_TOKENS = 40
SAID_OF_A_RUN = ("dtypes", "prompts", "timed", "gammas", "repeats", "tokens")
GAMMA = 4  # the draft length of the acceptance rates


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    prompts = find_prompts(options.corpus, options.models / MODELS[0], options.prompts)
    result: dict[str, Any] = {
        "machine": asdict(describe_machine()),
        "options": {name: getattr(options, name) for name in SAID_OF_A_RUN},
    }
    result["prompts"] = {kind: len(found) for kind, found in prompts.items()}  # a kind can have too few documents
    result["pairs"] = others(options, result) if options.keep else []
    result["losses"] = {} if options.skip_losses else losses(options.corpus, options.models, options.cache)
    with quiet_machine() as quiet:
        result["pairs"] += [
            measure_pair(options, pair, dtype, prompts) for pair in options.pairs for dtype in options.dtypes
        ]
    result["quiet"] = quiet.said()
    report(result, options.out)


def others(options: argparse.Namespace, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of an earlier run for the pairs that are not measured now, because their models did not change.

    Raises:
        SystemExit: they were measured on another machine or with other options.
    """
    earlier = json.loads(Path(options.out).read_text(encoding="utf-8"))
    if any(earlier[part] != result[part] for part in ("machine", "options")):
        raise SystemExit(f"{options.out} was measured on another machine or with other options: it cannot be reused.")
    again = {(*pair.split(":"), dtype) for pair in options.pairs for dtype in options.dtypes}
    return [pair for pair in earlier["pairs"] if (pair["target"], pair["draft"], pair["target_dtype"]) not in again]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--models", type=Path, default=MODELS_FOLDER, help="folder with the four models")
    parser.add_argument("--cache", type=Path, help="file that stores the corpus as ids")
    parser.add_argument("--pairs", nargs="*", default=PAIRS, help="target:draft")
    parser.add_argument(
        "--dtypes", nargs="+", default=["float32", "bfloat16"], help="of the target; drafts run in float32"
    )
    parser.add_argument("--prompts", type=int, default=24, help="of each kind, for the rates")
    parser.add_argument("--timed", type=int, default=8, help="of each kind, for the speedups")
    parser.add_argument("--gammas", type=int, nargs="+", default=[3, 4, 6])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--skip-losses", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--keep", action="store_true", help="reuse the results of other pairs that --out already holds")
    options = parser.parse_args()
    if options.keep and not (options.out and Path(options.out).is_file()):
        parser.error("--keep needs --out, and a file there with the figures of an earlier run.")
    return options


def find_prompts(corpus: Path, tokenizer_folder: Path, wanted: int) -> dict[str, list[list[int]]]:
    """Token ids for each kind: workload prompts and beginnings of held-out documents, alternately."""
    tokenizer = Tokenizer.from_file(str(tokenizer_folder / "tokenizer.json"))
    documents = read_documents(corpus)
    prompts: dict[str, list[list[int]]] = {}
    for kind, domain in DOMAINS.items():
        workload = find_workload(kind)
        assert workload is not None
        ours = [tokenizer.encode(preset.text).ids for preset in workload.prompts]
        held_out = documents[domain][-held_out_count(len(documents[domain])) :]
        begun = [tokenizer.encode(text[:1000]).ids[:PROMPT_TOKENS] for text in held_out]
        prompts[kind] = [ids for both in zip(ours, begun, strict=False) for ids in both][:wanted]
        prompts[kind] += begun[len(ours) : len(ours) + wanted - len(prompts[kind])]
    return prompts


def losses(corpus: Path, models: Path, cache: Path | None) -> dict[str, dict[str, float]]:
    """Held-out nats per token, by model and domain."""
    tokenizer = Tokenizer.from_file(str(models / MODELS[0] / "tokenizer.json"))
    domains = read_corpus(corpus, tokenizer, cache)
    return {name: held_out_losses(load_llama(models / name), domains) for name in MODELS}


def measure_pair(
    options: argparse.Namespace, names: str, dtype: Dtype, prompts: Mapping[str, list[list[int]]]
) -> dict[str, Any]:
    """Costs of a pair, and its rates and speedups by kind of prompt and temperature."""
    target_name, draft_name = names.split(":")
    pair = Pair(load_model(str(options.models / target_name), dtype), load_model(str(options.models / draft_name)))
    costs = steady_calibration(pair.target, ModelDrafter(pair.draft))
    kinds = {
        kind: {
            name: {
                **rates(pair, texts, settings(options.tokens, GAMMA, temperature)),
                **speedups(pair, texts[: options.timed], options, temperature),
            }
            for name, temperature in TEMPERATURES.items()
        }
        for kind, texts in prompts.items()
    }
    return {
        "target": target_name,
        "draft": draft_name,
        "target_dtype": dtype,
        "step_ms": round(costs.step_seconds * 1000, 2),
        "c": round(costs.cost_ratio, 3),
        "v5": round(costs.verification[5], 3),
        "overhead": round(costs.overhead, 3),
        "kinds": kinds,
    }


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and its draft."""

    target: LoadedModel
    draft: LoadedModel


def settings(tokens: int, gamma: int, temperature: float) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=gamma, temperature=temperature, stop_at_eos=False)


def rates(pair: Pair, prompts: Iterable[list[int]], how: DecodeSettings) -> dict[str, float | None]:
    """Per-judgement rate and acceptance rate over all prompts."""
    total, drafter = Counts(), ModelDrafter(pair.draft)
    for prompt in prompts:
        for round in speculative_decode(pair.target, drafter, prompt, how, record=False).rounds:
            total = total.plus(round)
    return {"per_judgement_rate": rounded(total.per_judgement_rate), "acceptance_rate": rounded(total.acceptance_rate)}


def speedups(pair: Pair, prompts: list[list[int]], options: argparse.Namespace, temperature: float) -> dict[str, Any]:
    """Median speedup at each draft length, and the best of them."""
    each = [speedup_by_gamma(pair, prompt, options, temperature) for prompt in prompts]
    by_gamma = {gamma: rounded(median(one[gamma] for one in each)) for gamma in options.gammas}
    best = max(options.gammas, key=lambda gamma: by_gamma[gamma] or 0.0)
    return {"speedup_by_gamma": by_gamma, "best_gamma": best, "speedup": by_gamma[best]}


def speedup_by_gamma(
    pair: Pair, prompt: list[int], options: argparse.Namespace, temperature: float
) -> dict[int, float]:
    """Plain over speculative seconds on one prompt: the median of the turns after a warm-up turn."""
    ratios: dict[int, list[float]] = {gamma: [] for gamma in options.gammas}
    drafter = ModelDrafter(pair.draft)
    for _ in range(options.repeats + 1):
        plain = autoregressive_decode(pair.target, prompt, settings(options.tokens, GAMMA, temperature)).autoregressive
        assert plain is not None
        for gamma, found in ratios.items():
            how = settings(options.tokens, gamma, temperature)
            trace = speculative_decode(pair.target, drafter, prompt, how, record=False)
            assert count(trace.rounds).emitted == options.tokens
            found.append(sum(plain.seconds_per_token) / sum(known_seconds(round.seconds) for round in trace.rounds))
    return {gamma: median(found[1:]) for gamma, found in ratios.items()}


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


if __name__ == "__main__":
    main()
