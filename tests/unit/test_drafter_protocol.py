"""Drafters are used through their protocol: no code asks which class one is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASKS_FOR_THE_CLASS = re.compile(r"isinstance\([^)]*(Drafter|Proposer)|unsure_below\s*=(?!=)")


def test_no_code_asks_for_the_class_of_a_drafter_or_changes_a_proposer_from_outside() -> None:
    files = sorted((ROOT / "specviz").rglob("*.py"))
    assert files
    found = [file.name for file in files if ASKS_FOR_THE_CLASS.search(file.read_text(encoding="utf-8"))]
    assert found == ["chain.py", "model.py"]  # these proposers set their own limit


def test_the_search_finds_what_it_is_for() -> None:
    assert ASKS_FOR_THE_CLASS.search("if isinstance(drafter, TranslatedDrafter):")
    assert ASKS_FOR_THE_CLASS.search("proposer.unsure_below = 0.4")
