"""Formats for the columns of `st.dataframe`: numbers stand on the right, each with its unit."""

from typing import Any

import streamlit as st

TIMES = "%.2f×"
PERCENT = "%.0f %%"  # of a share times 100
NOT_MEASURED = "–"  # shown in place of a missing value


def numbers(number_format: str, *names: str, explanation: str | None = None) -> dict[str, Any]:
    """One number column for each name, with this format; `explanation` appears on hover."""
    return {name: st.column_config.NumberColumn(format=number_format, help=explanation) for name in names}
