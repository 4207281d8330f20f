"""`--plots FOLDER`: the figures of a sweep's rows, or of a bench, as files. matplotlib, which draws them, is optional.

Colours are Okabe and Ito's, and every workload has a marker of its own: no difference is shown by colour alone.
"""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.core.errors import InputError
from specviz.core.names import first_words, short_name

if TYPE_CHECKING:
    import pandas as pd

    from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
    from specviz.measure.endpoints.pairs import Gain
    from specviz.measure.endpoints.result import BenchResult
    from specviz.measure.sweep.study import Study

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = "osD^vPX*"
ENDINGS = ("png", "svg")
MOST_NAMES = 40  # prompts whose names fit beside a figure
MOST_TITLE = 90  # characters
SHAPES = {"square": "s", "circle-open": "o", "diamond-open": "D", "square-open": "s"}  # Plotly's names, matplotlib's

PlotFunction = Callable[[Any, "Study"], None]


def check_plots(folder: Path) -> None:
    _figures()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.") from error


def _figures() -> Any:
    """matplotlib's module of figures: it needs neither a screen nor pyplot's global state."""
    try:
        return import_module("matplotlib.figure")
    except ImportError:
        raise InputError("--plots needs matplotlib, which is not here: pip install matplotlib.") from None


def write_plots(folder: Path, rows: "pd.DataFrame") -> Iterator[Path]:
    """Draw the figures of every series of the rows; yields the files."""
    from specviz.measure.sweep.study import studies_of  # imports pandas

    studies = studies_of(rows)
    for number, study in enumerate(studies, start=1):
        for name, draw in FIGURES.items():
            series = f"-{number}" if len(studies) > 1 else ""
            yield from _save(folder, f"{name}{series}", study.series.label, draw, study)


def write_bench_plots(folder: Path, result: "BenchResult") -> Iterator[Path]:
    """Draw the figures of a bench of two servers; yields the files. Those without figures to draw are left out."""
    from specviz.measure.endpoints.findings import BenchFindings
    from specviz.measure.endpoints.sentences import name_server

    found = BenchFindings(result)
    title = first_words(f"{name_server(result.with_)}, {short_name(result.with_.model)}", MOST_TITLE)
    for name, (draw, is_known) in BENCH_FIGURES.items():
        if is_known(found):
            yield from _save(folder, name, title, draw, found)


def _save(folder: Path, name: str, title: str, draw: Callable[[Any, Any], None], shown: Any) -> Iterator[Path]:
    figure = _figures().Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.subplots()
    draw(axes, shown)
    axes.set_title(_plain(title), fontsize=10)
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for ending in ENDINGS:
        path = folder / f"{name}.{ending}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a prompt's name may have signs that the font has not
                figure.savefig(path, dpi=150)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from error
        yield path


def _plain(text: str) -> str:
    """The text as it is: matplotlib would read what stands between two dollar signs as a formula."""
    return text.replace("$", r"\$")


def speedup_by_length(axes: Any, study: "Study") -> None:
    """The measured speedup at each draft length, with its 95 % interval over the prompts."""
    axes.axhline(1, color="0.4", linestyle="--", linewidth=1)
    for style, its in _workloads(study):
        bars = [(its["speedup"] - its["low"]).fillna(0), (its["high"] - its["speedup"]).fillna(0)]
        axes.errorbar(its["draft_length"], its["speedup"], yerr=bars, capsize=3, **style)
    _draw_lengths(axes, study, "speedup over the target alone, measured")


def acceptance_by_length(axes: Any, study: "Study") -> None:
    """The share of drafted tokens that were accepted, counted."""
    for style, its in _workloads(study):
        axes.plot(its["draft_length"], its["acceptance_rate"], **style)
    axes.set_ylim(0, 1)
    _draw_lengths(axes, study, "accepted / drafted, counted")


def speedup_by_prompt(axes: Any, study: "Study") -> None:
    """Each prompt's speedup at the draft length that did best on the other prompts, the slowest first."""
    from specviz.measure.sweep.study import pooled  # imports pandas

    its = pooled(study.fair_rows, ["workload", "preset"]).sort_values("speedup", ignore_index=True)
    axes.axvline(1, color="0.4", linestyle="--", linewidth=1)
    axes.plot(its["speedup"], its.index, "o", color=COLOURS[0])
    _name_prompts(axes, its["preset"].to_list())
    axes.set_xlabel("speedup at the draft length that did best on the other prompts")


def _name_prompts(axes: Any, names: list[str]) -> None:
    """From the bottom to the top, where they fit."""
    if len(names) <= MOST_NAMES:
        axes.set_yticks(range(len(names)), [_plain(first_words(name, MOST_NAMES)) for name in names], fontsize=7)
    else:
        axes.set_ylabel("prompts, the slowest first")


def _workloads(study: "Study") -> Iterator[tuple[dict[str, Any], "pd.DataFrame"]]:
    """For each workload how it is drawn, and its points by draft length."""
    from specviz.measure.sweep.sentences import workload_title  # imports pandas

    for place, (name, its) in enumerate(study.points.groupby("workload", sort=False)):
        style = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        yield style | {"label": _plain(workload_title(str(name)))}, its.sort_values("draft_length")


def _draw_lengths(axes: Any, study: "Study", measured: str) -> None:
    axes.set_xlabel("draft length γ")
    axes.set_ylabel(measured)
    axes.set_xticks(sorted(set(study.points["draft_length"])))
    if study.points["workload"].nunique() > 1:
        axes.legend(fontsize=8)


FIGURES: dict[str, PlotFunction] = {
    "speedup-by-draft-length": speedup_by_length,
    "acceptance-by-draft-length": acceptance_by_length,
    "speedup-by-prompt": speedup_by_prompt,
}


def speedup_by_concurrency(axes: Any, found: "BenchFindings") -> None:
    """One user's speedup against the requests under way, with its 95 % interval over the prompts."""
    places = range(len(found.measured))
    axes.axhline(1, color="0.4", linestyle="--", linewidth=1)
    axes.plot(places, [load.speedup.value for load in found.measured if load.speedup], color="0.6", zorder=0)
    for place, load in zip(places, found.measured, strict=True):
        if load.speedup:
            _mark(axes, place, load.speedup)
    _draw_loads(axes, found.measured, "speedup of one user's tokens, measured")
    axes.margins(x=0.15)  # the words beside the marks need room
    axes.set_ylim(bottom=0)


def _mark(axes: Any, place: int, gain: "Gain") -> None:
    look, (low, high) = gain.judged.look, gain.interval or (gain.value, gain.value)
    face = {"mfc": "none"} if look.shape.endswith("open") else {}
    bars = [[gain.value - low], [high - gain.value]]
    axes.errorbar(place, gain.value, yerr=bars, fmt=SHAPES[look.shape], color=look.fill, capsize=3, **face)
    axes.annotate(gain.judged.said, (place, gain.value), xytext=(7, 7), textcoords="offset points", fontsize=8)


def _draw_loads(axes: Any, loads: "list[LoadFindings]", measured: str) -> None:
    axes.set_xlabel("requests under way at once")
    axes.set_ylabel(measured)
    axes.set_xticks(range(len(loads)), [str(load.concurrency) for load in loads])


def throughput_by_concurrency(axes: Any, found: "BenchFindings") -> None:
    """Tokens a second of all users together, with and without speculation."""
    for place, side in enumerate(found.loads[0].sides):
        rates = [load.sides[side].throughput for load in found.loads]
        axes.plot(range(len(rates)), rates, color=COLOURS[place], marker=MARKERS[place], label=f"{side} speculation")
    axes.legend(fontsize=8)
    _draw_loads(axes, found.loads, "tokens a second, all users")
    axes.set_ylim(bottom=0)


def acceptance_by_position(axes: Any, found: "BenchFindings") -> None:
    """The share of rounds that accept each position of the draft, counted by the server."""
    survival = found.acceptance.whole.survival if found.acceptance else ()
    axes.bar(range(1, len(survival) + 1), survival, color=COLOURS[0])
    axes.set_ylim(0, 1)
    axes.set_xlabel("position in the draft")
    axes.set_ylabel("share of rounds that accept it, counted")


def speedup_by_bench_prompt(axes: Any, found: "BenchFindings") -> None:
    """Each prompt's speedup at the lowest measured concurrency, the slowest first."""
    load = found.measured[0]
    ordered = sorted(load.prompts, key=lambda each: each.ratio)
    axes.axvline(1, color="0.4", linestyle="--", linewidth=1)
    axes.plot([each.ratio for each in ordered], range(len(ordered)), "o", color=COLOURS[0])
    _name_prompts(axes, [found.result.prompts[each.number].name for each in ordered])
    axes.set_xlabel(f"speedup at concurrency {load.concurrency}")


BENCH_FIGURES: dict[str, tuple[Callable[[Any, "BenchFindings"], None], Callable[["BenchFindings"], bool]]] = {
    "speedup-by-concurrency": (speedup_by_concurrency, lambda found: bool(found.measured)),
    "throughput-by-concurrency": (throughput_by_concurrency, lambda found: bool(found.loads)),
    "acceptance-by-position": (
        acceptance_by_position,
        lambda found: bool(found.acceptance and found.acceptance.whole.survival),
    ),
    "speedup-by-prompt": (speedup_by_bench_prompt, lambda found: bool(found.measured)),
}
