"""Every way into the program: the table of docs/security.md."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "specviz").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]
FILES += [ROOT / "serve.py", *sorted((ROOT / "cloud").glob("*.py"))]
HEADING = "## Every way in"
SECONDS = 300  # of a processor


@dataclass(frozen=True, slots=True)
class Budget:
    """A row of the table: what a door may cost."""

    largest: str
    megabytes: int  # that a process may grow
    test: str  # empty: that of all


@cache
def budgets() -> dict[str, Budget]:
    """The rows of the table, by their first cells."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition(HEADING)[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: Budget(row[1], int(row[2]), "".join(row[3:]).strip("`")) for row in cells}
