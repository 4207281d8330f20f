"""Which device a model runs on, and that it is named. The last tests need a GPU: run them on a machine that has one."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specviz.core.names import forward_in_words
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace, dump_trace, parse_trace
from specviz.decoding import ModelDrafter, autoregressive_decode, speculative_decode
from specviz.models import devices
from specviz.models.devices import accelerator, device_name
from specviz.models.loading import load_model
from tests.support.fake_traces import fake_trace

GPU = "NVIDIA H100 80GB HBM3"
needs_gpu = pytest.mark.skipif(accelerator() == "cpu", reason="there is no GPU here")


def on(target: str | None, draft: str | None) -> Trace:
    trace = fake_trace(tokens=12)
    assert trace.drafter
    return replace(
        trace,
        target=replace(trace.target, forward="light", device=target),
        drafter=replace(trace.drafter, forward="light", device=draft, parameters=1),
    )


@pytest.mark.parametrize(
    ("target", "draft", "said"),
    [
        (None, None, "with specviz's own forward pass"),
        (GPU, GPU, f"with specviz's own forward pass, on {GPU}"),
        (GPU, None, f"with specviz's own forward pass, the target on {GPU}, the draft on the processor"),
        (None, GPU, f"with specviz's own forward pass, the target on the processor, the draft on {GPU}"),
    ],
)
def test_a_run_names_the_gpu_that_computed_it(target: str | None, draft: str | None, said: str) -> None:
    trace = on(target, draft)
    assert forward_in_words(trace) == said
    assert parse_trace(dump_trace(trace)) == trace
    assert ('"device"' in dump_trace(trace)) == bool(target or draft), "files of a processor stay as they were"


def test_a_draft_without_weights_has_no_device_of_its_own() -> None:
    trace = on(GPU, None)
    assert trace.drafter
    lookup = replace(trace, drafter=replace(trace.drafter, parameters=None))
    assert forward_in_words(lookup).endswith(f", on {GPU}")


def test_the_processor_has_no_name_of_its_own_and_a_gpu_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: GPU)
    names = [device_name(torch.device(kind)) for kind in ("cpu", "cuda", "mps")]
    assert names == [None, GPU, "the Apple GPU"]


def test_memory_of_removed_models_is_free_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, answer in (("mem_get_info", (10, 100)), ("memory_reserved", 50), ("memory_allocated", 20)):
        monkeypatch.setattr(torch.cuda, name, lambda answer=answer: answer)
    assert devices.free_bytes("cuda") == 40


@needs_gpu
def test_a_model_of_the_visitors_own_runs_on_the_gpu_and_says_so(saved: Path) -> None:
    loaded = load_model(str(saved))
    assert loaded.device.type == accelerator()
    assert loaded.info.device == device_name(loaded.device)
    assert loaded.info.device
    trace = speculative_decode(loaded, ModelDrafter(loaded), [1, 2, 3], DecodeSettings(max_new_tokens=12))
    assert forward_in_words(trace).endswith(f"on {loaded.info.device}")


@needs_gpu
def test_both_decoders_write_the_same_on_the_gpu(saved: Path) -> None:
    loaded, settings = load_model(str(saved)), DecodeSettings(max_new_tokens=24, stop_at_eos=False)
    plain = autoregressive_decode(loaded, [1, 2, 3], settings).output.token_ids
    chain = speculative_decode(loaded, ModelDrafter(loaded), [1, 2, 3], settings)
    assert chain.output.token_ids == plain
    tree = replace(settings, tree="2,2,1", draft_length=3)
    assert speculative_decode(loaded, ModelDrafter(loaded), [1, 2, 3], tree).output.token_ids == plain


@needs_gpu
@pytest.mark.parametrize("asked", ["cpu", accelerator()])
def test_the_operator_chooses_the_device_of_all_models(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_DEVICE", asked)
    assert load_model("wren-nano").device.type == asked


@needs_gpu
def test_the_gpu_says_how_much_memory_is_free() -> None:
    assert devices.free_bytes(accelerator()) > 0
