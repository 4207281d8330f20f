"""What the audit of the locked packages asks and says."""

import json
import re

from scripts.audit import pinned, verdict
from tests.unit.test_project import LOCKS, locked

FAULT: dict[str, object] = {"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": "Long."}
UNREACHED = "audit: skipped, because the data about vulnerabilities cannot be reached"


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
    assert [pin for pin in pinned() if "--hash" in pin or pin.endswith("\\")] == []
