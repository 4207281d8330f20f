"""Is a greedy speculative text, token by token, the text of plain decoding? Counted for every way to draft.

    python -m benchmarks.exactness [--formats float32 bfloat16] [--prompts 2] [--workers 1] [--out FILE]

Every drafter runs at every draft length, or with every tree, after the first prompts of each of the app's workloads.
Two passes that compute the same numbers in another order round differently, which changes a text where two tokens are
nearly equal. `SPECVIZ_PACKED=0` leaves matrices unpacked. A count is exact for these prompts and this machine.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache, partial
from multiprocessing import get_context

import torch

from benchmarks.timing import report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.operator_settings import operator_setting
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import Dtype, LoadedModel

TARGET = "wren-base"
CHAINS = ("wren-small", "wren-mini", "wren-nano", "prompt-lookup", "early-exit:3", "wren-eagle", "wren-medusa")
LENGTHS = range(1, 17)
BRANCHING = ("wren-nano", "wren-eagle", "wren-medusa")
TREES = ("4,2,1", "dynamic:12")
Case = tuple[Dtype, str, str, int | str]  # number format, prompt, drafter, draft length or tree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--prompts", type=int, default=2, help="of each workload")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    found: dict[str, object] = {}
    with get_context("spawn").Pool(options.workers, torch.set_num_threads, (1,)) as pool:
        for dtype in options.formats:
            each = list(cases(dtype, options.prompts))
            same = pool.map(partial(is_same, options.tokens), each, chunksize=8)
            found[dtype] = counted(each, same) | {"packed": target(dtype).is_packed}
    about = {"machine": asdict(describe_machine()), "packing": operator_setting("SPECVIZ_PACKED") != "0"}
    about |= {"prompts": len(prompts(options.prompts)), "tokens": options.tokens}
    report(about | {"formats": found}, options.out)


def prompts(count: int) -> list[str]:
    return [preset.text for workload in WORKLOADS for preset in workload.prompts[:count]]


def cases(dtype: Dtype, count: int) -> Iterator[Case]:
    """Those of one prompt stand together: a worker writes its plain text once."""
    for prompt in prompts(count):
        yield from ((dtype, prompt, name, length) for name in CHAINS for length in LENGTHS)
        yield from ((dtype, prompt, name, tree) for name in BRANCHING for tree in TREES)


def is_same(tokens: int, case: Case) -> bool:
    dtype, prompt, name, shape = case
    length, tree = (shape, None) if isinstance(shape, int) else (3, shape)
    settings = DecodeSettings(tokens, draft_length=length, tree=tree, stop_at_eos=False)
    drafter = make_drafter(name, target(dtype), settings, dtype)
    written = speculative_decode(target(dtype), drafter, prompt, settings, record=False).output.token_ids
    return written == plain(dtype, prompt, tokens)


@cache
def target(dtype: Dtype) -> LoadedModel:
    return load_model(TARGET, dtype)


@cache
def plain(dtype: Dtype, prompt: str, tokens: int) -> list[int]:
    return autoregressive_decode(target(dtype), prompt, DecodeSettings(tokens, stop_at_eos=False)).output.token_ids


def counted(each: list[Case], same: list[bool]) -> dict[str, object]:
    """How many texts are the same, of how many: along chains, and in trees."""
    kinds = ["trees" if isinstance(case[3], str) else "chains" for case in each]
    runs, equal = Counter(kinds), Counter(kind for kind, is_equal in zip(kinds, same, strict=True) if is_equal)
    return {kind: {"runs": runs[kind], "same_text": equal[kind]} for kind in runs}


if __name__ == "__main__":
    main()
