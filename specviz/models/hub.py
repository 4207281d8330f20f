"""The Hugging Face Hub: the files of a model, downloaded with progress and stored in the Hub's own cache.

Small files come through `hf_hub_download`. Weights are streamed here into the same cache: the client does not continue
what an earlier call began, and does not compare a file with the SHA-256 that the Hub lists.

Each error of the client becomes one sentence; and a Hub that does not answer is not asked again at once.
"""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import httpx2
from huggingface_hub import (
    HfApi,
    constants,
    errors,
    get_session,
    hf_hub_download,
    hf_hub_url,
    hf_raise_for_status,
    try_to_load_from_cache,
)
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers, filter_repo_objects, tqdm, validate_repo_id

from specviz.core.errors import InputError
from specviz.core.names import show_size
from specviz.core.texts import Sentences, join_choices
from specviz.models import downloads
from specviz.models.catalogue import bundled_names, known_models
from specviz.models.downloads import Progress, broken
from specviz.models.gguf_folder import SMOLLM2

say = Sentences("models")

SMALL_FILES = ["*.json", "*.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model"]
SMALL_BYTES = 100 * 2**20  # of one of them; larger than any configuration or vocabulary
MOST_SMALL_FILES, MOST_SMALL_BYTES = 40, 150 * 2**20  # of a model
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CHUNK = 2**20  # bytes written at a time
COMPARED = 64 * 2**20  # bytes compared at a time
CONNECT_SECONDS = 5  # the longest wait for the Hub to take a connection
SILENCE_SECONDS = 30  # the longest time without an answer
WAITS: Any = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
RETRIES = 3  # in a row without a byte in between
PAUSE_SECONDS = 1.0  # before each
SILENT_SECONDS = 60.0  # a Hub that did not answer is not asked again for this long: everyone behind would wait


def pinned(name: str) -> str | None:
    """The commit of a model of the catalogue; None for other models: their newest one when they are downloaded."""
    model = known_models().get(name)
    return model.commit if model else None


def find_cached(name: str) -> Path | None:
    """The folder of a completely downloaded model, if there is one; does not use the network."""
    for cache in (downloads.folder(), None):  # ours, then the one that other programs use too
        config = try_to_load_from_cache(name, "config.json", cache_dir=cache, revision=pinned(name))
        if isinstance(config, str):
            folder = Path(config).parent
            with suppress(InputError):  # it has no weights that could be complete
                if all((folder / file).is_file() for file in weights_in(folder)):
                    return folder
    return None


def look_up(name: str) -> tuple[Path, list[RepoSibling]]:
    """Ask the Hub which files a model has, and download the small ones.

    Returns:
        The cache's folder for this commit, which has its name, and what the Hub says of each file of weights.
    """
    if _silent_since and monotonic() - _silent_since[0] < SILENT_SECONDS:
        raise InputError(say("hub_unreachable", name=name))
    _silent_since.clear()
    with hub_errors(name):
        info = HfApi().model_info(name, revision=pinned(name), timeout=WAITS, files_metadata=True)
        if info.sha != (pinned(name) or info.sha) or any(each.size is None for each in info.siblings or []):
            raise InputError(say("hub_unclear", name=name))
        files = {sibling.rfilename: sibling for sibling in info.siblings or []}
        if "config.json" not in files:
            if gguf := next((file for file in files if file.endswith(".gguf")), None):
                check_no_file(name, gguf)
            raise InputError(say("no_config", name=name))
        if SINGLE not in files and INDEX not in files:
            raise InputError(say("no_safetensors", name=name))
        small = [
            file
            for file in filter_repo_objects(files, allow_patterns=SMALL_FILES, ignore_patterns="*/*")
            if (files[file].size or 0) <= SMALL_BYTES and not (file == INDEX and SINGLE in files)
        ]
        total = sum(files[file].size or 0 for file in small)
        if len(small) > MOST_SMALL_FILES or total > MOST_SMALL_BYTES:
            size, most_size = show_size(total), show_size(MOST_SMALL_BYTES)
            count, most = len(small), MOST_SMALL_FILES
            raise InputError(say("too_many_files", name=name, count=count, size=size, most=most, most_size=most_size))
        downloads.make_room(name, total)
        paths = [_stored(name, file, str(info.sha)) for file in small]
        folder = next(path.parent for path in paths if path.name == "config.json")
        weights = [SINGLE] if SINGLE in files else weights_in(folder, name)
        if missing := next((file for file in weights if file not in files), None):
            raise broken(name, missing)
        if not all(_blob(files[file]).isalnum() for file in weights):  # it becomes a file name
            raise InputError(say("hub_unclear", name=name))
        return folder, [files[file] for file in weights]


def _blob(file: RepoSibling) -> str:
    """The hash that a file is stored under in the cache."""
    return (file.lfs.sha256 if file.lfs else file.blob_id) or ""


def _stored(name: str, file: str, commit: str) -> Path:
    options: Any = {"etag_timeout": CONNECT_SECONDS, "tqdm_class": partial(tqdm, disable=True)}
    return Path(hf_hub_download(name, file, revision=commit, cache_dir=downloads.folder(), **options))


def fetch(name: str) -> Iterator[Progress]:
    """Download the weights of a model, and yield the progress; what is here already is not downloaded again.

    Closing the generator stops the download; the next one continues there.
    """
    if find_cached(name):
        return downloads.acquire(name)
    folder, weights = look_up(name)
    downloads.acquire(name)
    with hub_errors(name):
        missing = [file for file in weights if not (folder / file.rfilename).is_file()]
        total = sum(file.size or 0 for file in weights)
        done = total - sum(file.size or 0 for file in missing)
        downloads.make_room(name, total)
        for number, file in enumerate(missing, start=len(weights) - len(missing)):
            with downloads.lock(_blob(file), PAUSE_SECONDS):
                for here in _stream(name, folder, file):
                    yield Progress(name, done + here, total, number, len(weights))
            done += file.size or 0
            _stored(name, file.rfilename, folder.name)  # finds it in the cache, and gives it its name
        current = folder.parents[1] / "refs" / "main"  # what the cache gives where no commit is named
        current.parent.mkdir(exist_ok=True)
        current.write_text(folder.name, encoding="utf-8")
    yield Progress(name, total, total, len(weights), len(weights))


def weights_in(folder: Path, name: str = "The model") -> list[str]:
    """Names of the weight files that a model's folder has or, according to its index, should have."""
    if (folder / SINGLE).is_file():
        return [SINGLE]
    if not (folder / INDEX).is_file():
        raise InputError(say("no_safetensors", name=name))
    try:
        named = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise broken(name, INDEX) from error
    if not named or any(not isinstance(file, str) or Path(file).name != file for file in named):
        raise broken(name, INDEX)
    return sorted(named)


def _stream(name: str, folder: Path, file: RepoSibling) -> Iterator[int]:
    """Download one file into the cache, from where an earlier try ended; yields the number of bytes so far."""
    blob = folder.parents[1] / "blobs" / _blob(file)
    partial = blob.with_name(f"{blob.name}.specviz")
    blob.parent.mkdir(exist_ok=True)
    tries = RETRIES
    while not blob.is_file():
        before = partial.stat().st_size if partial.is_file() else 0
        try:
            if before != file.size:
                yield from _continue(hf_hub_url(name, file.rfilename, revision=folder.name), partial)
            yield from _compare(name, file, partial)
            os.replace(partial, blob)
        except httpx2.TransportError as error:
            got = partial.stat().st_size if partial.is_file() else 0
            tries = RETRIES if got > before else tries - 1
            if not tries:
                size = show_size(file.size or 0)
                raise InputError(say("interrupted", model=name, got=show_size(got), size=size)) from error
            time.sleep(PAUSE_SECONDS)


def _continue(url: str, partial: Path) -> Iterator[int]:
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    with partial.open("ab") as out:
        if out.tell():
            headers["Range"] = f"bytes={out.tell()}-"
        with get_session().stream("GET", url, headers=headers, timeout=WAITS) as answer:
            hf_raise_for_status(answer)
            if answer.status_code != 206:  # the server ignored the range and sends the whole file
                out.truncate(0)
            for chunk in answer.iter_bytes(CHUNK):
                out.write(chunk)
                out.flush()
                yield out.tell()


def _compare(name: str, file: RepoSibling, partial: Path) -> Iterator[int]:
    """Remove what is not the file that the Hub has listed; between the parts of a large one, yields its bytes."""
    size = partial.stat().st_size
    found = hashlib.sha256()
    if file.lfs and size == file.size:
        with partial.open("rb") as content:
            while part := content.read(COMPARED):
                found.update(part)
                if content.tell() < size:
                    yield size
    if size != file.size or (file.lfs and found.hexdigest() != file.lfs.sha256.lower()):
        partial.unlink()
        raise InputError(say("other_file", file=file.rfilename, model=name))


def check_no_file(name: str, file: str) -> None:
    """Refuse the name of a file of weights, and a model that has only GGUF files: those load by their path."""
    if file.lower().endswith(".gguf"):
        raise InputError(say("no_gguf_here", name=name if file.startswith(name) else file[:100]))
    if file.lower().endswith((".safetensors", ".bin", ".pt", ".pth")):
        raise InputError(say("is_file", name=name))


def hub_id(name: str) -> str:
    """The name, if it has the form of a model on the Hub: owner/name, never a path."""
    if name == SMOLLM2:
        raise InputError(say("not_yet_here", name=name))
    check_no_file(name[:100], name)
    with suppress(errors.HFValidationError):
        validate_repo_id(name)
        if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            return name
    raise InputError(say("no_model", name=repr(name[:100]), known=join_choices(bundled_names(), "and")))


_silent_since: list[float] = []  # when the Hub did not answer; empty: it did, or was not asked


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
    """Turn the client's errors into one sentence about the model, and let it log nothing."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    except InputError:  # which is a ValueError too
        raise
    except (httpx2.HTTPError, OSError) as error:
        if isinstance(error, httpx2.TransportError):
            _silent_since[:] = [monotonic()]
        raise InputError(_explain(name, error)) from error
    except errors.SafetensorsParsingError as error:
        raise InputError(say("no_safetensors", name=name)) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(say("hub_unclear", name=name)) from error
    finally:
        logger.setLevel(level)


def _explain(name: str, error: httpx2.HTTPError | OSError) -> str:
    match error:
        case errors.LocalEntryNotFoundError(__cause__=(httpx2.HTTPError() | OSError()) as cause):
            return _explain(name, cause)  # the client says "not in the cache", whatever the Hub answered
        case errors.GatedRepoError() | errors.RepositoryNotFoundError() if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN:
            return say("not_public", name=name)
        case errors.GatedRepoError():
            return say("gated", name=name)
        case errors.RepositoryNotFoundError():
            return say("not_on_hub", name=name)
        case errors.RevisionNotFoundError():
            return say("changed_on_hub", name=name)
        case errors.HfHubHTTPError():
            return say("hub_refuses", name=name, status=error.response.status_code)
        case errors.FileMetadataError():
            return say("hub_unclear", name=name)
        case httpx2.HTTPError() | ConnectionError():
            return say("hub_unreachable", name=name)
    return str(downloads.explain_storing(name, error))
