"""Documents that the bundled models' training held out: the models' losses on them, and prompts for other programs.

    python -m benchmarks.held_out CORPUS [--models FOLDER] [--cache FILE] [--out benchmarks/results/held_out.json]

CORPUS is the folder that the models were trained on. Its last documents were held out. The model cards take their
losses from this program's JSON: python -m scripts.write_cards.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer

from benchmarks.timing import report
from specviz.data.prompts.workloads import find_workload
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.devices import describe_machine
from training.data import held_out_count, read_corpus, read_documents
from training.report import held_out_losses
from training.shapes import load_llama

DOMAINS = {"story": "tinystories", "code": "python", "structured": "structured", "prose": "prose"}
MODELS = ("wren-base", "wren-small", "wren-mini", "wren-nano")
PROMPT_TOKENS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--models", type=Path, default=MODELS_FOLDER, help="folder with the four models")
    parser.add_argument("--cache", type=Path, help="file that stores the corpus as ids")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = losses(options.corpus, options.models, options.cache)
    report({"machine": asdict(describe_machine()), "losses": found}, options.out)


def losses(corpus: Path, models: Path, cache: Path | None) -> dict[str, dict[str, float]]:
    """Held-out nats per token, by model and domain."""
    tokenizer = Tokenizer.from_file(str(models / MODELS[0] / "tokenizer.json"))
    domains = read_corpus(corpus, tokenizer, cache)
    return {name: held_out_losses(load_llama(models / name), domains) for name in MODELS}


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


if __name__ == "__main__":
    main()
