"""Which stored measurements are older than the forward pass that they measured: python -m benchmarks.ages

By the dates of their last commits. A change of the pass that changes no time makes nothing old: read the commit.
"""

import subprocess
from collections.abc import Iterable, Mapping

from benchmarks.serving import ROOT

PASS = ("llama", "key_values", "packing", "llama_weights", "cached_model")
STORED = ("benchmarks/results/*.json", "assets/traces/*.json*", "assets/models/*/README.md")


def main() -> None:
    files = [f"specviz/models/{name}.py" for name in PASS]
    newest = max(committed(files).values())
    print(f"The forward pass is of {newest}. Older than that:")
    stored = [str(path.relative_to(ROOT)) for pattern in STORED for path in sorted(ROOT.glob(pattern))]
    for line in older(committed(stored), newest):
        print(line)


def committed(files: Iterable[str]) -> dict[str, str]:
    """The day of each file's last commit, as year-month-day; those that were never committed are left out."""
    days = {file: _git("log", "-1", "--format=%cs", "--", file) for file in files}
    return {file: day for file, day in days.items() if day}


def older(days: Mapping[str, str], newest: str) -> list[str]:
    """A line for each file of an earlier day, the oldest first."""
    return [f"{day}  {file}" for file, day in sorted(days.items(), key=lambda each: (each[1], each[0])) if day < newest]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
