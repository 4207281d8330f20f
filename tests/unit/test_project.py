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
from tests.support.html import contrast
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


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_themes_text_has_enough_contrast(mode: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"][mode]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for ink in ("textColor", "primaryColor", "linkColor", "grayTextColor"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)


def test_a_visitor_sees_no_traceback_and_only_make_dev_watches_the_files() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["client"]["showSidebarNavigation"] is False  # else a server's first page jumps: 0.47 of layout shift
    assert config["client"]["showErrorDetails"] == "none"
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


CLOUD = (ROOT / "cloud/requirements.txt").read_text()
DOCKERFILE = steps((ROOT / "Dockerfile").read_text())
PYTORCH = "--find-links https://download.pytorch.org/whl/cpu/torch/"


def only(name: str) -> Step:
    [step] = [step for step in DOCKERFILE if step.name == name]
    return step


def test_the_image_has_its_packages_and_no_rights() -> None:
    root = lines((ROOT / "requirements.txt").read_text())
    assert lines(CLOUD) == [PYTORCH, *(f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in root)]
    # An extra index could offer any package; a page of links to one package cannot.
    assert [line for line in lines(CLOUD) if line.startswith("-")] == [PYTORCH]
    [install] = [step.words for step in DOCKERFILE if step.name == "RUN" and "pip install" in step.words]
    lock, rest = "--no-deps --require-hashes --requirement requirements.lock", "--requirement cloud/requirements.txt"
    assert install.index(lock) < install.index(rest), "else more than torch comes without a hash"
    assert not re.search(r"index-url|nvidia|cu\d\d", CLOUD + (ROOT / "Dockerfile").read_text())
    names = [step.name for step in DOCKERFILE]
    user, _, group = only("USER").words.partition(":")
    assert int(user) >= 10000
    assert int(group) >= 10000
    assert {"RUN", "COPY"}.isdisjoint(names[names.index("USER") :])
    port = only("EXPOSE").words
    assert f"http://127.0.0.1:{port}/_stcore/health" in only("HEALTHCHECK").words
    command = json.loads(only("CMD").words)
    assert command[:5] == ["python", "-m", "streamlit", "run", "serve.py"]
    assert command[command.index("--server.port") + 1] == port
    assert command[command.index("--server.address") + 1] == "0.0.0.0"


def test_the_image_gets_the_program_and_its_models_and_nothing_else() -> None:
    sent = set(context(ROOT))
    assert {"app.py", "serve.py", "cloud/requirements.txt", ".streamlit/config.toml"} <= sent
    assert {"assets/models/wren-base/model.safetensors", "assets/traces/first.json", "pages/watch.py"} <= sent
    folders = {path.split("/")[0] for path in sent if "/" in path}
    assert folders - {"benchmarks"} == {"assets", "cloud", "pages", "specviz", ".streamlit"}
    figures = {f"benchmarks/results/{name}.json" for name in ("methods", "pass_shares")}
    shown = {*figures, "benchmarks/batching/rounds.py"}  # and a loop that Learn shows
    assert {path for path in sent if path.startswith("benchmarks")} <= shown
    locks = {"requirements.lock", "requirements-ray.lock"}  # the second one for the image with Ray
    assert {path for path in sent if "/" not in path} == {"app.py", "serve.py", "LICENSE", *locks}
    assert [path for path in sent if "__pycache__" in path] == []


FOLDER = ROOT / "examples/cluster"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
APPS, NODES = ("app-1", "app-2"), ("engines", "ray-node")


def test_the_cluster_has_two_app_servers_and_two_nodes_with_documented_variables() -> None:
    assert set(SERVICES) == {"proxy", *APPS, *NODES}
    documented = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    for service in (*APPS, "engines"):
        assert "SPECVIZ_ENGINES_TOKEN" in SERVICES[service]["environment"]
        assert [name for name in SERVICES[service]["environment"] if f"`{name}" not in documented] == []


def test_the_node_finds_the_head_and_the_app_servers_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    head, node = SERVICES["engines"]["command"][-1], SERVICES["ray-node"]["command"]
    port = known(re.search(r"--head .*--port=(\d+)", head))
    assert f"--address=engines:{port[1]} " in node
    assert "--num-cpus=1" in head
    assert "--num-cpus=1" in node
    assert "--block" in node, "else the container ends"
    settings = SERVICES["app-1"]["environment"]
    assert settings == SERVICES["app-2"]["environment"]
    assert settings["SPECVIZ_ENGINES"] == "http://engines:8000"
    monkeypatch.setenv("SPECVIZ_ENGINES", settings["SPECVIZ_ENGINES"])
    monkeypatch.setenv("SPECVIZ_ENGINES_TOKEN", "0123456789abcdef")
    monkeypatch.setenv("SPECVIZ_STREAMS", settings["SPECVIZ_STREAMS"])
    monkeypatch.setenv("SPECVIZ_RUNS", "memory")
    assert len(service_wanted()._fleet.drivers) == 2
    assert re.search(r"python -m specviz.service.serve_engines .*--least 2$", head)


def test_the_cluster_shares_a_volume_and_believes_its_proxy() -> None:
    volumes = [SERVICES[app]["volumes"] for app in APPS]
    assert volumes[0] == volumes[1] == ["data:/data"]
    assert "data" in COMPOSE["volumes"]
    assert SERVICES["app-1"]["environment"]["SPECVIZ_RUNS"].startswith("/data/")
    assert "chown 10001:10001 /data" in (ROOT / "Dockerfile").read_text(), "a new volume takes its owner from the image"
    mounted = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    assert [path for path in mounted if path.startswith(".") and not (FOLDER / path).is_file()] == []
    assert (FOLDER / SERVICES["engines"]["build"] / "Dockerfile").is_file()
    assert all("command" not in SERVICES[app] for app in APPS), "the image starts the app"
    port = known(re.search(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    servers = re.findall(r"^    server (\S+) (\S+):(\d+) cookie (\S+)$", PROXY, re.MULTILINE)
    assert servers == [(app, app, port[1], app) for app in APPS]
    assert re.search(r"^    cookie \S+ insert indirect", PROXY, re.MULTILINE)
    assert "/_stcore/health" in PROXY
    bound = known(re.search(r"bind :(\d+)", PROXY))
    assert SERVICES["proxy"]["ports"] == [f"127.0.0.1:8501:{bound[1]}"]
    address = SERVICES["proxy"]["networks"]["inside"]["ipv4_address"]
    assert [SERVICES[app]["environment"]["FORWARDED_ALLOW_IPS"] for app in APPS] == [address] * 2
    assert "set-header X-Forwarded-For %[src]" in PROXY


def test_the_image_with_ray_has_what_is_locked() -> None:
    install = (FOLDER / "Dockerfile").read_text()
    assert re.search(r"--no-deps --require-hashes \\\n\s+--requirement /app/requirements-ray.lock\n", install)
    assert "==" not in install
    assert (ROOT / "Dockerfile").read_text().count("ENV PATH=/venv/bin") == 1
