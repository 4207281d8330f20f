"""What can be refused without a model, so that a visitor's mistake does not take the engine's time."""

from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP, exit_layers
from specviz.models.allowed import is_allowed, why_refused
from specviz.models.catalogue import check_heads, part_of_target
from specviz.service.protocol import JobCommand, dump_command

MAX_PROMPT_CHARACTERS = 100_000


def admit(command: JobCommand) -> None:
    """Let a command pass, or say why not.

    A visitor may name the models that the operator allows, see `specviz.models.allowed`.

    Raises:
        InputError: the prompt is far too long or is not text, a model is not known here, or a head has another target.
    """
    length = max((len(text) for text in command.texts), default=0)
    if length > MAX_PROMPT_CHARACTERS:
        raise InputError(f"The prompt has {length:,} characters; at most {MAX_PROMPT_CHARACTERS:,} are taken.")
    for target, draft in command.pairs:
        check_heads(target, draft)
        exit_layers(draft)
    targets = {target for target, _ in command.pairs}
    for name in sorted(command.models - {PROMPT_LOOKUP}):
        fits = part_of_target(name) and name not in targets
        if not (fits or is_allowed(name)):
            raise InputError(why_refused(name))
    try:
        dump_command(command)
    except ValueError:
        raise InputError("The prompt holds characters that are not text.") from None
