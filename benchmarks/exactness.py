"""Is a greedy speculative text, token by token, the text of plain decoding? Counted for every way to draft.

    python -m benchmarks.exactness [--formats float32 bfloat16] [--prompts 2] [--tokens 64] [--out FILE]

Every drafter runs at every draft length, or with every tree, after the first prompts of each of the app's workloads.
Two passes that compute the same numbers in another order round differently, which changes a text where two tokens are
nearly equal. `SPECVIZ_PACKED=0` leaves matrices unpacked. A count is exact for these prompts and this machine.
"""

from collections import Counter
from itertools import product

import torch

from benchmarks.timing import asked, here, report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.operator_settings import operator_setting
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter

TARGET = "wren-base"
CHAINS = ("wren-small", "wren-mini", "wren-nano", "prompt-lookup", "early-exit:3", "wren-eagle", "wren-medusa")
BRANCHING = ("wren-nano", "wren-eagle", "wren-medusa")
WAYS: list[tuple[str, int | str]] = [*product(CHAINS, range(1, 17)), *product(BRANCHING, ("4,2,1", "dynamic:12"))]


def main() -> None:
    options = asked(__doc__, {"--formats": ([str], ["float32", "bfloat16"]), "--prompts": 2, "--tokens": 64})
    prompts = [preset.text for workload in WORKLOADS for preset in workload.prompts[: options.prompts]]
    torch.set_num_threads(1)
    found: dict[str, object] = {}
    for dtype in options.formats:
        target, runs, same = load_model(TARGET, dtype), Counter[str](), Counter[str]()
        for prompt in prompts:
            plain = autoregressive_decode(target, prompt, DecodeSettings(options.tokens, stop_at_eos=False))
            for name, shape in WAYS:
                length, tree = (shape, None) if isinstance(shape, int) else (3, shape)
                settings = DecodeSettings(options.tokens, draft_length=length, tree=tree, stop_at_eos=False)
                drafter = make_drafter(name, target, settings, dtype)
                trace = speculative_decode(target, drafter, prompt, settings, record=False)
                kind = "trees" if tree else "chains"
                runs[kind] += 1
                same[kind] += trace.output.token_ids == plain.output.token_ids
        counts = {kind: {"runs": runs[kind], "same_text": same[kind]} for kind in runs}
        found[dtype] = counts | {"packed": target.is_packed}
    about = {"packing": operator_setting("SPECVIZ_PACKED") != "0", "prompts": len(prompts), "tokens": options.tokens}
    report(here() | about | {"formats": found}, options.out)


if __name__ == "__main__":
    main()
