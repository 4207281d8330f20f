"""Records of other systems become traces that show what was reported, and nothing else."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.core.metrics import count
from specviz.core.trace import UPLOAD, PrefillSeconds, Trace, check_trace, dump_trace, parse_trace, read_trace
from specviz.systems import READERS, SYSTEMS, RecordOptions, import_run, open_run, system_of
from specviz.systems.traces import CUT, cut
from tests.support.fake_traces import fake_trace
from tests.support.hostile_records import RECORDS as RECORDS_OF
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


def test_names_and_settings_are_those_of_the_record_and_what_a_person_adds() -> None:
    server = imported(LLAMA)
    assert server.target.name == "qwen3-8b-q4_k_m.gguf", "a path on a server is cut to its last part"
    assert (server.settings.temperature, server.settings.seed, server.settings.top_k) == (0.0, 7, 40)
    assert (server.prompt.text, server.prefill_seconds.target) == ("Tell a story:", pytest.approx(0.0415))
    chat, library = imported(LLAMA_CHAT), imported(TRANSFORMERS)
    systems = [known(each.imported).system for each in (chat, library)]
    assert systems == ["llama.cpp b9411-001d906", "transformers 5.23.0"]
    assert (library.target.name, known(library.drafter).name) == ("Qwen/Qwen3-8B", "Qwen/Qwen3-0.6B")
    assert "temperature" in known(chat.imported).unknown
    assert "temperature" not in known(library.imported).unknown, "without sampling it is greedy"
    trace = imported(CHAT, prompt="Tell a story.", target="mine", draft="small", temperature=0.7)
    assert (trace.prompt.text, trace.prompt.token_ids, trace.settings.temperature) == ("Tell a story.", [], 0.7)
    drafter = known(trace.drafter)
    assert (trace.target.name, drafter.name, drafter.asked_as) == ("mine", "small", "small")
    assert "temperature" not in known(trace.imported).unknown


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


MADE = {
    "a negative time": (lambda t: replace(t, prefill_seconds=PrefillSeconds(-1.0, None)), "prefill_seconds.target"),
    "no number": (lambda t: replace(t, prefill_seconds=PrefillSeconds(math.nan, None)), "prefill_seconds.target"),
    "a long name": (lambda t: replace(t, created="x" * 301), "created"),
    "a long text": (lambda t: replace(t, output=replace(t.output, text="x" * 2_000_001)), "output.text"),
    "a text as a number": (lambda t: replace(t, prompt=replace(t.prompt, tokens=[1])), "prompt.tokens.0"),
    "many tokens": (lambda t: replace(t, prompt=replace(t.prompt, tokens=[""] * 65_537)), "prompt.tokens"),
    "a contradiction": (lambda t: replace(t, rounds=t.rounds[1:]), "contradicts itself"),
    "a token deep inside": (
        lambda t: replace(t, rounds=[replace(t.rounds[0], emitted=replace(t.rounds[0].emitted, id=-1))]),
        "rounds.0.emitted.id",
    ),
}


@pytest.mark.parametrize("change", MADE)
def test_a_made_trace_has_the_bounds_of_a_file(change: str) -> None:
    make, says = MADE[change]
    with pytest.raises(InputError) as refused:
        check_trace(make(imported(CHAT)))
    assert says in str(refused.value)


def test_a_made_trace_whose_file_could_not_be_opened_is_refused() -> None:
    dense = replace(UPLOAD, shape=replace(UPLOAD.shape, value=10_000, free=0))
    for limits, says in ((replace(UPLOAD, megabytes=0), "larger than 0 MB"), (dense, "too many values for its size")):
        with pytest.raises(InputError, match=says):
            check_trace(imported(CHAT), limits)


def test_markup_in_a_record_stays_text() -> None:
    hostile = "<script>alert(1)</script>"
    content = changed(CHAT, ('"token": " cat"', f'"token": "{hostile}"'), ("[32, 99, 97, 116]", "null"))
    assert import_run(content, "vllm").rounds[2].emitted.text == hostile


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
