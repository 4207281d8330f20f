"""The cards of the bundled models say what the JSON holds."""

import json

import pytest

from scripts.write_cards import measured_sections, with_section
from specviz.core.files import RESULTS
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.models.catalogue import MODELS_FOLDER, PAIRS, bundled_heads, weights_hash
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.packaged import SHA256
from tests.support.known import known

KINDS = ("story", "code", "structured", "prose")


@pytest.mark.parametrize("name", ["wren-base", "wren-small", "wren-mini", "wren-nano"])
def test_a_card_says_what_was_measured(name: str) -> None:
    card = (MODELS_FOLDER / name / "README.md").read_text(encoding="utf-8")
    sections = measured_sections(name)
    assert sections
    for title, body in sections.items():
        assert with_section(card, title, body) == card, f"{title}: python -m scripts.write_cards"


def test_the_card_gives_the_losses_on_unseen_text() -> None:
    said = " ".join((MODELS_FOLDER / "wren-base" / "README.md").read_text(encoding="utf-8").split())
    unseen = json.loads((RESULTS / "unseen.json").read_text(encoding="utf-8"))["losses"]
    assert len(unseen) == 3
    for found in unseen.values():
        assert "{Python:.2f}, {JSON:.2f} and {Markdown:.2f}".format(**found) in said


def test_the_menu_of_pairs_says_what_was_measured() -> None:
    greedy = known(known(stored_methods()).greedy)
    gains = {name: known(greedy.find(name)).kinds for name in ("wren-nano", "wren-mini", "wren-small")}
    lessons = {pair.draft: pair.lesson for pair in PAIRS if pair.target == "wren-base"}
    assert lessons == {"wren-nano": "pays", "wren-mini": "pays", "wren-small": "no better"}
    assert all(gains[name][ALL].best.low > 1 for name, lesson in lessons.items() if lesson == "pays")


def test_a_section_ends_where_the_next_begins() -> None:
    card = "# a\n\n## One\n\nold\n### not the next\n\n## Two\n\nkept\n"
    assert with_section(card, "One", "new \\1") == "# a\n\n## One\n\nnew \\1\n\n## Two\n\nkept\n"
    assert with_section(card, "Two", "new") == "# a\n\n## One\n\nold\n### not the next\n\n## Two\n\nnew\n"
    with pytest.raises(ValueError, match="Three"):
        with_section(card, "Three", "new")


@pytest.mark.parametrize("name", ["smol-eagle", "wren-eagle", "wren-medusa"])
def test_a_heads_card_says_which_weights_it_is_about_and_what_was_measured(name: str) -> None:
    (listed,) = [head for head in bundled_heads() if head.name == name]
    card = (MODELS_FOLDER / listed.name / "README.md").read_text(encoding="utf-8")
    said = " ".join(card.split())
    assert f"{listed.parameters:,} parameters" in said
    assert weights_hash(MODELS_FOLDER / listed.name) in said
    config = json.loads((MODELS_FOLDER / listed.name / "head.json").read_text(encoding="utf-8"))
    assert config["target_weights_hash"] in said
    if listed.target != SMOLLM2:
        assert config["target_weights_hash"] == weights_hash(MODELS_FOLDER / listed.target)
    else:
        assert SHA256.startswith(config["target_weights_hash"])
    for title, body in measured_sections(name).items():
        assert with_section(card, title, body) == card, f"{title}: python -m scripts.write_cards"
