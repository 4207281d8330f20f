"""Check a model before its weights are loaded or even downloaded."""

from dataclasses import dataclass

from specviz.models.bundled import read_tokens
from specviz.models.catalogue import bundled_models
from specviz.models.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known about a model without its weights."""

    name: str
    tokens: Tokens
    parameters: int  # tied embeddings counted once
    context: int | None  # most tokens it can read, prompt and output together; None: no known limit
    rows: int  # of its embedding, padding included
    sliding_window: int | None


def inspect_model(name: str) -> Inspection:
    """Check one model.

    Raises:
        InputError: it cannot be loaded or used here; one sentence with what is wrong and what would work.
    """
    for model in bundled_models():
        if model.name == name:
            return Inspection(name, read_tokens(name), model.parameters, model.context, model.vocabulary, None)
    from specviz.models.configuration import check_configuration  # imports transformers: seconds

    known = check_configuration(name)
    return Inspection(name, known.tokenizer, known.parameters, known.context, known.rows, known.sliding_window)
