"""Records of other systems become traces that show what was reported, and nothing else."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specviz.core import outside
from specviz.core import trace as core_trace
from specviz.core.errors import InputError
from specviz.core.metrics import count
from specviz.core.trace import UPLOAD, Trace, check_trace, dump_trace, parse_trace, read_trace
from specviz.systems import SYSTEMS, RecordOptions, import_run, open_run
from specviz.systems.traces import CUT, cut
from tests.support.known import known
from tests.support.records import IDS, PIECES, RECORDS, SYSTEM_OF, TEXT, FakeTokenizer, record

CHAT, COMPLETION, LLAMA, LLAMA_CHAT, SGLANG, TRANSFORMERS, LM_STUDIO = SYSTEM_OF
STATUSES = [[], ["accepted"] * 3, ["accepted", "rejected", "discarded"], ["rejected", "discarded", "discarded"]]
STATUSES.append(["accepted"] * 3)
KINDS = ["bonus", "bonus", "correction", "correction", "bonus"]


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


@pytest.mark.parametrize("name", SYSTEM_OF)
def test_each_record_gives_the_same_rounds_and_what_it_lacks_stays_unknown(name: str, tmp_path: Path) -> None:
    trace, file = imported(name), tmp_path / "trace.json"
    assert [[token.status for token in round.drafted] for round in trace.rounds] == STATUSES
    assert [round.emitted.kind for round in trace.rounds] == KINDS
    assert (trace.output.text, trace.output.stopped_by) == (TEXT, "length")
    counts = count(trace.rounds)
    assert (counts.drafted, counts.accepted, counts.rejected, counts.emitted) == (12, 7, 2, 12)
    assert open_run(record(name), RecordOptions(tokenizer=FakeTokenizer() if "transformers" in name else None)) == trace
    file.write_text(dump_trace(trace), encoding="utf-8")
    assert read_trace(file) == trace
    assert json.loads(dump_trace(trace))["schema"] == 2
    assert known(trace.drafter).kind == "other"
    assert not trace.timed
    assert all(round.draft_seconds is round.verify_seconds is round.overhead_seconds is None for round in trace.rounds)
    assert trace.autoregressive is None
    drafted = [token for round in trace.rounds for token in round.drafted]
    assert all(token.target_prob is token.draft_prob is token.u is None for token in drafted)
    rest = [token for token in drafted if token.status != "accepted"]
    by_name = known(trace.imported).system.startswith("transformers")  # it reports what was rejected
    assert all((token.id is not None) if by_name else (token.id is token.text is None) for token in rest)


def test_token_ids_and_pieces_are_those_of_the_record_or_said_to_be_cut() -> None:
    assert {file.name for file in RECORDS.iterdir() if file.is_file()} == set(SYSTEM_OF)
    assert set(SYSTEM_OF.values()) == set(SYSTEMS)
    for name in SYSTEM_OF:
        ids = IDS if "chat" not in name and "lmstudio" not in name else []
        assert imported(name).output.token_ids == ids, name
    for name in (CHAT, LLAMA, TRANSFORMERS):
        trace = imported(name)
        shown = [token.text for round in trace.rounds for token in (*round.accepted_tokens, round.emitted)]
        assert shown == PIECES, name
        assert not any("cut into" in note for note in known(trace.imported).notes), name
    assert CUT in known(imported(LM_STUDIO).imported).notes
    for name in (LM_STUDIO, COMPLETION, SGLANG):
        trace = imported(name, tokenizer=FakeTokenizer())
        assert [token.text for token in trace.rounds[1].drafted] == PIECES[1:4], name
        assert CUT not in known(trace.imported).notes
    for name in (SGLANG, COMPLETION):
        notes = known(imported(name).imported).notes
        assert any(note.startswith("The record has token ids, but no text of a token") for note in notes)


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


def test_a_record_that_does_not_say_the_rounds_is_refused_with_what_is_missing() -> None:
    for name, old, new, says in (
        (CHAT, '"per_step_accepted": [3, 1, 0, 3], ', "", "--per-request-spec-decode-metrics detailed"),
        (CHAT, "[3, 1, 0, 3]", "[3, 1, 0]", "differ in length"),
        (CHAT, "[3, 1, 0, 3]", "[3, 1, 0, 4]", "accepts 4 of 3 drafted"),
        (CHAT, "[3, 1, 0, 3]", "[0, 0, 0, 0]", "7 of 12 tokens were written in steps without a draft"),
        (CHAT, "[3, 1, 0, 3]", "[3, 3, 3, 3]", "its output ends in step 4"),
        (CHAT, '"completion_tokens": 12', '"completion_tokens": 0', "no usage.completion_tokens"),
        (COMPLETION, "[9241]", "[9241, 5]", "token_ids has 13 tokens"),
        (COMPLETION, '"index": 0', '"index": 1', "several answers"),
        (LLAMA_CHAT, '"timings"', '"timing"', "timings_per_token"),
        (LLAMA_CHAT, '"draft_n"', '"drafted"', "nothing was drafted"),
        (LLAMA_CHAT, '"draft_n": 6', '"draft_n": 2', "becomes smaller"),
        (SGLANG, "[1, 1, 0, 2]", "[2, 0, 0, 2]", "not the steps of the histogram"),
        (SGLANG, '"spec_verify_ct": 4', '"spec_verify_ct": 6', "are not the 6 steps"),
        (SGLANG, ', "spec_verify_ct": 4', "", "spec_verify_ct"),
        (SGLANG, '"spec_num_proposed_drafts": 12', '"spec_num_proposed_drafts": 11', "different numbers"),
        (LM_STUDIO, '"acceptedDraftTokensCount": 7', '"acceptedDraftTokensCount": 6', "but the statistics say"),
        (LM_STUDIO, '"totalDraftTokensCount": 12', '"totalDraftTokensCount": 13', "cannot all be equal"),
        (TRANSFORMERS, '"prompt_ids"', '"prompt"', "The first line of the record"),
        (TRANSFORMERS, "[264, 8415]", "[265, 8415]", "Round 3 of the record"),
    ):
        assert says in refusal(changed(name, (old, new)), SYSTEM_OF[name], tokenizer=FakeTokenizer())


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"predicted_n": 1,', '"predicted_n": "1",', "line 1.timings.predicted_n"),
        ('"tokens": [264]', '"tokens": [-4]', "line 5.tokens.0"),
        ('"stop_type": "limit"', '"stop_type": 3', "line 25.stop_type"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(old: str, new: str, place: str) -> None:
    assert refusal(changed(LLAMA, (old, new)), "llama.cpp").startswith(f"The record is not valid at {place}: ")


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


@pytest.mark.parametrize("name", SYSTEM_OF)
def test_a_record_that_was_cut_off_gets_one_sentence_or_is_read(name: str) -> None:
    whole, sentences = record(name), list[str]()
    for end in range(0, len(whole), 97):
        try:
            trace = import_run(whole[:end], SYSTEM_OF[name], RecordOptions(tokenizer=FakeTokenizer()))
        except InputError as error:
            sentences.append(str(error))
        else:
            assert parse_trace(dump_trace(trace)) == trace
    assert all(re.fullmatch(r"[^\n]+\.", sentence) for sentence in sentences)


@pytest.mark.parametrize("name", SYSTEM_OF)
def test_a_record_is_read_once_and_its_trace_is_checked_as_a_file_would_be(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: the trace was written as JSON and read again, twice over, which was most of the time of an import."""
    trace = imported(name)
    assert parse_trace(dump_trace(trace)) == trace
    monkeypatch.setattr(outside, "values_in", None)
    monkeypatch.setattr(core_trace, "values_in", None)
    assert imported(name) == trace


def test_a_made_trace_whose_file_could_not_be_opened_is_refused() -> None:
    trace = imported(CHAT)
    large = replace(UPLOAD, megabytes=0)
    with pytest.raises(InputError, match="The file is larger than 0 MB"):
        check_trace(trace, large)
    dense = replace(UPLOAD, shape=replace(UPLOAD.shape, value=10_000, free=0))
    with pytest.raises(InputError, match="too many values for its size"):
        check_trace(trace, dense)


def test_markup_in_a_record_stays_text() -> None:
    hostile = "<script>alert(1)</script>"
    content = changed(CHAT, ('"token": " cat"', f'"token": "{hostile}"'), ("[32, 99, 97, 116]", "null"))
    assert import_run(content, "vllm").rounds[2].emitted.text == hostile


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20, 60])
def test_a_text_is_cut_into_as_many_pieces_as_there_are_tokens(count: int) -> None:
    for text in ("", "a", TEXT, "日本語のテキスト", "word " * 30, " " * 12):
        pieces = cut(text, count)
        assert len(pieces) == count
        assert "".join(pieces) == text
        assert all(pieces) or len(text) < count
