"""Ask pip-audit whether a pinned package has a known vulnerability: `make audit`.

Status 1 where one has. Where the data cannot be reached, one line says so and the status is 0: that is no fault here.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-ray.lock")
COMMAND = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--progress-spinner", "off"]
COMMAND += ["--timeout", "10", "--format", "json", "--requirement"]
PATIENCE = 300.0  # seconds for all packages


def pinned() -> list[str]:
    """Every locked package with its version and where it is needed; and torch, which no lock file has."""
    text = "".join((ROOT / name).read_text() for name in LOCKS)
    [torch] = re.findall(r"^torch==\S+", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    return sorted({*re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==[^\\\n]*[^\\\s]", text, re.MULTILINE), torch})


def verdict(pins: list[str]) -> tuple[str, int]:
    """What to print, and the status."""
    with TemporaryDirectory() as folder:
        listed = Path(folder, "pins.txt")
        listed.write_text("\n".join(pins))
        try:
            answer = subprocess.run([*COMMAND, listed], capture_output=True, text=True, timeout=PATIENCE).stdout
            packages = json.loads(answer)["dependencies"]
        except (ValueError, KeyError, subprocess.TimeoutExpired):
            return "audit: skipped, because the data about vulnerabilities cannot be reached.", 0
    unknown = [each["name"] for each in packages if "vulns" not in each]
    faults = [
        f"audit: {each['name']} {each['version']}: {fault['id']}, fixed in "
        f"{', '.join(fault['fix_versions']) or 'nothing yet'}"
        for each in packages
        for fault in each.get("vulns", ())
    ]
    known = f"audit: {len(packages) - len(unknown)} of {len(packages)} packages are known, without a vulnerability"
    return "\n".join(faults) or f"{known}; not known: {', '.join(unknown) or 'none'}.", int(bool(faults))


if __name__ == "__main__":
    said, status = verdict(pinned())
    print(said)
    sys.exit(status)
