"""Why a model is refused, where several readers of files say the same."""

from specviz.core.errors import InputError
from specviz.core.texts import Sentences

say = Sentences("models")


def broken(name: str, where: str) -> InputError:
    """`where`: the field, the tensor or the file that shows it."""
    return InputError(say("broken", name=name, where=repr(where[:120])[1:-1]))
