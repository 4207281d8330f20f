"""The lock files have every package with its version and its hashes, and agree; what the audit says."""

import json
import re
from pathlib import Path

import pytest

from scripts.audit import pinned, verdict
from tests.unit.test_project import PLOTS, RAY, TESTS, lines, pins

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-ray.lock"]
FROM_TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*")  # what depends on the machine
FAULT: dict[str, object] = {"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": "Long."}
UNREACHED = "audit: skipped, because the data about vulnerabilities cannot be reached"


def locked(name: str) -> dict[str, dict[str, int]]:
    """Package → version → hashes. A package has several versions where newer Pythons need another one."""
    found: dict[str, dict[str, int]] = {}
    text = (ROOT / name).read_text()
    entries = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)((?:\\\n|.)*)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE)), "nothing but pins"
    for package, version, rest in entries:
        found.setdefault(package, {})[version] = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", rest))
    return found


def test_each_direct_pin_stands_in_the_lock_with_its_version_and_hashes() -> None:
    program = lines((ROOT / "requirements.txt").read_text())
    for lock, required in zip(LOCKS, (program, PLOTS + TESTS, RAY), strict=True):
        here = locked(LOCKS[0]) | locked(lock)
        asked = {package.replace("_", "-"): version for package, version in pins(required).items()}
        asked.pop("torch", None)
        assert asked
        assert {package: list(here.get(package, {})) for package in asked} == {one: [asked[one]] for one in asked}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_hashes_for_all_and_names_no_place_that_files_come_from(name: str) -> None:
    here = locked(name)
    assert len(here) > 40
    assert [package for package, versions in here.items() if not all(versions.values())] == []
    assert [package for package in here if FROM_TORCH.fullmatch(package)] == []
    assert not re.search(r"://|^-|index", (ROOT / name).read_text(), re.MULTILINE)


def test_the_locks_agree_and_a_package_of_the_program_is_in_its_lock_only() -> None:
    program, tools, ray = map(locked, LOCKS)
    assert set(program) & {*tools, *ray} == set()
    assert [one for one in ray.keys() & tools if list(ray[one]) != list(tools[one])] == []


def test_make_run_docker_and_the_tests_install_what_is_locked_and_torch_by_version() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "LOCKED := -m pip install --no-deps --require-hashes -r\n" in makefile
    installs = [line.strip() for line in makefile.splitlines() if re.search(r"\$\(LOCKED\)|-m pip install", line)]
    assert [line for line in installs if line.endswith(".txt")] == ["$(PY) -m pip install -r requirements.txt"] * 2
    assert {line.split()[-1] for line in installs if line.startswith("$") and line.endswith(".lock")} == set(LOCKS)
    rest = [line for line in installs if line.startswith("$") and "requirements" not in line]
    assert rest == ["$(LOCK_VENV)/bin/python -m pip install --quiet uv==$(UV)"], "what writes the locks is pinned"


def answer(**vulns: list[dict[str, object]] | None) -> str:
    known = [{"name": name, "version": "1.0", "vulns": found} for name, found in vulns.items() if found is not None]
    unknown = [{"name": name, "skip_reason": "Dependency not found"} for name, found in vulns.items() if found is None]
    return json.dumps({"dependencies": known + unknown, "fixes": []})


def test_a_known_vulnerability_fails_and_missing_data_does_not() -> None:
    for said, sentence, status in (
        (answer(a=[], b=[FAULT]), "audit: b 1.0: PYSEC-1, fixed in 1.1", 1),
        (answer(a=None, b=[FAULT | {"fix_versions": []}]), "audit: b 1.0: PYSEC-1, fixed in nothing yet", 1),
        (answer(a=[], b=None), "audit: 1 packages, no known vulnerability; not known there: b.", 0),
        (answer(a=None, b=None), f"{UNREACHED} (it has none of 2 packages).", 0),
        ("{}", f"{UNREACHED} (no answer).", 0),
    ):
        assert verdict(said) == (sentence, status)


def test_the_audit_asks_about_every_locked_package_and_torch() -> None:
    names = {re.split(r"[\[=]", pin)[0] for pin in pinned()}
    assert names == {"torch", *(package for name in LOCKS for package in locked(name))}
    assert "torch==2.13.0" in pinned()
    assert [pin for pin in pinned() if "--hash" in pin or pin.endswith("\\")] == []
