"""Follow the Dockerfile's steps without docker, in a clean folder, and say what came of it.

    sudo python scripts/try_dockerfile.py FOLDER [--port 8599]

FOLDER/app, FOLDER/data and FOLDER/venv stand for the image's /app, /data and /venv, and this machine's Python 3.11 for
the image's. Nothing is installed with apt-get: have `strip` here. Then the server starts as the image's user, its
health check must answer, the user must be able to write to the data folder only, and the server must end when it is
asked to. Needs Linux, and root for the change of user. What it cannot show: the base image itself, its layers, and
docker's own limits.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120.0  # seconds for the first answer of the server
GRACE = 10.0  # seconds that `docker stop` waits


@dataclass(frozen=True)
class Step:
    """One instruction of a Dockerfile, with its continuation lines joined."""

    name: str  # in capitals
    words: str


def steps(dockerfile: str) -> list[Step]:
    """The instructions from top to bottom, without comments."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    parts = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [Step(name.upper(), words) for name, words in parts]


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether .dockerignore leaves out this file; the last pattern that fits it or a folder above it decides."""
    above = ["/".join(path.split("/")[: depth + 1]) for depth in range(path.count("/") + 1)]
    out = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!")
        if any(_fits(one, wanted) for one in above):
            out = not pattern.startswith("!")
    return out


def _fits(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return _fits(path.split("/")[-1], pattern[3:])
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def context(root: Path) -> Iterator[str]:
    """The files that docker would send to the build."""
    lines = (root / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".venv", "node_modules")]
        for name in files:
            path = (Path(folder) / name).relative_to(root).as_posix()
            if not ignored(path, patterns):
                yield path


@dataclass
class Build:
    """What the steps have made so far."""

    folder: Path
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    user: int = 0
    health: str = ""
    command: list[str] = field(default_factory=list)

    @property
    def app(self) -> Path:
        """The image's working folder."""
        return self.folder / "app"

    def here(self, text: str) -> str:
        """The image's paths and port, as they are in the folder."""
        text = re.sub(r"(?<![\w./])/(app|data|venv)\b", lambda found: f"{self.folder}/{found[1]}", text)
        return re.sub(r"\b8501\b", str(self.port), text)

    def follow(self, step: Step) -> None:
        """Carry out one instruction."""
        match step.name:
            case "WORKDIR":
                self.app.mkdir(exist_ok=True)
            case "COPY" if not step.words.startswith("--from="):  # both stages have this one folder
                self._copy(*step.words.split())
            case "RUN" if not step.words.startswith("apt-get"):
                subprocess.run(
                    ["sh", "-ec", self.here(step.words)],
                    cwd=self.app,
                    env=self.environment,
                    stdout=sys.stderr,
                    check=True,
                )
            case "ENV":
                words = step.words.replace("$PATH", self.environment["PATH"])
                self.environment |= dict(pair.split("=", 1) for pair in shlex.split(self.here(words)))
            case "USER":
                self.user = int(step.words.split(":")[0])
            case "HEALTHCHECK":
                self.health = self.here(step.words.split("CMD", 1)[1].strip())
            case "CMD":
                self.command = json.loads(self.here(step.words))
            case "FROM" | "EXPOSE" | "COPY" | "RUN":
                pass
            case other:
                sys.exit(f"This script does not know {other}.")

    def _copy(self, source: str, target: str) -> None:
        for path in context(ROOT):
            if source in (".", path):
                place = self.app / target / (Path(path).name if source != "." else path)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / path, place)

    def as_user(self, command: list[str]) -> "subprocess.Popen[str]":
        """Start a command as the image's user."""
        return subprocess.Popen(
            command,
            cwd=self.app,
            env=self.environment,
            user=self.user,
            group=self.user,
            extra_groups=[],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def megabytes(folder: Path) -> float:
    """All files of a folder, in millions of bytes."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return round(sum(path.stat().st_size for path in files) / 1e6, 1)


def serve(build: Build) -> dict[str, object]:
    """Start the server, ask for its health, and stop it."""
    began = time.monotonic()
    server = build.as_user(build.command)
    while server.poll() is None and time.monotonic() - began < PATIENCE:
        if build.as_user(["sh", "-c", build.health]).wait() == 0:
            break
        time.sleep(0.2)
    else:
        server.kill()
        sys.exit(f"The server does not answer:\n{server.communicate()[0]}")
    healthy = time.monotonic() - began
    started = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    server.terminate()
    ending = time.monotonic()
    _, left = psutil.wait_procs(started, timeout=GRACE)
    return {
        "healthy_after_seconds": round(healthy, 1),
        "ended_after_seconds": round(time.monotonic() - ending, 1),
        "processes_left": len(left),
    }


def main() -> None:
    """Build, check, report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8599)
    options = parser.parse_args()
    folder = options.folder.resolve()
    (folder / "app").mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}  # where packages come from
    build = Build(folder, options.port, {**kept, "PATH": "/usr/bin:/bin", "HOME": str(folder)})
    for step in steps((ROOT / "Dockerfile").read_text()):
        print(step.name, step.words[:100], file=sys.stderr, flush=True)
        build.follow(step)
    writable = build.as_user(["find", str(folder), "-writable", "-not", "-type", "l"]).communicate()[0].split()
    served = serve(build)
    report = {
        "packages_mb": megabytes(folder / "venv"),
        "app_mb": megabytes(build.app),
        "user": build.user,
        "user_can_write_to": [str(Path(path).relative_to(folder)) for path in writable],
        **served,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
