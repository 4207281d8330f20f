"""SPECVIZ_ENGINES=ray:ADDRESS and what belongs to it: what is wrong is one sentence, and Ray is not imported."""

import pytest

from specviz.core.errors import InputError
from specviz.service import ray_wanted
from specviz.service.ray_relay import environment_for_engines, version_hash
from specviz.service.ray_wanted import engines_on_ray, gpus_an_engine, relay_wanted


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_wanted, "find_spec", lambda name: object())


@pytest.mark.parametrize("text", ["", "1", "2"])
def test_a_number_is_no_cluster(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", text)
    assert relay_wanted() is None


@pytest.mark.usefixtures("with_ray")
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ray:head:6379", "head:6379"),
        ("ray:auto", "auto"),
        ("ray:local", "local"),
    ],
)
def test_the_relay_gets_the_address(text: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", text)
    command = relay_wanted()
    assert command
    assert command[1:] == ["-m", "specviz.service.ray_relay", address]


@pytest.mark.usefixtures("with_ray")
@pytest.mark.parametrize("text", ["ray:", "ray:head", "ray:head:99999", "ray:a b:1"])
def test_a_wrong_address_is_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", text)
    with pytest.raises(InputError, match="is no address of a Ray cluster"):
        relay_wanted()


@pytest.mark.usefixtures("with_ray")
@pytest.mark.parametrize("text", ["ray://head:10001", "ray:ray://head:10001"])
def test_the_client_server_is_refused_with_what_to_do_instead(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", text)
    with pytest.raises(InputError, match=r"takes no address with ray://: make this machine a node .* use ray:auto"):
        relay_wanted()


def test_without_ray_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_ENGINES", "ray:auto")
    monkeypatch.setattr(ray_wanted, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="Ray is not installed"):
        relay_wanted()


@pytest.mark.parametrize("text", ["0", "65", "two"])
def test_a_wrong_number_of_engines_is_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_RAY_ENGINES", text)
    with pytest.raises(InputError, match="SPECVIZ_RAY_ENGINES must be a whole number from 1 to 64"):
        engines_on_ray()


def test_the_number_of_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECVIZ_RAY_ENGINES", raising=False)
    assert engines_on_ray() == 0
    monkeypatch.setenv("SPECVIZ_RAY_ENGINES", "3")
    assert engines_on_ray() == 3


@pytest.mark.parametrize("text", ["-1", "0.01", "1.5", "9", "one", "nan", "inf"])
def test_a_wrong_number_of_gpus_is_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_RAY_GPUS", text)
    with pytest.raises(InputError, match="SPECVIZ_RAY_GPUS must be"):
        gpus_an_engine()


@pytest.mark.parametrize(("text", "gpus"), [("0", 0.0), ("0.5", 0.5), ("1", 1.0), ("2", 2.0)])
def test_the_number_of_gpus(text: str, gpus: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_RAY_GPUS", text)
    assert gpus_an_engine() == gpus


def test_engines_get_the_servers_settings_but_no_folder_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SPECVIZ_RUNS", "/runs"), ("SPECVIZ_ENGINES", "ray:auto"), ("SPECVIZ_MODEL_MB", "900")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_TOKEN", "secret")
    sent = environment_for_engines()
    assert sent["SPECVIZ_MODEL_MB"] == "900"
    assert sent["OMP_NUM_THREADS"] == "1"
    assert not {"SPECVIZ_RUNS", "SPECVIZ_ENGINES", "HF_TOKEN"} & set(sent)


def test_the_pools_name_is_the_same_for_the_same_program() -> None:
    assert version_hash() == version_hash()
    assert len(version_hash()) == 12
