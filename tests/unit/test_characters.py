"""Characters that are cut over several tokens: shown as characters wherever their bytes are whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.core.characters import merged, spelled

KOENIGIN = [" K", "⟨C3⟩", "⟨B6⟩", "nig", "in"]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (KOENIGIN, [" K", "ö(1/2)", "ö(2/2)", "nig", "in"]),
        (["⟨E5⟩⟨8C⟩", "⟨97⟩", "京"], ["北(1/2)", "北(2/2)", "京"]),
        (["⟨F0⟩", "⟨9F⟩", "⟨98⟩", "⟨80⟩"], ["😀(1/4)", "😀(2/4)", "😀(3/4)", "😀(4/4)"]),
        ([" ⟨E2⟩⟨80⟩", "⟨99⟩t ⟨D9⟩", "⟨85⟩"], [" ’(1/2)", "’(2/2)t م(1/2)", "م(2/2)"]),
        (["⟨C3⟩⟨B6⟩"], ["ö"]),
        (["", "a", ""], ["", "a", ""]),
        # no characters: they stay bytes
        (["⟨C3⟩"], ["⟨C3⟩"]),
        (["⟨C3⟩", "a", "⟨B6⟩"], ["⟨C3⟩", "a", "⟨B6⟩"]),
        (["⟨B6⟩", "⟨C3⟩"], ["⟨B6⟩", "⟨C3⟩"]),
        (["⟨C3⟩", "⟨C3⟩", "⟨B6⟩"], ["⟨C3⟩", "ö(1/2)", "ö(2/2)"]),
        (["⟨ED⟩", "⟨A0⟩", "⟨80⟩"], ["⟨ED⟩", "⟨A0⟩", "⟨80⟩"]),  # half a surrogate pair
        (["⟨token 7⟩", "⟨", "⟩"], ["⟨token 7⟩", "⟨", "⟩"]),
    ],
)
def test_parts_of_a_character_are_shown_as_that_character(texts: list[str], shown: list[str]) -> None:
    assert spelled(texts) == shown


@pytest.mark.parametrize(
    ("texts", "pieces"),
    [
        (KOENIGIN, [" K", "ö", "nig", "in"]),
        ([" ⟨E2⟩⟨80⟩", "⟨99⟩t ⟨D9⟩", "⟨85⟩", "a"], [" ’t م", "a"]),
        (["a", "⟨C3⟩", "b"], ["a", "⟨C3⟩", "b"]),
        ([], []),
    ],
)
def test_tokens_that_share_a_character_are_merged(texts: list[str], pieces: list[str]) -> None:
    assert merged(texts) == pieces


def _cut(text: str, size: int) -> list[str]:
    """The text's bytes in tokens of so many bytes, each as a tokenizer's display shows it."""
    raw = text.encode()
    tokens = [raw[at : at + size] for at in range(0, len(raw), size)]
    return ["".join(f"⟨{byte:02X}⟩" if byte > 127 else chr(byte) for byte in token) for token in tokens]


@given(st.text().filter(lambda text: "⟨" not in text), st.integers(1, 5))
def test_every_text_reads_as_itself_however_it_is_cut(text: str, size: int) -> None:
    cut = _cut(text, size)
    assert "".join(merged(cut)) == text
    assert len(spelled(cut)) == len(cut)
    assert "⟨" not in "".join(spelled(cut))
