"""`specviz models`: the models and pairs, and the memory they take."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from specviz.cli.help_text import add_command
from specviz.cli.options import add_json
from specviz.cli.output import print_table, say, write_json
from specviz.models.catalogue import BundledHead, bundled_heads, bundled_models
from specviz.models.pairs import HUB_MODELS, PAIRS, KnownModel, Pair, known_models

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "list the models and pairs, and their sizes"
    parser = add_command(commands, "models", summary, "models", "models --json models.json")
    add_json(parser)
    parser.set_defaults(command=list_models)


def list_models(options: argparse.Namespace) -> None:
    """Print bundled models and heads, catalogued models and pairs."""
    result = {
        "bundled": [asdict(model) for model in bundled_models()],
        "heads": [asdict(head) for head in bundled_heads()],
        "catalogue": [_with_memory(model) for model in HUB_MODELS],
        "pairs": [_with_memory(pair) for pair in PAIRS],
    }
    if write_json(options.json, json.dumps(result, indent=2)):
        print_models(known_models().values(), PAIRS)
        print_heads(bundled_heads())


def _with_memory(what: KnownModel | Pair) -> dict[str, Any]:
    memory = {"float32": what.float32_bytes, "bfloat16": what.bfloat16_bytes}
    return asdict(what) | {"parameters": what.parameters, "memory_bytes": memory}


def print_models(models: Iterable[KnownModel], pairs: Iterable[Pair]) -> None:
    """Every model with the memory its weights take, then every pair with what it is expected to show, and why."""
    rows = [
        [m.name, f"{m.parameters / 1e6:.2f} M", m.layers, m.context, _size(m.float32_bytes), _size(m.bfloat16_bytes)]
        for m in models
    ]
    print_table(("model", "parameters", "layers", "context", "float32", "bfloat16"), rows)
    say("\npairs worth trying, target first")
    for pair in pairs:
        memory = f"{_size(pair.float32_bytes)} in float32, {_size(pair.bfloat16_bytes)} in bfloat16"
        say(f"{pair.target} + {pair.draft}: {pair.lesson} ({pair.place}; {memory})")
        for statement in pair.statements:
            say(f"    {statement.text} [{statement.source}]")


def print_heads(heads: Iterable[BundledHead]) -> None:
    """Every head with its target: it drafts from that model's hidden states and from no other's."""
    say("\nheads, each for one target")
    for head in heads:
        most = f", at most {head.longest} tokens a round" if head.longest else ""
        say(f"{head.target} + {head.name}: {head.kind}, {head.parameters / 1e6:.2f} M parameters{most}")


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
