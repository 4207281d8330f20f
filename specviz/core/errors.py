"""The one kind of failure a visitor may see: a sentence about what they gave us."""


class InputError(ValueError):
    """Something given from outside cannot be used; `str(error)` is one clear sentence for a person.

    The command line prints it and exits with status 2; a page shows it and keeps what was there.
    """
