"""Figures as a reader's language writes them."""

from collections.abc import Iterator

import pytest

from specviz.core.languages import set_language
from specviz.core.numbers import localize
from specviz.core.texts import fill, join_choices


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    set_language("en")


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("en", "1.41× 0.50 +0.25 1,024 12,345 81% 81 % 1e-05 0.7 4096 -1,024.5"),
        ("es", "1,41× 0,50 +0,25 1024 12.345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5"),
        ("zh-Hans", "1.41× 0.50 +0.25 1024 12,345 81% 81% 1e-05 0.7 4096 -1024.5"),
        ("fr", "1,41× 0,50 +0,25 1024 12\u202f345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5"),
    ],
)
def test_figures_are_written_as_the_language_has_them(code: str, written: str) -> None:
    set_language(code)
    text = "{a:.2f}× {b:.2f} {c:+.2f} {d:,} {e:,} {f:.0%} {f!p} {g:.0e} {h} {i} {j:,.1f}"
    figures = (1.41, 0.5, 0.25, 1024, 12345, 0.81, 1e-5, 0.7, 4096, -1024.5)
    assert fill(text, dict(zip("abcdefghij", figures, strict=True))) == written


def test_every_language_shows_the_digits_that_english_shows() -> None:
    """Half to even, or as a binary fraction: a library would round each in its own way."""
    for value in (0.125, 2.675, 1.005, 0.545):
        set_language("en")
        english = localize(value, ".2f")
        set_language("es")
        assert localize(value, ".2f") == english.replace(".", ",")


def test_a_figure_that_is_a_text_stays_as_it_is_and_choices_are_figures() -> None:
    set_language("es")
    assert fill("{version} {name}", {"version": "2.13.0", "name": "a.b"}) == "2.13.0 a.b"
    assert join_choices([0, 0.7, "x.y"], "and").startswith("0, 0,7")
