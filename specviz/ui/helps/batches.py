"""In batches: what a draft brings when a server decodes several texts at once. A recorded study; needs no sweep."""

from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.data.batches import BatchStudy, recorded_batches
from specviz.data.lessons.glossary import explained
from specviz.measure.batch_sentences import compared, outcome, reading, times, where
from specviz.ui.helps.batch_figures import batch_figure, check_figure
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.tables import NOT_MEASURED, PERCENT, TIMES, data_table, numbers


def show_batches() -> None:
    """Speedup and v(k) by the size of the batch, and every figure behind them."""
    try:
        study = recorded_batches()
    except InputError as error:
        st.info(plain(str(error)), icon=":material/info:")
        return
    st.markdown(f"**{plain(reading(study))}**")
    st.caption(f":material/history: {plain(where(study))}.")
    left, right = st.columns(2, gap="medium")
    with left:
        alt = "Speedup against the number of texts in a batch, for each draft length, with intervals."
        chart(batch_figure(study), "batches-speedup", alt)
    with right:
        alt = "The cost of checking k tokens of each text in one pass, by the number of texts in the batch."
        chart(check_figure(study.passes), "batches-checks", alt)
    data_table(
        batch_table(study),
        hide_index=True,
        key="batches_table",
        column_config=_columns(),
        placeholder=NOT_MEASURED,
        alt="Every batch size and draft length: speedup, costs and waiting.",
    )
    st.caption(explained(f"{CAPTION} {compared(study)}", "batches"), unsafe_allow_html=True)


CAPTION = (
    "Each pass of the target reads the next tokens of every text in the batch; each text accepts what it accepts. All "
    "wait for the longest draft in the pass, and a batch ends with its slowest text: the thick lines. The thin lines "
    "with open marks count only while every text writes, as on a server that gives a free place to the next text at "
    "once. The bars on the points are 95 % intervals over the repeats, each with other groups of the same prompts; "
    "other prompts would differ. A draft pays, or loses, where the interval leaves out 1× and the speedup is more than "
    "5 % from 1×. c, v(γ+1) and o are in passes of the target alone over a batch of that size. Modelled: tokens per "
    "target call / (γc + v(γ+1) + o), to compare with the speedup while every text writes."
)


def batch_table(study: BatchStudy) -> pd.DataFrame:
    """A row for each size and draft length."""
    rows = [
        {
            "texts": each.batch,
            "γ": each.draft_length,
            "speedup": times(each.speedup),
            "outcome": outcome(each.speedup),
            "while every text writes": times(each.full_speedup),
            "modelled": each.modelled,
            "c": each.cost_ratio.value,
            "v(γ+1)": each.verification.value,
            "o": each.overhead.value,
            "empty places": 100 * each.empty_places,
            "tokens / s": each.tokens_per_second,
            "alone": each.plain_tokens_per_second,
        }
        for each in study.speedups
    ]
    return pd.DataFrame(rows)


def _columns() -> dict[str, Any]:
    waiting = "The share of the places in the passes that were empty, because their texts had ended before the others."
    alone = "Tokens per second of the target alone, all texts of a batch together."
    return {
        **numbers("%d", "texts", "γ"),
        **numbers(TIMES, "modelled"),
        **numbers("%.2f", "c", "v(γ+1)", "o"),
        **numbers(PERCENT, "empty places", explanation=waiting),
        **numbers("%.0f", "tokens / s"),
        **numbers("%.0f", "alone", explanation=alone),
    }
