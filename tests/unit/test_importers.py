"""Records of other systems become traces of what was reported, and no figure is made of the rest."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import speedup_interval
from specviz.core.names import pair_name
from specviz.core.rounds import NOT_REPORTED, known_seconds
from specviz.core.terms import terms_of
from specviz.core.trace import UPLOAD, PrefillSeconds, Trace, TraceLimits, check_trace, dump_trace, parse_trace
from specviz.core.verdict import explain_no_verdict, verdict_of_run
from specviz.measure.worksheet.starts import start_of_file, start_of_run
from specviz.models.catalogue import changed_weights
from specviz.player.offline import offline_page
from specviz.player.sheet import round_picture
from specviz.systems import READERS, SYSTEMS, RecordOptions, import_run, open_run, system_of
from specviz.systems.traces import CUT, cut
from tests.support.commands import command_line
from tests.support.drawn import drawn_traces
from tests.support.fake_traces import fake_trace
from tests.support.hostile_records import RECORDS as RECORDS_OF
from tests.support.known import known
from tests.support.records import RECORDS, SYSTEM_OF, TEXT, FakeTokenizer, record

CHAT, COMPLETION, LLAMA, LLAMA_CHAT, SGLANG, TRANSFORMERS, LM_STUDIO = SYSTEM_OF
STATUSES = [[], ["accepted"] * 3, ["accepted", "rejected", "discarded"], ["rejected", "discarded", "discarded"]]
STATUSES.append(["accepted"] * 3)


def imported(name: str, **more: Any) -> Trace:
    given = {"tokenizer": FakeTokenizer()} if SYSTEM_OF[name] == "transformers" else {}
    return import_run(record(name), SYSTEM_OF[name], RecordOptions(**(given | more)))


def changed(name: str, *changes: tuple[str, str]) -> bytes:
    content = record(name).decode()
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    return content.encode()


def refusal(content: bytes, system: str, **given: Any) -> str:
    with pytest.raises(InputError) as refused:
        import_run(content, system, RecordOptions(**given))
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


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


GIVEN = {"prompt": "Tell a story.", "target": "mine", "draft": "small", "temperature": 0.7}


@pytest.mark.parametrize("name", SYSTEM_OF)
def test_each_record_gives_the_same_rounds_and_what_it_lacks_stays_unknown(
    name: str, snapshot: SnapshotAssertion
) -> None:
    trace = imported(name)
    assert [[token.status for token in round.drafted] for round in trace.rounds] == STATUSES
    usual, with_texts = lines_of(trace), imported(name, tokenizer=FakeTokenizer(), **GIVEN)
    given = [line for line in lines_of(with_texts) if line not in usual]
    assert "\n".join([*usual, "", "With a tokenizer and names:", *given]) == snapshot
    assert CUT not in known(with_texts.imported).notes
    assert open_run(record(name), RecordOptions(tokenizer=FakeTokenizer() if "transformers" in name else None)) == trace
    assert parse_trace(dump_trace(trace)) == trace
    assert not trace.timed
    assert all(round.draft_seconds is round.verify_seconds is round.overhead_seconds is None for round in trace.rounds)
    drafted = [token for round in trace.rounds for token in round.drafted]
    assert all(token.target_prob is token.draft_prob is token.u is trace.autoregressive is None for token in drafted)


def test_there_is_a_record_of_each_system() -> None:
    assert {file.name for file in RECORDS.iterdir() if file.is_file()} == set(SYSTEM_OF)
    assert set(SYSTEM_OF.values()) == set(SYSTEMS)


def test_streams_are_cut_into_their_own_rounds() -> None:
    """The third round of llama.cpp drafts nothing: its counters stay."""
    content = changed(
        LLAMA,
        ('"draft_n": 9, "draft_n_accepted": 4', '"draft_n": 6, "draft_n_accepted": 4'),
        ('"draft_n": 12, "draft_n_accepted": 7', '"draft_n": 9, "draft_n_accepted": 7'),
    )
    rounds = import_run(content, "llama.cpp").rounds
    assert [len(round.drafted) for round in rounds] == [0, 3, 3, 0, 3]
    assert rounds[3].added == "own"
    # A character of two tokens is sent when it is whole; the counter of tokens says that there were two.
    lines = record(LLAMA_CHAT).decode().split("\n\n")
    held = next(i for i, line in enumerate(lines) if '" upon"' in line)
    lines[held + 1] = lines[held + 1].replace('" a"', '" upon a"')
    del lines[held]
    trace = import_run("\n\n".join(lines).encode(), "llama.cpp")
    assert [[token.status for token in round.drafted] for round in trace.rounds] == STATUSES
    assert trace.output.text == TEXT
    # The last step of vLLM reports 3 accepted; the output has room for 2 of them.
    shorter = changed(
        COMPLETION,
        ('"text": ". The end."', '"text": ". The"'),
        ("[13, 578, 842, 13]", "[13, 578]"),
        ('"completion_tokens": 12', '"completion_tokens": 10'),
    )
    last = import_run(shorter, "vllm").rounds[-1]
    assert [token.status for token in last.drafted] == ["accepted", "accepted", "discarded"]
    assert last.emitted.kind == "none"
    # transformers counts an accepted token that ended the text as the target's own.
    ended = b'{"prompt_ids": [1]}\n{"candidate_ids": [7, 8, 9], "num_matches": 1, "added_ids": [7, 8]}'
    [round] = import_run(ended, "transformers", RecordOptions(tokenizer=FakeTokenizer())).rounds
    assert [*(token.status for token in round.drafted), round.emitted.kind] == ["accepted"] * 2 + ["discarded", "none"]


EQUAL = '{"content": " a", "timings": {"predicted_n": 2, "predicted_ms": 9, "draft_n": 1, "draft_n_accepted": 1}}'
STREAM = f"data: {EQUAL}\n\ndata: [DONE]\n"
REFUSED = yaml.safe_load((RECORDS.parent / "records_refused.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("name", "old", "new", "says"), REFUSED)
def test_a_record_that_does_not_say_the_rounds_is_refused_with_what_is_missing(
    name: str, old: str, new: str, says: str
) -> None:
    assert says in refusal(changed(name, (old, new)), SYSTEM_OF[name], tokenizer=FakeTokenizer())


class Another(FakeTokenizer):
    def encode(self, text: str) -> list[int]:
        return [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "system", "given", "says"),
    [
        (f"{STREAM}\n{STREAM}".encode(), "llama.cpp", {}, "Line 5 follows “[DONE]”: the record holds more than one"),
        (record(TRANSFORMERS), "transformers", {}, "--tokenizer"),
        (record(LM_STUDIO), "lmstudio", {"tokenizer": Another()}, "makes 3 tokens"),
        (b"{}", "ollama", {}, "vllm, sglang, llama.cpp"),
        *((record(CHAT), "vllm", {field: "half \ud800"}, "valid string") for field in ("prompt", "target", "draft")),
    ],
)
def test_what_else_is_refused(content: bytes, system: str, given: dict[str, Any], says: str) -> None:
    assert says in refusal(content, system, **given)


HOSTILE = {
    "empty": b"",
    "only the end of a stream": b"data: [DONE]\n",
    "not UTF-8": b"\xff\xfe\x00",
    "a page": b"<!DOCTYPE html><title>502 Bad Gateway</title>",
    "a list of numbers": b"[1, 2]",
    "nested objects": b'{"a":' * 100_000,
    "not a number": b'{"usage": {"completion_tokens": NaN}}',
    "a number of 5,000 digits": b'{"usage": {"completion_tokens": ' + b"1" * 5_000 + b"}}",
    "half a character": b'{"model": "\\ud800", "choices": [{"text": "a"}], "usage": {"completion_tokens": 1}}',
    "an error of the server": b'{"error": {"code": 400, "message": "no"}}',
    "a list where an object belongs": b'{"choices": {}, "timings": [], "meta_info": 3, "stats": 1, "fragments": 2}',
    "many tokens": b'{"usage": {"completion_tokens": 1000000000}, "choices": [{"text": "a"}]}',
    "many lines": b"{}\n" * 300_000,
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_record_gets_one_sentence(system: str, content: bytes) -> None:
    assert len(refusal(content, system, tokenizer=FakeTokenizer())) < 1_500


MADE: dict[str, tuple[Callable[[Trace], Trace], TraceLimits]] = {
    "prefill_seconds.target": (lambda t: replace(t, prefill_seconds=PrefillSeconds(math.nan, None)), UPLOAD),
    "output.text": (lambda t: replace(t, output=replace(t.output, text="x" * 2_000_001)), UPLOAD),
    "prompt.tokens.0": (lambda t: replace(t, prompt=replace(t.prompt, tokens=[1])), UPLOAD),  # type: ignore[list-item]
    "contradicts itself": (lambda t: replace(t, rounds=t.rounds[1:]), UPLOAD),
    "larger than 0 MB": (lambda t: t, replace(UPLOAD, megabytes=0)),
}


@pytest.mark.parametrize("says", MADE)
def test_a_made_trace_has_the_bounds_of_a_file(says: str) -> None:
    change, limits = MADE[says]
    with pytest.raises(InputError, match=says):
        check_trace(change(imported(CHAT)), limits)


@pytest.mark.parametrize("count", [1, 3, 60])
def test_a_text_is_cut_into_as_many_pieces_as_there_are_tokens(count: int) -> None:
    for text in ("", "a", TEXT, "日本語のテキスト", "word " * 30, " " * 12):
        pieces = cut(text, count)
        assert len(pieces) == count
        assert "".join(pieces) == text
        assert all(pieces) or len(text) < count
    assert cut("one two three four", 4) == ["one", " two", " three", " four"]


@pytest.mark.parametrize("word", [name for _, names in READERS.values() for name in names])
def test_a_text_that_is_a_word_of_a_record_makes_no_record(word: str) -> None:
    """Found: a run whose prompt was meta_info could not be opened, because it was taken for an answer of SGLang."""
    trace = fake_trace()
    texts = [word, f'"{word}": [1]', f'\\"{word}\\": [1]']
    prompt = replace(trace.prompt, text=word, tokens=(texts * len(trace.prompt.tokens))[: len(trace.prompt.tokens)])
    content = dump_trace(replace(trace, prompt=prompt)).encode()
    assert system_of(content) is None
    assert open_run(content).prompt.text == word
    assert system_of(f'{{"{word}" : 1}}'.encode()) is not None


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_was_imported_is_saved_and_opened_again(system: str) -> None:
    """Its tokens have few bytes, because most of their fields are empty; that does not make it a hostile file."""
    given = RecordOptions(tokenizer=FakeTokenizer() if system == "transformers" else None)
    trace = open_run(RECORDS_OF[system](60), given)
    assert open_run(dump_trace(trace).encode()) == trace
    with pytest.raises(InputError, match="steps; at most 2,000 can be shown here"):
        open_run(RECORDS_OF[system](2_001), given)
    with pytest.raises(InputError, match="may have 1 MB here"):
        open_run(RECORDS_OF[system](60) + b" " * 1_000_000, given)


# The name of a model that is here.
ITS = import_run(record(CHAT), "vllm", RecordOptions(prompt="Tell a story.", target="wren-base", draft="a head"))


def test_counts_are_exact_and_no_figure_is_made_without_times() -> None:
    assert metrics.count(ITS.rounds).acceptance_rate == pytest.approx(7 / 12)
    assert [place.judged for place in metrics.count_by_position(ITS.rounds, 3)] == [4, 3, 2]
    assert metrics.speedup(ITS) is metrics.costs(ITS) is terms_of(ITS) is None
    assert speedup_interval(ITS) is verdict_of_run(ITS) is None
    assert explain_no_verdict(ITS)
    plain = replace(fake_trace(tokens=12).autoregressive, alternating=True)  # type: ignore[type-var]
    both = replace(ITS, autoregressive=plain)
    assert all(speedup is None for trace in (ITS, both) for _, speedup in metrics.running(trace))
    assert metrics.speedup(both) is metrics.costs(both) is speedup_interval(both) is verdict_of_run(both) is None
    assert explain_no_verdict(both) not in (None, explain_no_verdict(ITS))


def test_the_stage_and_pages_draw_what_is_unknown_as_unknown() -> None:
    (data,) = drawn_traces(ITS, source="recorded")
    assert (data["timed"], data["imported"], data["drafter"]) == (False, True, "other")
    assert [chip["text"] for chip in data["rounds"][2]["chips"]] == [" a", NOT_REPORTED, NOT_REPORTED, " cat"]
    assert all(moment == 0 for round in data["rounds"] for moment in round["ms"])
    assert all(round["alone"] is None for round in data["rounds"])
    assert all(round["after"]["speedup"] is None for round in data["rounds"])
    page = offline_page(ITS)
    assert "0 parameters" not in page
    assert "<dt>Sampling</dt><dd>not reported</dd>" in page
    assert offline_page(replace(fake_trace(tokens=12), drafter=None, rounds=[])), "the target alone"
    assert NOT_REPORTED in round_picture(ITS, 8)


def test_frames_and_names_leave_out_what_is_not_known() -> None:
    tokens = ITS.to_frame()
    assert all(round.draft_seconds is None for round in ITS.rounds)
    assert [round.emits for round in ITS.rounds] == [1, 4, 2, 1, 4]
    assert tokens["id"].isna().all()
    assert (tokens["text"] == NOT_REPORTED).sum() == 5
    assert str(tokens["id"].dtype) == "Int64"
    assert pair_name(ITS) == "a head → wren-base"
    assert start_of_run(ITS, "an imported run", "recorded") is None, "it has no costs to start from"
    start = known(start_of_file(ITS))
    assert (start.label, start.acceptance_only) == ("the opened file: a head → wren-base", True)
    assert (start.drafted, start.accepted, start.model.draft_length) == (12, 7, 3)
    assert start.model.alpha == pytest.approx(7 / 9)
    assert start_of_file(replace(ITS, rounds=ITS.rounds[:1])) is None, "nothing was judged"
    assert changed_weights(ITS) == [], "its weights are not reported, so they do not differ"
    own = known(start_of_file(fake_trace(tokens=24)))
    assert (own.acceptance_only, own.model.cost_ratio > 0) == (False, True)
    with pytest.raises(InputError, match="This run has no times"):
        known_seconds(None)


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
