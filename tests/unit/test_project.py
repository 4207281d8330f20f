"""What the files around the program promise: packages and their hashes, model cards, the image, the cluster."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.try_dockerfile import context, steps
from specviz.models.catalogue import count_parameters
from specviz.service.wanted import service_wanted
from tests.support.known import known
from tests.unit.test_structure import modules_in, tree_of

ROOT = Path(__file__).parents[2]
PROGRAM = [*ROOT.glob("specviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("*.py")]
TOOLS = [file for folder in ("tests", "benchmarks", "scripts", "training") for file in (ROOT / folder).glob("**/*.py")]
NAMED = {"yaml": "pyyaml", "PIL": "pillow"}  # packages that are imported by another name
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
RAY = PROJECT["project"]["optional-dependencies"]["ray"]
TESTS = PROJECT["dependency-groups"]["dev"]
REQUIRED = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-ray.lock"]
FROM_TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*")  # what depends on the machine


def pins(required: list[str]) -> dict[str, str]:
    """Package → version. Every line is a plain pin."""
    for line in required:
        assert re.fullmatch(r"[a-z0-9_-]+(\[[a-z]+\])?==[0-9.]+", line), f"{line!r} is not a plain pin"
    return dict(re.sub(r"\[.*\]", "", line).split("==") for line in required)


def imported(files: list[Path]) -> set[str]:
    """Imported packages that are not Python's own or ours."""
    names = {module.split(".")[0] for file in files for module in modules_in(tree_of(file))}
    ours = {"specviz", "benchmarks", "scripts", "tests", "training", *(path.stem for path in ROOT.glob("tests/*.py"))}
    return {NAMED.get(name, name) for name in names - ours - sys.stdlib_module_names}


def test_what_is_imported_is_required() -> None:
    on_nodes = ROOT / "specviz/service/serve_engines.py"  # the one module that only the Ray side imports
    assert imported([on_nodes]) <= set(pins(REQUIRED + RAY))
    assert imported([file for file in PROGRAM if file != on_nodes]) <= set(pins(REQUIRED))
    assert imported(TOOLS) <= set(pins(REQUIRED + TESTS + RAY))
    assert PROJECT["project"]["dependencies"] == REQUIRED


def locked(name: str) -> dict[str, dict[str, int]]:
    """Package → version → hashes. A package has several versions where newer Pythons need another one."""
    found: dict[str, dict[str, int]] = {}
    text = (ROOT / name).read_text()
    entries = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)((?:\\\n|.)*)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE)), "nothing but pins"
    for package, version, rest in entries:
        found.setdefault(package, {})[version] = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", rest))
    return found


@pytest.mark.parametrize(("name", "required"), [*zip(LOCKS, (REQUIRED, TESTS, RAY), strict=True)], ids=LOCKS)
def test_a_lock_has_what_is_required_with_hashes_and_names_no_place_that_files_come_from(
    name: str, required: list[str]
) -> None:
    own = locked(name)
    here = locked(LOCKS[0]) | own
    asked = {package.replace("_", "-"): [version] for package, version in pins(required).items() if package != "torch"}
    assert {package: list(here.get(package, {})) for package in asked} == asked
    assert [package for package, versions in own.items() if not all(versions.values())] == []
    assert [package for package in own if FROM_TORCH.fullmatch(package)] == []
    assert not re.search(r"://|^-|index", (ROOT / name).read_text(), re.MULTILINE)


def test_the_locks_agree_and_a_package_of_the_program_is_in_its_lock_only() -> None:
    program, tools, ray = map(locked, LOCKS)
    assert set(program) & {*tools, *ray} == set()
    assert [one for one in ray.keys() & tools if list(ray[one]) != list(tools[one])] == []


def test_packages_are_installed_with_their_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "LOCKED := -m pip install --no-deps --require-hashes -r\n" in makefile
    for file in (ROOT / "Dockerfile", ROOT / "examples/cluster/Dockerfile"):
        install = known(re.search(r"pip\b[^&]*? install ([^&]*)", file.read_text()))[1]  # the first one
        assert "--no-deps --require-hashes" in install, "else more than torch comes without a hash"


def test_a_visitor_sees_no_traceback_and_no_menu_of_streamlits_own() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["client"]["showSidebarNavigation"] is False  # else a server's first page jumps: 0.47 of layout shift
    assert config["client"]["showErrorDetails"] == "none"


@pytest.mark.parametrize("name", ["wren-base", "wren-small", "wren-mini", "wren-nano"])
def test_a_model_card_agrees_with_its_files(name: str) -> None:
    folder = ROOT / "assets/models" / name
    card = (folder / "README.md").read_text(encoding="utf-8")
    config = json.loads((folder / "config.json").read_text())
    assert f"{config['num_hidden_layers']} layer" in card
    assert f"width {config['hidden_size']}" in card
    assert f"{count_parameters(folder / 'model.safetensors'):,} parameters" in card


def test_the_image_has_its_packages_and_no_rights() -> None:
    # An extra index could offer any package; a page of links to one package cannot.
    cloud = [line for line in (ROOT / "cloud/requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    torch_of_cpus = [f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in REQUIRED]
    assert cloud == ["--find-links https://download.pytorch.org/whl/cpu/torch/", *torch_of_cpus]
    image = {step.name: step.words for step in steps((ROOT / "Dockerfile").read_text())}
    user, _, group = image["USER"].partition(":")
    assert min(int(user), int(group)) >= 10000
    assert f"http://127.0.0.1:{image['EXPOSE']}/_stcore/health" in image["HEALTHCHECK"]
    assert f'"--server.port", "{image["EXPOSE"]}"' in image["CMD"]
    sent = set(context(ROOT))
    assert {"app.py", "assets/models/wren-base/model.safetensors", ".streamlit/config.toml", "pages/watch.py"} <= sent
    assert {path for path in sent if path.startswith(("tests/", ".git/", ".venv/")) or "__pycache__" in path} == set()


FOLDER = ROOT / "examples/cluster"
SERVICES: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
PROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
APPS = ("app-1", "app-2")


def test_every_app_server_of_the_cluster_finds_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SERVICES["app-1"]["environment"]
    assert settings == SERVICES["app-2"]["environment"]
    head, node = SERVICES["engines"]["command"][-1], SERVICES["ray-node"]["command"]
    port = known(re.search(r"--head .*--port=(\d+)", head))
    assert f"--address=engines:{port[1]} " in node
    assert settings["SPECVIZ_RUNS"].startswith(SERVICES["app-1"]["volumes"][0].split(":")[1])
    for name, value in (settings | {"SPECVIZ_ENGINES_TOKEN": "0123456789abcdef", "SPECVIZ_RUNS": "memory"}).items():
        monkeypatch.setenv(name, value)
    assert len(service_wanted()._fleet.drivers) == 2


def test_the_proxy_of_the_cluster_keeps_a_visitor_on_one_server_that_believes_its_addresses() -> None:
    port = known(re.search(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    servers = re.findall(r"^    server (\S+) (\S+):(\d+) cookie (\S+)$", PROXY, re.MULTILINE)
    assert servers == [(app, app, port[1], app) for app in APPS]
    bound = known(re.search(r"bind :(\d+)", PROXY))
    assert SERVICES["proxy"]["ports"] == [f"127.0.0.1:8501:{bound[1]}"]
    address = SERVICES["proxy"]["networks"]["inside"]["ipv4_address"]
    assert [SERVICES[app]["environment"]["FORWARDED_ALLOW_IPS"] for app in APPS] == [address] * 2
    assert "set-header X-Forwarded-For %[src]" in PROXY
