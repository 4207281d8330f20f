"""The Hugging Face Hub: the files of a model, downloaded with progress and stored in the Hub's own cache.

Small files come through `hf_hub_download`. Weights come through the client's `http_get`, which `hf_hub_download` uses
too: that one begins again after a break, and does not compare a file with the SHA-256 that the Hub lists.

Each error of the client becomes one sentence.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any, cast

import httpx2
from huggingface_hub import HfApi, constants, errors, hf_hub_download, hf_hub_url, try_to_load_from_cache
from huggingface_hub.file_download import http_get
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers, filter_repo_objects, tqdm, validate_repo_id

from specviz.core.errors import InputError
from specviz.core.names import show_size
from specviz.core.texts import Sentences, join_choices
from specviz.models import downloads
from specviz.models.catalogue import bundled_names, known_models
from specviz.models.downloads import Progress, Report, broken
from specviz.models.gguf_folder import SMOLLM2

say = Sentences("models")

SMALL_FILES = ["*.json", "*.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model"]
SMALL_BYTES = 100 * 2**20  # of one of them; larger than any configuration or vocabulary
MOST_SMALL_FILES, MOST_SMALL_BYTES = 40, 150 * 2**20  # of a model
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CONNECT_SECONDS = 5  # the longest wait for the Hub to take a connection
WAITS: Any = httpx2.Timeout(30, connect=CONNECT_SECONDS)


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
    with hub_errors(name):
        info = HfApi().model_info(name, revision=pinned(name), timeout=WAITS, files_metadata=True)
        if info.sha != (pinned(name) or info.sha) or any(each.size is None for each in info.siblings or []):
            raise InputError(say("hub_unclear", name=name))
        files = {sibling.rfilename: sibling for sibling in info.siblings or []}
        if "config.json" not in files:
            check_no_gguf(files)
            raise InputError(say("no_config", name=name))
        if SINGLE not in files and INDEX not in files:
            raise InputError(say("no_safetensors", name=name))
        named = filter_repo_objects(files, allow_patterns=SMALL_FILES, ignore_patterns="*/*")
        small = [file for file in named if (files[file].size or 0) <= SMALL_BYTES]
        total = sum(files[file].size or 0 for file in small)
        if len(small) > MOST_SMALL_FILES or total > MOST_SMALL_BYTES:
            size, most_size = show_size(total), show_size(MOST_SMALL_BYTES)
            count, most = len(small), MOST_SMALL_FILES
            raise InputError(say("too_many_files", name=name, count=count, size=size, most=most, most_size=most_size))
        downloads.make_room(name, total)
        options: Any = {"etag_timeout": CONNECT_SECONDS, "tqdm_class": partial(tqdm, disable=True)}
        options |= {"revision": info.sha, "cache_dir": downloads.folder()}
        paths = [Path(hf_hub_download(name, file, **options)) for file in small]
        folder = next(path.parent for path in paths if path.name == "config.json")
        weights = [SINGLE] if SINGLE in files else weights_in(folder, name)
        if missing := next((file for file in weights if file not in files), None):
            raise broken(name, missing)
        if not all(files[file].lfs for file in weights):  # without a SHA-256
            raise InputError(say("hub_unclear", name=name))
        return folder, [files[file] for file in weights]


def fetch(name: str, report: Report) -> Path:
    """The folder of a model; what of it is not here yet is downloaded.

    What `report` raises ends the download; the next one continues there.
    """
    if stored := find_cached(name):
        downloads.note_use(name)
        return stored
    folder, weights = look_up(name)
    total, done = sum(file.size or 0 for file in weights), 0
    with hub_errors(name):
        downloads.make_room(name, total)
        for file in weights:
            with downloads.lock(f"{folder.name}-{file.rfilename}"):
                if not (folder / file.rfilename).is_file():
                    _fetch_file(folder, file, Progress(name, done, total), report)
            done += file.size or 0
        current = folder.parents[1] / "refs" / "main"  # what the cache gives where no commit is named
        current.parent.mkdir(exist_ok=True)
        current.write_text(folder.name, encoding="utf-8")
    return folder


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


def _fetch_file(folder: Path, file: RepoSibling, before: Progress, report: Report) -> None:
    """Download one file, from where an earlier try ended, and remove what is not the file that the Hub has listed."""
    part, size, name = folder / f"{file.rfilename}.part", file.size or 0, before.model
    with part.open("ab") as out:
        if out.tell() < size:
            url, bar = hf_hub_url(name, file.rfilename, revision=folder.name), cast(Any, partial(_Bar, before, report))
            try:
                http_get(url, out, resume_size=out.tell(), headers=build_hf_headers(), tqdm_class=bar)
            except httpx2.TransportError as error:
                got = show_size(out.tell())
                raise InputError(say("interrupted", model=name, got=got, size=show_size(size))) from error
    with part.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
    if file.lfs is None or digest != file.lfs.sha256.lower():
        part.unlink()
        raise InputError(say("other_file", file=file.rfilename, model=name))
    part.replace(folder / file.rfilename)


class _Bar:
    """Told by `http_get` how far a file is, in place of a bar on the screen."""

    def __init__(self, before: Progress, report: Report, *, initial: int, **_: object) -> None:
        self._before, self._report, self._bytes = before, report, initial

    def update(self, count: int) -> None:
        self._bytes += count
        self._report(replace(self._before, bytes_done=self._before.bytes_done + self._bytes))

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""


def check_no_gguf(names: Iterable[str]) -> None:
    """Refuse GGUF files: those load by their path."""
    if found := next((name for name in names if name.lower().endswith(".gguf")), None):
        raise InputError(say("no_gguf_here", name=found[:100]))


def hub_id(name: str) -> str:
    """The name, if it has the form of a model on the Hub: owner/name, never a path."""
    if name == SMOLLM2:
        raise InputError(say("not_yet_here", name=name))
    check_no_gguf([name])
    if name.lower().endswith((".safetensors", ".bin", ".pt", ".pth")):
        raise InputError(say("is_file", name=name[:100]))
    with suppress(errors.HFValidationError):
        validate_repo_id(name)
        if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            return name
    raise InputError(say("no_model", name=repr(name[:100]), known=join_choices(bundled_names(), "and")))


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
