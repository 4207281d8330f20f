"""Hostile files get their sentence, in little memory; hostile text is shown as it is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.markdown import Markdown

from specviz.core.errors import InputError
from specviz.core.trace import UPLOAD, parse_trace
from specviz.data.importers import Given, open_run
from specviz.data.serving_counters import NOTHING_FOUND, read_counters
from specviz.measure.race import parse_race
from specviz.measure.sweep.prompt_files import read_prompts
from specviz.measure.sweep.rows import COLUMNS
from specviz.measure.sweep.table import dump_frame, frame_of, read_frame
from specviz.ui.shared.escaping import figure_text, file_label, plain
from tests.support.fake_rows import row_at
from tests.support.hostile import ALL_NAMES, NAME, NAMES
from tests.support.records import FakeTokenizer
from tests.support.strategies import assert_one_sentence, refusal_and_peak

FOLDER = Path(__file__).parents[1] / "hostile"
READERS: dict[str, Callable[[bytes], object]] = {
    "trace": lambda content: parse_trace(content, UPLOAD),
    "sweep": lambda content: read_frame(content, "It"),
    "prompts": read_prompts,
    "counters": lambda content: read_counters(content.decode()),
    "race": lambda content: parse_race(content.decode()),
    "record": lambda content: open_run(
        content, Given(tokenizer=FakeTokenizer() if b"candidate_ids" in content else None)
    ),
}
NOT_JSON, NOT_TEXT = "the file: Invalid JSON", "the file: it is not UTF-8 text"
NOT_VALID_AT = {  # trace-NAME.json: The trace is not valid at …
    "empty": NOT_JSON,
    "binary": NOT_TEXT,
    "gzip": NOT_TEXT,
    "utf16": NOT_TEXT,
    "html": NOT_JSON,
    "nul": NOT_JSON,
    "nan": "rounds.0.verify_seconds: Input should be a finite number",
    "infinity": "prefill_seconds.target: Input should be a finite number",
    "huge-number": "rounds.0.drafted.0.id: Input should be less than 2147483648",
    "negative-time": "rounds.0.draft_seconds: Input should be greater than or equal to 0",
    "half-a-character": f"{NOT_JSON}: unexpected end of hex escape at line 1 column 183",
}
NOT_VALID_IN = {  # sweep-NAME.csv: It is not valid in row 1, column …
    "negative-count": "accepted: Input should be greater than or equal to 0",
    "nan": "speedup: Input should be a finite number",
    "infinity": "autoregressive_seconds: Input should be a finite number",
    "huge-number": "drafted: Input should be less than or equal to 1000000000",
}
OTHER_COLUMNS = "It is not a sweep of this version: it has other columns."
REFUSED = {
    **{f"trace-{name}.json": f"The trace is not valid at {at}." for name, at in NOT_VALID_AT.items()},
    **{f"sweep-{name}.csv": f"It is not valid in row 1, column {at}." for name, at in NOT_VALID_IN.items()},
    **dict.fromkeys(("sweep-empty.csv", "sweep-semicolons.csv"), OTHER_COLUMNS),
    **dict.fromkeys(("sweep-binary.csv", "sweep-gzip.csv", "sweep-utf16.csv"), "It is not UTF-8 text."),
    "trace-rounds-out-of-order.json": (
        "The trace contradicts itself: rounds.0 has index 2; rounds.2 has index 0; output.token_ids is not what the "
        "rounds emit."
    ),
    "trace-wrong-schema.json": "The trace's schema is '99'; this version reads schemas 1 and 2.",
    "trace-duplicate-keys.json": (
        "The trace contradicts itself: output.token_ids is not what the rounds emit; output.token_ids holds 0 tokens, "
        "with max_new_tokens 6; output.stopped_by is 'length' before max_new_tokens."
    ),
    "sweep-header-only.csv": "It holds no rows.",
    "sweep-open-quote.csv": "It cannot be read as a table: unexpected end of data.",
    "sweep-counts-do-not-add-up.csv": (
        "It is not valid: accepted, rejected and discarded of 'story-1' do not add up to drafted."
    ),
    "sweep-short-row.csv": "It is not valid: a row has fewer values than the header.",
    "prompts-empty.txt": "The file holds no prompt: write one on each line.",
    "prompts-blank.txt": "The file holds no prompt: write one on each line.",
    "prompts-binary.txt": "The file is not UTF-8 text.",
    "prompts-utf16.txt": "The file is not UTF-8 text.",
    "prompts-nul.txt": (
        "Line 1 is left out: the prompt contains only control characters: write a few words for the models to continue."
    ),
    "prompts-half-a-character.jsonl": (
        "Line 1 is left out: the prompt contains half a character (a lone surrogate) and cannot be read as text."
    ),
    "prompts-no-prompt.jsonl": 'Line 1 is left out: it has no "prompt" with a text.',
    "prompts-number.jsonl": 'Line 1 is left out: it has no "prompt" with a text.',
    "prompts-unknown-key.jsonl": (
        "Line 1 is left out: it has '<img src=x onerror=alert(1)>', but a line can only have prompt or messages, name "
        "and workload."
    ),
    "prompts-name-of-two-lines.jsonl": 'Line 1 is left out: its "name" is not a text of 1 to 40 plain characters.',
    "counters-nan.txt": "vllm:spec_decode_num_drafts_total is “NaN”, which is not a number from 0 to 10¹⁵.",
    "counters-huge-number.txt": (
        "vllm:spec_decode_num_drafts_total is “99999999999999999999…”, which is not a number from 0 to 10¹⁵."
    ),
    "counters-negative.txt": "vllm:spec_decode_num_drafts_total is “-3”, which is not a number from 0 to 10¹⁵.",
    "counters-deep.txt": NOTHING_FOUND,
    "counters-html.txt": NOTHING_FOUND,
    "counters-open-label.txt": "The labels of vllm:spec_decode_num_drafts_total cannot be read.",
    "counters-more-accepted.txt": ("More tokens are accepted than drafted: these counters do not belong together."),
    "counters-position-gap.txt": "The per-position counters must be those of positions 0, 1, 2, … without a gap.",
    **dict.fromkeys(
        ["record-vllm.json", "record-lmstudio.json"]
        + [f"record-{system}.jsonl" for system in ("llama.cpp", "sglang", "transformers")],
        "The record drafts 38,400 tokens in all; at most 24,000 can be shown here.",
    ),
    "race-empty.json": "The race is not JSON.",
    "race-deep.json": "The race is not JSON.",
    "race-huge-number.json": "The race is not JSON.",
    "race-nan.json": "The race is not of schema 1.",
    "race-wrong-schema.json": "The race is not of schema 1.",
    "race-no-laps.json": "The race holds no laps.",
    "race-not-a-lap.json": "The race is not valid at speculative: Field required.",
}
DENSE = "The trace is not valid at the file: it has too many values for its size."
SHORT_ROW = REFUSED["sweep-short-row.csv"]
NO_OBJECT = "The trace is not valid at the file: Input should be an object."
LONG_ROW = "It is not valid: a row has more than 20,000 characters."
READ = {  # these are strange, but they say what they mean
    *("trace-bom.json", "trace-nul-escaped.json"),
    *("sweep-bom.csv", "sweep-nul.csv", "sweep-formula.csv", "sweep-quoted-newline.csv"),
    *("prompts-bom.txt", "prompts-deep.jsonl", "prompts-one-name-twice.jsonl"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_gets_its_sentence(name: str) -> None:
    with pytest.raises(InputError) as refused:
        READERS[name.split("-")[0]]((FOLDER / name).read_bytes())
    assert str(refused.value) == REFUSED[name]
    assert_one_sentence(str(refused.value))


def test_a_strange_file_is_read_and_each_file_of_the_corpus_is_in_one_table() -> None:
    for name in READ:
        READERS[name.split("-")[0]]((FOLDER / name).read_bytes())
    assert {file.name for file in FOLDER.iterdir()} == READ | REFUSED.keys()


# ---- large files, made here


def table(text: str) -> bytes:
    """A sweep's header and one row whose workload is this text."""
    header, row, _ = dump_frame(frame_of([row_at("story", 4, 1.5)])).split("\r\n")
    cells = row.split(",")
    cells[COLUMNS.index("workload")] = text
    return f"{header}\r\n{','.join(cells)}\r\n".encode()


LARGE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a trace nested 400,000 deep": ("trace", lambda: b"[" * 400_000, DENSE),
    "a trace that is one text": ("trace", lambda: json.dumps("x" * 3_900_000).encode(), NO_OBJECT),
    "a list of nested lists": ("trace", lambda: b"[" + b"[[[[[[[[[[1]]]]]]]]]]," * 170_000 + b"1]", DENSE),
    "a number of 3,000,000 digits": ("trace", lambda: b"1" * 3_000_000, REFUSED["trace-empty.json"]),
    "a table with one enormous cell": ("sweep", lambda: table("x" * 3_900_000), LONG_ROW),
    "a table of 3,900,000 columns": ("sweep", lambda: b"," * 3_900_000, OTHER_COLUMNS),
    "a row of 3,900,000 cells": ("sweep", lambda: table("x," * 1_950_000), LONG_ROW),
    "a row of 480,000 lines": ("sweep", lambda: table('"x\n",' * 480_000), LONG_ROW),
    "a table of 1,900,000 short lines": ("sweep", lambda: table("x") + b"1\n" * 1_900_000, SHORT_ROW),
    "900,000 lines of prompts": ("prompts", lambda: b"\0\n" * 490_000, REFUSED["prompts-nul.txt"]),
    "a prompt that is a list of nested lists": (
        "prompts",
        lambda: b'{"prompt": [' + b"[[[[[[[[[[1]]]]]]]]]]," * 40_000 + b"1]}",
        "Line 1 is left out: it is longer than 140,000 characters.",
    ),
    "300,000 nested lists pasted": ("counters", lambda: b"[" + b"[[1]]," * 150_000 + b"1]", NOTHING_FOUND),
    "300,000 brackets pasted": ("counters", lambda: b"[{" * 149_999, NOTHING_FOUND),
    "300,000 equal signs pasted": ("counters", lambda: b"=" * 299_999, NOTHING_FOUND),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_hostile_file_takes_less_than_10_times_its_size(name: str) -> None:
    kind, make, sentence = LARGE[name]
    content = make()
    said, peak = refusal_and_peak(lambda: READERS[kind](content))
    assert said == sentence
    assert peak < 10 * len(content), f"{peak / len(content):.1f} times"


TEXTS = [
    *NAMES,
    NAME,
    "**b** __c__ _d_ ~~e~~ `f` ![g][h]",
    "<b>bold</b> <!-- x --> <https://evil.test> &lt; &#60;",
    "back\\slash \\* \\",
    *("# head", "> quote", "- list", "+ list", "= line", "1. list", "23) list", "    code", "\tcode", "```fence```"),
    "two\n\n# lines",
    "| a | b |\n|---|---|",
    "head\n===",
    "org/model_name-7B (float32), 12:30, 100 %",
    "a $1 and $2 price",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_shown_as_it_is_and_begins_no_block(text: str) -> None:
    tokens = Markdown(f"Loaded {plain(text)}").parsed
    inline = [token for block in tokens for token in block.children or []]
    assert {token.type for token in inline} <= {"text", "text_special"}
    assert {block.type for block in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    shown = "".join(token.content for token in inline).replace("\u2060", "")
    assert shown.rstrip() == f"Loaded {text.strip()}".replace("\n", "↵").rstrip()
    assert {block.type for block in Markdown(plain(text)).parsed} <= {"paragraph_open", "inline", "paragraph_close"}


def test_names_and_figures_show_text_as_it_is() -> None:
    """A directive, an emoji, an icon or a bare address needs its colon, www or @ before the next character."""
    shown = plain(f"{NAME} someone@evil.test").replace("\\", "")
    marks = (":red[", ":smile", ":material/", "http:/", "javascript:a", "www.", "someone@evil.test")
    assert [mark for mark in marks if mark in shown] == [], "Streamlit would read it after the Markdown"
    assert plain(plain(NAME)) == plain(NAME)
    for name in ("wren-base", "Qwen/Qwen2.5-0.5B", "AMD EPYC (2 cores), 4 GB", "The link’s gamma is 99: using 4."):
        assert plain(name) == name
    assert figure_text("<b>&lt;%{x}") == "&lt;b&gt;&amp;lt;%\u2060{x}"
    assert file_label("my sweep.csv") == "my sweep.csv"
    assert file_label("a\nb\u202e.csv") == "a?b?.csv"
    assert len(file_label("x" * 10_000)) == 60
    for name in ALL_NAMES:  # no text turns the sentence around it
        assert "\u202e" not in plain(f"a {name}") + figure_text(name) + file_label(name)
