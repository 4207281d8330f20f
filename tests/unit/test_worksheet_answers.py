"""Reading what engines report in the answer to a request. The fields and figures are those of public reports."""

import json
import random
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.data.serving_counters import ServingCounters, read_counters

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


def test_vllms_answer_has_a_histogram() -> None:
    counters = read_counters(vllm_answer())
    assert counters.engine == "vLLM"
    assert counters.tokens_per_target_call == pytest.approx(VLLM["mean_acceptance_length"])
    assert counters.draft_length == 3
    assert counters.survival == pytest.approx((4 / 43, 3 / 43, 3 / 43))
    assert counters.alpha(3) == pytest.approx(10 / (10 + 40))  # 40 rounds did not accept everything
    assert "n-gram drafting" in counters.notes[0]


def test_an_answers_tokens_tell_the_calls_without_a_draft() -> None:
    answer = json.loads(vllm_answer()) | {"usage": {"completion_tokens": 97}}  # 1 + 53 in 43 rounds + 43 one by one
    counters = read_counters(json.dumps(answer))
    assert counters.drafting_share == pytest.approx(0.5)
    assert counters.notes == ()


def test_answers_are_added_up_and_of_a_stream_the_last_counts() -> None:
    lines = f"{vllm_answer()}\n{vllm_answer()}"
    assert read_counters(lines).drafted == 258
    assert read_counters(lines).survival == read_counters(vllm_answer()).survival
    early = json.dumps({"timings": LLAMA | {"predicted_n": 20, "draft_n": 30, "draft_n_accepted": 9}})
    last = json.dumps({"timings": LLAMA})
    stream = f"data: {early}\n\ndata: {last}\n\ndata: [DONE]"
    assert read_counters(stream) == read_counters(last)


@pytest.mark.parametrize(
    "wrap", ["{0}", '"metrics": {0},', "[{0}, {{}}]", "$ curl localhost/v1\n{0}\ndone", "data: {0}"]
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_may_be_a_part_of_what_was_pasted(wrap: str, indent: int | None) -> None:
    text = wrap.format(json.dumps({"speculative_decoding": VLLM}, indent=None if "data" in wrap else indent))
    assert read_counters(text).drafted == 129


def test_sglangs_meta_info_has_a_chain() -> None:
    counters = read_counters(json.dumps({"text": "", "meta_info": SGLANG}))
    assert counters.engine == "SGLang"
    assert counters.tokens_per_target_call == pytest.approx(2.4651162790697674)
    assert counters.draft_length == 5
    assert counters.survival == pytest.approx((32 / 43, 18 / 43, 7 / 43, 3 / 43, 3 / 43))
    assert counters.alpha(5) == pytest.approx(63 / (63 + 40))


def test_sglangs_meta_info_with_a_tree_counts_nodes() -> None:
    tree = SGLANG | {"spec_num_proposed_drafts": 43 * 31, "spec_accept_rate": 63 / (43 * 31)}
    counters = read_counters(json.dumps(tree))
    assert (counters.draft_length, counters.checked) == (5, 32)  # no deeper than was accepted
    assert "deepest" in counters.notes[0]
    told = read_counters(json.dumps(tree | {"speculative_num_steps": 6}))
    assert told.draft_length == 6


def test_sglangs_older_names_and_server_info() -> None:
    older = {
        "spec_verify_ct": 100,
        "spec_accept_token_num": 150,
        "spec_draft_token_num": 300,
        "spec_accept_length": 2.5,
    }
    counters = read_counters(json.dumps({"meta_info": older}))
    assert (counters.tokens_per_target_call, counters.draft_length) == (2.5, 3)
    oldest = read_counters(json.dumps({"meta_info": {"completion_tokens": 64, "spec_verify_ct": 20}}))
    assert oldest.tokens_per_target_call == pytest.approx(3.2)
    info = {"speculative_num_steps": 5, "internal_states": [{"avg_spec_accept_length": 3.2}]}
    assert read_counters(json.dumps(info)).draft_length == 5


def test_llama_cpps_timings_count_tokens_and_so_all_calls() -> None:
    counters = read_counters(json.dumps({"choices": [], "timings": LLAMA}))
    assert counters.engine == "llama.cpp"
    assert counters.tokens_per_target_call == pytest.approx(199 / 134)  # 200 − 1 − 65 calls
    assert counters.draft_length == pytest.approx(347 / 134)
    assert "also those that had no draft" in counters.notes[0]
    rounds = {"draft_rounds": 30, "draft_n": 90, "draft_n_accepted": 81, "predicted_n": 111}  # mlx-vlm#1788
    assert read_counters(json.dumps({"timings": rounds})).tokens_per_target_call == pytest.approx(3.7)


def test_tensorrts_metrics_count_no_calls() -> None:
    text = json.dumps({"request_perf_metrics": {"timing_metrics": {}, "speculative_decoding": TENSORRT}})
    counters = read_counters(text)
    assert (counters.engine, counters.tokens_per_target_call, counters.acceptance_rate) == ("TensorRT-LLM", None, 0.5)
    assumed = counters.assuming(4)
    assert (assumed.tokens_per_target_call, assumed.draft_length) == (3, 4)
    assert "γ = 4 is taken from the slider" in assumed.notes[-1]


def test_tensorrts_newer_fields_count_calls() -> None:
    for text in (TENSORRT_STEPS, {"avg_decoded_tokens_per_iter": 2.5, "speculative_decoding": TENSORRT}):
        counters = read_counters(json.dumps({"choices": [text]}))
        assert counters.engine == "TensorRT-LLM"
        assert (counters.tokens_per_target_call, counters.draft_length) == (2.5, 3)
    assert read_counters(json.dumps(TENSORRT_STEPS)).survival == pytest.approx((0.6, 0.6, 0.3))


def test_lm_studios_stats_in_both_spellings() -> None:
    counters = read_counters(json.dumps({"stats": LM_STUDIO}))
    assert counters.engine == "LM Studio"
    assert counters.tokens_per_target_call == pytest.approx(232 / 100)  # 233 − 1 − 132 calls
    assert counters.acceptance_rate == pytest.approx(132 / 160)
    python = {
        "predicted_tokens_count": 233,
        "total_draft_tokens_count": 160,
        "accepted_draft_tokens_count": 132,
    }
    assert read_counters(json.dumps(python)) == counters


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (vllm_answer(num_spec_steps=44), "The histogram counts 43 steps, but 44 are reported"),
        (vllm_answer(num_accepted_draft_tokens=9), "The histogram counts 10 accepted, but 9 are reported"),
        (vllm_answer(acceptance_histogram=[43] + [0] * 70), "not a list of counts"),
        (vllm_answer(acceptance_histogram="many"), "not a list of counts"),
        (vllm_answer(acceptance_histogram=[39, 1, 0, -3]), "acceptance_histogram is “-3”, which is not a number"),
        (vllm_answer(num_draft_tokens=float("nan")), "num_draft_tokens is “nan”, which is not a number"),
        (vllm_answer(num_draft_tokens=True), "num_draft_tokens is “True”, which is not a number"),
        (vllm_answer(num_spec_steps=None, acceptance_histogram=[], num_accepted_draft_tokens=0), "nothing was drafted"),
        (vllm_answer().replace("129", "9" * 5_000), "num_draft_tokens is “99999999999999999999…”, which is not a"),
        (json.dumps({"timings": LLAMA | {"draft_n": -1}}), "draft_n is “-1”, which is not a number"),
        (json.dumps({"timings": LLAMA | {"draft_n": 0}}), "nothing was drafted"),
        (json.dumps({"timings": LLAMA | {"draft_n": 20}}), "More tokens are accepted than drafted"),
        (json.dumps(TENSORRT | {"total_draft_tokens": 0}), "nothing was drafted"),
        (json.dumps(LM_STUDIO | {"totalDraftTokensCount": 0}), "nothing was drafted"),
        (json.dumps({"spec_verify_ct": 0}), "no spec_accept_length"),
        (json.dumps({"meta_info": SGLANG | {"spec_verify_ct": "![x](//evil)"}}), "is “??x????evil?”, which is not"),
        ('{"timings": {"draft_n": 1e400, "draft_n_accepted": 1}}', "draft_n is “inf”, which is not a number"),
        ("[" * 100_000, "No speculative decoding counters were found"),
        ('{"a":' * 100_000, "No speculative decoding counters were found"),
        ('{"a":\n' * 100_000, "No speculative decoding counters were found"),
        ("{}\n" * 300_000, "No speculative decoding counters were found"),
    ],
)
def test_rubbish_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_counters(text)
    said = str(caught.value)
    assert sentence in said
    assert "\n" not in said


def read_or_refused(text: str) -> ServingCounters | None:
    try:
        return read_counters(text)
    except InputError:
        return None


def test_spoilt_text_is_read_or_refused_and_nothing_else() -> None:
    """3,000 texts, each a real one with a few characters changed. The seed is fixed."""
    texts = [vllm_answer(), *(json.dumps(each) for each in (SGLANG, LLAMA, TENSORRT_STEPS, LM_STUDIO))]
    draw = random.Random(13)
    for _ in range(3_000):
        text = list(draw.choice(texts))
        for _ in range(draw.randint(1, 6)):
            text[draw.randrange(len(text))] = draw.choice('0123456789.eE+-:,{}[]"nulNaI\n\\')
        counters = read_or_refused("".join(text))
        if counters is not None:
            assert counters.tokens_per_target_call is None or counters.tokens_per_target_call >= 1
            assert 0 <= counters.assuming(4).alpha(4) <= 1
