"""Grids of cases of which the quick tests take a few."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def grid(cells: Iterable[Any], small: Container[Any]) -> list[Any]:
    """For `parametrize`: what is in `small` is always tried, everything else only in the full grid."""
    return [
        pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=() if cell in small else pytest.mark.full)
        for cell in cells
    ]
