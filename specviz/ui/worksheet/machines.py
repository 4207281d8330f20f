"""The worksheet's machines: this one as calibrated beside what papers publish about theirs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.metrics import Costs
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.data.published import PUBLISHED, PublishedRun
from specviz.data.published_gpu import GPU_COSTS, GPU_ROUNDS, GpuCosts, GpuRound
from specviz.measure.worksheet.gap import gap_of
from specviz.measure.worksheet.starts import OPENING_DRAFT_LENGTH, Start, calibrated
from specviz.ui.shared.chart import chart
from specviz.ui.shared.tables import NOT_MEASURED, TIMES, data_table, numbers
from specviz.ui.worksheet.figures import machines_figure


def show_machines(costs_by_pair: Mapping[tuple[str, str, str], Costs], finished: Sequence[Trace]) -> None:
    """This machine as calibrated beside what papers publish about theirs."""
    here = [_machine_row(*calibrated(pair, costs, finished)) for pair, costs in costs_by_pair.items()]
    data_table(
        pd.DataFrame([*here, *map(_paper_row, PUBLISHED), *map(_round_row, GPU_ROUNDS), *map(_costs_row, GPU_COSTS)]),
        hide_index=True,
        column_config=_columns(),
        key="worksheet_machines",
        placeholder=NOT_MEASURED,
        alt="Machines, costs and sources.",
    )
    if not here:
        st.caption("The row of this machine appears after a live run on the Watch page, when its pair is calibrated.")
    st.caption(MACHINES_CAPTION)
    st.markdown("**Published speedups beside the formula’s**")
    alt = "Published speedups of each configuration, and what the formula gives for their acceptance and cost."
    chart(machines_figure(PUBLISHED), key="worksheet_published", alt=alt)


def _columns() -> dict[str, Any]:
    return {
        **numbers("%d", "γ"),
        **numbers("%.2f", "c", "v(γ+1)", "o"),
        "α": st.column_config.TextColumn(alignment="right"),  # some are in brackets
        **numbers(TIMES, "modelled", "measured"),
        "source": st.column_config.LinkColumn(display_text=r"https://(?:github\.com/)?(.*?)(?:/blob/main/.*)?$"),
    }


def _machine_row(start: Start, trace: Trace | None) -> dict[str, object]:
    model = start.model
    gap = gap_of(trace) if trace else None
    return {
        "pair": start.label.removeprefix("this machine, calibrated: "),
        "task": "this machine, calibrated",
        "γ": model.draft_length,
        "c": model.cost_ratio,
        "α": f"{model.alpha:.2f}" if trace else NOT_MEASURED,
        "modelled": model.realistic if trace else None,
        "measured": gap.measured if gap else None,
        "v(γ+1)": model.verification,
        "o": model.overhead,
        "machine": trace.recorded_on.machine if trace else "this one",
        "source": "",
    }


def _paper_row(run: PublishedRun) -> dict[str, object]:
    modelled, alpha = run.modelled_speedup, run.alpha
    return {
        "pair": run.pair,
        "task": f"{run.task}, {run.temperature}",
        "γ": run.draft_length,
        "c": run.cost_ratio,
        "α": f"{alpha:.2f}" if alpha is not None else f"({run.explaining_alpha:.2f})",
        "modelled": modelled,
        "measured": run.speedup,
        "v(γ+1)": None,
        "o": None,
        "machine": run.machine,
        "source": run.url,
    }


def _round_row(found: GpuRound) -> dict[str, object]:
    return {
        "pair": f"{found.method} → {found.target}",
        "task": f"{found.tokens:.2f} tokens in {found.cost:.2f} steps",
        "α": NOT_MEASURED,
        "measured": found.speedup,
        "machine": "one A100, batch 1",
        "source": found.url,
    }


def _costs_row(costs: GpuCosts) -> dict[str, object]:
    return {
        "pair": costs.pair,
        "task": "costs only",
        "γ": OPENING_DRAFT_LENGTH if costs.verification else None,
        "c": costs.cost_ratio,
        "α": NOT_MEASURED,
        "v(γ+1)": verification_steps(costs.verification, OPENING_DRAFT_LENGTH + 1) if costs.verification else None,
        "machine": costs.machine,
        "source": costs.url,
    }


MACHINES_CAPTION = (
    "Rows with a source are published, measured by their authors (2211.17192: tables 2 and 4; 2302.01318: table 1 and "
    "section 6, c = 1.8 ms / 14.1 ms); modelled from their α and c with v = 1 and o = 0. In brackets: not published, "
    "the α that would explain the speedup. A dash: not published, or not measured yet. On GPUs: Spec-Bench’s rounds "
    "(six tasks, greedy; the steps of a round are inferred: tokens / speedup), and costs of single pairs; for "
    "CodeLlama c is assumed, from the sizes of the files. Choose a pair with a c under “Start from” to see "
    "it on the map."
)
