"""Documents that the bundled models' training held out: the models' losses on them, and prompts for other programs.

    python -m benchmarks.held_out CORPUS [--models FOLDER] [--cache FILE] [--out benchmarks/results/held_out.json]

CORPUS is the folder that the models were trained on. Its last documents were held out. The model cards take their
losses from this program's JSON: python -m scripts.write.
"""

from itertools import chain
from pathlib import Path

import torch
from tokenizers import Tokenizer

from benchmarks.timing import asked, here, report
from specviz.data.prompts.workloads import find_workload
from specviz.models.catalogue import MODELS_FOLDER
from training.data import held_out_count, read_corpus, read_documents
from training.report import held_out_losses
from training.shapes import load_llama

DOMAINS = {"story": "tinystories", "code": "python", "structured": "structured", "prose": "prose"}
MODELS = ("wren-base", "wren-small", "wren-mini", "wren-nano")
PROMPT_TOKENS = 40


def main() -> None:
    options = asked(__doc__, {"corpus": Path, "--models": MODELS_FOLDER, "--cache": (Path, None)})
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(options.models / MODELS[0] / "tokenizer.json"))
    domains = read_corpus(options.corpus, tokenizer, options.cache)
    losses = {name: held_out_losses(load_llama(options.models / name), domains) for name in MODELS}
    report(here() | {"losses": losses}, options.out)


def find_prompts(corpus: Path, tokenizer_folder: Path, wanted: int) -> dict[str, list[list[int]]]:
    """Token ids for each kind: workload prompts and beginnings of held-out documents, alternately."""
    tokenizer, documents = Tokenizer.from_file(str(tokenizer_folder / "tokenizer.json")), read_documents(corpus)
    prompts: dict[str, list[list[int]]] = {}
    for kind, domain in DOMAINS.items():
        workload = find_workload(kind)
        assert workload is not None
        ours = [tokenizer.encode(preset.text).ids for preset in workload.prompts]
        held_out = documents[domain][-held_out_count(len(documents[domain])) :]
        begun = [tokenizer.encode(text[:1000]).ids[:PROMPT_TOKENS] for text in held_out]
        both = chain.from_iterable(zip(ours, begun, strict=False))
        prompts[kind] = [*both, *begun[len(ours) :]][:wanted]
    return prompts


if __name__ == "__main__":
    main()
