"""The errors of the Hub's client, each in one sentence; and a Hub that does not answer is not asked again at once."""

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import httpx2
from huggingface_hub import constants
from huggingface_hub.errors import (
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    SafetensorsParsingError,
)
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from specviz.core.errors import InputError

SILENT_SECONDS = 60.0  # a Hub that did not answer is not asked again for this long: everyone behind would wait

_silent_since: list[float] = []  # when the Hub did not answer; empty: it did, or was not asked


def check_reachable(name: str) -> None:
    if _silent_since and monotonic() - _silent_since[0] < SILENT_SECONDS:
        raise InputError(_unreachable(name))
    _silent_since.clear()


def _unreachable(name: str) -> str:
    return (
        f"The Hub cannot be reached from here, and {name} is not downloaded yet: connect to the network, or "
        f"use a bundled model."
    )


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
    """Turn the client's errors into one sentence about the model, and print nothing."""
    with _quiet():
        try:
            yield
        except InputError:
            raise
        except httpx2.TransportError as error:
            _silent_since[:] = [monotonic()]
            raise InputError(_in_one_sentence(name, error)) from error
        except (httpx2.HTTPError, OSError) as error:
            raise InputError(_in_one_sentence(name, error)) from error
        except SafetensorsParsingError as error:
            raise InputError(f"{name} is broken on the Hub: its weights are not in safetensors.") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"The Hub's answer about {name} cannot be understood.") from error


def _in_one_sentence(name: str, error: httpx2.HTTPError | OSError) -> str:
    match error:
        case GatedRepoError() | RepositoryNotFoundError() if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN:
            return (
                f"{name} is not on the Hub, or not public: this server downloads public models only. Its operator can "
                f"download others with `hf download {name}`."
            )
        case GatedRepoError():
            return (
                f"{name} is gated: accept its terms on https://huggingface.co/{name}, then log in with "
                f"`hf auth login` or set HF_TOKEN, and try again."
            )
        case RepositoryNotFoundError():
            return f"There is no model named {name} on the Hub; if it is private, log in with `hf auth login`."
        case RevisionNotFoundError():
            return f"{name} was changed on the Hub: the version that this app knows is gone. Use another model."
        case HfHubHTTPError():
            return f"The Hub refuses {name}: it answered {error.response.status_code}."
        case FileMetadataError():
            return f"The Hub's answer about {name} cannot be understood."
        case httpx2.HTTPError() | OfflineModeIsEnabled() | LocalEntryNotFoundError() | ConnectionError():
            return _unreachable(name)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return f"The disk is full: free some space and load {name} again."
    return f"{name} cannot be stored here: {error.strerror or type(error).__name__}."


@contextmanager
def _quiet() -> Iterator[None]:
    logger, disabled = logging.getLogger("huggingface_hub"), are_progress_bars_disabled()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    disable_progress_bars()
    try:
        yield
    finally:
        logger.setLevel(level)
        if not disabled:
            enable_progress_bars()
