"""Samples for a model card: what a model writes after fixed prompts, not selected, with the seeds to repeat them."""

from pathlib import Path

from specviz.core.settings import DecodeSettings
from specviz.data.workloads import find_workload
from specviz.decoding import autoregressive_decode
from specviz.models import load_model

KINDS = ("story", "code", "structured", "prose")
SEEDS = (1, 2, 3)
TEMPERATURE = 0.8
TOKENS = 80


def samples(folder: Path) -> str:
    """Markdown: for each kind of text its first three presets, each continued with its own seed."""
    loaded = load_model(str(folder))
    lines = []
    for kind in KINDS:
        workload = find_workload(kind)
        assert workload is not None
        lines += [f"### {workload.title}", ""]
        for preset, seed in zip(workload.prompts, SEEDS, strict=False):
            settings = DecodeSettings(max_new_tokens=TOKENS, temperature=TEMPERATURE, seed=seed)
            text = autoregressive_decode(loaded, preset.text, settings).output.text
            lines += [f"`{preset.name}`, seed {seed}:", "", *_quoted(f"{preset.text}⟨…⟩{text}"), ""]
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    """A block of code, indented so that the text cannot end it."""
    return ["    " + line for line in text.replace("<|endoftext|>", "").splitlines()]
