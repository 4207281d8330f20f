"""The Hugging Face Hub: the files of a model, downloaded with progress and stored in the Hub's own cache.

Small files come through `hf_hub_download`. Weights are streamed here, because the client reports no progress and
deletes an unfinished file when a download is interrupted. They are stored in the same cache.
"""

import errno
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import httpx2
from huggingface_hub import (
    HfApi,
    constants,
    get_session,
    hf_hub_download,
    hf_hub_url,
    hf_raise_for_status,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils._fixes import WeakFileLock
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from specviz.core.errors import InputError
from specviz.models.memory import in_words

SMALL_FILES = ("*.json", "*.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
SMALL_BYTES = 100 * 2**20  # larger than any configuration or vocabulary
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CHUNK = 2**20  # bytes written at a time
SILENCE_SECONDS = 30  # the longest time without an answer
RETRIES = 3  # in a row without a byte in between
PAUSE_SECONDS = 1.0  # before each


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a download."""

    model: str
    bytes_done: int
    bytes_total: int
    files_done: int
    files_total: int


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One safetensors file on the Hub."""

    name: str
    size: int
    blob: str  # the hash it is stored under in the cache


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model on the Hub, at one commit; its small files are in the cache."""

    name: str
    commit: str
    folder: Path  # the cache's folder for this commit
    weights: tuple[WeightFile, ...]


def find_cached(name: str) -> Path | None:
    """The folder of a completely downloaded model, if there is one; does not use the network."""
    config = try_to_load_from_cache(name, "config.json")
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    try:
        return folder if all((folder / file).is_file() for file in weights_in(folder)) else None
    except InputError:
        return None


def look_up(name: str) -> HubModel:
    """Ask the Hub which files a model has, and download the small ones.

    Raises:
        InputError: the Hub cannot be reached, has no such model or refuses it, or the model has no safetensors.
    """
    with hub_errors(name):
        info = HfApi().model_info(name, timeout=10, files_metadata=True)
        files = {sibling.rfilename: sibling for sibling in info.siblings or []}
        if "config.json" not in files:
            raise InputError(f"{name} cannot be loaded: it has no config.json.")
        if SINGLE not in files and INDEX not in files:
            raise InputError(
                f"{name} has no weights in safetensors, the only format that is loaded: look for a copy that has them."
            )
        wanted = [name for name, file in files.items() if _is_small(file) and not (name == INDEX and SINGLE in files)]
        paths = [hf_hub_download(name, file, revision=info.sha) for file in wanted]
        folder = next(Path(path).parent for path in paths if path.endswith("config.json"))
        return HubModel(name, str(info.sha), folder, tuple(_weight_files(name, files, folder)))


def fetch(name: str) -> Iterator[Progress]:
    """Download the weights of a model, and yield the progress; what is here already is not downloaded again.

    Closing the generator stops the download; the next one continues there.

    Raises:
        InputError: see `look_up`; or the download was interrupted, or the disk is full.
    """
    if find_cached(name):
        return
    model = look_up(name)
    with hub_errors(name):
        missing = [file for file in model.weights if not (model.folder / file.name).is_file()]
        total = sum(file.size for file in model.weights)
        done = total - sum(file.size for file in missing)
        _check_disk(name, missing)
        for number, file in enumerate(missing, start=len(model.weights) - len(missing)):
            with _alone(model, file):
                for here in _stream(model, file):
                    yield Progress(name, done + here, total, number, len(model.weights))
            done += file.size
            hf_hub_download(name, file.name, revision=model.commit)  # finds it in the cache, and gives it its name
        hf_hub_download(name, "config.json")  # makes this commit the current one in the cache
    yield Progress(name, total, total, len(model.weights), len(model.weights))


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
    """Turn the client's errors into one sentence about the model, and print nothing."""
    with _quiet():
        try:
            yield
        except InputError:
            raise
        except (httpx2.HTTPError, OSError) as error:
            raise InputError(_in_one_sentence(name, error)) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"The Hub's answer about {name} cannot be understood.") from error


def _in_one_sentence(name: str, error: httpx2.HTTPError | OSError) -> str:
    match error:
        case GatedRepoError():
            return (
                f"{name} is gated: accept its terms on https://huggingface.co/{name}, then log in with "
                f"`hf auth login` or set HF_TOKEN, and try again."
            )
        case RepositoryNotFoundError():
            return f"There is no model named {name} on the Hub; if it is private, log in with `hf auth login`."
        case HfHubHTTPError():
            return f"The Hub refuses {name}: it answered {error.response.status_code}."
        case FileMetadataError():
            return f"The Hub's answer about {name} cannot be understood."
        case httpx2.HTTPError() | OfflineModeIsEnabled() | LocalEntryNotFoundError() | ConnectionError():
            return (
                f"The Hub cannot be reached from here, and {name} is not downloaded yet: connect to the network, or "
                f"use a bundled model."
            )
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return f"The disk is full: free some space and load {name} again."
    return f"{name} cannot be stored here: {error.strerror or type(error).__name__}."


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars or warnings from the client: errors are reported in one sentence."""
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


def _is_small(file: RepoSibling) -> bool:
    plain = "/" not in file.rfilename and (file.size or 0) <= SMALL_BYTES
    return plain and any(fnmatch(file.rfilename, pattern) for pattern in SMALL_FILES)


def weights_in(folder: Path) -> list[str]:
    """Names of the weight files that a model's folder has or, according to its index, should have.

    Raises:
        InputError: it has none, or the index is broken.
    """
    if (folder / SINGLE).is_file():
        return [SINGLE]
    if not (folder / INDEX).is_file():
        raise InputError(f"{folder} has no {SINGLE}, and no other weights in safetensors that belong to a model.")
    try:
        named = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder} has a broken {INDEX}.") from error
    if not named or any(not isinstance(file, str) or Path(file).name != file for file in named):
        raise InputError(f"{folder} has an {INDEX} that names files outside the model.")
    return sorted(named)


def _weight_files(name: str, files: dict[str, RepoSibling], folder: Path) -> Iterator[WeightFile]:
    for file in [SINGLE] if SINGLE in files else weights_in(folder):
        if file not in files:
            raise InputError(f"{name} is incomplete on the Hub: {file} is missing.")
        sibling = files[file]
        blob = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
        if not (blob and blob.isalnum()):  # it becomes a file name
            raise InputError(f"The Hub's answer about {name} cannot be understood.")
        yield WeightFile(file, sibling.size or 0, blob)


def _check_disk(name: str, missing: list[WeightFile]) -> None:
    cache = Path(constants.HF_HUB_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    wanted, free = sum(file.size for file in missing), shutil.disk_usage(cache).free
    if wanted > free:
        raise InputError(
            f"The disk is too full for {name}: it needs {in_words(wanted)}, but {in_words(free)} are free; "
            f"free some space and load it again."
        )


@contextmanager
def _alone(model: HubModel, file: WeightFile) -> Iterator[None]:
    """Prevent other processes from writing the same file."""
    lock = Path(constants.HF_HUB_CACHE) / ".locks" / f"{file.blob}.specviz.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(WeakFileLock(lock, timeout=PAUSE_SECONDS))
        except TimeoutError as error:
            raise InputError(
                f"{model.name} is being downloaded by another program on this machine: try again when it is done."
            ) from error
        yield


def _stream(model: HubModel, file: WeightFile) -> Iterator[int]:
    """Download one file into the cache, from where an earlier try ended; yields the number of bytes so far."""
    blob = model.folder.parents[1] / "blobs" / file.blob
    partial = blob.with_name(f"{blob.name}.specviz")
    blob.parent.mkdir(exist_ok=True)
    tries = RETRIES
    while not blob.is_file():
        before = partial.stat().st_size if partial.is_file() else 0
        try:
            if before != file.size:
                yield from _continue(model, file, partial)
            _finish(model, file, partial, blob)
        except httpx2.TransportError as error:
            got = partial.stat().st_size if partial.is_file() else 0
            tries = RETRIES if got > before else tries - 1
            if not tries:
                raise InputError(
                    f"The download of {model.name} was interrupted after {in_words(got)} of {in_words(file.size)} of "
                    f"{file.name}: load it again to continue from there."
                ) from error
            time.sleep(PAUSE_SECONDS)


def _continue(model: HubModel, file: WeightFile, partial: Path) -> Iterator[int]:
    url = hf_hub_url(model.name, file.name, revision=model.commit)
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    with partial.open("ab") as out:
        if out.tell():
            headers["Range"] = f"bytes={out.tell()}-"
        with get_session().stream("GET", url, headers=headers, timeout=SILENCE_SECONDS) as answer:
            hf_raise_for_status(answer)
            if answer.status_code != 206:  # the server ignored the range and sends the whole file
                out.truncate(0)
            for chunk in answer.iter_bytes(CHUNK):
                out.write(chunk)
                out.flush()
                yield out.tell()


def _finish(model: HubModel, file: WeightFile, partial: Path, blob: Path) -> None:
    size = partial.stat().st_size
    if size == file.size:
        os.replace(partial, blob)
        return
    partial.unlink()
    raise InputError(
        f"{file.name} of {model.name} has {in_words(size)} instead of {in_words(file.size)}: load it again."
    )
