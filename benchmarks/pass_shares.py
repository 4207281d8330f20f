"""What one pass of the target spends its time on: the weights' matrix products, attention, the program's own work.

    python -m benchmarks.pass_shares [--target wren-base] [--repeats 40] [--block 20] [--past 128] [--out FILE]

Passes over one token and over five, after a text of `--past` tokens, in float32 and in bfloat16, one torch thread. Each
turn times a block of each part, one part after the other, by the processor time of this thread: the time that other
programs are given is not in it; what they do to the caches and to the memory is. A part is the median over the turns,
with its quartiles. Ratios are taken within a turn: of a pass over five tokens to one over one in the same format
(`ratio`), and of a pass in a format to the same in float32 (`to_float32`).

- whole: the pass, with the logits of all its tokens.
- program: the same pass of a model with as many layers, whose matrices are so small that their arithmetic is nothing.
  It is Python, and what torch does for every call.
- weights, attention: only these calls of the pass, less the same calls with the small matrices.
- rest: the whole less these three: norms, rotation, gates, and what one part does to the caches of another.
"""

from collections.abc import Callable
from dataclasses import replace
from statistics import quantiles
from time import thread_time

import torch
import torch.nn.functional as F

from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, here, mean_ratio, report
from specviz import load_model
from specviz.models.llama import Layer, Linear, Llama, Rotary
from specviz.models.llama_weights import linear
from specviz.models.loaded_model import Dtype

FORMATS: tuple[Dtype, ...] = ("float32", "bfloat16")
TOKENS = (1, 5)
TINY = 8  # hidden size, head size and vocabulary of the small model
Part = Callable[[], object]


def main() -> None:
    options = asked(__doc__, {"--target": "wren-base", "--repeats": 40, "--block": 20, "--past": 128})
    torch.set_num_threads(1)
    loaded = {name: load_model(options.target, dtype=name).llama for name in FORMATS}
    models = {name: llama for name, llama in loaded.items() if llama}
    parts = {
        (name, tokens): parts_of(model, tokens, options.past) for name, model in models.items() for tokens in TOKENS
    }
    with quiet_machine(options.target) as quiet, torch.inference_mode():
        turns = [{key: timed(each, options.block) for key, each in parts.items()} for _ in range(options.repeats + 1)]
    found = {key: [turn[key] for turn in turns[1:]] for key in parts}
    passes = [
        {
            "dtype": name,
            "tokens": tokens,
            "ms": spread(found[name, tokens]),
            "ratio": ratio_of(found[name, tokens], found[name, 1]),
            "to_float32": ratio_of(found[name, tokens], found["float32", tokens]),
        }
        for name, tokens in parts
    ]
    numbers = sum(linear.weight.numel() for linear in linears(models["float32"]))  # in all matrices of a pass
    about = {"quiet": quiet.said(), "clock": "processor", "weights": numbers}
    said = {name: getattr(options, name) for name in ("target", "past", "repeats", "block")}
    report(here() | about | said | {"passes": passes}, options.out)


def linears(model: Llama) -> list[Linear]:
    """All matrices in the order of a pass."""
    each = [(one.queries_keys_values, one.attention_out, one.gate_up, one.down) for one in model.layers]
    return [*(linear for layer in each for linear in layer), model.output]


def parts_of(model: Llama, tokens: int, past: int) -> dict[str, Part]:
    """What is timed: three parts of the model, and the same of the small one."""
    small = tiny(model)
    return {
        f"{part}{suffix}": make(which, tokens, past)
        for which, suffix in ((model, ""), (small, " small"))
        for part, make in (("whole", whole), ("weights", products), ("attention", attention))
    }


def tiny(model: Llama) -> Llama:
    """A model with as many layers and the same calls, and with nearly no arithmetic."""
    dtype = model.norm.dtype

    def matrix(rows: int) -> Linear:
        return linear(torch.full((rows, TINY), 0.125, dtype=dtype))

    norm = torch.ones(TINY, dtype=dtype)
    layer = Layer(norm, matrix(3 * TINY), None, None, matrix(TINY), norm, matrix(2 * TINY), matrix(TINY))
    return replace(
        model,
        embedding=torch.full((TINY, TINY), 0.1, dtype=dtype),
        layers=[layer] * len(model.layers),
        norm=norm,
        output=matrix(TINY),
        heads=1,
        kv_heads=1,
        size=TINY,
        rotary=Rotary(torch.ones(TINY // 2), dtype),
    )


def whole(model: Llama, tokens: int, past: int) -> Part:
    cache, ids = model.cache(), torch.zeros(tokens, dtype=torch.long)
    with torch.inference_mode():
        model.hidden(torch.zeros(past, dtype=torch.long), cache)

    def run() -> None:
        model.logits(model.hidden(ids, cache))
        cache.crop(past)

    return run


def products(model: Llama, tokens: int, _past: int) -> Part:
    """Every matrix once, in the order of a pass."""
    widths, dtype = {linear.weight.shape[1] for linear in linears(model)}, model.norm.dtype
    inputs = {width: torch.ones(tokens, width, dtype=dtype) for width in widths}
    calls = [(linear, inputs[linear.weight.shape[1]]) for linear in linears(model)]

    def run() -> None:
        for product, x in calls:
            product(x)

    return run


def attention(model: Llama, tokens: int, past: int) -> Part:
    """The new keys and values of every layer are stored, and the queries ask all."""
    cache, dtype = model.cache(), model.norm.dtype
    cache.reserve(past)
    cache.length = past
    alone = model.rows_are_independent
    seen = cache.open(tokens, alone)
    cache.store.fill_(0.1)
    texts, each = (tokens, 1) if alone else (1, tokens)
    queries = torch.ones(texts, model.heads, each, model.size, dtype=dtype)
    new = torch.ones(texts, model.kv_heads, each, model.size, dtype=dtype)
    bias = torch.zeros(texts, 1, each, seen, dtype=dtype) if alone or tokens > 1 else None

    def run() -> None:
        cache.open(tokens, alone)
        for index in range(len(model.layers)):
            keys, values = cache.write(index, new, new)
            F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=bias, enable_gqa=model.kv_heads < model.heads
            )

    return run


def timed(parts: dict[str, Part], block: int) -> dict[str, float]:
    """Milliseconds of each part: the mean of a block, so that a pass finds the caches as the last one left them."""
    found = {}
    for name, run in parts.items():
        run()
        began = thread_time()
        for _ in range(block):
            run()
        found[name] = 1000 * (thread_time() - began) / block
    return split(found)


def split(ms: dict[str, float]) -> dict[str, float]:
    """The parts of a pass, which add up to the whole."""
    program = ms["whole small"]
    net = {name: ms[name] - ms[f"{name} small"] for name in ("weights", "attention")}
    return {"whole": ms["whole"], "program": program, **net, "rest": ms["whole"] - program - sum(net.values())}


def spread(turns: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """The median over the turns of each part, and its quartiles."""
    found = {}
    for name in turns[0]:
        low, middle, high = (round(one, 3) for one in quantiles([turn[name] for turn in turns], n=4))
        found[name] = {"median": middle, "low": low, "high": high}
    return found


def ratio_of(one: list[dict[str, float]], other: list[dict[str, float]]) -> dict[str, float]:
    """One whole pass over another: the geometric mean of the turns, with its 95 % interval."""
    return mean_ratio([a["whole"] / b["whole"] for a, b in zip(one, other, strict=True)])


if __name__ == "__main__":
    main()
