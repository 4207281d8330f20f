"""Your server: what `specviz bench` measured on two running servers. A file is opened; no server is ever asked."""

from typing import Any

import streamlit as st

from specviz.core.names import first_words, short_name
from specviz.data.bench_words import bench_words
from specviz.data.texts import page_texts
from specviz.figures.bench import acceptance_figure, load_figure, prompts_figure, throughput_figure, times_figure
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.report import dump_csv, table
from specviz.measure.endpoints.sentences import (
    NAMES,
    asked_in_words,
    bench_warnings,
    broken_setup,
    details_in_words,
    limit_in_words,
    load_in_words,
    loads_in_words,
    losses_in_words,
    measure_next,
    no_speedup_in_words,
)
from specviz.ui.shared import parts
from specviz.ui.shared.below_streamlit import UploadedFile
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.parts import PERCENT, TIMES, Options, button, data_table, download, notices, numbers, two_charts
from specviz.ui.when_it_helps.your_server_state import YourServer

SAYS = page_texts("when_it_helps")
BENCHES = page_texts("benches")  # the titles of the recorded ones
LONGEST = 120  # characters of a name from a file
COMMAND = (
    "python -m specviz bench --with http://localhost:8000 --without http://localhost:8001 \\\n"
    "    --workload story code --concurrency 1,4,16 --json bench.json"
)


def show_your_server(state: YourServer) -> None:
    benches = state.benches()
    with st.container():  # always there, so that what stands below keeps its place
        if not benches:
            st.markdown(SAYS["server_what"])
        _measure_yours(state)
        if benches:
            name = _choose(state, list(benches))
            _show_bench(name, benches[name], recorded=state.opened is None or name != state.opened[0])
    _files(state)


def _choose(state: YourServer, names: list[str]) -> str:
    shown = state.shown if state.shown in names else names[0]
    if len(names) == 1:
        return shown
    key = f"when_it_helps_bench_shown-{len(names)}-{shown}"
    named: Options = {"format_func": lambda name: plain(BENCHES.get(name, name)), "key": key}
    state.shown = st.segmented_control(SAYS["bench"], names, default=shown, **named) or shown
    return state.shown


def _measure_yours(state: YourServer) -> None:
    def load(file: UploadedFile) -> None:
        state.open(file.getvalue(), file_label(file.name))

    with st.expander(SAYS["server_measure"], expanded=not state.benches()):
        st.caption(SAYS["server_never"])
        st.code(COMMAND, language="bash")
        more: Options = {"take": load, "problems": state.problems, "type": "json"}
        parts.file_uploader(SAYS["open_bench"], key="when_it_helps_bench", **more)


def _files(state: YourServer) -> None:
    with st.container(horizontal=True, key="when_it_helps_bench_files"):
        if state.opened:
            found = state.opened[1]
            download(
                SAYS["save_csv"], lambda: dump_csv(found), "specviz-bench.csv",
                icon=":material/download:", key="when_it_helps_bench_download",
            )  # fmt: skip
            button(SAYS["clear_file"], "when_it_helps_bench_clear", state.clear, icon="delete")
        elif state.cleared:
            button(SAYS["undo_clear"], "when_it_helps_bench_undo", state.undo_clear, icon="undo")


def _show_bench(name: str, found: BenchFindings, *, recorded: bool) -> None:
    st.caption(f"{_where(name, found, recorded)}{' ' + SAYS['server_recorded'] if recorded else ''}")
    _headline(found)
    notices(bench_warnings(found))
    _charts(found, name)
    _loads_table(found)
    for sentence in details_in_words(found):
        st.markdown(f"- {plain(sentence)}")
    if step := measure_next(found):
        st.markdown(f"- :material/arrow_forward: {plain(step)}")
    _table(found)
    with st.expander(SAYS["what_measures_mean"]):
        for word in bench_words():
            st.markdown(f"**{plain(word.name)}.** {plain(word.means)}")


def _where(name: str, found: BenchFindings, recorded: bool) -> str:
    result = found.result
    icon = ":material/history:" if recorded else ":material/upload_file:"
    opened = SAYS["bench_recorded" if recorded else "bench_opened"].format(name=plain(name))
    named = (short_name(result.with_.model), result.with_.drafts, result.client, result.imported, result.created[:10])
    texts = [plain(first_words(each, LONGEST)) for each in named]
    figures = dict(zip(("model", "drafts", "client", "tool", "day"), texts, strict=True))
    known = ["bench_model", *["bench_drafts"] * bool(result.with_.drafts), *["bench_tool"] * bool(result.imported)]
    asked = " ".join(SAYS[name].format(**figures) for name in known)
    return f"{icon} {opened} {plain(asked_in_words(result))} {asked}"


def _headline(found: BenchFindings) -> None:
    """Does it help here, and up to which load."""
    if not found.measured or found.measured[0].speedup is None:
        st.markdown(plain(no_speedup_in_words(found)))
        return
    first = found.measured[0]
    assert first.speedup
    if first.doubts or broken_setup(found.result):
        st.markdown(f":material/error: :gray[**{SAYS['bench_not_trusted'].format(speedup=first.speedup.value)}**]")
        return
    look = first.speedup.judged.look
    said = SAYS["bench_headline"].format(headline=first.speedup.judged.headline, load=load_in_words(found, first))
    st.markdown(f":material/{look.icon}: :{look.color}[**{said}**] {plain(limit_in_words(found))}")
    for loss in losses_in_words(found):
        st.markdown(f":material/warning: {plain(loss)}")


def _charts(found: BenchFindings, name: str) -> None:
    drawn, several = [], len(found.loads) > 1
    load = _choose_load(found, name) if found.measured else next(iter(found.loads), None)
    if found.measured and several:
        drawn.append((load_figure(found), "server-speedup", SAYS["server_loads"]))
    if load and load.prompts:
        prompts = SAYS["server_prompts"].format(load=load_in_words(found, load))
        drawn.append((prompts_figure(load, found.result.prompts), "server-prompts", prompts))
    if load:
        times = SAYS["server_times"].format(load=load_in_words(found, load))
        drawn.append((times_figure(load), "server-times", times))
    if several:
        drawn.append((throughput_figure(found), "server-throughput", SAYS["server_throughput"]))
    if found.acceptance and (accepted := acceptance_figure(found.acceptance)):
        drawn.append((accepted, "server-positions", SAYS["server_positions"]))
    for start in range(0, len(drawn), 2):
        two_charts(*drawn[start : start + 2])


def _choose_load(found: BenchFindings, name: str) -> LoadFindings:
    loads = found.measured
    if len(loads) == 1:
        return loads[0]
    known = {load.load: load for load in loads}
    named: Options = {
        "format_func": lambda load: loads_in_words(found.result, [load]),
        "key": f"when_it_helps_bench_load-{name}-{len(loads)}",
    }
    chosen = st.segmented_control(SAYS["prompts_at"], list(known), default=loads[0].load, **named)
    return known.get(chosen or 0, loads[0])


RATES = ("one user, tokens / s", "all users, tokens / s")


def _loads_table(found: BenchFindings) -> None:
    """A row for each load and server."""
    rows: list[dict[str, Any]] = []
    kind = "rate" if found.result.settings.rates else "concurrency"
    for load, side in ((each, side) for each in found.loads for side in each.sides):
        its, gain = load.sides[side], load.speedup if side == "with" else None
        low, high = (gain.interval if gain else None) or (None, None)
        rates = dict(zip(RATES, (its.tokens_per_second, its.throughput), strict=True))
        row: dict[str, Any] = {TABLE[kind]: load.load, "server": NAMES[side], **rates}
        rows.append(row | {"speedup": gain.value if gain else None, "95 % from": low, "to": high})
    columns = numbers("%.1f", *RATES) | numbers("%.2f", TABLE["rate"]) | numbers(TIMES, "speedup", "95 % from", "to")
    data_table(rows, "server_loads_table", columns=columns)


TABLE = {  # the names of the columns by those of the rows
    "prompt": "prompt", "workload": "kind", "concurrency": "concurrency", "rate": "requests / s",
    "speedup": "speedup", "speedup_low": "low", "speedup_high": "high",
    "tokens_per_second_with": "tokens / s with", "tokens_per_second_without": "tokens / s without",
    "acceptance_rate": "accepted", "tokens_per_round": "tokens per target call", "failed": "failed",
}  # fmt: skip


def _table(found: BenchFindings) -> None:
    rows = [{TABLE[name]: cell for name, cell in row.items() if name in TABLE} for row in table(found)]
    for row in rows:
        if isinstance(rate := row.get("accepted"), float):
            row["accepted"] = 100 * rate
    columns = numbers(TIMES, "speedup", "low", "high") | numbers("%.1f", "tokens / s with", "tokens / s without")
    columns |= numbers(PERCENT, "accepted") | numbers("%.2f", "tokens per target call", TABLE["rate"])
    data_table(rows, "server_table", columns=columns)
