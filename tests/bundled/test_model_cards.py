"""The figures in the model cards are those of the stored measurement."""

import pytest

from scripts.write_cards import ROOT, measured_sections, read_results

RESULTS = read_results()


@pytest.mark.parametrize("name", RESULTS["losses"])
def test_a_card_says_what_was_measured(name: str) -> None:
    card = (ROOT / "assets" / "models" / name / "README.md").read_text(encoding="utf-8")
    for title, body in measured_sections(name, RESULTS).items():
        assert f"## {title}\n\n{body}" in card, f"{title}: python -m scripts.write_cards writes it"
