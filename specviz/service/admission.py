"""What can be refused without a model, so that a visitor's mistake does not take the engine's time."""

from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP
from specviz.models.catalogue import bundled_names
from specviz.models.pairs import known_names
from specviz.service.child import any_model_allowed
from specviz.service.protocol import JobCommand, dump_command

MAX_PROMPT_CHARACTERS = 100_000


def admit(command: JobCommand) -> None:
    """Let a command pass, or say why not.

    A visitor may name bundled and catalogued models only: the server would read any other folder or Hub id.
    The operator may open both (SPECVIZ_MODELS=any).

    Raises:
        InputError: the prompt is far too long or is not text, or a model is not known here.
    """
    length = max((len(text) for text in command.texts), default=0)
    if length > MAX_PROMPT_CHARACTERS:
        raise InputError(f"The prompt has {length:,} characters; at most {MAX_PROMPT_CHARACTERS:,} are taken.")
    known = known_names()
    for name in sorted(command.models - {PROMPT_LOOKUP}):
        if name not in known and not any_model_allowed():
            bundled = ", ".join(bundled_names())
            raise InputError(f"There is no model named {name[:100]!r} here: use {bundled}, or one from the catalogue.")
    try:
        dump_command(command)
    except ValueError:
        raise InputError("The prompt holds characters that are not text.") from None
