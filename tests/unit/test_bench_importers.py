"""Result files of other bench tools as a bench: a true pair of vLLM's, and made ones of the others."""

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


def runs(faster: float) -> bytes:
    loads = [(STEP, 1), (STEP, 4), (STEP * 2, 16)]
    return b"\n".join(lists(step / faster, max_concurrency=load) for step, load in loads)


def records(step: float, names: list[str], **more: Any) -> bytes:
    """Lines of AIPerf's profile_export.jsonl."""
    lines = []
    for place, name in enumerate(names):
        gaps = [1000 * step] * 20
        values = {
            "input_sequence_length": (5 + len(name), "tokens"), "time_to_first_token": (100.0, "ms"),
            "request_latency": (100.0 + sum(gaps), "ms"), "output_sequence_length": (21, "tokens"),
            "inter_chunk_latency": (gaps, "ms"), "output_token_throughput_per_user": (50.0, "tokens/sec/user"),
        }  # fmt: skip
        metadata = {
            "session_num": place, "conversation_id": name, "turn_index": 0, "benchmark_phase": "profiling",
            "request_start_ns": 1_759_813_207_532_900_363 + place * 10**10,
        }  # fmt: skip
        metrics = {key: {"value": value, "unit": unit} for key, (value, unit) in values.items()}
        lines.append(json.dumps({"metadata": metadata, "metrics": metrics, "error": None} | more))
    return "\n".join(lines).encode()


def guidellm(latency: float) -> bytes:
    request = {"request_id": "a", "prompt_tokens": 30, "output_tokens": 64, "request_latency": latency}
    request |= {"time_to_first_token_ms": 50.0, "output": "word word"}
    run = {"config": {"strategy": {"type_": "concurrent", "streams": 4}}, "requests": {"successful": [request]}}
    return json.dumps({"metadata": {"guidellm_version": "0.4.0"}, "benchmarks": [run]}).encode()


def speed_bench(latency: float, **counts: int) -> bytes:
    coding = {"requests": 10, "avg_tok_s": 640 / latency, "avg_latency": latency, **counts}
    return json.dumps({"config": {"bench": "qualitative", "concurrency": 1}, "categories": {"coding": coding}}).encode()


WHOLE = {"ttfts": [0.0] * 4, "itls": [[]] * 4}  # not streamed
SHORT = [lists(step, request_rate=16.0) for step in (STEP / 2, STEP)]
# Both files; the loads, each twice as fast; a part of a note; what else holds, by its name.
READ: dict[str, tuple[bytes, bytes, list[int], str, dict[str, object]]] = {
    "SGLang, its last line of equal load": (
        lists(9.0) + b"\n" + lists(STEP / 2, accept_length=2.5), lists(STEP), [2], "accept length of 2.50",
        {"tool": "SGLang's bench", "throughput": False, "acceptance": None},
    ),
    "an infinite figure that is not used": (
        *(each.replace(b"16.0", b"Infinity") for each in SHORT), [2], "place in the files", {}),
    "no number that is not used": (*(each.replace(b"16.0", b"NaN") for each in SHORT), [2], "place in the files", {}),
    "answers that were not streamed": (
        lists(0, mean_e2e_latency_ms=200.0, **WHOLE), lists(0, mean_e2e_latency_ms=400.0, **WHOLE), [2],
        "not streamed", {"first": False, "problems": []},
    ),
    "each run of a file": (runs(2), runs(1), [1, 4, 16], "place in the files", {}),
    "guidellm": (guidellm(0.365), guidellm(0.68), [4], "place in the files", {"tool": "guidellm"}),
    "speed_bench": (
        speed_bench(5.0, draft_n=660, draft_n_accepted=538), speed_bench(10.0), [1], "means of categories",
        {"acceptance": pytest.approx(538 / 660), "prompts": ["coding"], "per_call": None},
    ),
    "AIPerf, by the names of conversations": (
        records(STEP / 2, ["one", "three", "four4"]), records(STEP, ["four4", "one", "three"]), [1],
        "under way at once", {"prompts": ["one", "three", "four4"], "throughput": True},
    ),
    "a conversation that is asked twice": (
        records(STEP / 2, ["one", "one", "two"]), records(STEP, ["one", "two", "one"]), [1], "under way at once",
        {"prompts": ["one", "two"], "repeats": [(0, 0), (0, 1), (1, 0)]},
    ),
    "prompts of different lengths are not paired": (
        lists(STEP / 2), lists(STEP, input_lens=[5, 9, 7, 8]), [2], "1 pairs are left out",
        {"prompts": ["request 1", "request 3", "request 4"]},
    ),
    "of many requests as many as a bench file holds": (
        lists(STEP / 2, MAX_PROMPTS + 5), lists(STEP, MAX_PROMPTS + 5), [2], f"the first {MAX_PROMPTS} are read", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_the_files_of_each_tool_are_a_bench(name: str) -> None:
    ours, plain, loads, note, more = READ[name]
    result = import_files(ours, plain)
    found = BenchFindings(result)
    measured = found.measured
    assert [load.concurrency for load in measured] == loads == result.settings.concurrency
    assert [load.speedup.value for load in measured if load.speedup] == pytest.approx([2] * len(loads), rel=0.03)
    assert any(note in each for each in result.notes)
    assert len(result.prompts) <= MAX_PROMPTS
    held = {
        "tool": result.imported,
        "throughput": measured[0].throughput is not None,
        "acceptance": found.acceptance and found.acceptance.whole.rate,
        "per_call": found.acceptance and found.acceptance.whole.tokens_per_call,
        "first": measured[0].first is not None,
        "problems": [answer.problem for answer in result.answers if answer.problem],
        "prompts": [prompt.name for prompt in result.prompts],
        "repeats": [(each.prompt, each.repeat) for each in result.answers[:3]],
    }
    assert {key: held[key] for key in more} == more


def test_a_true_pair_of_vllms_bench_has_its_tokens_texts_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    result = import_files(*(path.read_bytes() for path in PAIR))
    found = BenchFindings(result)
    assert result.settings.concurrency == [1]
    assert len(found.paired.pairs) == 6
    told = json.loads(PAIR[0].read_bytes())
    tally = found.acceptance.whole
    assert 100 * (tally.rate or 0) == pytest.approx(told["spec_decode_acceptance_rate"])
    assert tally.tokens_per_call == pytest.approx(told["spec_decode_acceptance_length"])
    assert list(tally.survival) == pytest.approx(told["spec_decode_per_position_acceptance_rates"])
    means = [each.token_seconds for each in time_whole(each for each in result.answers if each.side == "with")]
    assert 1000 * sum(means) / 6 == pytest.approx(told["mean_tpot_ms"])  # the same definition
    assert found.sameness.same == 6
    assert found.doubted("impossible") == [1], "a speedup above the tokens of a round: the machine was busy"
    assert "do not rely on them" in conclusion(result)[0]
    assert read_result(dump_result(result).encode()) == result
    assert main(["bench", "--import", *map(str, PAIR)]) == 0
    out = capsys.readouterr().out
    for says in ("103 of 184 guesses were accepted (56 %)", "answers are paired by their place", "not made in turns"):
        assert says in out


def test_a_failed_request_has_its_problem_and_no_figures() -> None:
    failed = lists(STEP, errors=["Connection <b>refused</b>", "", "", ""], ttfts=[0.0, 0.1, 0.1, 0.1])
    result = import_files(failed, lists(STEP))
    assert result.answers[0].problem == "Connection <b>refused</b>"
    assert "1 of 4 requests to the server with speculation failed" in " ".join(conclusion(result))
    cancelled = records(STEP, ["one"], metrics={}, error={"code": 499, "message": "Request was cancelled"})
    assert import_files(cancelled, cancelled).answers[0].problem == "Request was cancelled"


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
        (lists(0, **WHOLE), lists(0, **WHOLE), "says no time of a whole answer"),
        (lists(STEP, ttfts=[0.1]), lists(STEP), "it has 4 lengths and 1 times to a first token"),
        (lists(STEP, output_lens=[]), lists(STEP), "it has 0 lengths"),
        (lists(STEP, ttfts=[float("nan")] * 4), lists(STEP), "ttfts.0"),
        (lists(STEP, ttfts=["x"] * 4), lists(STEP), "ttfts.0"),
        (lists(STEP, output_lens=[10**20] * 4), lists(STEP), "output_lens.0"),
        (lists(STEP, itls=[[-1.0]] * 4), lists(STEP), "itls.0.0"),
        (lists(STEP, max_concurrency=0.5), lists(STEP), "max_concurrency"),
        (guidellm(0.4).replace(b"request_latency", b"latency"), lists(STEP), "request_latency"),
        (records(STEP, ["one"], metadata={"request_start_ns": -5}), lists(STEP), "request_start_ns"),
        (records(STEP, ["one"], metadata={"benchmark_phase": "warmup"}), lists(STEP), "no request of the phase"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_one_sentence(ours: bytes, plain: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        import_files(ours, plain)
    said = str(refused.value)
    assert sentence in said
    assert said.endswith(".")
    assert "\n" not in said


STRANGE: list[dict[str, Any]] = [
    {"itls": []}, {"itls": [[1e11] * 20] * 4}, {"output_lens": [10**12] * 4}, {"start_times": [1e11, 0.0, 5.0, 7.0]},
    {"spec_decode_num_drafts": 5, "spec_decode_draft_tokens": 3, "spec_decode_accepted_tokens": 2},
    {"spec_decode_num_drafts": 0}, {"generated_texts": ["<script>", "**b**", "\x1b[31m", "\u202e"]},
    {"model_id": "x" * 9000}, {"max_concurrency": None, "start_times": [0.0] * 4},
]  # fmt: skip


@pytest.mark.parametrize("more", STRANGE, ids=str)
def test_strange_figures_end_in_sentences_or_are_refused(more: dict[str, Any]) -> None:
    content = lists(STEP, **more)
    with suppress(InputError):
        result = import_files(content, content)
        assert all(sentence.endswith(".") for sentence in conclusion(result))
        assert read_result(dump_result(result).encode()) == result
