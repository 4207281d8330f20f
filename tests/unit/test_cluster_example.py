"""examples/cluster: the compose file's names, ports, variables and files fit together. Docker itself is not asked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.service import ray_wanted

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/cluster"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
APPS, NODES = ("app-1", "app-2"), ("ray-head", "ray-node")


def test_there_are_two_app_servers_a_proxy_and_two_nodes_of_ray() -> None:
    assert set(SERVICES) == {"proxy", *APPS, *NODES}


def test_every_variable_is_one_that_the_documents_explain() -> None:
    documented = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    for app in APPS:
        assert {"SPECVIZ_ENGINES", "SPECVIZ_RUNS", "FORWARDED_ALLOW_IPS"} <= set(SERVICES[app]["environment"])
        assert [name for name in SERVICES[app]["environment"] if f"`{name}" not in documented] == []


def test_every_node_finds_the_head_and_no_engine_runs_beside_an_app_server(monkeypatch: pytest.MonkeyPatch) -> None:
    head = SERVICES["ray-head"]["command"]
    port = re.search(r"--head .*--port=(\d+)", head)
    assert port
    others = [SERVICES["ray-node"]["command"], *(SERVICES[app]["command"][-1] for app in APPS)]
    assert [f"--address=ray-head:{port[1]} " in command for command in others] == [True] * 3
    assert all("--num-cpus=0" in SERVICES[app]["command"][-1] for app in APPS)
    assert all("--num-cpus=1" in SERVICES[node]["command"] for node in NODES)
    assert all("--block" in SERVICES[node]["command"] for node in NODES), "else the container ends"
    monkeypatch.setenv("SPECVIZ_ENGINES", SERVICES["app-1"]["environment"]["SPECVIZ_ENGINES"])
    monkeypatch.setattr(ray_wanted, "find_spec", lambda name: object())
    assert ray_wanted.relay_wanted()


def test_the_app_servers_are_started_as_the_image_starts_one() -> None:
    command = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert command
    assert [" ".join(json.loads(command[1])) in SERVICES[app]["command"][-1] for app in APPS] == [True, True]


def test_the_app_servers_share_one_volume_for_their_runs() -> None:
    volumes = [SERVICES[app]["volumes"] for app in APPS]
    assert volumes[0] == volumes[1] == ["data:/data"]
    assert "data" in COMPOSE["volumes"]
    assert SERVICES["app-1"]["environment"]["SPECVIZ_RUNS"].startswith("/data/")
    assert "chown 10001:10001 /data" in (ROOT / "Dockerfile").read_text(), "a new volume takes its owner from the image"


def test_the_proxy_keeps_a_visitor_on_one_server_at_the_port_where_it_listens() -> None:
    port = re.search(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert port
    servers = re.findall(r"^    server (\S+) (\S+):(\d+) cookie (\S+)$", PROXY, re.MULTILINE)
    assert servers == [(app, app, port[1], app) for app in APPS]
    assert re.search(r"^    cookie \S+ insert indirect", PROXY, re.MULTILINE)
    assert "/_stcore/health" in PROXY
    bound = re.search(r"bind :(\d+)", PROXY)
    assert bound
    assert SERVICES["proxy"]["ports"] == [f"127.0.0.1:8501:{bound[1]}"]


def test_the_app_servers_believe_the_proxy_and_nobody_else() -> None:
    address = SERVICES["proxy"]["networks"]["inside"]["ipv4_address"]
    assert [SERVICES[app]["environment"]["FORWARDED_ALLOW_IPS"] for app in APPS] == [address] * 2
    assert "set-header X-Forwarded-For %[src]" in PROXY


def test_every_file_that_is_mounted_or_built_from_is_there() -> None:
    mounted = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    assert [path for path in mounted if path.startswith(".") and not (FOLDER / path).is_file()] == []
    assert (FOLDER / SERVICES["app-1"]["build"] / "Dockerfile").is_file()


def test_the_image_has_the_pins_of_ray() -> None:
    pins = [line for line in (ROOT / "requirements-ray.txt").read_text().splitlines() if re.match(r"\w", line)]
    install = (FOLDER / "Dockerfile").read_text()
    assert len(pins) == 2
    assert [pin for pin in pins if f" {pin}" not in install] == []
    assert (ROOT / "Dockerfile").read_text().count("ENV PATH=/venv/bin") == 1
