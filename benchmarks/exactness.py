"""Is a greedy speculative text, token by token, the text of plain decoding? Counted for every way to draft.

    python -m benchmarks.exactness [--formats float32 bfloat16] [--prompts 2] [--tokens 64] [--out FILE]

Every drafter runs at every draft length, or with every tree, after the first prompts of each of the app's workloads.
Two passes that compute the same numbers in another order round differently, which changes a text where two tokens are
nearly equal. `SPECVIZ_PACKED=0` leaves matrices unpacked. A count is exact for these prompts and this machine.
"""

from collections import Counter
from functools import cache
from itertools import product

import torch

from benchmarks.timing import asked, here, report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.operator_settings import operator_setting
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.models.loaded_model import Dtype, LoadedModel

TARGET = "wren-base"
CHAINS = ("wren-small", "wren-mini", "wren-nano", "prompt-lookup", "early-exit:3", "wren-eagle", "wren-medusa")
BRANCHING = ("wren-nano", "wren-eagle", "wren-medusa")
WAYS: list[tuple[str, int | str]] = [*product(CHAINS, range(1, 17)), *product(BRANCHING, ("4,2,1", "dynamic:12"))]
Case = tuple[str, tuple[str, int | str]]  # prompt; drafter and draft length or tree


def main() -> None:
    options = asked(
        __doc__,
        {"--formats": ([str], ["float32", "bfloat16"]), "--prompts": 2, "--tokens": 64},
    )
    prompts = [preset.text for workload in WORKLOADS for preset in workload.prompts[: options.prompts]]
    cases = list(product(prompts, WAYS))
    torch.set_num_threads(1)
    found: dict[str, object] = {}
    for dtype in options.formats:
        same = [is_same(dtype, options.tokens, case) for case in cases]
        found[dtype] = counted(cases, same) | {"packed": target(dtype).is_packed}
    about = {"packing": operator_setting("SPECVIZ_PACKED") != "0", "prompts": len(prompts), "tokens": options.tokens}
    report(here() | about | {"formats": found}, options.out)


def is_same(dtype: Dtype, tokens: int, case: Case) -> bool:
    prompt, (name, shape) = case
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


def counted(cases: list[Case], same: list[bool]) -> dict[str, object]:
    """How many texts are the same, of how many: along chains, and in trees."""
    kinds = ["trees" if isinstance(shape, str) else "chains" for _, (_, shape) in cases]
    runs, equal = Counter(kinds), Counter(kind for kind, is_equal in zip(kinds, same, strict=True) if is_equal)
    return {kind: {"runs": runs[kind], "same_text": equal[kind]} for kind in runs}


if __name__ == "__main__":
    main()
