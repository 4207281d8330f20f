"""Losses on text that no stage of the training has seen: the packages installed beside this project.

    python -m benchmarks.unseen [FOLDER] [--models FOLDER ...] [--out benchmarks/results/unseen.json]

The training corpus holds only Python code of CPython's releases. It holds no data or documentation of packages, except
those of JSON Schema, which are left out here. FOLDER (this environment's packages) is searched for code, JSON and
Markdown, in an order that the seed decides.
"""

import argparse
import random
import sysconfig
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from benchmarks.timing import report
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.devices import describe_machine
from training.data import SEPARATOR, Domain
from training.report import JUDGED_TOKENS, held_out_losses
from training.shapes import load_llama

KINDS = {"Python": "*.py", "JSON": "*.json", "Markdown": "*.md"}
CHARACTERS = range(2_000, 40_000)  # size of a file that is used: shorter ones say little, longer ones are tables
TOKENS_A_FILE = 1_200
SEEN = "jsonschema"  # the beginning of the names of packages whose data is in the corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(sysconfig.get_paths()["purelib"]))
    parser.add_argument("--models", type=Path, nargs="+", default=[MODELS_FOLDER / "wren-base"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.models[0] / "tokenizer.json"))
    texts = [unseen(options.folder, kind, tokenizer, options.seed) for kind in KINDS]
    result: dict[str, Any] = {
        "machine": asdict(describe_machine()),
        "seed": options.seed,
        "tokens": {text.name: len(text.held_out) for text in texts},
        "losses": {folder.name: held_out_losses(load_llama(folder), texts) for folder in options.models},
    }
    report(result, options.out)


def unseen(folder: Path, kind: str, tokenizer: Tokenizer, seed: int) -> Domain:
    """The beginnings of files of one kind, enough for the measured number of tokens."""
    found = (file.relative_to(folder) for file in folder.rglob(KINDS[kind]))
    files = sorted(folder / file for file in found if not file.parts[0].startswith(SEEN))
    random.Random(seed).shuffle(files)
    end, ids = tokenizer.token_to_id(SEPARATOR), list[int]()
    assert end is not None
    for text in _readable(files):
        ids += [*tokenizer.encode(text, add_special_tokens=False).ids[:TOKENS_A_FILE], end]
        if len(ids) > JUDGED_TOKENS:
            break
    return Domain(kind, torch.empty(0, dtype=torch.int32), torch.tensor(ids, dtype=torch.int32))


def _readable(files: list[Path]) -> Iterator[str]:
    for file in files:
        text = file.read_text(encoding="utf-8", errors="ignore")
        if len(text) in CHARACTERS:
            yield text


if __name__ == "__main__":
    main()
