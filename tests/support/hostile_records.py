"""Records of other systems that are small as files and large as runs: few bytes say that many tokens were drafted."""

import json
from collections.abc import Callable

DRAFTED = 64  # in each step, the most that a step can have


def lines_of(*values: object) -> bytes:
    """Each as a line of JSON without spaces."""
    return "\n".join(json.dumps(value, separators=(",", ":")) for value in values).encode()


def vllm(steps: int) -> bytes:
    counted = {"per_step_accepted": [0] * steps, "per_step_drafted": [DRAFTED] * steps}
    choice, usage = {"text": "a" * steps, "finish_reason": "stop"}, {"completion_tokens": steps + 1}
    return lines_of({"choices": [choice], "usage": usage, "metrics": {"speculative_decoding": counted}})


def sglang(steps: int) -> bytes:
    parts = [{"text": "a", "meta_info": {"completion_tokens": at}} for at in range(1, steps + 1)]
    end = {"completion_tokens": steps + 1, "spec_correct_drafts_histogram": [steps]}
    end |= {"spec_verify_ct": steps, "spec_num_proposed_drafts": steps * DRAFTED}
    return lines_of(*parts, {"meta_info": end})


def llama_cpp(steps: int) -> bytes:
    timings = ({"predicted_n": at, "draft_n": at * DRAFTED, "draft_n_accepted": 0} for at in range(1, steps + 1))
    return lines_of(*({"timings": each} for each in timings))


def lm_studio(steps: int) -> bytes:
    fragment = {"content": "a", "tokensCount": 1, "containsDrafted": True}
    counts = {"predictedTokensCount": steps, "totalDraftTokensCount": steps * DRAFTED, "acceptedDraftTokensCount": 0}
    return lines_of({"fragments": [fragment] * steps, "stats": counts})


def transformers(steps: int) -> bytes:
    """Larger than the others for its steps: it names each drafted token."""
    step = {"candidate_ids": [7] * DRAFTED, "num_matches": 0, "added_ids": [8]}
    return lines_of({"prompt_ids": [1]}, *[step] * steps)


RECORDS: dict[str, Callable[[int], bytes]] = {
    "vllm": vllm, "sglang": sglang, "llama.cpp": llama_cpp, "transformers": transformers, "lmstudio": lm_studio
}  # fmt: skip


def of_about(system: str, size: int) -> bytes:
    """The record of a system with as many steps as fit into so many bytes, 65,000 at most."""
    make = RECORDS[system]
    each = len(make(1_100)) - len(make(1_000))
    return make(min(65_000, size * 100 // each - 100))
