"""Ask pip-audit whether a pinned package has a known vulnerability: `make audit`.

Status 1 where one has. Where the data cannot be reached, one line says so and the status is 0: that is no fault here.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-ray.lock")
PATIENCE = 300.0  # seconds for all packages
ANSWER = 10  # seconds for one answer
SKIPPED = "audit: skipped, because the data about vulnerabilities cannot be reached ({reason})."


def pinned() -> list[str]:
    """Every locked package with its version and where it is needed; and torch, which no lock file has."""
    text = "".join((ROOT / name).read_text() for name in LOCKS)
    [torch] = re.findall(r"^torch==\S+", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    return sorted({*re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==[^\\\n]*[^\\\s]", text, re.MULTILINE), torch})


def asked(pins: list[str]) -> str:
    """What pip-audit answers; empty where it could not ask, or took too long."""
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--progress-spinner", "off"]
    with TemporaryDirectory() as folder:
        listed = Path(folder, "pins.txt")
        listed.write_text("\n".join(pins))
        options = ["--timeout", str(ANSWER), "--format", "json", "--requirement", str(listed)]
        try:
            return subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE).stdout
        except subprocess.TimeoutExpired:
            return ""


def verdict(answer: str) -> tuple[str, int]:
    """What to print, and the status."""
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError):
        return SKIPPED.format(reason="no answer"), 0
    found = [(each, fault) for each in packages for fault in each.get("vulns", ())]
    known = [each for each in packages if "vulns" in each]
    if not known:
        return SKIPPED.format(reason=f"it has none of {len(packages)} packages"), 0
    if not found:
        unknown = [each["name"] for each in packages if "vulns" not in each]
        rest = f"; not known there: {', '.join(unknown)}" if unknown else ""
        return f"audit: {len(known)} packages, no known vulnerability{rest}.", 0
    return "\n".join(_line(each, fault) for each, fault in found), 1


def _line(package: dict[str, Any], fault: dict[str, Any]) -> str:
    fixed = ", ".join(fault["fix_versions"]) or "nothing yet"
    return f"audit: {package['name']} {package['version']}: {fault['id']}, fixed in {fixed}"


if __name__ == "__main__":
    said, status = verdict(asked(pinned()))
    print(said)
    sys.exit(status)
