"""Your server: what `specviz bench` measured on two running servers. A file is opened; no server is ever asked."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.files import MEASURED
from specviz.core.names import first_words, short_name
from specviz.core.once import cache_once
from specviz.data.bench_words import bench_words
from specviz.data.texts import page_texts
from specviz.figures.bench import acceptance_figure, load_figure, prompts_figure, throughput_figure, times_figure
from specviz.measure.endpoints import sentences
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.report import dump_csv, table
from specviz.measure.endpoints.result import read_result
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import (
    PERCENT,
    TIMES,
    choice,
    data_table,
    download,
    file_uploader,
    marked,
    notices,
    numbers,
    two_charts,
)

SAYS = page_texts("when_it_helps")
BENCHES = page_texts("benches")  # the titles of the recorded ones
LONGEST = 120  # characters of a name from a file
COMMAND = (
    "python -m specviz bench --with http://localhost:8000 --without http://localhost:8001 \\\n"
    "    --workload story code --concurrency 1,4,16 --json bench.json"
)
UPLOAD_MEGABYTES = 4  # what the server takes of any file; it holds this one for as long as the visit lasts
RECORDED_BENCHES = {  # by their names in the program
    "vLLM, recorded": "bench_vllm.json",
    "llama.cpp, recorded": "bench_llama.json",
    "llama.cpp with SmolLM2, recorded": "bench_llama_ngram.json",
}


@dataclass(slots=True)
class YourServer:
    opened: tuple[str, BenchFindings] | None = None  # the file's name and what it says
    shown: str = ""  # a recorded one's name; empty: the opened file, else the first recorded one
    problems: list[str] = field(default_factory=list)

    def open(self, content: bytes, name: str) -> None:
        """Show a bench file, or raise an InputError and change nothing."""
        if len(content) > UPLOAD_MEGABYTES * 10**6:
            raise InputError(SAYS["bench_too_large"].format(most=UPLOAD_MEGABYTES))
        self.opened, self.shown = (name, BenchFindings(read_result(content))), ""

    def benches(self) -> dict[str, BenchFindings]:
        """Those to choose from by name, the opened one first."""
        own = dict([self.opened] if self.opened else [])
        return own | {name: found for name, found in recorded_benches().items() if name not in own}


@cache_once
def recorded_benches() -> dict[str, BenchFindings]:
    read = {name: read_result((MEASURED / file).read_bytes()) for name, file in RECORDED_BENCHES.items()}
    return {name: BenchFindings(result) for name, result in read.items()}


def show_your_server() -> None:
    state = session().of(YourServer)
    benches = state.benches()
    with st.expander(SAYS["server_measure"]):
        st.caption(SAYS["server_never"])
        st.code(COMMAND, language="bash")
        file_uploader(SAYS["open_bench"], "when_it_helps_bench", state.open, state.problems, type="json")
    names = {name: plain(BENCHES.get(name, name)) for name in benches}
    shown = state.shown if state.shown in names else next(iter(names))
    key = f"when_it_helps_bench_shown-{len(names)}-{shown}"  # a new one where something else is to be shown
    name = state.shown = choice(SAYS["bench"], names, key, shown)
    _show_bench(name, benches[name], recorded=state.opened is None or name != state.opened[0])
    if state.opened:
        made, key = partial(dump_csv, state.opened[1]), "when_it_helps_bench_download"
        download(SAYS["save_csv"], made, "specviz-bench.csv", key, "download")


def _show_bench(name: str, found: BenchFindings, *, recorded: bool) -> None:
    st.caption(f"{_where(name, found, recorded)}{' ' + SAYS['server_recorded'] if recorded else ''}")
    _headline(found)
    notices(sentences.bench_warnings(found))
    _charts(found, name)
    _loads_table(found)
    for sentence in sentences.details_in_words(found):
        st.markdown(f"- {plain(sentence)}")
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
    return f"{icon} {opened} {plain(sentences.asked_in_words(result))} {asked}"


def _headline(found: BenchFindings) -> None:
    """Does it help here, and up to which load."""
    if found.measured:
        first, speedup = found.measured[0]
        judged = replace(speedup.judged, trusted=first.trusted)
        headline = f"{judged.said[0].upper()}{judged.said[1:]}, {speedup.shown}"
        st.markdown(marked(judged, SAYS["bench_headline"].format(headline=headline, load=first.in_words)))
    st.markdown(plain(" ".join(sentences.speeds_in_words(found))))


def _charts(found: BenchFindings, name: str) -> None:
    if not found.loads:
        return
    drawn, several = [], len(found.loads) > 1
    loads = {f"{each.load:g}": each for each in found.loads}
    names = {number: each.in_words for number, each in loads.items()}
    load = loads[choice(SAYS["prompts_at"], names, f"when_it_helps_bench_load-{name}-{len(names)}")]
    if found.measured and several:
        drawn.append((load_figure(found), "server-speedup", SAYS["server_loads"]))
    if load.prompts:
        prompts = SAYS["server_prompts"].format(load=load.in_words)
        drawn.append((prompts_figure(load, found.result.prompts), "server-prompts", prompts))
    drawn.append((times_figure(load), "server-times", SAYS["server_times"].format(load=load.in_words)))
    if several:
        drawn.append((throughput_figure(found), "server-throughput", SAYS["server_throughput"]))
    if found.acceptance and (accepted := acceptance_figure(found.acceptance)):
        drawn.append((accepted, "server-positions", SAYS["server_positions"]))
    for start in range(0, len(drawn), 2):
        two_charts(*drawn[start : start + 2])


RATES = ("one user, tokens / s", "all users, tokens / s")
SHARES = ("acceptance_rate", "reasoning_with", "reasoning_without")
FORMATS: dict[str, Any] = {
    **numbers(TIMES, "speedup", "95 % from", "to", "speedup_low", "speedup_high"),
    **numbers("%.1f", *RATES, "tokens_per_second_with", "tokens_per_second_without"),
    **numbers("%.2f", "tokens_per_round", "rate"),
    **numbers(PERCENT, *SHARES),
}


def _loads_table(found: BenchFindings) -> None:
    """A row for each load and server."""
    rows: list[dict[str, Any]] = []
    kind = "rate" if found.result.settings.rates else "concurrency"
    for load, side in ((each, side) for each in found.loads for side in each.sides):
        its, gain = load.sides[side], load.speedup if side == "with" else None
        low, high = (gain.interval if gain else None) or (None, None)
        rates = dict(zip(RATES, (its.tokens_per_second, its.throughput), strict=True))
        row: dict[str, Any] = {kind: load.load, "server": sentences.NAMES[side], **rates}
        rows.append(row | {"speedup": gain.value if gain else None, "95 % from": low, "to": high})
    data_table(rows, "server_loads_table", columns=FORMATS)


def _table(found: BenchFindings) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "pairs"} for row in table(found)]
    for row in rows:
        row |= {name: 100 * share for name in SHARES if isinstance(share := row.get(name), float)}
    data_table(rows, "server_table", columns=FORMATS)
