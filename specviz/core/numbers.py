"""Figures as the reader's language writes them: 1.41 is 1,41 in Spanish. What a program reads keeps its point."""

import re
from functools import cache
from numbers import Number

from babel.numbers import get_decimal_symbol, get_group_symbol

from specviz.core.languages import ENGLISH, current_language, locale

_FOUR = re.compile(r"(?<![\d,])(\d),(?=\d{3}(?![\d,]))")  # digits that are not grouped: CLDR's rule for Spanish
_SIGN = re.compile(r"[.,]|(?<=\d)%")


def localize(value: float | Number, spec: str = "") -> str:
    """As `format` does it. English decides the digits, so that no two languages round one figure differently."""
    return localize_text(format(value, spec))


def localize_text(english: str) -> str:
    """A figure that is written already."""
    code = current_language()
    return english if code == ENGLISH else _SIGN.sub(lambda found: _signs(code)[found[0]], _FOUR.sub(r"\1", english))


@cache
def _signs(code: str) -> dict[str, str]:
    """From the CLDR; a percent sign with the space that stands before it."""
    reader = locale(code)
    percent_sign: str = reader.percent_formats[None].suffix[0]
    return {".": get_decimal_symbol(reader), ",": get_group_symbol(reader), "%": percent_sign}


def times(ratio: float, interval: tuple[float, float] | None = None, doubt: str = "") -> str:
    """A speedup, with its 95 % interval where it has one: 1.41× (1.38–1.46). `doubt` stands before the interval."""
    between = f" ({localize(interval[0], '.2f')}–{localize(interval[1], '.2f')})" if interval else ""
    return f"{localize(ratio, '.2f')}×{doubt}{between}"


def percent(share: float, spec: str = ".0f") -> str:
    return localize(100 * share, spec) + percent_sign()


def percent_sign() -> str:
    """With a space before it in English, as the SI writes it; in another language as the CLDR does."""
    code = current_language()
    return " %" if code == ENGLISH else _signs(code)["%"]
