"""`--plots`: figures as files where matplotlib is there, and one sentence where it is not."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from specviz.cli import plots
from specviz.core.errors import InputError
from specviz.measure.sweep.table import frame_of
from tests.support.fake_rows import row_at


def without_matplotlib(name: str) -> Any:
    if name.startswith("matplotlib"):
        raise ImportError(name)
    return import_module(name)


def test_without_matplotlib_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "import_module", without_matplotlib)
    with pytest.raises(InputError, match="--plots needs matplotlib, which is not here: pip install matplotlib"):
        plots.check_plots(tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def rows(*names: str, temperature: float = 0.0) -> list[Any]:
    return [
        row_at(name, length, 1 + 0.1 * length + 0.05 * number, number=number, temperature=temperature)
        for name in names
        for number in (1, 2, 3)
        for length in (2, 4)
    ]


def test_each_figure_is_drawn_as_png_and_as_svg(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    plots.check_plots(folder)
    drawn = list(plots.write_plots(folder, frame_of(rows("story", "$x^2$ <b>"))))
    assert [path.name for path in drawn] == [f"{name}.{ending}" for name in plots.FIGURES for ending in ("png", "svg")]
    for path in drawn:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG") if path.suffix == ".png" else b"<svg" in content
        assert b"<b>" not in content


def test_every_pair_of_models_has_figures_of_its_own(tmp_path: Path) -> None:
    drawn = list(plots.write_plots(tmp_path, frame_of([*rows("story"), *rows("story", temperature=1.0)])))
    assert len(drawn) == 2 * 2 * len(plots.FIGURES)
    assert {path.stem.rpartition("-")[2] for path in drawn} == {"1", "2"}


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "import_module", lambda name: None)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        plots.check_plots(tmp_path / "file")
