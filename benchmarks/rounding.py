"""How much do the target's logits change between its one-token pass and a pass over several tokens?

    nice python -m benchmarks.rounding --json benchmarks/results/rounding.json

Both passes of the correct loop compute the same scores; only rounding separates them. Each target writes greedily from
the app's prompts, one token a pass, and each place of that text is scored again in passes over 2, 5, 9 and 17 tokens
after the same cache, and in one pass over the whole text. Two figures a place, in logits: how much the *lead* (of the
most probable token over the second one) changes, and the largest change of the lead over any of the ten most probable
tokens. A greedy difference needs a change of the lead that is larger than the lead itself. `specviz.core.rounding` has
the limits that follow.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import autoregressive_decode
from specviz.models.cached_model import CachedModel
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.models.pairing import shared_vocabulary

MODELS = ("wren-base", "wren-small", "wren-mini", "wren-nano")
FORMATS: tuple[Literal["float32", "bfloat16"], ...] = ("float32", "bfloat16")
AT_ONCE = (2, 5, 9, 17)  # tokens in a verification pass: draft lengths 1, 4, 8 and 16
NEW_TOKENS = 64
RIVALS = 10  # most probable tokens whose distance from the first is compared
QUANTILES = (0.5, 0.9, 0.99, 0.999)


@dataclass
class Changes:
    """What was measured in one number format, a value a place and a pass."""

    lead: list[float] = field(default_factory=list)  # |change| of the lead over the second token
    any_rival: list[float] = field(default_factory=list)  # the largest |change| of the lead over any rival
    first_logit: list[float] = field(default_factory=list)  # how large the logits are
    flips: int = 0  # places where the other pass has another most probable token
    flipped_lead: float = 0.0  # the largest lead in the one-token pass that was flipped

    def add(self, alone: Tensor, batched: Tensor) -> None:
        """Compare two computations of the same places; (places, vocabulary) each."""
        best = alone.topk(RIVALS, dim=-1)
        leads = best.values[:, :1] - best.values[:, 1:]
        again = batched.gather(-1, best.indices)
        changes = (again[:, :1] - again[:, 1:] - leads).abs()
        self.lead += changes[:, 0].tolist()
        self.any_rival += changes.max(-1).values.tolist()
        self.first_logit += best.values[:, 0].tolist()
        other = batched.argmax(-1)
        for place in (other != best.indices[:, 0]).nonzero().flatten().tolist():
            lead = float(alone[place].max() - alone[place, other[place]])
            self.flips, self.flipped_lead = self.flips + 1, max(self.flipped_lead, lead)

    def summary(self) -> dict[str, Any]:
        """n, quantiles and maxima."""
        return {
            "n": len(self.lead),
            "lead_change": _quantiles(self.lead),
            "any_rival_change": _quantiles(self.any_rival),
            "first_logit": _quantiles([abs(one) for one in self.first_logit]),
            "flips": self.flips,
            "largest_lead_flipped": self.flipped_lead,
        }


def _quantiles(values: list[float]) -> dict[str, float]:
    found = torch.tensor(values, dtype=torch.float64).quantile(torch.tensor(QUANTILES, dtype=torch.float64)).tolist()
    return {f"q{q:g}": value for q, value in zip(QUANTILES, found, strict=True)} | {"max": max(values)}


def passes(target: LoadedModel, text: list[int], start: int) -> Iterator[tuple[int, Tensor]]:
    """The logits after each token from `start` on, by number of tokens in a pass; 0: the whole text in one."""
    vocabulary = shared_vocabulary(target)
    yield 0, CachedModel(target, vocabulary).read(text)[start:]
    for at_once in (1, *AT_ONCE):
        model = CachedModel(target, vocabulary)
        model.prefill(text[:start])
        rows = [model.read(text[i : i + at_once]) for i in range(start, len(text), at_once)]
        yield at_once, torch.cat(rows)


def measure(target: LoadedModel, prompts: list[str]) -> dict[str, Changes]:
    """The changes of one target, by number of tokens in the pass."""
    found: dict[str, Changes] = {}
    for prompt in prompts:
        plain = autoregressive_decode(target, prompt, DecodeSettings(NEW_TOKENS))
        text = plain.prompt.token_ids + plain.output.token_ids
        rows = dict(passes(target, text, len(plain.prompt.token_ids) - 1))
        for at_once in (*AT_ONCE, 0):
            found.setdefault(str(at_once) if at_once else "whole", Changes()).add(rows[1], rows[at_once])
    return found


def main() -> None:
    """Measure each model in each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--prompts", type=int, default=2, help="of each kind of text")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    prompts = [preset.text for workload in WORKLOADS for preset in workload.prompts[: arguments.prompts]]
    results: dict[str, Any] = {}
    for number_format in FORMATS:
        for name in MODELS:
            by_pass = measure(load_model(name, number_format), prompts)
            results.setdefault(number_format, {})[name] = {key: one.summary() for key, one in by_pass.items()}
            print(number_format, name, max(one["lead_change"]["max"] for one in results[number_format][name].values()))
    about = describe_machine()
    report = {
        "what": "changes of logits between the one-token pass and other passes over the same text; in logits",
        "machine": about.machine,
        "torch": about.torch,
        "transformers": about.transformers,
        "prompts": len(prompts),
        "new_tokens": NEW_TOKENS,
        "formats": results,
    }
    arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
