"""Conversations as prompts: a model's own chat template writes them, as its makers trained it to read them."""

from collections.abc import Sequence
from typing import Any

from specviz.core.errors import InputError
from specviz.models.loaded_model import LoadedModel


def chat_ids(model: LoadedModel, messages: Sequence[tuple[str, str]]) -> list[int]:
    """The token ids of roles and texts, such as ("user", "Hello"), up to the place where the model's answer begins.

    A special token that is spelled out in a message is text like any other.
    """
    tokenizer = model.tokenizer
    if not tokenizer.chat_template:
        raise InputError(f"{model.name} has no chat template: its prompts must be texts, not messages.")
    conversation = [{"role": role, "content": text} for role, text in messages]
    try:
        written: Any = tokenizer.apply_chat_template(
            conversation, add_generation_prompt=True, sanitize_control_tokens=True, return_dict=True
        )
    except Exception as error:  # a template is a program that its author wrote: it may raise anything
        raise InputError(f"The chat template of {model.name} cannot write these messages: {error}.") from error
    return list(written["input_ids"])
