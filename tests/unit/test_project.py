"""What the files around the program promise: packages and their hashes, the image, figures that scripts write."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts.write import WRITERS
from specviz import __version__
from specviz.core.files import RESULTS
from tests.support.known import known

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIRED = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
LOCKS = {
    "requirements.lock": REQUIRED,
    "requirements-dev.lock": PROJECT["dependency-groups"]["dev"],
    "requirements-ray.lock": PROJECT["project"]["optional-dependencies"]["ray"],
}
FROM_TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*")  # what depends on the machine


def locked(name: str) -> dict[str, dict[str, int]]:
    """Package → version → hashes. A package has several versions where newer Pythons need another one."""
    found: dict[str, dict[str, int]] = {}
    text = (ROOT / name).read_text()
    entries = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)((?:\\\n|.)*)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE)), "nothing but pins"
    for package, version, rest in entries:
        found.setdefault(package, {})[version] = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", rest))
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_what_is_required_with_hashes_and_names_no_place_that_files_come_from(name: str) -> None:
    own = locked(name)
    here = locked("requirements.lock") | own
    plain = [known(re.fullmatch(r"([a-z0-9_-]+)(?:\[[a-z]+\])?==([0-9.]+)", line)) for line in LOCKS[name]]
    asked = {each[1].replace("_", "-"): [each[2]] for each in plain if each[1] != "torch"}
    assert {package: list(here.get(package, {})) for package in asked} == asked
    assert [package for package, versions in own.items() if not all(versions.values())] == []
    assert [package for package in own if FROM_TORCH.fullmatch(package)] == []
    assert not re.search(r"://|^-|index", (ROOT / name).read_text(), re.MULTILINE)
    program, tools, ray = map(locked, LOCKS)
    assert set(program) & {*tools, *ray} == set()
    assert [one for one in ray.keys() & tools if list(ray[one]) != list(tools[one])] == []


def test_packages_are_installed_with_their_hashes() -> None:
    assert "LOCKED := -m pip install --no-deps --require-hashes -r\n" in (ROOT / "Makefile").read_text()
    for file in (ROOT / "Dockerfile", ROOT / "examples/cluster/Dockerfile"):
        install = known(re.search(r"pip\b[^&]*? install ([^&]*)", file.read_text()))[1]  # the first one
        assert "--no-deps --require-hashes" in install, "else more than torch comes without a hash"


def test_the_version_and_what_a_visitor_does_not_see_of_streamlit() -> None:
    assert PROJECT["project"]["version"] == __version__
    client = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["client"]
    assert client["showSidebarNavigation"] is False  # else a server's first page jumps: 0.47 of layout shift
    assert client["showErrorDetails"] == "none"


def test_the_image_has_its_packages_and_no_rights() -> None:
    # An extra index could offer any package; a page of links to one package cannot.
    cloud = [line for line in (ROOT / "cloud/requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    torch_of_cpus = [f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in REQUIRED]
    assert cloud == ["--find-links https://download.pytorch.org/whl/cpu/torch/", *torch_of_cpus]
    dockerfile = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    image = dict(re.findall(r"^([A-Z]+) (.*)", dockerfile, re.MULTILINE))  # the last of each
    assert min(map(int, image["USER"].split(":"))) >= 10000
    assert f"http://127.0.0.1:{image['EXPOSE']}/_stcore/health" in image["HEALTHCHECK"]
    assert f'"--server.port", "{image["EXPOSE"]}"' in image["CMD"]


def test_make_run_listens_where_it_is_asked_to() -> None:
    asked = ["make", "--dry-run", "run", "PORT=8765", "HOST=0.0.0.0"]
    command = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--server.port 8765" in command
    assert "--server.address 0.0.0.0" in command


def test_what_was_measured_and_is_shown_is_in_the_image_and_in_the_wheel() -> None:
    """Found: an image without two of these files, so that a page of Learn could not be drawn there."""
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "specviz").rglob("*.py"))
    read = {f"benchmarks/results/{name}" for name in re.findall(r'RESULTS / "(\w+\.json)"', code)}
    assert len(read) > 3
    assert read <= PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].keys()
    assert read <= {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines()}


@pytest.mark.parametrize("script", WRITERS, ids=lambda script: script.__name__)
def test_a_file_is_what_its_script_writes(script: ModuleType) -> None:
    pages = script.pages()
    assert pages
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "python -m scripts.write"


SIZE = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (?:s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)


def test_the_readmes_rows_and_the_sizes_of_a_server_are_stored_figures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("| what | figure |")[2].partition("\n\n")[0]
    rows = [line for line in readme.splitlines() if line.startswith("| ") and "---" not in line]
    measurements = (ROOT / "docs/measurements.md").read_text(encoding="utf-8")
    assert rows
    assert [row for row in rows if row.removesuffix(" |") not in measurements] == []
    sizes = SIZE.findall((ROOT / "docs/operating.md").read_text(encoding="utf-8"))
    assert sizes
    for what, figure, file, key in sizes:
        stored = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
        for name in key.split("."):
            stored = stored[name]
        assert round(stored, len(figure.partition(".")[2])) == float(figure), what
