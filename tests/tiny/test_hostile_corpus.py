"""Hostile files get their sentence, in little memory; hostile text is shown as it is."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from rich.markdown import Markdown

from specviz.core.errors import InputError
from specviz.core.trace import UPLOAD, parse_trace
from specviz.figures.parts import figure_text
from specviz.game.saved import load_game
from specviz.measure.sweep.prompt_files import read_prompts
from specviz.measure.sweep.rows import COLUMNS, dump_frame, frame_of, read_frame
from specviz.systems import RecordOptions, open_run, read_counters
from specviz.ui.shared.escaping import file_label, plain
from tests.support.fake_rows import row_at
from tests.support.grids import grid
from tests.support.hostile import ALL_NAMES, NAME, NAMES
from tests.support.records import FakeTokenizer
from tests.support.strategies import assert_one_sentence, refusal_and_peak

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "hostile"
READERS: dict[str, Callable[[bytes], object]] = {
    "trace": lambda content: parse_trace(content, UPLOAD),
    "sweep": lambda content: read_frame(content, "It"),
    "prompts": read_prompts,
    "counters": lambda content: read_counters(content.decode()),
    "game": lambda content: load_game(content.decode()),
    "record": lambda content: open_run(
        content, RecordOptions(tokenizer=FakeTokenizer() if b"candidate_ids" in content else None)
    ),
}
SAID: dict[str, str | None] = yaml.safe_load((ROOT / "fixtures/hostile.yaml").read_text(encoding="utf-8"))


def test_a_hostile_file_gets_its_sentence() -> None:
    assert {file.name for file in FOLDER.iterdir()} == SAID.keys()
    for name, sentence in SAID.items():  # none: it is only strange, and is read
        with pytest.raises(InputError) if sentence else nullcontext() as refused:
            READERS[name.split("-")[0]]((FOLDER / name).read_bytes())
        assert (refused and str(refused.value)) == sentence, name
        if sentence:
            assert_one_sentence(sentence)


def table(text: str) -> bytes:
    """A sweep's header and one row whose workload is this text."""
    header, row, _ = dump_frame(frame_of([row_at("story", 4, 1.5)])).split("\r\n")
    cells = row.split(",")
    cells[COLUMNS.index("workload")] = text
    return f"{header}\r\n{','.join(cells)}\r\n".encode()


def many(part: bytes, count: int) -> bytes:
    return b",".join(part % number for number in range(count))


LARGE: dict[str, Callable[[], bytes]] = {
    "trace that is one text": lambda: json.dumps("x" * 3_900_000).encode(),
    "trace of many fields": lambda: b"{" + b",".join(b'"k%d":1.5' % n for n in range(90_000)) + b"}",
    "trace with an endless list": lambda: b'{"schema":1,"output":{"token_ids":[' + b"1234567," * 130_000 + b"1]}}",
    "trace of nested lists": lambda: b"[" + b"[[[[[[[[[[1]]]]]]]]]]," * 170_000 + b"1]",
    "trace that is a number of 3,000,000 digits": lambda: b"1" * 3_000_000,
    "sweep with one enormous cell": lambda: table("x" * 3_900_000),
    "sweep with a row of 3,900,000 cells": lambda: table("x," * 1_950_000),
    "sweep with a row of 480,000 lines": lambda: table('"x\n",' * 480_000),
    "sweep of short lines": lambda: table("x") + b"1\n" * 1_900_000,
    "sweep of blank lines": lambda: table("x").partition(b"\r\n")[0] + b"\r\n" * 1_900_000,
    "prompts of nested lists": lambda: b'{"prompt": [' + b"[[[[[1]]]]]," * 80_000 + b"1]}",
    "counters in 300,000 brackets": lambda: b"[{" * 149_999,
    **{
        f"record of many {part.decode()}": lambda part=part: (
            b'{"per_step_accepted":[' + part * (900_000 // len(part)) + b"1]}"
        )
        for part in (b"[],", b"{},", b'{"a":1,"b":1,"c":1},', b"0,", b"1.25,", b'"",', b"3000,")
    },
    "game of 200,000 links": lambda: b'{"link":{' + many(b'"k%d":1', 200_000) + b"}}",
    "game of 600,000 turns": lambda: b'{"link":{},"games":[[' + b"{}," * 600_000 + b"{}],[],[]]}",
    "game of 60,000 texts": lambda: (
        b'{"link":{},"games":[[' + b'{"text":"aaaaaaaaaaaaaaaa"},' * 60_000 + b"{}],[],[]]}"
    ),
}


QUICK = {"trace of many fields", "sweep of short lines", "prompts of nested lists", "counters in 300,000 brackets"}
QUICK |= {"record of many [],", "game of 600,000 turns"}


@pytest.mark.parametrize("name", grid(LARGE, QUICK))
def test_a_large_hostile_file_takes_less_than_10_times_its_size(name: str) -> None:
    content = LARGE[name]()
    said, peak = refusal_and_peak(lambda: READERS[name.split()[0]](content))
    assert_one_sentence(said)
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
