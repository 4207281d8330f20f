"""What the files around the program promise: its requirements, its settings, its model cards."""

import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from specviz.models.catalogue import count_parameters

ROOT = Path(__file__).parents[2]
PROGRAM = [*ROOT.glob("specviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("*.py")]
TOOLS = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")]
NAMED = {"yaml": "pyyaml"}  # packages that are imported by another name
MODELS = ["wren-base", "wren-small", "wren-mini", "wren-nano"]


def pins(name: str) -> dict[str, str]:
    """Package → version. Every line is a plain pin, a comment or another file."""
    lines = (ROOT / name).read_text().splitlines()
    required = [line for line in lines if line and not line.startswith(("#", "-r "))]
    for line in required:
        assert re.fullmatch(r"[a-z0-9_-]+==[0-9.]+", line), f"{name}: {line!r} is not a plain pin"
    return dict(line.split("==") for line in required)


def imported(files: list[Path]) -> set[str]:
    """Imported packages that are not Python's own or ours."""
    names: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add((node.module or "").split(".")[0])
    ours = {"specviz", "benchmarks", "scripts", "tests", *(path.stem for path in ROOT.glob("tests/*.py"))}
    return {NAMED.get(name, name) for name in names - ours - sys.stdlib_module_names}


def test_what_the_program_imports_is_pinned() -> None:
    assert imported(PROGRAM) <= set(pins("requirements.txt"))


def test_what_the_tests_import_is_pinned() -> None:
    assert imported(TOOLS) <= {*pins("requirements.txt"), *pins("requirements-dev.txt"), *pins("requirements-ray.txt")}


def test_what_is_optional_is_pinned_apart() -> None:
    assert set(pins("requirements-plots.txt")) == {"matplotlib"}
    assert set(pins("requirements-ray.txt")) == {"grpcio", "ray"}


def test_the_package_requires_what_requirements_txt_pins() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert dict(line.split("==") for line in project["dependencies"]) == pins("requirements.txt")


def test_the_two_versions_that_measurements_depend_on() -> None:
    required = pins("requirements.txt")
    assert (required["torch"], required["streamlit"]) == ("2.13.0", "1.67.0")


def luminance(color: str) -> float:
    """WCAG 2's relative luminance of #rrggbb."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ground", ["backgroundColor", "secondaryBackgroundColor"])
@pytest.mark.parametrize("ink", ["textColor", "primaryColor", "linkColor", "grayTextColor"])
def test_the_themes_text_has_enough_contrast(mode: str, ground: str, ink: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"][mode]
    lighter, darker = sorted((luminance(theme[ink]), luminance(theme[ground])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_a_visitor_never_sees_a_traceback() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["client"]["showErrorDetails"] == "none"


def test_only_make_dev_watches_the_files() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["server"]["fileWatcherType"] == "none"
    recipes = re.findall(r"^(\w+):.*((?:\n\t.*)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [name for name, recipe in recipes if "--server.fileWatcherType auto" in recipe] == ["dev"]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_card_agrees_with_its_files(name: str) -> None:
    folder = ROOT / "assets/models" / name
    card = (folder / "README.md").read_text(encoding="utf-8")
    config = json.loads((folder / "config.json").read_text())
    assert re.match(r"---\nlanguage: en\nlicense: \w+\n", card)
    assert f"{config['num_hidden_layers']} layer" in card
    assert f"width {config['hidden_size']}" in card
    assert f"{count_parameters(folder / 'model.safetensors'):,} parameters" in card
    assert "CDLA-Sharing-1.0" in card
