"""Does a draft with int8 weights pay? The draft may be inexact: the target judges every token.

    python -m benchmarks.int8_draft [--draft wren-nano] [--repeats 5] [--tokens 64] [--prompts 2] [--out FILE]

Every matrix of the draft is stored in int8, one scale a row, and multiplied by torch's own dynamic quantization: the
inputs are rounded to 8 bits in each pass. Both drafts serve the same target, greedy, alternately, one torch thread.
Each ratio is of the seconds inside the draft phases, or of whole rounds, of one turn.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.decoding import KINDS, prompts_of, to_the_end
from benchmarks.quiet import quiet_machine
from benchmarks.timing import report
from specviz import ModelDrafter, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.core.rounds import known_seconds
from specviz.core.trace import Trace
from specviz.models.devices import describe_machine
from specviz.models.forward import LightForward
from specviz.models.llama import Layer, Linear, Llama
from specviz.models.loaded_model import LoadedModel
from specviz.models.packing import plain


class Int8Linear(Linear):
    """A matrix of 8-bit integers."""

    __slots__ = ("_multiply",)

    def __init__(self, exact: Linear) -> None:
        matrix = plain(exact)
        super().__init__(matrix, exact.bias)
        scales = matrix.abs().amax(1).double() / 127
        zeros = torch.zeros(len(scales), dtype=torch.long)
        stored = torch.quantize_per_channel(matrix, scales, zeros, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(stored, exact.bias)
        multiply: Callable[[Tensor], Tensor] = lambda x: torch.ops.quantized.linear_dynamic(x, packed, True)  # noqa: E731
        object.__setattr__(self, "_multiply", multiply)

    def __call__(self, x: Tensor) -> Tensor:
        """(n, in) in, (n, out) out."""
        made: Tensor = self._multiply(x.contiguous())  # type: ignore[attr-defined]
        return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draft", default="wren-nano")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", type=int, default=2, help="prompts of each kind")
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=UserWarning)  # torch's own notes about its quantization
    target, exact = load_model("wren-base"), load_model(options.draft)
    small = replace(exact, forward=LightForward(in_int8(exact)))
    prompts = prompts_of(options.prompts)
    with quiet_machine() as quiet:
        rows = {kind: compare(target, exact, small, texts, options) for kind, texts in prompts.items()}
    machine = asdict(describe_machine()) | {"engine": torch.backends.quantized.engine}
    kinds = {kind: rows[kind] for kind in KINDS}
    report({"machine": machine, "quiet": quiet.said(), "options": vars(options), "kinds": kinds}, options.out)


def in_int8(loaded: LoadedModel) -> Llama:
    """The model with every matrix in int8."""
    assert isinstance(loaded.forward, LightForward)
    exact = loaded.forward.llama
    return replace(exact, layers=[_layer(layer) for layer in exact.layers], output=Int8Linear(exact.output))


def _layer(layer: Layer) -> Layer:
    return replace(
        layer,
        queries_keys_values=Int8Linear(layer.queries_keys_values),
        attention_out=Int8Linear(layer.attention_out),
        gate_up=Int8Linear(layer.gate_up),
        down=Int8Linear(layer.down),
    )


def compare(
    target: LoadedModel, exact: LoadedModel, small: LoadedModel, texts: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Medians over prompts and turns; above 1: the int8 draft is faster. Acceptance is counted over all prompts."""
    settings = to_the_end(options.tokens, options.gamma)
    drafters = {"float32": ModelDrafter(exact), "int8": ModelDrafter(small)}
    draft, whole = [], []
    runs: dict[str, list[Trace]] = {name: [] for name in drafters}
    for text in texts:
        for turn in range(options.repeats + 1):
            made = {name: speculative_decode(target, it, text, settings, record=False) for name, it in drafters.items()}
            assert made["float32"].output.token_ids == made["int8"].output.token_ids
            if turn:
                draft.append(draft_seconds(made["float32"]) / draft_seconds(made["int8"]))
                whole.append(seconds(made["float32"]) / seconds(made["int8"]))
        for name, run in made.items():
            runs[name].append(run)
    accepted = {f"accepted_{name}": round(acceptance(each), 4) for name, each in runs.items()}
    return {"draft_phase": round(median(draft), 3), "round": round(median(whole), 3)} | accepted


def draft_seconds(trace: Trace) -> float:
    """Of a token, so that runs with other rounds can be compared."""
    drafted = sum(len(round.drafted) for round in trace.rounds)
    return sum(known_seconds(round.draft_seconds) for round in trace.rounds) / drafted


def seconds(trace: Trace) -> float:
    return sum(known_seconds(round.seconds) for round in trace.rounds)


def acceptance(traces: list[Trace]) -> float:
    """Accepted / drafted."""
    counts = [count(trace.rounds) for trace in traces]
    return sum(one.accepted for one in counts) / sum(one.drafted for one in counts)


if __name__ == "__main__":
    main()
