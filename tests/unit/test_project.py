"""What the files around the program promise: requirements, settings, model cards, hosting, a cluster."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.try_dockerfile import Step, context, steps
from specviz.models.catalogue import count_parameters
from specviz.service.wanted import service_wanted
from tests.support.known import known
from tests.unit.test_structure import modules_in, tree_of

ROOT = Path(__file__).parents[2]
PROGRAM = [*ROOT.glob("specviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("*.py")]
TOOLS = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")]
TOOLS += ROOT.glob("training/*.py")
NAMED = {"yaml": "pyyaml", "PIL": "pillow"}  # packages that are imported by another name
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PLOTS, RAY = PROJECT["project"]["optional-dependencies"]["plots"], PROJECT["project"]["optional-dependencies"]["ray"]
TESTS = PROJECT["dependency-groups"]["dev"]
MODELS = ["wren-base", "wren-small", "wren-mini", "wren-nano"]


def lines(requirements: str) -> list[str]:
    return [line for line in requirements.splitlines() if line and not line.startswith("#")]


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


def test_pins_fit_what_is_imported() -> None:
    on_nodes = ROOT / "specviz/service/serve_engines.py"  # the one module that only the Ray side imports
    program = lines((ROOT / "requirements.txt").read_text())
    assert imported([on_nodes]) <= set(pins(program + RAY))
    assert imported([file for file in PROGRAM if file != on_nodes]) <= set(pins(program))
    assert imported(TOOLS) <= set(pins(program + TESTS + RAY))
    assert (set(pins(PLOTS)), set(pins(RAY))) == ({"matplotlib"}, {"grpcio", "ray"})
    assert PROJECT["project"]["dependencies"] == program
    assert {"torch==2.13.0", "streamlit==1.67.0"} <= set(program)


def test_a_visitor_sees_no_traceback_and_no_menu_of_streamlits_own() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["client"]["showSidebarNavigation"] is False  # else a server's first page jumps: 0.47 of layout shift
    assert config["client"]["showErrorDetails"] == "none"
    assert config["server"]["fileWatcherType"] == "none"


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


CLOUD = (ROOT / "cloud/requirements.txt").read_text()
DOCKERFILE = steps((ROOT / "Dockerfile").read_text())
PYTORCH = "--find-links https://download.pytorch.org/whl/cpu/torch/"


def only(name: str) -> Step:
    [step] = [step for step in DOCKERFILE if step.name == name]
    return step


def test_the_image_has_its_packages_and_no_rights() -> None:
    root = lines((ROOT / "requirements.txt").read_text())
    # An extra index could offer any package; a page of links to one package cannot.
    assert lines(CLOUD) == [PYTORCH, *(f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in root)]
    [install] = [step.words for step in DOCKERFILE if step.name == "RUN" and "pip install" in step.words]
    lock, rest = "--no-deps --require-hashes --requirement requirements.lock", "--requirement cloud/requirements.txt"
    assert install.index(lock) < install.index(rest), "else more than torch comes without a hash"
    names, (user, _, group) = [step.name for step in DOCKERFILE], only("USER").words.partition(":")
    assert min(int(user), int(group)) >= 10000
    assert {"RUN", "COPY"}.isdisjoint(names[names.index("USER") :])
    port, command = only("EXPOSE").words, json.loads(only("CMD").words)
    assert f"http://127.0.0.1:{port}/_stcore/health" in only("HEALTHCHECK").words
    assert (command[command.index("--server.port") + 1], command[command.index("--server.address") + 1]) == (
        port,
        "0.0.0.0",
    )


def test_the_image_gets_the_program_and_its_models_and_nothing_else() -> None:
    sent = set(context(ROOT))
    assert {"app.py", "assets/models/wren-base/model.safetensors", ".streamlit/config.toml", "pages/watch.py"} <= sent
    assert {path.split("/")[0] for path in sent if "/" in path} - {"benchmarks"} == {
        "assets", "cloud", "pages", "specviz", ".streamlit"
    }  # fmt: skip
    locks = {"requirements.lock", "requirements-ray.lock"}  # the second one for the image with Ray
    assert {path for path in sent if "/" not in path} == {"app.py", "serve.py", "LICENSE", *locks}
    assert [path for path in sent if "__pycache__" in path] == []


FOLDER = ROOT / "examples/cluster"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
APPS = ("app-1", "app-2")


def test_every_app_server_of_the_cluster_finds_the_engines_with_documented_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documented = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    settings = SERVICES["app-1"]["environment"]
    assert settings == SERVICES["app-2"]["environment"]
    assert [name for name in settings if f"`{name}" not in documented] == []
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


def test_the_image_with_ray_has_what_is_locked() -> None:
    install = (FOLDER / "Dockerfile").read_text()
    assert re.search(r"--no-deps --require-hashes \\\n\s+--requirement /app/requirements-ray.lock\n", install)
