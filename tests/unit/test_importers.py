"""Records of other systems become traces of what was reported, and no figure is made of the rest."""

import json
import math
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.intervals import speedup_interval
from specviz.core.names import pair_name
from specviz.core.rounds import NOT_REPORTED, known_seconds
from specviz.core.terms import terms_of
from specviz.core.trace import UPLOAD, PrefillSeconds, Trace, check_trace, dump_trace, parse_trace
from specviz.core.verdict import explain_no_verdict, verdict_of_run
from specviz.measure.worksheet.starts import start_of_file, start_of_run
from specviz.models.catalogue import changed_weights
from specviz.player.offline import offline_page
from specviz.player.sheet import round_picture
from specviz.systems import READERS, SYSTEMS, RecordOptions, import_run, open_run, system_of, vllm
from specviz.systems.fields import Fields
from specviz.systems.traces import CUT, cut
from tests.support.commands import command_line
from tests.support.drawn import drawn_traces
from tests.support.fake_traces import fake_trace
from tests.support.hostile_records import RECORDS as RECORDS_OF
from tests.support.known import known
from tests.support.records import FIXTURES, RECORDS, SYSTEM_OF, TEXT, FakeTokenizer, record, report
from tests.support.strategies import refusal

CHAT, COMPLETION, LLAMA, LLAMA_CHAT, SGLANG, TRANSFORMERS, LM_STUDIO, *_ = SYSTEM_OF
GIVEN = {"prompt": "Tell a story.", "target": "mine", "draft": "small", "temperature": 0.7}
KNOWN, NOTHING = RecordOptions(tokenizer=FakeTokenizer()), RecordOptions()
REFUSED = yaml.safe_load((FIXTURES / "records_refused.yaml").read_text("utf-8"))
REPORTED = yaml.safe_load((FIXTURES / "reports/imports.yaml").read_text("utf-8"))
STATUSES = [[], ["accepted"] * 3, ["accepted", "rejected", "discarded"], ["rejected", "discarded", "discarded"]]
STATUSES.append(["accepted"] * 3)


def statuses(trace: Trace) -> list[list[str]]:
    return [[token.status for token in round.drafted] for round in trace.rounds]


def changed(name: str, *changes: tuple[str, str]) -> bytes:
    content = record(name).decode()
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    return content.encode()


def lines_of(trace: Trace) -> list[str]:
    """All that a trace holds; of a round each drafted token with its status, and the target's own."""
    found, drafter, settings = known(trace.imported), known(trace.drafter), trace.settings
    rounds = [
        " ".join([*(f"{each.status}:{each.id}:{each.text!r}" for each in round.drafted), "|",
                  f"{round.emitted.kind}:{round.emitted.id}:{round.emitted.text!r}", round.added or ""])
        for round in trace.rounds
    ]  # fmt: skip
    return [
        f"{found.system}: {drafter.kind} {drafter.name} ({drafter.asked_as}) -> {trace.target.name}",
        f"temperature {settings.temperature}, seed {settings.seed}, top_k {settings.top_k}, "
        f"prefill {trace.prefill_seconds.target}, {trace.prompt.text!r} {trace.prompt.token_ids}",
        *rounds,
        f"{trace.output.text!r} {trace.output.token_ids} {trace.output.stopped_by}",
        f"unknown: {', '.join(found.unknown)}",
        *found.notes,
    ]  # fmt: skip


@pytest.mark.parametrize("name", SYSTEM_OF)
def test_each_record_gives_the_same_rounds_and_what_it_lacks_stays_unknown(
    name: str, snapshot: SnapshotAssertion
) -> None:
    needed = KNOWN if name == TRANSFORMERS else NOTHING
    trace, given = import_run(record(name), SYSTEM_OF[name], needed), replace(KNOWN, **GIVEN)
    usual, with_texts = lines_of(trace), import_run(record(name), SYSTEM_OF[name], given)
    more = [line for line in lines_of(with_texts) if line not in usual]
    assert "\n".join([*usual, "", "With a tokenizer and names:", *more]) == snapshot
    assert statuses(trace) == STATUSES
    assert CUT not in known(with_texts.imported).notes
    assert open_run(record(name), needed) == parse_trace(dump_trace(trace)) == trace
    assert not trace.timed
    assert all(round.draft_seconds is round.verify_seconds is round.overhead_seconds is None for round in trace.rounds)
    drafted = [token for round in trace.rounds for token in round.drafted]
    assert all(token.target_prob is token.draft_prob is token.u is trace.autoregressive is None for token in drafted)


def test_streams_are_cut_into_their_own_rounds() -> None:
    """The third round of llama.cpp drafts nothing: its counters stay."""
    fewer = [('"draft_n": 9, "draft_n_accepted": 4', '"draft_n": 6, "draft_n_accepted": 4')]
    fewer += [('"draft_n": 12, "draft_n_accepted": 7', '"draft_n": 9, "draft_n_accepted": 7')]
    rounds = import_run(changed(LLAMA, *fewer), "llama.cpp").rounds
    assert [len(round.drafted) for round in rounds] == [0, 3, 3, 0, 3]
    assert rounds[3].added == "own"
    # A character of two tokens is sent when it is whole; the counter of tokens says that there were two.
    lines = record(LLAMA_CHAT).decode().split("\n\n")
    held = next(i for i, line in enumerate(lines) if '" upon"' in line)
    lines[held + 1] = lines[held + 1].replace('" a"', '" upon a"')
    del lines[held]
    trace = import_run("\n\n".join(lines).encode(), "llama.cpp")
    assert (statuses(trace), trace.output.text) == (STATUSES, TEXT)
    # The last step of vLLM reports 3 accepted; the output has room for 2 of them.
    shorter = [('"text": ". The end."', '"text": ". The"'), ("[13, 578, 842, 13]", "[13, 578]")]
    shorter += [('"completion_tokens": 12', '"completion_tokens": 10')]
    trace = import_run(changed(COMPLETION, *shorter), "vllm")
    assert (statuses(trace)[-1], trace.rounds[-1].emitted.kind) == (["accepted", "accepted", "discarded"], "none")
    # transformers counts an accepted token that ended the text as the target's own.
    ended = b'{"prompt_ids": [1]}\n{"candidate_ids": [7, 8, 9], "num_matches": 1, "added_ids": [7, 8]}'
    trace = import_run(ended, "transformers", KNOWN)
    assert (statuses(trace), trace.rounds[0].emitted.kind) == ([["accepted", "accepted", "discarded"]], "none")


STEPS = {"num_spec_tokens": 4, "per_step_drafted": [3, 2], "per_step_accepted": [2, 0]}  # 1 + 3 + 1 tokens


def answer(*choices: dict[str, Any], steps: dict[str, Any] = STEPS, **fields: Any) -> list[Fields]:
    """The pieces of a stream of vLLM, one choice each; the last piece has the usage and the steps."""
    pieces = [{"model": "a/model", "created": 1795000000, "choices": [{"index": 0} | each]} for each in choices]
    pieces[-1] |= {"metrics": {"speculative_decoding": steps}} | fields
    return [Fields(f"line {number}", each) for number, each in enumerate(pieces, start=1)]


ONLY, USAGE = {"text": "One two, 3!"}, {"completion_tokens": 5}
WORDS = ONLY | {"logprobs": {"tokens": ["One", " two", ",", " 3", "!"]}}
IDS = ONLY | {"token_ids": [9241, 5304, 264, 882, 11], "finish_reason": "stop"}
IN_PIECES = [
    {"text": "One two", "logprobs": {"tokens": ["One", " two"]}, "token_ids": [9241, 5304]},
    {"text": ",", "logprobs": {"tokens": [","]}, "token_ids": [264], "finish_reason": "length"},
    {"text": "", "token_ids": []},
]
WHOLE_STEP = {"per_step_drafted": [4], "per_step_accepted": [4], "num_spec_steps": 1}
ANSWERS: dict[str, tuple[list[Fields], RecordOptions]] = {
    "texts of tokens": (answer(WORDS | {"finish_reason": "length"}, usage=USAGE), NOTHING),
    "texts and ids, a known tokenizer": (answer(WORDS | IDS), KNOWN),
    "a text without an end": (answer(ONLY, usage=USAGE), NOTHING),
    "ids, a known tokenizer": (answer(IDS | {"prompt_token_ids": [7, 8]}), KNOWN),
    "a text, at a string": (answer(ONLY | {"finish_reason": "stop", "stop_reason": "!"}, usage=USAGE), NOTHING),
    "in pieces, inside the last step": (answer(*IN_PIECES, steps=WHOLE_STEP, prompt_token_ids=[5, 6]), NOTHING),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_vllm(name: str, snapshot: SnapshotAssertion) -> None:
    read = asdict(vllm.steps(*ANSWERS[name]))
    fields = {field: value for field, value in read.items() if value not in (None, (), [], "", 0.0, False)}
    assert [f"{field}: {value!r}" for field, value in fields.items()] == snapshot


UNREADABLE: dict[str, list[Fields]] = {
    "no steps": answer(WORDS, steps={"num_spec_steps": 0}),
    "no drafted": answer(WORDS, steps={"per_step_accepted": [1]}),
    "tokens without a text": answer({"text": ""}, usage=USAGE),
    "a day too far": answer(WORDS, created=10**12 + 1, usage=USAGE),
}


def test_an_answer_of_vllm_that_does_not_say_its_rounds_is_refused(snapshot: SnapshotAssertion) -> None:
    said = {name: refusal(partial(vllm.steps, pieces, NOTHING)) for name, pieces in UNREADABLE.items()}
    assert said == snapshot


def test_a_benchmark_of_vllm_has_counts_where_something_was_drafted() -> None:
    """Its figures: `test_bench_importers.py`."""
    plain = {"model_id": "a/model", "output_lens": [3], "ttfts": [0.25], "itls": [[0.5]]}
    drafts = {"spec_decode_num_drafts": 10, "spec_decode_draft_tokens": 40, "spec_decode_accepted_tokens": 25}
    files = [Fields("", plain), Fields("", plain | drafts)]
    assert [run.counts and run.counts.drafted for run in vllm.bench(files) or []] == [None, 40]
    assert all(vllm.bench([*files, Fields("", other)]) is None for other in ({"ttfts": [0.25]}, {"model_id": "a"}))


@pytest.mark.parametrize("name", REPORTED)
def test_the_run_in_the_record_of_a_public_report(name: str) -> None:
    expected, read = REPORTED[name], partial(import_run, report(name).read_bytes(), REPORTED[name]["system"])
    if "says" in expected:
        assert refusal(read).startswith(expected["says"])
        return
    trace = read()
    assert [f"{round.accepted}/{len(round.drafted)}" for round in trace.rounds] == expected["rounds"]
    assert sum(round.emits for round in trace.rounds) == expected["tokens"]
    assert any(expected.get("note", "") in note for note in known(trace.imported).notes)
    if "pieces" in expected:
        shown = [[token.shown for token in round.accepted_tokens] + [round.emitted.text] for round in trace.rounds]
        assert [piece for pieces in shown for piece in pieces if piece] == expected["pieces"]


@pytest.mark.parametrize(("name", "old", "new", "says"), REFUSED)
def test_a_record_that_does_not_say_the_rounds_is_refused_with_what_is_missing(
    name: str, old: str, new: str, says: str
) -> None:
    assert says in refusal(lambda: import_run(changed(name, (old, new)), SYSTEM_OF[name], KNOWN))


class Another(FakeTokenizer):
    def encode(self, text: str) -> list[int]:
        return [1, 2, 3]


EQUAL = b'{"content": " a", "timings": {"predicted_n": 2, "predicted_ms": 9, "draft_n": 1, "draft_n_accepted": 1}}'
STREAM = b"data: %b\n\ndata: [DONE]\n" % EQUAL
NO_TOKEN = b'{"timings": {"predicted_n": 0, "draft_n": 4, "draft_n_accepted": 0}}\n'


@pytest.mark.parametrize(
    ("content", "system", "given", "says"),
    [
        (STREAM + b"\n" + STREAM, "llama.cpp", {}, "Line 5 follows “[DONE]”: the record holds more than one"),
        (record(TRANSFORMERS), "transformers", {}, "--tokenizer"),
        (record(LM_STUDIO), "lmstudio", {"tokenizer": Another()}, "makes 3 tokens"),
        (b"{}", "ollama", {}, "vllm, sglang, llama.cpp"),
        (2 * NO_TOKEN, "llama.cpp", {}, "The record has no tokens."),  # found: an IndexError
        *((record(CHAT), "vllm", {field: "half \ud800"}, "valid string") for field in ("prompt", "target", "draft")),
    ],
)
def test_what_else_is_refused(content: bytes, system: str, given: dict[str, Any], says: str) -> None:
    assert says in refusal(lambda: import_run(content, system, RecordOptions(**given)))


@pytest.mark.parametrize("count", [1, 3, 60])
def test_a_text_is_cut_into_as_many_pieces_as_there_are_tokens(count: int) -> None:
    for text in ("", "a", TEXT, "日本語のテキスト", "word " * 30, " " * 12):
        pieces = cut(text, count)
        assert (len(pieces), "".join(pieces)) == (count, text)
        assert all(pieces) or len(text) < count
    assert cut("one two three four", 4) == ["one", " two", " three", " four"]


@pytest.mark.parametrize("word", [name for _, names in READERS.values() for name in names])
def test_a_text_that_is_a_word_of_a_record_makes_no_record(word: str) -> None:
    """Found: a run whose prompt was meta_info could not be opened, because it was taken for an answer of SGLang."""
    trace = fake_trace()
    texts = [word, f'"{word}": [1]', f'\\"{word}\\": [1]'] * len(trace.prompt.tokens)
    prompt = replace(trace.prompt, text=word, tokens=texts[: len(trace.prompt.tokens)])
    content = dump_trace(replace(trace, prompt=prompt)).encode()
    assert (system_of(content), open_run(content).prompt.text) == (None, word)
    assert system_of(f'{{"{word}" : 1}}'.encode()) is not None


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_was_imported_is_saved_and_opened_again(system: str) -> None:
    """Its tokens have few bytes, because most of their fields are empty; that does not make it a hostile file."""
    make, given = RECORDS_OF[system], KNOWN if system == "transformers" else NOTHING
    trace = open_run(make(60), given)
    assert open_run(dump_trace(trace).encode()) == trace
    assert "steps; at most 2,000 can be shown here" in refusal(lambda: open_run(make(2_001), given))
    assert "may have 1 MB here" in refusal(lambda: open_run(make(60) + b" " * 1_000_000, given))


# The name of a model that is here.
ITS = import_run(record(CHAT), "vllm", RecordOptions(prompt="Tell a story.", target="wren-base", draft="a head"))
BOTH = replace(ITS, autoregressive=replace(known(fake_trace(tokens=12).autoregressive), alternating=True))


def test_a_trace_that_is_made_of_a_record_has_the_bounds_of_a_file() -> None:
    odd = replace(ITS, prefill_seconds=PrefillSeconds(math.nan, None))
    for trace, limits, says in (
        (odd, UPLOAD, "prefill_seconds.target"),
        (replace(ITS, rounds=ITS.rounds[1:]), UPLOAD, "contradicts itself"),
        (ITS, replace(UPLOAD, megabytes=0), "larger than 0 MB"),
    ):
        assert says in refusal(partial(check_trace, trace, limits))


def test_counts_are_exact_and_no_figure_is_made_without_times() -> None:
    assert metrics.count(ITS.rounds).acceptance_rate == pytest.approx(7 / 12)
    assert [place.judged for place in metrics.count_by_position(ITS.rounds, 3)] == [4, 3, 2]
    for trace in (ITS, BOTH):
        assert metrics.speedup(trace) is metrics.costs(trace) is terms_of(trace) is None
        assert speedup_interval(trace) is verdict_of_run(trace) is None
        assert all(speedup is None for _, speedup in metrics.running(trace))
    assert None not in (reasons := {explain_no_verdict(ITS), explain_no_verdict(BOTH)})
    assert len(reasons) == 2
    assert "This run has no times" in refusal(lambda: known_seconds(None))


def test_the_stage_and_pages_draw_what_is_unknown_as_unknown() -> None:
    (data,) = drawn_traces(ITS, source="recorded")
    assert (data["timed"], data["imported"], data["drafter"]) == (False, True, "other")
    assert [chip["text"] for chip in data["rounds"][2]["chips"]] == [" a", NOT_REPORTED, NOT_REPORTED, " cat"]
    assert all(not any(each["ms"]) and each["alone"] is each["after"]["speedup"] is None for each in data["rounds"])
    page = offline_page(ITS)
    assert "0 parameters" not in page
    assert "<dt>Sampling</dt><dd>not reported</dd>" in page
    assert NOT_REPORTED in round_picture(ITS, 8)
    tokens = ITS.to_frame()
    assert tokens["id"].isna().all()
    assert ((tokens["text"] == NOT_REPORTED).sum(), str(tokens["id"].dtype)) == (5, "Int64")


def test_the_worksheet_starts_from_its_acceptance_alone() -> None:
    assert pair_name(ITS) == "a head → wren-base"
    assert changed_weights(ITS) == [], "its weights are not reported, so they do not differ"
    assert start_of_run(ITS, "an imported run", "recorded") is None, "it has no costs to start from"
    assert start_of_file(replace(ITS, rounds=ITS.rounds[:1])) is None, "nothing was judged"
    start = known(start_of_file(ITS))
    assert (start.label, start.acceptance_only) == ("the opened file: a head → wren-base", True)
    assert (start.drafted, start.accepted, start.model.draft_length) == (12, 7, 3)
    assert start.model.alpha == pytest.approx(7 / 9)
    own = known(start_of_file(fake_trace(tokens=24)))
    assert (own.acceptance_only, own.model.cost_ratio > 0) == (False, True)


@pytest.mark.parametrize(("name", "more"), [("nowhere.json", []), (TRANSFORMERS, []), (CHAT, ["--temperature", -1])])
def test_bad_input_is_one_line(name: str, more: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    given = ["import", RECORDS / name, "--from", SYSTEM_OF.get(name, "vllm"), *more]
    status, printed, errors = command_line(capsys)(*given)
    assert (status, printed, errors.count("\n")) == (2, "", 1)


def test_the_command_reads_a_record_and_writes_a_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    call, out = command_line(capsys), tmp_path / "trace.json"
    status, printed, errors = call("import", RECORDS / CHAT, "--from", "vllm", "-o", out)
    assert (status, errors) == (0, "")
    assert printed.replace(str(out), "trace.json") == snapshot
    assert call("show", out) == (0, "".join(printed.splitlines(keepends=True)[:-1]), "")
    status, printed, _ = call("import", RECORDS / LM_STUDIO, "--from", "lmstudio", "--json", "-")
    assert (status, parse_trace(printed).target.name) == (0, "qwen2.5-3b-instruct")


def test_a_record_of_more_tokens_than_a_run_has_is_refused_before_they_are_made() -> None:
    record = {"usage": {"completion_tokens": 10**9}, "choices": [{"text": "a"}]}
    record["metrics"] = {"speculative_decoding": {"per_step_drafted": [3], "per_step_accepted": [1]}}
    says = refusal(lambda: import_run(json.dumps(record).encode(), "vllm", NOTHING))
    assert "completion_tokens: Input should be less than or equal to" in says
