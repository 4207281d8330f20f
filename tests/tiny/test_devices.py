"""Which device a model runs on, and that it is named. The last tests need a GPU: run them on a machine that has one."""

from dataclasses import replace
from pathlib import Path

import pytest

from specviz.core.names import forward_in_words
from specviz.core.settings import DecodeSettings
from specviz.decoding import ModelDrafter, autoregressive_decode, speculative_decode
from specviz.models import devices
from specviz.models.devices import accelerator, device_name
from specviz.models.loading import load_model
from tests.support.strategies import refusal

needs_gpu = pytest.mark.skipif(accelerator() == "cpu", reason="there is no GPU here")


def test_a_model_for_the_gpu_needs_no_memory_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "available_bytes", lambda: 10)
    assert "of memory" in refusal(lambda: devices.check_memory([("owner/model", 11)]))
    monkeypatch.setattr(devices, "choose_device", lambda *_: "cuda")
    devices.check_memory([("owner/model", 11)])


@needs_gpu
def test_a_model_of_the_visitors_own_runs_on_the_gpu_says_so_and_writes_the_same(saved: Path) -> None:
    loaded, settings = load_model(str(saved)), DecodeSettings(max_new_tokens=24, stop_at_eos=False)
    assert loaded.device.type == accelerator()
    assert loaded.info.device == device_name(loaded.device)
    assert devices.free_bytes(accelerator()) > 0
    plain = autoregressive_decode(loaded, [1, 2, 3], settings).output.token_ids
    for how in (settings, replace(settings, tree="2,2,1", draft_length=3)):
        trace = speculative_decode(loaded, ModelDrafter(loaded), [1, 2, 3], how)
        assert trace.output.token_ids == plain
        assert forward_in_words(trace).endswith(f"on {loaded.info.device}")


@needs_gpu
@pytest.mark.parametrize("asked", ["cpu", accelerator()])
def test_the_operator_chooses_the_device_of_all_models(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_DEVICE", asked)
    assert load_model("wren-nano").device.type == asked
