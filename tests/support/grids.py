"""Grids of cases of which the quick tests take a few."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def grid(cells: Iterable[Any], small: Collection[Any]) -> list[Any]:
    """For `parametrize`: what is in `small` is always tried, everything else only in the full grid."""
    every = list(cells)
    assert all(cell in every for cell in small), "a case that is always tried has another name"
    return [
        pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=() if cell in small else pytest.mark.full)
        for cell in every
    ]
