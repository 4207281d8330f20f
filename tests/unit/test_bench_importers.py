"""Result files of other bench tools as a bench: a true pair of vLLM's, and made ones of the others."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.measure.endpoints.acceptance import Tally
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.importers import import_files
from specviz.measure.endpoints.pairs import time_whole
from specviz.measure.endpoints.result import MAX_PROMPTS, BenchResult, dump_result, read_result
from specviz.measure.endpoints.sentences import conclusion
from tests.support.known import known

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


def guidellm(latency: float) -> bytes:
    request = {"request_id": "a", "prompt_tokens": 30, "output_tokens": 64, "request_latency": latency}
    request |= {"time_to_first_token_ms": 50.0, "output": "word word"}
    run = {"config": {"strategy": {"type_": "concurrent", "streams": 4}}, "requests": {"successful": [request]}}
    return json.dumps({"metadata": {"guidellm_version": "0.4.0"}, "benchmarks": [run]}).encode()


def speed_bench(latency: float, **counts: int) -> bytes:
    coding = {"requests": 10, "avg_tok_s": 640 / latency, "avg_latency": latency, **counts}
    return json.dumps({"config": {"bench": "qualitative", "concurrency": 1}, "categories": {"coding": coding}}).encode()


WHOLE = {"ttfts": [0.0] * 4, "itls": [[]] * 4}  # not streamed
MANY = MAX_PROMPTS + 5
RATED = [lists(step, request_rate=16.0) for step in (STEP / 2, STEP)]
FAILED = lists(STEP, errors=["Connection <b>refused</b>", "", "", ""], ttfts=[0.0, 0.1, 0.1, 0.1])
SPEED = (speed_bench(5.0, draft_n=660, draft_n_accepted=538), speed_bench(10.0))
# Both files; each load is twice as fast.
READ: dict[str, tuple[bytes, ...]] = {
    "SGLang, its last line of equal load": (
        lists(9.0) + b"\n" + lists(STEP / 2, accept_length=2.5), lists(STEP)),
    "an infinite figure that is not used": tuple(each.replace(b"16.0", b"Infinity") for each in RATED),
    "no number that is not used": tuple(each.replace(b"16.0", b"NaN") for each in RATED),
    "answers that were not streamed": (
        lists(0, mean_e2e_latency_ms=200.0, **WHOLE), lists(0, mean_e2e_latency_ms=400.0, **WHOLE)),
    "each run of a file": (runs(2), runs(1)),
    "guidellm": (guidellm(0.365), guidellm(0.68)),
    "speed_bench": SPEED,
    "prompts of different lengths are not paired": (lists(STEP / 2), lists(STEP, input_lens=[5, 9, 7, 8])),
    "of many requests as many as a bench file holds": (lists(STEP / 2, MANY), lists(STEP, MANY)),
    "a failed request": (FAILED, lists(STEP)),
    "a true pair of vLLM's bench": tuple(path.read_bytes() for path in PAIR),
}  # fmt: skip


def told(result: BenchResult) -> str:
    """The first prompts and answers, what is found at each load, and what was seen on the way."""
    found = BenchFindings(result)
    accepted = found.acceptance.whole if found.acceptance else Tally()
    loads = [
        f"concurrency {load.load:g}: {load.speedup.value if load.speedup else 0:.3f}, first token: "
        f"{load.first is not None}, throughput: {load.throughput is not None} {load.doubts}"
        for load in found.loads
    ]
    answers = [
        f"{each.side} {each.prompt}.{each.repeat}: {each.tokens}, {each.seconds:.3f} s, {each.text[:9]!r}{each.problem}"
        for each in result.answers[:3]
    ]
    prompts = f"{len(result.prompts)}: {', '.join(each.name for each in result.prompts[:4])}"
    counts = (
        f"{accepted.drafted} drafted, {accepted.rate or 0:.3f} accepted, {accepted.tokens_per_call or 0:.3f} a call"
    )
    return "\n".join([f"{result.imported} {result.created}".strip(), prompts, *answers, counts, *loads, *result.notes])


@pytest.mark.parametrize("name", READ)
def test_the_files_of_each_tool_are_a_bench(name: str, snapshot: SnapshotAssertion) -> None:
    result = import_files(*READ[name])
    assert told(result) == snapshot
    assert read_result(dump_result(result).encode()) == result


def test_a_true_pair_of_vllms_bench_has_its_own_figures(capsys: pytest.CaptureFixture[str]) -> None:
    result = import_files(*READ["a true pair of vLLM's bench"])
    own, tally = json.loads(PAIR[0].read_bytes()), known(BenchFindings(result).acceptance).whole
    assert 100 * (tally.rate or 0) == pytest.approx(own["spec_decode_acceptance_rate"])
    assert tally.tokens_per_call == pytest.approx(own["spec_decode_acceptance_length"])
    assert list(tally.survival) == pytest.approx(own["spec_decode_per_position_acceptance_rates"])
    means = [each.token_seconds for each in time_whole(each for each in result.answers if each.side == "with")]
    assert 1000 * sum(means) / 6 == pytest.approx(own["mean_tpot_ms"])  # the same definition
    assert main(["bench", "--import", *map(str, PAIR)]) == 0
    assert all(sentence in capsys.readouterr().out for sentence in conclusion(result)[:1])


@pytest.mark.parametrize(
    ("ours", "plain", "sentence"),
    [
        (b"", b"", "The file with speculation: The record is empty"),
        (lists(STEP), b"[" * 100_000, "The file without speculation: "),
        (lists(STEP), guidellm(0.4), "The files are of two tools, SGLang's bench and guidellm"),
        (b'{"mean_ttft_ms": 5}', lists(STEP), "run vLLM's bench with --save-detailed"),
        (b'{"a": 1}', lists(STEP), "it is no result file of vllm bench serve"),
        (lists(STEP, max_concurrency=8), lists(STEP), "different numbers of requests under way (8 and 2)"),
        (lists(STEP, input_lens=[1, 2, 3, 4]), lists(STEP), "not of the same prompts"),
        (lists(0, **WHOLE), lists(0, **WHOLE), "says no time of a whole answer"),
        (lists(STEP, ttfts=[0.1]), lists(STEP), "it has 4 lengths and 1 times to a first token"),
        (lists(STEP, output_lens=[]), lists(STEP), "it has 0 lengths"),
        (lists(STEP, ttfts=[float("nan")] * 4), lists(STEP), "ttfts.0"),
        (lists(STEP, itls=[[-1.0]] * 4), lists(STEP), "itls.0.0"),
        (guidellm(0.4).replace(b"request_latency", b"latency"), lists(STEP), "request_latency"),
        (speed_bench(5.0), speed_bench(9.0).replace(b'"coding"', b'"maths"'), "no prompt in common"),
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
