"""The only kind of error that a visitor sees: a sentence about the input; and what other errors are and say."""

import re

FOLDERS = re.compile(
    r"(?<![\w.:/\\~])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"`,;:()<>/\\]+[/\\])*(?=[^\s'\"`,;:()<>/\\])"
)  # of an absolute path, up to its last part; an address (https://...) and owner/name are none


class InputError(ValueError):
    """Some input cannot be used; `str(error)` is one clear sentence for a person.

    The command line prints it and exits with status 2. A page shows it and changes nothing else.
    """


class UnmetError(InputError):
    """The input is good, but what was asked for did not come of it; the command line exits with status 1."""


class DisturbedError(UnmetError):
    """The machine was too busy to be measured."""


class NoNodeLeft(InputError):
    """All nodes of a cluster are gone. The text has no full stop: what is saved, and how to go on, is added to it."""


def hide_folders(sentence: str) -> str:
    """The sentence with the last part of each absolute path only: visitors need not know the server's folders."""
    return FOLDERS.sub("", sentence)


def is_out_of_memory(error: BaseException) -> bool:
    """Also where PyTorch says it, by the name of its error or by its words."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )
