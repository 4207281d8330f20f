"""The light forward pass of the bundled models: transformers' own logits, without transformers' model classes."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from specviz import load_model
from specviz.models import llama_weights
from specviz.models.catalogue import bundled_names
from specviz.models.forward import LightForward
from specviz.models.loading import read_bundled
from specviz.models.transformers_models import MOST_APART, TransformersForward, agree

ROOT = Path(__file__).parents[2]
TEXT = torch.randint(4096, (300,), generator=torch.Generator().manual_seed(1))
WIDTHS = [128, 72, 1, 5, 2, 17, 1, 4, 70]


@pytest.mark.parametrize("name", bundled_names())
def test_float32_logits_differ_by_rounding_alone(name: str) -> None:
    """On most machines not at all; a matrix library may add the products of a joined matrix in another order."""
    loaded = load_model(name)
    ours, theirs = loaded.forward.reader(), TransformersForward(loaded.model, name).reader()
    assert isinstance(loaded.forward, LightForward)
    for part in TEXT.split(WIDTHS):
        torch.testing.assert_close(ours.read(part), theirs.read(part), rtol=1e-5, atol=2e-5)
        for reader in (ours, theirs):
            reader.crop(3)


@pytest.mark.parametrize("processor", ["AMD EPYC", "Intel(R) Xeon(R) Processor", "Apple M3"])
def test_the_order_of_the_weights_changes_logits_by_rounding_alone(
    processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_weights, "processor", lambda: processor)
    other, loaded = read_bundled("wren-nano", "float32"), load_model("wren-nano")
    ours, theirs = other.forward.reader(), loaded.forward.reader()
    for part in TEXT.split(WIDTHS):
        torch.testing.assert_close(ours.read(part), theirs.read(part), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", bundled_names())
def test_bfloat16_logits_differ_by_rounding_alone(name: str) -> None:
    loaded = load_model(name, "bfloat16")
    other = TransformersForward(loaded.model, name)
    assert agree(loaded.forward.reader(), other.reader(), 4096, torch.device("cpu"))
    ours, theirs = loaded.forward.reader(), other.reader()
    for part in TEXT.split(WIDTHS):
        one, two = ours.read(part).float(), theirs.read(part).float()
        assert float((one - two).abs().max()) <= MOST_APART[torch.bfloat16] * float(two.abs().max())
        best = one.argmax(-1)
        behind = two.max(-1).values - two.gather(-1, best[:, None])[:, 0]
        assert float(behind.max()) <= 0.5, "another choice only where two tokens are nearly equal"


def test_decoding_with_bundled_models_and_an_engine_import_no_transformers() -> None:
    program = """
import sys
import specviz.service.handlers, specviz.service.workshop
from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
sampled = DecodeSettings(max_new_tokens=5, temperature=0.8, top_k=40, top_p=0.9)
trace = speculative_decode(load_model("wren-base"), ModelDrafter(load_model("wren-nano")), "Once upon a time", sampled)
print(trace.target.forward, "transformers" in sys.modules)
print(type(load_model("wren-nano").model).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["light", "False", "LlamaForCausalLM"]
