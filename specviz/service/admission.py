"""What can be refused without a model, so that a visitor's mistake does not take the engine's time."""

from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP
from specviz.models.allowed import is_allowed, sources
from specviz.models.catalogue import bundled_names
from specviz.service.protocol import JobCommand, dump_command

MAX_PROMPT_CHARACTERS = 100_000


def admit(command: JobCommand) -> None:
    """Let a command pass, or say why not.

    A visitor may name the models that the operator allows, see `specviz.models.allowed`.

    Raises:
        InputError: the prompt is far too long or is not text, or a model is not known here.
    """
    length = max((len(text) for text in command.texts), default=0)
    if length > MAX_PROMPT_CHARACTERS:
        raise InputError(f"The prompt has {length:,} characters; at most {MAX_PROMPT_CHARACTERS:,} are taken.")
    for name in sorted(command.models - {PROMPT_LOOKUP}):
        if not is_allowed(name):
            others = ", or one from the catalogue" if "catalogue" in sources() else ""
            raise InputError(f"There is no model named {name[:100]!r} here: use {', '.join(bundled_names())}{others}.")
    try:
        dump_command(command)
    except ValueError:
        raise InputError("The prompt holds characters that are not text.") from None
