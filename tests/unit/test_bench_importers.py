"""Result files of other bench tools as a bench: a true pair of vLLM's, and made ones of the others."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.measure.endpoints.acceptance import Tally
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.importers import import_files
from specviz.measure.endpoints.pairs import time_whole
from specviz.measure.endpoints.result import MAX_PROMPTS, dump_result, read_result
from specviz.measure.endpoints.sentences import conclusion
from tests.support.known import known
from tests.support.records import RECORDS
from tests.support.strategies import assert_one_sentence

PAIR = tuple(RECORDS / f"benches/vllm-0.32-{way}.json" for way in ("with", "without"))
STEP = 0.02
Files = tuple[bytes, bytes]


def lists(step: float = STEP, count: int = 4, tokens: int = 21, **more: Any) -> bytes:
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


def guidellm(latency: float = 0.4) -> bytes:
    request = {"request_id": "a", "prompt_tokens": 30, "output_tokens": 64, "request_latency": latency}
    request |= {"time_to_first_token_ms": 50.0, "output": "word word"}
    run = {"config": {"strategy": {"type_": "concurrent", "streams": 4}}, "requests": {"successful": [request]}}
    return json.dumps({"metadata": {"guidellm_version": "0.4.0"}, "benchmarks": [run]}).encode()


def speed_bench(latency: float, **counts: int) -> bytes:
    coding = {"requests": 10, "avg_tok_s": 640 / latency, "avg_latency": latency, **counts}
    return json.dumps({"config": {"bench": "qualitative", "concurrency": 1}, "categories": {"coding": coding}}).encode()


def twice(**more: Any) -> Files:
    return (lists(**more), lists(**more))


WHOLE = {"ttfts": [0.0] * 4, "itls": [[]] * 4}  # not streamed
MANY = MAX_PROMPTS + 5
RATED = [lists(step, request_rate=16.0) for step in (STEP / 2, STEP)]
FAILED = lists(errors=["Connection <b>refused</b>", "", "", ""], ttfts=[0.0, 0.1, 0.1, 0.1])
OF_VLLM = "a true pair of vLLM's bench"
# Both files. Each load is twice as fast; the files after the true pair are refused, or strange.
READ: dict[str, Files] = {
    "SGLang, its last line of equal load": (lists(9.0) + b"\n" + lists(STEP / 2, accept_length=2.5), lists()),
    "an infinite figure that is not used": (RATED[0].replace(b"16.0", b"Infinity"), RATED[1]),
    "no number that is not used": (RATED[0].replace(b"16.0", b"NaN"), RATED[1]),
    "answers that were not streamed": (
        lists(mean_e2e_latency_ms=200.0, **WHOLE), lists(mean_e2e_latency_ms=400.0, **WHOLE)),
    "each run of a file": (runs(2), runs(1)),
    "guidellm": (guidellm(0.365), guidellm(0.68)),
    "speed_bench": (speed_bench(5.0, draft_n=660, draft_n_accepted=538), speed_bench(10.0)),
    "prompts of different lengths are not paired": (lists(STEP / 2), lists(input_lens=[5, 9, 7, 8])),
    "of many requests as many as a bench file holds": (lists(STEP / 2, MANY), lists(STEP, MANY)),
    "a failed request": (FAILED, lists()),
    OF_VLLM: (PAIR[0].read_bytes(), PAIR[1].read_bytes()),
    "nothing": (b"", b""),
    "brackets": (lists(), b"[" * 100_000),
    "two tools": (lists(), guidellm()),
    "no lists": (b'{"mean_ttft_ms": 5}', lists()),
    "something else": (b'{"a": 1}', lists()),
    "two loads": (lists(max_concurrency=8), lists()),
    "other prompts": (lists(input_lens=[1, 2, 3, 4]), lists()),
    "no time of an answer": twice(**WHOLE),
    "one first token": (lists(ttfts=[0.1]), lists()),
    "no lengths": (lists(output_lens=[]), lists()),
    "a time that is none": (lists(ttfts=[float("nan")] * 4), lists()),
    "a negative time": (lists(itls=[[-1.0]] * 4), lists()),
    "no latency": (guidellm().replace(b"request_latency", b"latency"), lists()),
    "no prompt in common": (speed_bench(5.0), speed_bench(9.0).replace(b'"coding"', b'"maths"')),
    "no gaps": twice(itls=[]),
    "long gaps": twice(itls=[[1e11] * 20] * 4),
    "long answers": twice(output_lens=[10**12] * 4),
    "late starts": twice(start_times=[1e11, 0.0, 5.0, 7.0]),
    "few counts": twice(
        spec_decode_num_drafts=5, spec_decode_draft_tokens=3, spec_decode_accepted_tokens=2),
    "one count": twice(spec_decode_num_drafts=0),
    "hostile texts": twice(generated_texts=["<script>", "**b**", "\x1b[31m", "\u202e"]),
    "a long name": twice(model_id="x" * 9000),
    "no load": twice(max_concurrency=None, start_times=[0.0] * 4),
}  # fmt: skip


def told(files: Files) -> str:
    """The first prompts and answers, what is found at each load, and what was seen on the way; or why not."""
    try:
        result = import_files(*files)
    except InputError as refused:
        assert_one_sentence(str(refused))
        return f"refused: {refused}"
    assert read_result(dump_result(result).encode()) == result
    assert all(sentence.endswith(".") for sentence in conclusion(result))
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
    per_call = f"{accepted.tokens_per_call or 0:.3f} a call"
    counts = f"{accepted.drafted} drafted, {accepted.rate or 0:.3f} accepted, {per_call}"
    return "\n".join([f"{result.imported} {result.created}".strip(), prompts, *answers, counts, *loads, *result.notes])


@pytest.mark.parametrize("name", READ)
def test_the_files_of_each_tool_are_a_bench_or_one_sentence(name: str, snapshot: SnapshotAssertion) -> None:
    assert told(READ[name]) == snapshot


def test_a_true_pair_of_vllms_bench_has_its_own_figures(capsys: pytest.CaptureFixture[str]) -> None:
    result = import_files(*READ[OF_VLLM])
    own, tally = json.loads(PAIR[0].read_bytes()), known(BenchFindings(result).acceptance).whole
    assert 100 * (tally.rate or 0) == pytest.approx(own["spec_decode_acceptance_rate"])
    assert tally.tokens_per_call == pytest.approx(own["spec_decode_acceptance_length"])
    assert list(tally.survival) == pytest.approx(own["spec_decode_per_position_acceptance_rates"])
    means = [each.token_seconds for each in time_whole(each for each in result.answers if each.side == "with")]
    assert 1000 * sum(means) / 6 == pytest.approx(own["mean_tpot_ms"])  # the same definition
    assert main(["bench", "--import", *map(str, PAIR)]) == 0
    assert all(sentence in capsys.readouterr().out for sentence in conclusion(result)[:1])
    assert main(["bench", "--import", *map(str, PAIR), "--drafts", "mine", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["with"]["drafts"] == "mine"
