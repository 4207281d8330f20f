"""Draws the figures of `specviz.figures` with plotly.js (assets/browser/chart/)."""

from typing import TypedDict

import streamlit as st

from specviz.data.texts import page_texts
from specviz.figures.parts import Figure
from specviz.ui.shared.components import component


class ChartPayload(TypedDict):
    figure: Figure
    alt: str


_CHART = component("specviz_chart", "chart/chart.html", ("chart/chart.css",), "chart/chart")


def chart(figure: Figure, key: str, alt: str = "", **filled: str) -> None:
    """Mount a chart; with the same key it stays when the figure changes.

    `alt` is what the figure shows, for a screen reader: by default what pages.yaml says of this key, with what that has
    in braces `filled`.
    """
    payload: ChartPayload = {"figure": figure, "alt": alt or page_texts("shown")[key].format(**filled)}
    _CHART(key=key, data=payload, height=figure["layout"]["height"])


def two_charts(*shown: tuple[Figure, str, str]) -> None:
    """Charts beside each other: a figure, its key, and the caption above it."""
    for column, (drawn, key, caption) in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with column:
            st.caption(caption)
            chart(drawn, key, alt=caption)
