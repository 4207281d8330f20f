"""Small numbers as words."""

from specviz.core.number_words import ORDINALS, in_words


def test_there_is_a_word_for_every_place_of_a_round() -> None:
    assert len(ORDINALS) == 64, "as many tokens as a round of a trace may have"
    assert len(set(ORDINALS)) == 64
    assert [ORDINALS[place] for place in (0, 15, 16, 20, 21, 22, 23, 63)] == [
        "first", "sixteenth", "17th", "21st", "22nd", "23rd", "24th", "64th",
    ]  # fmt: skip


def test_large_numbers_are_figures() -> None:
    assert [in_words(number) for number in (0, 17, 18)] == ["no", "seventeen", "18"]
