"""What the program does with one more row in its table of settings: run as a program, it checks every place.

`specviz.core.settings` is made from its own source and the row, before anything else of specviz is imported.
"""

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
        Setting(least=1, most=9, label="Patience", help="A toy.", words="patience {}", later=True,
                expected="a patience from 1 to 9", metavar="P", option_help="a toy"),
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

    from specviz.data.links.permalink import RunLink
    from specviz.ui.shared.form import Form

    form = Form("toy", RunLink())
    form.open()
    form.controls.more([["seed"]], elsewhere=())
    settings: Any = form.read().request().settings
    st.text(settings.patience)


def check_values_and_links() -> None:
    import pytest

    from specviz.core.errors import InputError
    from specviz.core.request import RunRequest
    from specviz.core.settings import DecodeSettings
    from specviz.data.links.permalink import RunLink, link_of
    from specviz.ui.when_it_helps.sweeps import SweepChoice

    made: Any = DecodeSettings
    with pytest.raises(InputError, match="patience must be from 1 to 9, not 10"):
        made(patience=10)
    assert made(patience=5).manner == ", patience 5"
    assert link_of(RunRequest("a", settings=made(patience=5)))["patience"] == "5"
    assert patience(RunLink.read({"patience": "5"}, context=[])[0].request().settings) == 5
    refused = ["patience=10 is not a patience from 1 to 9: using 3."]
    assert RunLink.read({"patience": "10"}, context=[])[1] == refused
    assert patience(SweepChoice.read({"patience": ["6"]}, context=[])[0].plan().settings) == 6
    assert SweepChoice().parameters()["patience"] == "3"


def check_control_and_option() -> None:
    from streamlit.testing.v1 import AppTest

    from tests.support.commands import parsed

    screen = AppTest.from_function(controls, default_timeout=120).run()
    assert not screen.exception, screen.exception
    slider = next(slider for slider in screen.slider if slider.label == "Patience")
    assert (slider.min, slider.max, slider.help) == (1, 9, "A toy.")
    slider.set_value(8).run()
    assert screen.text[0].value == "8"
    assert parsed("run --target t --draft d --patience 4")["patience"] == 4


def check_files() -> None:
    from scripts.write_settings_table import page
    from specviz.data.measured.first_run import first_trace
    from specviz.measure.sweep.rows import dump_frame, frame_of, parse_rows
    from specviz.measure.sweep.study import studies_of
    from specviz.player.offline import offline_page
    from tests.support.fake_rows import a_row

    rows = frame_of([a_row(), a_row(patience=7)])
    written, before = dump_frame(rows), dump_frame(rows.drop(columns="patience"))
    assert "patience" in written.splitlines()[0].split(",")[-2:]
    assert [[*map(patience, parse_rows(table, "x.csv"))] for table in (written, before)] == [[3, 7], [3, 3]]
    assert [", patience 7" in study.series.label for study in studies_of(rows)] == [False, True]
    trace: Any = first_trace()
    shown = offline_page(replace(trace, settings=replace(trace.settings, patience=5)))
    assert "<dt>Patience</dt><dd>5</dd>" in shown
    row = "| `patience` | from 1 to 9 | `3` | `patience=3` | `--patience` | A toy. |"
    assert [line for line in page().splitlines() if "patience" in line] == [row]


def patience(settings: Any) -> Any:
    return settings.patience


if __name__ == "__main__":
    sys.meta_path.insert(0, Finder())
    check_values_and_links()
    check_control_and_option()
    check_files()
