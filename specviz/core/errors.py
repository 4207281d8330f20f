"""The only kind of error that a visitor sees: a sentence about the input."""


class InputError(ValueError):
    """Some input cannot be used; `str(error)` is one clear sentence for a person.

    The command line prints it and exits with status 2. A page shows it and changes nothing else.
    """
