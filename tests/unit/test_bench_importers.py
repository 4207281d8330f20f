"""Result files of other bench tools as a bench: a true pair of vLLM's, and made ones of SGLang's and AIPerf's."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.importers import import_files
from specviz.measure.endpoints.pairs import time_whole
from specviz.measure.endpoints.result import MAX_PROMPTS, dump_result, read_result
from specviz.measure.endpoints.sentences import conclusion

RECORDS = Path(__file__).parents[1] / "fixtures" / "records" / "benches"
PAIR = tuple(RECORDS / f"vllm-0.32-{way}.json" for way in ("with", "without"))
STEP = 0.02


def lists(step: float, count: int = 4, tokens: int = 21, **more: Any) -> bytes:
    """A result file as vLLM's bench and SGLang's write it, one token a part."""
    value = {
        "output_lens": [tokens] * count,
        "input_lens": list(range(5, 5 + count)),
        "ttfts": [0.1] * count,
        "itls": [[step] * (tokens - 1)] * count,
        "generated_texts": [f"text {place}" for place in range(count)],
        "errors": [""] * count,
        "mean_ttft_ms": 100.0,
        "max_concurrency": 2,
    }
    return json.dumps(value | more).encode()


def records(step: float, names: list[str], **more: Any) -> bytes:
    """Lines of AIPerf's profile_export.jsonl."""
    lines = []
    for place, name in enumerate(names):
        gaps = [1000 * step] * 20
        metrics: dict[str, Any] = {
            "input_sequence_length": {"value": 5 + len(name), "unit": "tokens"},
            "time_to_first_token": {"value": 100.0, "unit": "ms"},
            "request_latency": {"value": 100.0 + sum(gaps), "unit": "ms"},
            "output_sequence_length": {"value": 21, "unit": "tokens"},
            "inter_chunk_latency": {"value": gaps, "unit": "ms"},
            "output_token_throughput_per_user": {"value": 50.0, "unit": "tokens/sec/user"},
        }
        metadata = {
            "session_num": place, "conversation_id": name, "turn_index": 0, "benchmark_phase": "profiling",
            "request_start_ns": 1_759_813_207_532_900_363 + place * 10**10,
        }  # fmt: skip
        lines.append(json.dumps({"metadata": metadata, "metrics": metrics, "error": None} | more))
    return "\n".join(lines).encode()


def test_a_true_pair_of_vllms_bench_has_its_tokens_texts_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    result = import_files(*(path.read_bytes() for path in PAIR))
    found = BenchFindings(result)
    assert result.settings.concurrency == [1]
    assert len(found.paired.pairs) == 6
    told = json.loads(PAIR[0].read_bytes())
    assert found.acceptance
    tally = found.acceptance.whole
    assert 100 * (tally.rate or 0) == pytest.approx(told["spec_decode_acceptance_rate"])
    assert tally.tokens_per_call == pytest.approx(told["spec_decode_acceptance_length"])
    assert list(tally.survival) == pytest.approx(told["spec_decode_per_position_acceptance_rates"])
    means = [each.token_seconds for each in time_whole(each for each in result.answers if each.side == "with")]
    assert 1000 * sum(means) / 6 == pytest.approx(told["mean_tpot_ms"])  # the same definition
    assert found.sameness
    assert found.sameness.same == 6
    assert read_result(dump_result(result).encode()) == result
    assert main(["bench", "--import", *map(str, PAIR)]) == 0
    out = capsys.readouterr().out
    assert "103 of 184 guesses were accepted (56 %)" in out
    assert "answers are paired by their place" in out
    assert "not made in turns" in out


def test_a_busy_machine_is_seen_by_a_speedup_above_the_tokens_of_a_round() -> None:
    result = import_files(*(path.read_bytes() for path in PAIR))
    assert BenchFindings(result).doubted("impossible") == [1]
    assert "do not rely on them" in conclusion(result)[0]


def test_sglangs_last_line_counts_and_without_times_of_requests_there_is_no_throughput() -> None:
    slow = lists(9.0).decode()
    ours = f"{slow}\n{lists(STEP / 2, accept_length=2.5).decode()}\n".encode()
    result = import_files(ours, lists(STEP))
    assert result.imported == "SGLang's bench"
    [load] = BenchFindings(result).measured
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)
    assert load.throughput is None
    assert any("accept length of 2.50" in note for note in result.notes)
    assert BenchFindings(result).acceptance is None


@pytest.mark.parametrize("number", ["Infinity", "NaN"])
def test_a_figure_that_is_not_used_may_be_infinite(number: str) -> None:
    files = [lists(step, request_rate=16.0).replace(b"16.0", number.encode()) for step in (STEP / 2, STEP)]
    [load] = BenchFindings(import_files(*files)).measured
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)


def test_answers_that_were_not_streamed_did_not_fail() -> None:
    whole = {"ttfts": [0.0] * 4, "itls": [[]] * 4}
    result = import_files(lists(0, mean_e2e_latency_ms=200.0, **whole), lists(0, mean_e2e_latency_ms=400.0, **whole))
    assert not any(answer.problem for answer in result.answers)
    [load] = BenchFindings(result).measured
    assert load.first is None
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)
    assert any("not streamed" in note for note in result.notes)
    with pytest.raises(InputError, match="says no time of a whole answer"):
        import_files(lists(0, **whole), lists(0, **whole))


def test_each_run_of_a_file_is_a_load() -> None:
    def runs(faster: float) -> bytes:
        loads = [(STEP, 1), (STEP, 4), (STEP * 2, 16)]
        return b"\n".join(lists(step / faster, max_concurrency=load) for step, load in loads)

    result = import_files(runs(2), runs(1))
    measured = {load.concurrency: load.speedup for load in BenchFindings(result).measured}
    assert sorted(measured) == result.settings.concurrency == [1, 4, 16]
    assert [gain.value for gain in measured.values() if gain] == pytest.approx([2, 2, 2])


def guidellm(latency: float, streams: int = 1) -> bytes:
    request = {
        "request_id": "a", "prompt_tokens": 30, "output_tokens": 64, "request_latency": latency,
        "time_to_first_token_ms": 50.0, "output": "word word",
    }  # fmt: skip
    run = {"config": {"strategy": {"type_": "concurrent", "streams": streams}}, "requests": {"successful": [request]}}
    return json.dumps({"metadata": {"guidellm_version": "0.4.0"}, "benchmarks": [run]}).encode()


def test_guidellms_requests_have_their_own_times() -> None:
    [load] = BenchFindings(import_files(guidellm(0.365, 4), guidellm(0.68, 4))).measured
    assert load.concurrency == 4
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)


def speed_bench(latency: float, **counts: int) -> bytes:
    coding = {"requests": 10, "avg_tok_s": 640 / latency, "avg_latency": latency, **counts}
    return json.dumps({"config": {"bench": "qualitative", "concurrency": 1}, "categories": {"coding": coding}}).encode()


def test_llama_cpps_speed_bench_has_means_of_categories_and_no_passes() -> None:
    result = import_files(speed_bench(5.0, draft_n=660, draft_n_accepted=538), speed_bench(10.0))
    found = BenchFindings(result)
    [load] = found.measured
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)
    assert found.acceptance
    assert found.acceptance.whole.rate == pytest.approx(538 / 660)
    assert found.acceptance.whole.tokens_per_call is None
    assert [prompt.name for prompt in result.prompts] == ["coding"]


def test_aiperfs_requests_are_paired_by_the_names_of_their_conversations() -> None:
    result = import_files(records(STEP / 2, ["one", "three", "four4"]), records(STEP, ["four4", "one", "three"]))
    assert [prompt.name for prompt in result.prompts] == ["one", "three", "four4"]
    assert not any("by their place" in note for note in result.notes)
    [load] = BenchFindings(result).measured
    assert load.speedup
    assert load.speedup.value == pytest.approx(2)
    assert load.concurrency == 1  # counted: no two requests were under way at once
    assert load.throughput


def test_a_conversation_that_is_asked_twice_is_one_prompt_with_two_repeats() -> None:
    result = import_files(records(STEP / 2, ["one", "one", "two"]), records(STEP, ["one", "two", "one"]))
    assert [(each.prompt, each.repeat) for each in result.answers[:3]] == [(0, 0), (0, 1), (1, 0)]


def test_prompts_of_different_lengths_are_not_paired() -> None:
    result = import_files(lists(STEP), lists(STEP, input_lens=[5, 9, 7, 8]))
    assert len(result.prompts) == 3
    assert any("1 pairs are left out" in note for note in result.notes)


def test_a_failed_request_has_its_problem_and_no_figures() -> None:
    failed = lists(STEP, errors=["Connection <b>refused</b>", "", "", ""], ttfts=[0.0, 0.1, 0.1, 0.1])
    result = import_files(failed, lists(STEP))
    assert result.answers[0].problem == "Connection <b>refused</b>"
    assert "1 of 4 requests to the server with speculation failed" in " ".join(conclusion(result))
    cancelled = records(STEP, ["one"], metrics={}, error={"code": 499, "message": "Request was cancelled"})
    assert import_files(cancelled, cancelled).answers[0].problem == "Request was cancelled"


def test_of_many_requests_as_many_are_read_as_a_bench_file_holds() -> None:
    many = lists(STEP, MAX_PROMPTS + 5)
    result = import_files(many, many)
    assert len(result.prompts) == MAX_PROMPTS
    assert any(f"the first {MAX_PROMPTS} are read" in note for note in result.notes)


@pytest.mark.parametrize(
    ("ours", "plain", "sentence"),
    [
        (b"", b"", "The file with speculation: The record is empty"),
        (lists(STEP), b"[" * 100_000, "The file without speculation: "),
        (lists(STEP), records(STEP, ["one"]), "The files are of two tools, SGLang's bench and AIPerf"),
        (b'{"mean_ttft_ms": 5}', lists(STEP), "run vLLM's bench with --save-detailed"),
        (b'{"a": 1}', lists(STEP), "it is no result file of vllm bench serve"),
        (lists(STEP, max_concurrency=8), lists(STEP), "different numbers of requests under way (8 and 2)"),
        (lists(STEP, input_lens=[1, 2, 3, 4]), lists(STEP), "not of the same prompts"),
        (lists(STEP, ttfts=[0.1]), lists(STEP), "it has 4 lengths and 1 times to a first token"),
        (lists(STEP, output_lens=[]), lists(STEP), "it has 0 lengths"),
        (lists(STEP, ttfts=[float("nan")] * 4), lists(STEP), "ttfts.0"),
        (lists(STEP, ttfts=["x"] * 4), lists(STEP), "ttfts.0"),
        (lists(STEP, output_lens=[10**20] * 4), lists(STEP), "output_lens.0"),
        (lists(STEP, itls=[[-1.0]] * 4), lists(STEP), "itls.0.0"),
        (lists(STEP, max_concurrency=0.5), lists(STEP), "max_concurrency"),
        (records(STEP, ["one"], metadata={}), lists(STEP), "it is no result file|request_start_ns"),
        (records(STEP, ["one"], metadata={"request_start_ns": -5}), lists(STEP), "request_start_ns"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_one_sentence(ours: bytes, plain: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        import_files(ours, plain)
    assert any(part in str(refused.value) for part in sentence.split("|"))
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "more",
    [
        {"itls": []},
        {"itls": [[1e11] * 20] * 4},
        {"output_lens": [10**12] * 4},
        {"start_times": [1e11, 0.0, 5.0, 7.0]},
        {"spec_decode_num_drafts": 5, "spec_decode_draft_tokens": 3, "spec_decode_accepted_tokens": 2},
        {"spec_decode_num_drafts": 0},
        {"generated_texts": ["<script>", "**b**", "\x1b[31m", "\u202e"]},
        {"model_id": "x" * 9000},
        {"max_concurrency": None},
        {"max_concurrency": None, "start_times": [0.0] * 4},
    ],
    ids=str,
)
def test_strange_figures_end_in_sentences_or_are_refused(more: dict[str, Any]) -> None:
    content = lists(STEP, **more)
    with suppress(InputError):
        result = import_files(content, content)
        assert all(sentence.endswith(".") for sentence in conclusion(result))
        assert read_result(dump_result(result).encode()) == result
