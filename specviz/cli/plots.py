"""`--plots FOLDER`: the pages' own figures of a sweep or of a bench, as HTML; with kaleido, as pictures too."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.core.errors import InputError
from specviz.core.names import first_words, short_name

if TYPE_CHECKING:
    import pandas as pd

    from specviz.figures.parts import Figure
    from specviz.measure.endpoints.result import BenchResult

MOST_TITLE = 90  # characters
THEME = {"var(--ink)": "#1b1f24", "var(--line)": "#d5d9de", "var(--background)": "#ffffff"}  # a page has its own

# Imports of figures stand inside the functions: with them come pandas and Plotly.


def check_plots(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}.") from error


def write_plots(folder: Path, rows: "pd.DataFrame") -> Iterator[Path]:
    """Write the figures of every series that has a chain of a fixed length; yields the files."""
    from specviz.figures import sweep as figures
    from specviz.measure.sweep.study import studies_of

    studies = [study for study in studies_of(rows) if not study.fair.empty]
    for number, study in enumerate(studies, start=1):
        drawn = {
            "speedup-by-workload": figures.workload_figure(study.mark_unsure(study.fair), study.fair_rows),
            "speedup-by-draft-length": figures.length_figure(study.points),
            "acceptance-by-workload": figures.acceptance_figure(study.fair),
        }
        for name, figure in drawn.items():
            yield from _write(folder, f"{name}-{number}" if len(studies) > 1 else name, study.series.label, figure)


def write_bench_plots(folder: Path, result: "BenchResult") -> Iterator[Path]:
    """Write the figures of a bench of two servers that its answers allow; yields the files."""
    from specviz.figures import bench as figures
    from specviz.measure.endpoints.findings import BenchFindings
    from specviz.measure.endpoints.sentences import name_server

    found, drawn = BenchFindings(result), {}
    kind = "rate" if result.settings.rates else "concurrency"
    if found.measured:
        drawn[f"speedup-by-{kind}"] = figures.load_figure(found)
        drawn["speedup-by-prompt"] = figures.prompts_figure(found.measured[0][0], result.prompts)
    if found.loads:
        drawn["times"] = figures.times_figure(found.loads[0])
        drawn[f"throughput-by-{kind}"] = figures.throughput_figure(found)
    if found.acceptance and (accepted := figures.acceptance_figure(found.acceptance)):
        drawn["acceptance-by-position"] = accepted
    for name, figure in drawn.items():
        yield from _write(folder, name, f"{name_server(result.with_)}, {short_name(result.with_.model)}", figure)


def _write(folder: Path, name: str, title: str, figure: "Figure") -> Iterator[Path]:
    from plotly import io  # type: ignore[import-untyped]

    from specviz.figures.parts import figure_text

    layout = figure["layout"]
    named_axis = {"automargin": True, **layout["yaxis"]}  # else long names beside it are cut
    titled = layout | {"title": figure_text(first_words(title, MOST_TITLE)), "yaxis": named_axis}
    text = json.dumps(figure | {"layout": titled})
    for named, colour in THEME.items():
        text = text.replace(json.dumps(named), json.dumps(colour))
    drawn = json.loads(text)
    for ending in ("html", "svg", "png") if find_spec("kaleido") else ("html",):
        path = folder / f"{name}.{ending}"
        try:
            if ending == "html":  # all pages share one plotly.min.js
                io.write_html(drawn, path, include_plotlyjs="directory", validate=False)
            else:
                io.write_image(drawn, path, scale=2, validate=False)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from error
        yield path
