"""What the program does with one more row in its table of settings: run as a program, it checks every place."""

from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

ROW = """
    patience: Annotated[
        int,
        Setting(least=1, most=9, label="Patience", help="A toy.", words="patience {}", later=True,
                expected="a patience from 1 to 9", metavar="P", option_help="a toy"),
    ] = 3
"""
END = "\n    def __post_init__"
own = SourceFileLoader.get_code


def with_row(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    """The module with the row in it; nothing is stored."""
    if fullname != "specviz.core.settings":
        return own(loader, fullname)
    source = Path(loader.path).read_text(encoding="utf-8")
    assert source.count(END) == 1
    return compile(source.replace(END, ROW + END), loader.path, "exec")


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


def check_values_and_controls() -> None:
    from streamlit.testing.v1 import AppTest

    from specviz.core.request import RunRequest
    from specviz.core.settings import DecodeSettings
    from specviz.data.links.permalink import RunLink, link_of
    from specviz.ui.when_it_helps.sweeps import SweepChoice
    from tests.support.commands import parsed

    made: Any = DecodeSettings
    assert made(patience=5).manner == ", patience 5"
    assert link_of(RunRequest("a", settings=made(patience=5)))["patience"] == "5"
    assert RunLink.read({"patience": "5"}, context=[])[0].request().settings == made(patience=5)
    refused = ["patience=10 is not a patience from 1 to 9: using 3."]
    assert RunLink.read({"patience": "10"}, context=[])[1] == refused
    choice: Any = SweepChoice.read({"patience": ["6"]}, context=[])[0]
    assert (choice.plan().settings.patience, choice.parameters()["patience"]) == (6, "6")
    screen = AppTest.from_function(controls, default_timeout=120).run()
    slider = next(slider for slider in screen.slider if slider.label == "Patience")
    assert (slider.min, slider.max, slider.help) == (1, 9, "A toy.")
    assert slider.set_value(8).run().text[0].value == "8"
    assert parsed("run --target t --draft d --patience 4")["patience"] == 4


def check_files() -> None:
    from scripts.write_settings_table import page
    from specviz.data.measured.first_run import first_trace
    from specviz.measure.sweep.rows import dump_frame, frame_of, parse_rows
    from specviz.measure.sweep.study import studies_of
    from specviz.player.offline import offline_page
    from tests.support.fake_rows import a_row

    rows, trace = frame_of([a_row(), a_row(patience=7)]), first_trace()
    for table, held in ((rows, [3, 7]), (rows.drop(columns="patience"), [3, 3])):
        read: Any = parse_rows(dump_frame(table), "x.csv")
        assert [row.patience for row in read] == held
    assert [", patience 7" in study.series.label for study in studies_of(rows)] == [False, True]
    settings: Any = {"patience": 5}
    assert "<dt>Patience</dt><dd>5</dd>" in offline_page(replace(trace, settings=replace(trace.settings, **settings)))
    row = "| `patience` | from 1 to 9 | `3` | `patience=3` | `--patience` | A toy. |"
    assert [line for line in page().splitlines() if "patience" in line] == [row]


if __name__ == "__main__":
    SourceFileLoader.get_code = with_row  # type: ignore[assignment, method-assign]
    check_values_and_controls()
    check_files()
