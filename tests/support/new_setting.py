"""What the program does with one more row in its table of settings: run as a program, it prints what it found as JSON.

`specviz.core.settings` is made from its own source and the row, before anything else of specviz is imported.
"""

import argparse
import json
import sys
from dataclasses import replace
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any

ROW = """
    patience: Annotated[
        int,
        Setting(
            least=1,
            most=9,
            label="Patience",
            help="A toy.",
            words="patience {}",
            later=True,
            expected="a patience from 1 to 9",
            metavar="P",
            option_help="a toy",
        ),
    ] = 3

    def __post_init__"""
MODULE = "specviz.core.settings"
FILE = str(Path(__file__).parents[2] / "specviz" / "core" / "settings.py")
END = "\n    def __post_init__"


class WithRow(SourceFileLoader):
    """Reads the module with the row in it, and stores nothing."""

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        assert source.count(END) == 1
        return compile(source.replace(END, ROW), self.path, "exec")


class Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(fullname, FILE, loader=WithRow(fullname, FILE)) if fullname == MODULE else None


def controls() -> None:
    from typing import Any

    import streamlit as st

    from specviz.core.request import RunRequest
    from specviz.ui.shared.persistent_widgets import restore_widgets
    from specviz.ui.shared.run_controls import RunControls

    drawn = RunControls("toy_")
    restore_widgets(drawn.values_of(RunRequest("a")))
    drawn.more([["seed"]], elsewhere=())
    settings: Any = drawn.request("a").settings
    st.text(settings.patience)


def look() -> dict[str, Any]:
    from streamlit.testing.v1 import AppTest

    from scripts.write_settings_table import page
    from specviz.cli.options import add_pair, settings_of
    from specviz.core.request import RunRequest
    from specviz.core.settings import DecodeSettings
    from specviz.data.first_run import first_trace
    from specviz.data.permalink import link_of, request_from_link
    from specviz.measure.sweep.study import split_by_series
    from specviz.measure.sweep.table import dump_frame, frame_of, parse_rows
    from specviz.player.offline import offline_page
    from specviz.ui.helps.helps_state import Choice, choice_from_link
    from tests.support.fake_rows import a_row

    changed: Any = {"patience": 5}
    parser, trace = argparse.ArgumentParser(), first_trace()
    assert trace is not None
    add_pair(parser)
    rows = [a_row(), a_row(patience=7)]
    written, before = dump_frame(frame_of(rows)), dump_frame(frame_of(rows).drop(columns="patience"))
    screen = AppTest.from_function(controls, default_timeout=120).run()
    assert not screen.exception, screen.exception
    slider = next(slider for slider in screen.slider if slider.label == "Patience")
    slider.set_value(8).run()
    return {
        "refused": refused(10),
        "manner": DecodeSettings(**changed).manner,
        "link": link_of(RunRequest("a", settings=DecodeSettings(**changed)))["patience"],
        "linked": patience(request_from_link({"patience": "5"}, []).request.settings),
        "not linked": request_from_link({"patience": "10"}, []).problems,
        "sweep link": patience(choice_from_link({"patience": ["6"]}, [])[0].plan().settings),
        "sweep address": Choice().parameters()["patience"],
        "option": patience(settings_of(parser.parse_args(["--target", "t", "--draft", "d", "--patience", "4"]))),
        "help": " ".join(parser.format_help().split()),
        "columns": written.splitlines()[0].split(","),
        "rows": list(map(patience, parse_rows(written, "x.csv"))),
        "before": list(map(patience, parse_rows(before, "x.csv"))),
        "series": [series.label for series in split_by_series(frame_of(rows))],
        "control": [slider.min, slider.max, slider.help, screen.text[0].value],
        "page": "<dt>Patience</dt><dd>5</dd>"
        in offline_page(replace(trace, settings=replace(trace.settings, **changed))),
        "document": [line for line in page().splitlines() if "patience" in line],
    }


def patience(settings: Any) -> Any:
    return settings.patience


def refused(value: int) -> str:
    from specviz import DecodeSettings, InputError

    wrong: Any = {"patience": value}
    try:
        DecodeSettings(**wrong)
    except InputError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.meta_path.insert(0, Finder())
    print(json.dumps(look()))
