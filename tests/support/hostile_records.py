"""Records of other systems that are small as files and large as runs: few bytes say that many tokens were drafted."""

import json
from collections.abc import Callable, Iterator

DRAFTED = 64  # in each step, the most that a step can have


def vllm(steps: int) -> bytes:
    counted = {"per_step_accepted": [0] * steps, "per_step_drafted": [DRAFTED] * steps}
    answer = {
        "choices": [{"text": "a" * steps, "finish_reason": "stop"}],
        "usage": {"completion_tokens": steps + 1},
        "metrics": {"speculative_decoding": counted},
    }
    return json.dumps(answer, separators=(",", ":")).encode()


def sglang(steps: int) -> bytes:
    def parts() -> Iterator[dict[str, object]]:
        for written in range(1, steps + 1):
            yield {"text": "a", "meta_info": {"completion_tokens": written}}
        end = {"spec_verify_ct": steps, "spec_num_proposed_drafts": steps * DRAFTED}
        yield {"meta_info": {"completion_tokens": steps + 1, "spec_correct_drafts_histogram": [steps], **end}}

    return b"\n".join(json.dumps(part, separators=(",", ":")).encode() for part in parts())


def llama_cpp(steps: int) -> bytes:
    def parts() -> Iterator[dict[str, object]]:
        for at in range(1, steps + 1):
            yield {"timings": {"predicted_n": at, "draft_n": at * DRAFTED, "draft_n_accepted": 0}}

    return b"\n".join(json.dumps(part, separators=(",", ":")).encode() for part in parts())


def lm_studio(steps: int) -> bytes:
    fragment = {"content": "a", "tokensCount": 1, "containsDrafted": True}
    stats = {
        "predictedTokensCount": steps,
        "totalDraftTokensCount": steps * DRAFTED,
        "acceptedDraftTokensCount": 0,
    }
    return json.dumps({"fragments": [fragment] * steps, "stats": stats}, separators=(",", ":")).encode()


def transformers(steps: int) -> bytes:
    """Larger than the others for its steps: it names each drafted token."""
    line = json.dumps({"candidate_ids": [7] * DRAFTED, "num_matches": 0, "added_ids": [8]}, separators=(",", ":"))
    return b"\n".join([b'{"prompt_ids":[1]}', *[line.encode()] * steps])


RECORDS: dict[str, Callable[[int], bytes]] = {
    "vllm": vllm,
    "sglang": sglang,
    "llama.cpp": llama_cpp,
    "transformers": transformers,
    "lmstudio": lm_studio,
}


def of_about(system: str, size: int) -> bytes:
    """The record of a system with as many steps as fit into so many bytes, 65,000 at most."""
    make = RECORDS[system]
    each = len(make(1_100)) - len(make(1_000))
    return make(min(65_000, size * 100 // each - 100))
