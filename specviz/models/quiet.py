"""Loading without the libraries' own reports: specviz says in one sentence what is wrong with a model."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from specviz.core.errors import without_folders


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, and no output of transformers on standard error."""
    from transformers.utils import logging as transformers_logging  # here: `in_short` needs no transformers

    bars, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def in_short(error: Exception) -> str:
    """The message of a library, shortened: some are several paragraphs long, and name folders of this machine."""
    return shorten(without_folders(str(error)) or type(error).__name__, 200, placeholder=" …")
