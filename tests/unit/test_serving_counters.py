"""Reading counters from pasted lines, as the engines write them, and from answers, with figures of public reports."""

import json
from json import JSONDecoder
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.data.serving_counters import MAX_CHARACTERS, NOTHING_FOUND, pasted, read_counters
from tests.support.known import known

METRICS = """\
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:num_requests_running{engine="0",model_name="m"} 6.0
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 1000.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 3000.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 1660.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 710.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 530.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="2"} 420.0
"""
LOG = (
    "(APIServer pid=1) INFO 05-03 18:50:55 [loggers.py:271] Engine 000: Avg generation throughput: 4.0 tokens/s, "
    "Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.1%\n"
    "(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.79, "
    "Accepted throughput: 0.05 tokens/s, Drafted throughput: 0.05 tokens/s, Accepted: 25 tokens, Drafted: 28 tokens, "
    "Per-position acceptance rate: 0.929, 0.857, Avg Draft acceptance rate: 89.3%\n"
)
SGLANG_LOG = (
    "[2026-09-30 08:30:35] Decode batch, #running-req: 9, #token: 11584, token usage: 0.01, accept len: {length}, "
    "accept rate: {rate}, cuda graph: True, gen throughput (token/s): 22.40, #queue-req: 1"
)


VLLM = {  # the example of vLLM's own documentation, 0.32
    "mean_acceptance_length": 1.2325581395348837,
    "draft_acceptance_rate": 0.07751937984496124,
    "acceptance_histogram": [39, 1, 0, 3],
    "num_spec_steps": 43,
    "num_accepted_draft_tokens": 10,
    "num_draft_tokens": 129,
    "num_spec_tokens": 3,
}
SGLANG = {  # a comment on sglang#33518
    "spec_accept_rate": 0.2930232558139535,
    "spec_accept_length": 2.4651162790697674,
    "spec_num_correct_drafts": 63,
    "spec_num_proposed_drafts": 215,
    "spec_verify_ct": 43,
    "spec_correct_drafts_histogram": [11, 14, 11, 4, 0, 3],
}
LLAMA = {"prompt_n": 1, "predicted_n": 200, "predicted_ms": 11082.606, "draft_n": 347, "draft_n_accepted": 65}
TENSORRT = {"acceptance_rate": 0.5, "total_accepted_draft_tokens": 30, "total_draft_tokens": 60}
TENSORRT_STEPS = {**TENSORRT, "num_spec_steps": 20, "acceptance_histogram": [8, 0, 6, 6], "num_spec_tokens": 3}
LM_STUDIO = {
    "stopReason": "eosFound",
    "predictedTokensCount": 233,
    "totalDraftTokensCount": 160,
    "acceptedDraftTokensCount": 132,
    "rejectedDraftTokensCount": 20,
    "ignoredDraftTokensCount": 8,
}


def vllm_answer(**more: Any) -> str:
    return json.dumps({"choices": [], "metrics": {"speculative_decoding": VLLM | more}})


HOSTILE = ['vllm:x{a="' + "\\" * 50_000, "vllm:x{" * 50_000, "\t" * 500_000, "\nvllm:x" * 100_000]
HOSTILE += ["vllm:x{" + "".join(f'l{i}="",' for i in range(90_000)) + "} 1", "Mean acceptance length: " + " " * 500_000]


def per_step(accepted: list[Any], drafted: list[Any]) -> str:
    return json.dumps({"speculative_decoding": PER_STEP | {"per_step_accepted": accepted, "per_step_drafted": drafted}})


PER_STEP = {"num_spec_tokens": 3, "per_step_accepted": [3, 1, 0], "per_step_drafted": [3, 3, 3]}


TPOT = "vllm:request_time_per_output_token_seconds"
TREE = """\
sglang:spec_accept_length{engine_type="unified"} 3.2
sglang:spec_num_draft_tokens{engine_type="unified"} 32
"""
GAUGES = """\
sglang:spec_accept_length{engine_type="draft",tp_rank="0"} 9.7
sglang:spec_accept_length{engine_type="unified",tp_rank="0"} 2.2
sglang:spec_accept_length{engine_type="unified",tp_rank="1"} 2.4
sglang:spec_num_draft_tokens{engine_type="unified"} 4
sglang:spec_accept_rate{engine_type="unified"} 0.43
"""
LONG_LOG = (  # it lists more positions than are drafted
    "SpecDecoding metrics: Mean acceptance length: 1.80, Accepted: 800 tokens, Drafted: 2000 tokens, Per-position "
    "acceptance rate: 0.450, 0.200, 0.100, 0.040, 0.010, Avg Draft acceptance rate: 40.0%"
)
LLAMA_LOG = (
    "0.06.895.998 I slot print_timing: id  1 | task 0 |        eval time =    2296.72 ms /   256 tokens (    8.97 "
    "ms per token,   111.46 tokens per second)\n0.06.896.015 I slot print_timing: id  1 | task 0 | draft "
    "acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, acceptance rate "
    "per position = (0.805, 0.632, 0.483)"
)
LLAMA_RATE = "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)"
LLAMA_TIMED = "prompt eval time = 9.0 ms / 20 tokens ( 1 ms per token)\n       eval time = 9.0 ms / 272 runs ( 1 ms\n"
LLAMA_STATISTICS = "statistics ngram_mod: #calls = 810, #gen drafts = 90, #acc drafts = 15, #gen tokens = 297"
SGLANG_TREE = SGLANG | {"spec_num_proposed_drafts": 43 * 31, "spec_accept_rate": 63 / (43 * 31)}
OLDER = {"spec_verify_ct": 100, "spec_accept_token_num": 150, "spec_draft_token_num": 300, "spec_accept_length": 2.5}
LM_STUDIO_IN_PYTHON = {
    "ignored_draft_tokens_count": 8,
    "predicted_tokens_count": 233,
    "total_draft_tokens_count": 160,
    "accepted_draft_tokens_count": 132,
}
LATER = METRICS
for before, now in {1000: 1100, 3000: 3300, 1660: 1960, 710: 810, 530: 630, 420: 520}.items():
    LATER = LATER.replace(f" {before}.0", f" {now}.0")
VLLM_HALF = json.loads(vllm_answer()) | {"usage": {"completion_tokens": 97}}  # 1 + 53 in 43 rounds + 43 one by one
READ: dict[str, tuple[str | dict[str, Any], dict[str, Any]]] = {  # the fields that a text gives
    "vLLM's metrics": (
        METRICS,
        {"engine": "vLLM", "tokens_per_target_call": 2.66, "draft_length": 3, "acceptance_rate": 1660 / 3000}
        | {"survival": (0.71, 0.53, 0.42), "position_rates": (0.71, 530 / 710, 420 / 530), "running": 6}
        | {"latency": None},
    ),
    "two engines": (
        METRICS + METRICS.replace('engine="0"', 'engine="1"').replace(" 1660.0", " 1340.0"),
        {"tokens_per_target_call": 1 + 3000 / 2000},
    ),
    "two scrapes": (METRICS + LATER, {"tokens_per_target_call": 4, "survival": (1, 1, 1)}),
    # 2660 tokens in 1000 rounds, 1000 one by one
    "calls without a draft": (METRICS + "vllm:generation_tokens_total 3660", {"drafting_share": 0.5, "notes": ()}),
    "prompt lookup often finds less": (METRICS.replace(" 3000.0", " 2000.0"), {"counts_judgements": False}),
    "vLLM's log": (
        LOG,
        {"engine": "vLLM", "draft_length": 2, "running": 3, "tokens_per_target_call": 2.786}
        | {"survival": (0.929, 0.857)},
    ),
    "its last line": (
        LOG + LOG.replace("2.79", "2.95").replace("0.929, 0.857", "0.986, 0.964"),
        {"survival": (0.986, 0.964)},
    ),
    "a line without positions": (  # 25 / 1.79 is 14 rounds
        LOG.replace("Per-position acceptance rate: 0.929, 0.857, ", ""),
        {"tokens_per_target_call": 2.79, "draft_length": 2},
    ),
    "a line with more positions": (  # 800 / 0.80 rounds, 2000 / 1000 tokens in each
        LONG_LOG,
        {"draft_length": 2, "acceptance_rate": 0.4, "counts_judgements": False},
    ),
    "without an accepted token, the positions are all that is known": (
        LONG_LOG.replace("1.80", "1.00").replace("800", "0").replace("0.450, 0.200, 0.100, 0.040, 0.010", "0.0, 0.0"),
        {"draft_length": 2},
    ),
    # SGLang's rate has two meanings; newer: (3.04 − 1) / 3, older: 2.47 / (2 + 1)
    "SGLang's log": (
        SGLANG_LOG.format(length="3.04", rate="0.68"),
        {"engine": "SGLang", "draft_length": 3, "running": 9, "acceptance_rate": 2.04 / 3, "latency": 9 / 22.4},
    ),
    "another length": (SGLANG_LOG.format(length="3.82", rate="0.56"), {"draft_length": 5, "acceptance_rate": 2.82 / 5}),
    "an older one": (SGLANG_LOG.format(length="2.47", rate="0.82"), {"draft_length": 2, "acceptance_rate": 1.47 / 2}),
    "no rate at all": (
        "Decode batch. #running-req: 1, accept len: 2.80, cuda graph: True",
        {"draft_length": None, "acceptance_rate": None},
    ),
    "SGLang's gauges": (GAUGES, {"tokens_per_target_call": 2.3, "draft_length": 3}),
    "older names": ({"meta_info": OLDER}, {"tokens_per_target_call": 2.5, "draft_length": 3}),
    "the oldest": ({"meta_info": {"completion_tokens": 64, "spec_verify_ct": 20}}, {"tokens_per_target_call": 3.2}),
    "/server_info": (
        {"speculative_num_steps": 5, "internal_states": [{"avg_spec_accept_length": 3.2}]},
        {"draft_length": 5},
    ),
    "a tree's nodes are not its depth": (
        TREE + 'sglang:spec_num_steps{engine_type="unified"} 5',
        {"tokens_per_target_call": 3.2, "draft_length": 5, "checked": 32}
        | {"notes": "a tree of 32 nodes; γ = 5 is its depth"},
    ),
    "a tree of unknown depth": (TREE, {"draft_length": None, "notes": "speculative_num_steps"}),
    "the same in the log": (
        SGLANG_LOG.format(length="3.20", rate="0.07"),
        {"draft_length": None, "notes": "speculative_num_steps"},
    ),
    "a block": (
        "sglang:spec_accept_length 4.2\nsglang:spec_num_draft_tokens 7\nsglang:spec_num_steps 1",
        {"draft_length": 6},
    ),
    "SGLang's answer": (
        {"text": "", "meta_info": SGLANG},
        {"engine": "SGLang", "tokens_per_target_call": 2.4651162790697674, "draft_length": 5}
        | {"survival": (32 / 43, 18 / 43, 7 / 43, 3 / 43, 3 / 43)},
    ),
    "its tree, no deeper than was accepted": (
        SGLANG_TREE,
        {"draft_length": 5, "checked": 32, "notes": "deepest"},
    ),
    "its tree of a known depth": (SGLANG_TREE | {"speculative_num_steps": 6}, {"draft_length": 6}),
    "llama.cpp's log": (  # 87 rounds, as its statistics line says
        LLAMA_LOG,
        {"engine": "llama.cpp", "tokens_per_target_call": 1 + 167 / (167 / 1.92), "draft_length": 259 * 1.92 / 167}
        | {"survival": (0.805, 0.632, 0.483)},
    ),
    "with its time": (LLAMA_TIMED + LLAMA_RATE, {"tokens_per_target_call": 271 / 100}),  # 272 − 1 − 171 calls
    "without it": (LLAMA_RATE, {"tokens_per_target_call": None}),
    "with its statistics": (f"{LLAMA_RATE}\n{LLAMA_STATISTICS}", {"draft_length": 3.3}),
    "llama.cpp's answer": (  # 200 − 1 − 65 calls
        {"choices": [], "timings": LLAMA | {"predicted_ms": 5000}},
        {"engine": "llama.cpp", "tokens_per_target_call": 199 / 134, "draft_length": 347 / 134, "latency": 0.025}
        | {"notes": "also those that had no draft"},
    ),
    "rounds of mlx-vlm": (  # mlx-vlm#1788
        {"timings": {"draft_rounds": 30, "draft_n": 90, "draft_n_accepted": 81, "predicted_n": 111}},
        {"tokens_per_target_call": 3.7},
    ),
    "LM Studio": (  # 233 − 1 − 132 calls; 8 of 160 were not sent to the main model
        {"stats": LM_STUDIO},
        {"engine": "LM Studio", "tokens_per_target_call": 232 / 100, "acceptance_rate": 132 / 152}
        | {"notes": "8 drafted tokens are not counted"},
    ),
    "LM Studio in Python": (
        {**LM_STUDIO_IN_PYTHON, "tokens_per_second": 40.0},
        {"tokens_per_target_call": 232 / 100, "acceptance_rate": 132 / 152, "latency": 0.025},
    ),
    "vLLM's answer": (
        vllm_answer(),
        {"engine": "vLLM", "tokens_per_target_call": VLLM["mean_acceptance_length"], "draft_length": 3}
        | {"survival": (4 / 43, 3 / 43, 3 / 43), "notes": "n-gram drafting"},
    ),
    "its calls without a draft": (VLLM_HALF, {"drafting_share": 0.5, "notes": ()}),
    "its steps": (
        {"metrics": {"speculative_decoding": PER_STEP}},
        {"engine": "vLLM", "draft_length": 3, "drafted": 9, "accepted": 4, "tokens_per_target_call": 1 + 4 / 3}
        | {"survival": (2 / 3, 1 / 3, 1 / 3)},
    ),
    "its steps and counts": (
        {"speculative_decoding": {**PER_STEP, "num_spec_steps": 3, "acceptance_histogram": [1, 1, 0, 1]}},
        {"survival": (2 / 3, 1 / 3, 1 / 3)},
    ),
    "two answers": (
        f"{vllm_answer()}\n{vllm_answer()}",
        {"drafted": 258, "survival": (4 / 43, 3 / 43, 3 / 43)},
    ),
    "TensorRT-LLM": (
        {"request_perf_metrics": {"timing_metrics": {}, "speculative_decoding": TENSORRT}},
        {"engine": "TensorRT-LLM", "tokens_per_target_call": None, "acceptance_rate": 0.5},
    ),
    "TensorRT-LLM, newer": (
        {"choices": [TENSORRT_STEPS]},
        {"engine": "TensorRT-LLM", "tokens_per_target_call": 2.5, "draft_length": 3, "survival": (0.6, 0.6, 0.3)},
    ),
    "TensorRT-LLM with a mean": (
        {"choices": [{"avg_decoded_tokens_per_iter": 2.5, "speculative_decoding": TENSORRT}]},
        {"engine": "TensorRT-LLM", "tokens_per_target_call": 2.5, "draft_length": 3},
    ),
    # not inter_token_latency: it has one value a step
    "vLLM's latency": (
        f"{METRICS}{TPOT}_sum 0.6\n{TPOT}_count 50\nvllm:inter_token_latency_seconds_sum 9\n",
        {"latency": 0.012},
    ),
    "llama.cpp's latency": (
        METRICS.replace("vllm:", "llamacpp:")
        + "llamacpp:tokens_predicted_total 100\nllamacpp:tokens_predicted_seconds_total 4\n",
        {"latency": 0.04},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_the_counters_in_a_text(name: str) -> None:
    text, fields = READ[name]
    counters = read_counters(text if isinstance(text, str) else json.dumps(text))
    for field, wanted in fields.items():
        found = getattr(counters, field)
        if field == "notes" and wanted:
            assert any(wanted in note for note in found)
        else:
            assert found == (pytest.approx(wanted) if isinstance(wanted, float | tuple) else wanted), field


def test_alpha_counts_rejections_where_it_can_and_else_takes_judgements_to_be_alike() -> None:
    for text, accepted, rounds, full in (
        (METRICS, 1660, 1000, 420),
        (vllm_answer(), 10, 43, 3),
        (json.dumps({"meta_info": SGLANG}), 63, 43, 3),
    ):
        counters = read_counters(text)
        assert counters.alpha(int(known(counters.draft_length))) == pytest.approx(accepted / (accepted + rounds - full))
    assert read_counters(METRICS + LATER).alpha(3) == 1
    alike = read_counters(METRICS.replace(" 3000.0", " 2000.0")).alpha(2)
    assert alike + alike**2 == pytest.approx(1.66)
    assert 0 < read_counters("Decode batch. #running-req: 1, accept len: 2.80, cuda graph: True").alpha(4) < 1


def test_without_calls_a_draft_length_is_assumed() -> None:
    assumed = read_counters(json.dumps(TENSORRT)).assuming(4)
    assert (assumed.tokens_per_target_call, assumed.draft_length) == (3, 4)
    assert "γ = 4 is taken from the slider" in assumed.notes[-1]


def test_vllm_metrics_are_read_in_the_whole_prometheus_format() -> None:
    timestamps = "".join(f"{line} 1764000000000\n" for line in METRICS.splitlines() if not line.startswith("#"))
    quoted = METRICS.replace('model_name="m"', 'model_name="a \\"b\\" {c}, d"')
    for text in (timestamps, quoted, METRICS.replace("\n", "\r\n"), METRICS.replace(" ", "\t")):
        assert read_counters(text) == read_counters(METRICS)
    whole = METRICS.splitlines()
    for cut in ('vllm:spec_decode_num_drafts_total{engine="0",mod', "vllm:spec_decode_num_dr", 'vllm:x{engine="0"}'):
        assert read_counters("\n".join([*whole, cut])) == read_counters(METRICS)


@pytest.mark.parametrize(
    "line", ["speculative_num_steps=5,", '"speculative_num_steps": 5', "--speculative-num-steps 5"]
)
def test_the_depth_of_sglangs_tree_may_stand_among_its_arguments(line: str) -> None:
    log = SGLANG_LOG.format(length="3.20", rate="0.07")
    assert read_counters(f"{line}\n{log}").draft_length == 5
    assert read_counters(TREE + line).draft_length == 5


def test_names_without_a_prefix_or_with_another_one() -> None:
    lines = [line for line in METRICS.splitlines() if not line.startswith("#")]
    bare = "\n".join(line.removeprefix("vllm:") for line in lines)
    whole = read_counters(METRICS)
    assert read_counters(bare) == whole
    assert read_counters(bare.replace("spec_decode_", "")) == whole
    assert read_counters(bare.replace("num_", "vllm_num_").replace("spec_decode_vllm_", "vllm:spec_decode_")) == whole
    printed = "num_drafts: 1000\nnum_draft_tokens: 3000\nnum_accepted_tokens: 1660\n"
    assert read_counters(printed + "num_accepted_tokens_per_pos: [710, 530, 420]").survival == whole.survival
    llama = read_counters(METRICS.replace("vllm:", "llamacpp:"))
    assert (llama.engine, llama.survival, llama.notes) == ("llama.cpp", whole.survival, whole.notes)


def test_of_a_stream_the_last_part_counts_and_objects_after_some_that_are_not_closed_are_found() -> None:
    early = json.dumps({"timings": LLAMA | {"predicted_n": 20, "draft_n": 30, "draft_n_accepted": 9}})
    last = json.dumps({"timings": LLAMA})
    stream = f"data: {early}\n\ndata: {last}\n\ndata: [DONE]"
    assert read_counters(stream) == read_counters(last)
    assert read_counters(f"[ INFO ] started\n[\n[\n{last}\n").accepted == LLAMA["draft_n_accepted"]


@pytest.mark.parametrize("wrap", ["{0}", '"metrics": {0},', "[{0}, {{}}]", "$ curl x\n{0}\ndone", "data: {0}"])
def test_json_may_be_a_part_of_what_was_pasted(wrap: str) -> None:
    for indent in (None, 2) if "data" not in wrap else (None,):
        text = wrap.format(json.dumps({"speculative_decoding": VLLM}, indent=indent))
        assert read_counters(text).drafted == 129


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", NOTHING_FOUND),
        ("vllm:num_requests_running 3", NOTHING_FOUND),
        ("x" * (MAX_CHARACTERS + 1), "The text has 1,000,001 characters"),
        ("num_drafts_total 0\nnum_accepted_tokens_total 0", "nothing was drafted"),
        ("vllm:spec_decode_num_accepted_tokens_total 5", "num_drafts_total is missing"),
        ("vllm:spec_decode_num_drafts_total 5", "num_accepted_tokens_total is missing"),
        ("vllm:spec_decode_num_drafts_total many", "is “many”, which is not a number"),
        ("vllm:spec_decode_num_drafts_total 1e300", "is “1e300”, which is not a number from 0 to 10¹⁵"),
        (METRICS + METRICS.replace(" 1000.0", " 10.0"), "smaller in the second copy"),
        ('num_drafts{a="1"} 1\n' * 50_000, "more than 5,000 lines of speculation counters"),
        (METRICS.replace(" 530.0", " 900.0"), "A later position is accepted more often"),
        (METRICS.replace('position="1"', 'position="99999999999"'), "0, 1, 2"),
        ("vllm:spec_decode_num_drafts_total ![x](//evil.x/y)", "is “??x????evil.x?y?”, which is not a number"),
        (METRICS.replace(" 3000.0", " 1e14"), "more than 64 drafted tokens per round"),
        ("SpecDecoding metrics: nonsense", "no “Mean acceptance length”"),
        ("SpecDecoding metrics: Mean acceptance length: 0.20", "is impossible"),
        ("SpecDecoding metrics: Mean acceptance length: 2.0, Per-position acceptance rate: 0.5.5, 0.1", "not a number"),
        ("SpecDecoding metrics:" + "Accepted:" * 50_000, "no “Mean acceptance length”"),
        ("accept len:" * 50_000, "is “accept”, which is not a number"),
        ("Decode batch, accept len: , accept rate: 0.5", "no number after “accept len”"),
        ("Decode batch, accept len: 0.4, accept rate: 0.1", "is impossible"),
        (vllm_answer(num_spec_steps=44), "The histogram counts 43 steps, but 44 are reported"),
        (vllm_answer(num_accepted_draft_tokens=9), "The histogram counts 10 accepted, but 9 are reported"),
        (vllm_answer(acceptance_histogram=[43] + [0] * 70), "not a list of counts"),
        (vllm_answer(acceptance_histogram=[39, 1, 0, -3]), "acceptance_histogram is “-3”, which is not a number"),
        (vllm_answer(num_draft_tokens=True), "num_draft_tokens is “True”, which is not a number"),
        (vllm_answer(num_spec_steps=None, acceptance_histogram=[], num_accepted_draft_tokens=0), "nothing was drafted"),
        (vllm_answer().replace("129", "9" * 5_000), "num_draft_tokens is “99999999999999999999…”, which is not a"),
        (json.dumps({"timings": LLAMA | {"draft_n": -1}}), "draft_n is “-1”, which is not a number"),
        (json.dumps(TENSORRT | {"total_draft_tokens": 0}), "nothing was drafted"),
        (json.dumps(LM_STUDIO | {"ignoredDraftTokensCount": 160}), "nothing was drafted"),
        (json.dumps({"spec_verify_ct": 0}), "no spec_accept_length"),
        (json.dumps({"meta_info": SGLANG | {"spec_verify_ct": "![x](//evil)"}}), "is “??x????evil?”, which is not"),
        ('{"timings": {"draft_n": 1e400, "draft_n_accepted": 1}}', "draft_n is “inf”, which is not a number"),
        ('{"a":\n' * 100_000, "No speculative decoding counters were found"),
        ("{}\n" * 300_000, "No speculative decoding counters were found"),
        (per_step([1, 2], [3]), "has 2 steps, and per_step_drafted 1"),
        (per_step([900], [3]), "whole numbers up to 64"),
        (per_step([0.5], [3]), "whole numbers up to 64"),
        (per_step(["x"], [3]), "per_step_accepted is"),
        (per_step([], []), "nothing was drafted"),
        *((text, NOTHING_FOUND) for text in HOSTILE),
    ],
)
def test_rubbish_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_counters(text)
    said = str(caught.value)
    assert sentence in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "text",
    [
        "[\n" * 200 + "1," * 400_000,
        '{"a":\n' * 200 + "[" + "1," * 400_000,
        ("[\n" * 100 + "1," * 4_000) * 100,
        "[\n" * 40_000 + "1," * 400_000,
        '[\n"' + "a" * 400_000 + "\n" + "[\n" * 1_000,
    ],
    ids=["lists", "objects", "many such", "deep", "an open text"],
)
def test_brackets_that_are_never_closed_are_read_about_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: each of them was read to the end of the text, 28 s for a megabyte."""
    read = list[int]()

    class Counted(JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            try:
                value, end = super().raw_decode(s, idx)
            except ValueError as error:
                read.append(getattr(error, "pos", len(s)) - idx)
                raise
            except RecursionError:
                read.append(len(s) - idx)
                raise
            read.append(end - idx)
            return value, end

    monkeypatch.setattr(pasted, "_DECODER", Counted())
    with pytest.raises(InputError):
        read_counters(text)
    assert sum(read) < 6 * len(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (METRICS, "Read: num_requests_running, num_drafts, num_draft_tokens, num_accepted_tokens, num_accepted_"),
        (f"{METRICS}vllm:gpu_cache 0.3\nhello\n", "Not used: 2 lines, such as “vllm?gpu_cache?0.3”."),
        (LOG, "Read: the line about speculation, and 1 more."),
        (LOG + LOG, "Read: the last of 2 lines about speculation, and 1 more. Not used: 2 lines, such as"),
        (json.dumps({"id": "x", "metrics": PER_STEP}), "Read: num_spec_tokens, per_step_accepted, per_step_drafted. "),
        (json.dumps({"id": "x", "metrics": PER_STEP}), "Not used: id."),
        (json.dumps({"timings": LLAMA}), "Read: predicted_n, predicted_ms, draft_n, draft_n_accepted. Not used: "),
        ('{"timings": {"draft_n": 9, "draft_n_accepted": 3, "<b>x</b>": 1}}', "Not used: ?b?x??b?."),
    ],
)
def test_it_is_said_what_was_read_and_what_was_not(text: str, says: str) -> None:
    assert says in read_counters(text).reading
