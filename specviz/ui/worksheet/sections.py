"""The worksheet's machines and its serving section: published costs beside this machine's, and pasted counters."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED, GpuCosts, GpuRound, PublishedRun
from specviz.data.serving_counters import read_counters
from specviz.measure.worksheet import advice
from specviz.measure.worksheet.runs import gap_of
from specviz.measure.worksheet.serving import (
    Length,
    Production,
    contain_load,
    costs_are_told,
    draft_lengths,
    measured_speedup,
    production,
    production_start,
)
from specviz.measure.worksheet.starts import OPENING_DRAFT_LENGTH, Start, calibrated
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import MOST_TYPED, NOT_MEASURED, TIMES, data_table, numbers, texts
from specviz.ui.shared.persistent_widgets import with_value
from specviz.ui.worksheet.controls import chosen_start, costs_named, is_shown, model_now, put_on_map
from specviz.ui.worksheet.figures import machines_figure, positions_figure
from specviz.ui.worksheet.worksheet_state import Worksheet


def show_machines(costs_by_pair: Mapping[tuple[str, str, str], Costs], finished: Sequence[Trace]) -> None:
    here = [_machine_row(*calibrated(pair, costs, finished)) for pair, costs in costs_by_pair.items()]
    rows = [*here, *map(_paper_row, PUBLISHED), *map(_round_row, GPU_ROUNDS), *map(_costs_row, GPU_COSTS)]
    data_table(pd.DataFrame(rows), "worksheet_machines", "Machines, costs and sources.", _columns())
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
        **texts("α"),  # some are in brackets
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


def show_production(worksheet: Worksheet, starts: Sequence[Start]) -> None:
    box, verdict = st.columns(2, gap="large")

    def changed() -> None:
        """The page starts from what was pasted, so that its upper part speaks of the same counters."""
        with suppress(InputError):
            if (found := _pasted(worksheet, starts)) and _fits_the_map(found):
                put_on_map(worksheet, *_start_from(worksheet, starts, found))

    with box:
        text = st.text_area(
            "Counters, log lines or an answer in JSON",
            height=200,
            placeholder=PASTE,
            max_chars=MOST_TYPED,
            help=PASTE_HELP,
            on_change=changed,
            **with_value("worksheet_paste"),
        )
        st.caption(READ)
        _speedup_fields(changed)
    with verdict:
        if not text.strip():
            st.info("Paste acceptance from production. The page then starts from it.")
            return
        try:
            shown = _pasted(worksheet, starts)
        except InputError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        assert shown
        _show(worksheet, starts, shown)


def _pasted(worksheet: Worksheet, starts: Sequence[Start]) -> Production | None:
    """What the fields hold; None for no text.

    Raises:
        InputError: the text or the speedup cannot be used.
    """
    state = st.session_state
    if not state.worksheet_paste.strip():
        return None
    counters = read_counters(state.worksheet_paste)
    given, without, speculative = (state[f"worksheet_{name}"] for name in ("speedup", "without", "with"))
    speedup = measured_speedup(given, without, speculative, counters.latency)
    return production(counters, model_now(worksheet, chosen_start(worksheet, starts)), speedup)


def _start_from(worksheet: Worksheet, starts: Sequence[Start], found: Production) -> tuple[Start, Production]:
    return production_start(found, costs_named(chosen_start(worksheet, starts))), found


def _fits_the_map(found: Production) -> bool:
    """Whether the map can show it: all calls draft, and no draft is longer than its axis."""
    return found.share == 1 and found.draft_length <= MAX_DRAFT_LENGTH


def _speedup_fields(changed: Callable[[], None]) -> None:
    """The measured speedup, or two latencies that give it. Empty fields are None."""
    with st.container(horizontal=True, gap="small", key="worksheet_measured"):
        for label, key, explanation in FIELDS:
            # None even if the state holds a number: a field with a default of its own could not be emptied
            st.number_input(
                label, 0.0, 1e9, None, placeholder="not measured", help=explanation, key=key, on_change=changed
            )


def _show(worksheet: Worksheet, starts: Sequence[Start], found: Production) -> None:
    costs = costs_named(chosen_start(worksheet, starts))
    told = costs_are_told(costs)
    st.markdown(advice.headline(found, plain(costs)))
    for title, text in advice.advice(found, costs):
        st.markdown(f"**{title}.** {text}")
    if found.speedup is not None:
        _show_lengths(draft_lengths(found))
    else:
        st.caption(CHOSEN if told else NOT_YOURS.format(plain(costs)))
    alpha = found.counters.alpha(found.draft_length)
    notes = [
        found.counters.reading,
        advice.counted_note(found, alpha),
        *found.counters.notes,
        advice.batch_note(found, loaded=contain_load(costs), told=told),
    ]
    st.caption(" ".join(plain(note) for note in notes if note))
    if found.counters.survival:
        figure = positions_figure(found.counters.position_rates, found.counters.survival)
        alt = "Acceptance by position: per judgement, and of all drafts."
        chart(figure, key="worksheet_positions", alt=alt)
        st.caption("Per judgement counts only the rounds whose earlier guesses were all accepted.")
    if found.share < 1:
        st.caption("Not for the map: it shows calls that all draft, and here only some do.")
    else:
        _offer_map(worksheet, *_start_from(worksheet, starts, found))


def _show_lengths(lengths: Sequence[Length]) -> None:
    rows = [(each.draft_length, each.tokens, each.slowest, each.fastest) for each in lengths]
    table = pd.DataFrame(rows, columns=["γ", "tokens", "slowest", "fastest"])
    columns = numbers("%d", "γ") | numbers("%.2f", "tokens") | numbers(TIMES, "slowest", "fastest")
    data_table(table, "worksheet_lengths", "Tokens a round and the modelled speedup of each draft length.", columns)
    st.caption(
        "Tokens of a round, and its slowest and fastest modelled speedup, if half to all of the extra cost grows with "
        "the draft."
    )


def _offer_map(worksheet: Worksheet, start: Start, found: Production) -> None:
    if start.model.draft_length > MAX_DRAFT_LENGTH:
        st.caption(f"The map ends at γ = {MAX_DRAFT_LENGTH}: these drafts are too long for it.")
    elif is_shown(start):
        st.caption("The sliders and the map above show these values.")
    else:
        st.button("Put these on the map", on_click=put_on_map, args=(worksheet, start, found), key="worksheet_use")


CHOSEN = "The costs were chosen. Enter a measured speedup on the left, and this page infers those of your machine."
NOT_YOURS = (
    "The sliders above hold the costs of {}: not those of your machine. Enter a measured speedup on the left, and this "
    "page infers them. Or choose published GPU costs under “Start from” above."
)
READ = (
    "Read: vLLM, SGLang, llama.cpp, TensorRT-LLM and LM Studio: /metrics, log lines, or the JSON of an answer. "
    "The text stays on this server."
)
PASTE = (
    "vllm:spec_decode_num_drafts_total{…} …\nvllm:spec_decode_num_accepted_tokens_total{…} …\n"
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} …\n\nor a log line: SpecDecoding metrics: …; '
    'accept len: …; draft acceptance = …\nor JSON: {"timings": …}, {"meta_info": …}, {"metrics": …}, {"stats": …}'
)
PASTE_HELP = (
    "Counters run from the server’s start; paste two copies, the older first, to use their difference. Of several log "
    "lines the last is used. Several answers are added up."
)
FIELDS = [
    (
        "Measured speedup",
        "worksheet_speedup",
        "Time without speculation over time with it, for the same requests at the same load. Leave it empty if it was "
        "not measured: then the costs above are assumed.",
    ),
    (
        "or latency without",
        "worksheet_without",
        "Time per output token, or the time of the same requests, without speculation. Any unit, the same in both.",
    ),
    (
        "latency with",
        "worksheet_with",
        "The same with speculation. Empty: the pasted text’s own latency, if it has one; then give the other in ms for "
        "a token.",
    ),
]
