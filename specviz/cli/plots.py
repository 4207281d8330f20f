"""`--plots FOLDER`: the figures of a sweep's rows as files. matplotlib draws them; it is not a requirement of the app.

Colours are Okabe and Ito's, and every workload has a marker of its own: no difference is shown by colour alone.
"""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from specviz.measure.sweep.study import Study

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = "osD^vPX*"
ENDINGS = ("png", "svg")
MOST_NAMES = 40  # prompts whose names fit beside a figure

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
            figure = _figures().Figure(figsize=(7.5, 4.5), layout="constrained")
            axes = figure.subplots()
            draw(axes, study)
            axes.set_title(_plain(study.series.label), fontsize=10)
            axes.grid(alpha=0.3)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            series = f"-{number}" if len(studies) > 1 else ""
            for ending in ENDINGS:
                path = folder / f"{name}{series}.{ending}"
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
    if len(its) <= MOST_NAMES:
        axes.set_yticks(list(its.index), [_plain(name) for name in its["preset"]], fontsize=7)
    else:
        axes.set_ylabel("prompts, the slowest first")
    axes.set_xlabel("speedup at the draft length that did best on the other prompts")


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
