"""What a harmful visitor sends: files, texts, links, what a tab hands back, and messages that no page sends."""

import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo

from benchmarks.serving import ROOT
from specviz.measure.sweep.rows import COLUMNS, dump_frame, frame_of
from tests.support.fake_rows import row_at
from tests.support.hostile_records import RECORDS, of_about

LINK_WORDS = ("preset", "target", "draft", "gamma", "temperature", "tokens", "seed", "run", "prompt", "format", "tab")
RUBBISH = ("\x00", "9" * 5000, "-1", "NaN", "<script>", "../../etc/passwd", "[]", "é́" * 50, "1e309")
# Where it is sent: a page, its link, the widget's key, and the name of a file.
FULL, TEACH, QUIZ = "view=full", "part=teach", "part=quiz"
UPLOADS = [("", FULL, "trace_file", "run.json"), ("when_it_helps", FULL, "when_it_helps_csv", "sweep.csv")]
UPLOADS += [("when_it_helps", FULL, "when_it_helps_file", "prompts.txt"), ("learn", TEACH, "lesson_file", "plan.yaml")]
BOXES = [("race", "", "race_own"), ("worksheet", "", "worksheet_paste"), ("same_quality", "", "same_quality_prompt")]
BOXES += [("be_the_draft", "", "be_the_draft_guess"), ("class", "", "class_name")]
HELD = [("be_the_draft", "", "kept-game"), ("learn", QUIZ, "kept-answers"), ("class", "", "kept-class")]
HELD += [("", "", "kept-tried")]
GAME = b'{"link":{},"games":[[{"text":"","text_ids":[],"joins":false,"ended":false,"rivals":{'
TURNS = b'{"link":{},"games":[['


def many(part: bytes, count: int) -> bytes:
    return b",".join(part % number if b"%" in part else part for number in range(count))


def rivals() -> bytes:
    """A saved game with many rivals in one turn."""
    return GAME + many(b'"k%d":{}', 170_000) + b"}}],[],[]]}"


def table(text: str) -> bytes:
    """A sweep's header and one row whose workload is this text."""
    header, row, _ = dump_frame(frame_of([row_at("story", 4, 1.5)])).split("\r\n")
    cells = row.split(",")
    cells[COLUMNS.index("workload")] = text
    return f"{header}\r\n{','.join(cells)}\r\n".encode()


def repeated(part: bytes) -> bytes:
    """A record with many values for its size."""
    return b'{"per_step_accepted":[' + part * (900_000 // len(part)) + b"1]}"


# As in tests/hostile: before the hyphen stands what they pass for.
MADE: dict[str, Callable[[], bytes]] = {
    "trace-empty-rounds.json": lambda: b'{"rounds":[' + many(b"{}", 20_000) + b"]}",
    "trace-many-rounds.json": lambda: b'{"schema":2,"rounds":[' + b'{"index": 12345},' * 200_000 + b"0]}",
    "trace-deep.json": lambda: b"[" * 200_000,
    "trace-numbers.json": lambda: b'{"schema":2,"rounds":[' + b"0.51234," * 480_000 + b"0]}",
    "trace-ids.json": lambda: b'{"schema":1,"output":{"token_ids":[' + b"1234567," * 130_000 + b"1]}}",
    "trace-lists.json": lambda: b"[" + b"[]," * 1_300_000 + b"1]",
    "trace-nested.json": lambda: b"[" + b"[[[[[[[[[[1]]]]]]]]]]," * 170_000 + b"1]",
    "trace-fields.json": lambda: b"{" + many(b'"k%d":1.5', 90_000) + b"}",
    "trace-digits.json": lambda: b"1" * 3_000_000,
    "trace-text.json": lambda: b'"' + b"x" * 3_900_000 + b'"',
    "sweep-lines.csv": lambda: table("x") + b"1\n" * 1_900_000,
    "sweep-blank.csv": lambda: table("x").partition(b"\r\n")[0] + b"\r\n" * 1_900_000,
    "sweep-cells.csv": lambda: table("x," * 1_950_000),
    "sweep-cell.csv": lambda: table("x" * 3_900_000),
    "sweep-cell-of-lines.csv": lambda: table('"x\n",' * 480_000),
    "prompts-nul.txt": lambda: b"\0\n" * 490_000,
    "prompts-long.txt": lambda: b"x" * 3_900_000,
    "prompts-nested.jsonl": lambda: b'{"prompt": [' + b"[[[[[1]]]]]," * 80_000 + b"1]}",
    "counters-brackets.txt": lambda: b"[{" * 149_999,
    "plan-anchors.yaml": lambda: b"a: &a [x, x]\n" + b"b: [*a, *a]\n" * 4_000,
    "plan-deep.yaml": lambda: b"[" * 60_000,
    "plan-fields.yaml": lambda: b"\n".join(b"k%d: 1" % number for number in range(6_000)),
    "game-rivals.json": rivals,
    "game-links.json": lambda: b'{"link":{' + many(b'"k%d":1', 200_000) + b"}}",
    "game-turns.json": lambda: TURNS + many(b"{}", 600_000) + b"],[],[]]}",
    "game-texts.json": lambda: TURNS + many(b'{"text":"aaaaaaaaaaaaaaaa"}', 60_000) + b"],[],[]]}",
    "record-lines.json": lambda: b"{}\n" * 300_000,
    **{f"record-{system}.json": partial(of_about, system, 990_000) for system in RECORDS},
    **{
        f"record-{name}.json": partial(repeated, part)
        for name, part in {"lists": b"[],", "objects": b"{},", "fields": b'{"a":1,"b":1,"c":1},', "zeros": b"0,",
                           "rates": b"1.25,", "texts": b'"",', "numbers": b"3000,"}.items()
    },
}  # fmt: skip
HOSTILE = ROOT / "tests" / "hostile"
STORED = sorted(HOSTILE.iterdir())
TEXTS: tuple[Callable[[], str], ...] = (
    lambda: "x" * 1_100_000,
    lambda: "x\n" * 500_000,
    lambda: "[" + "[[1]]," * 150_000 + "1]",
    lambda: "[{" * 400_000,
    lambda: "=" * 900_000,
    lambda: '[\n"' * 200_000,
    lambda: "\u202e<img src=x onerror=alert(1)>\x00",
    lambda: rivals().decode(),
    lambda: '{"a":' * 300_000,
    lambda: "." * 1_900_000,
)


@cache
def made(name: str) -> bytes:
    return MADE[name]()


def all_files() -> dict[str, bytes]:
    """By their names: the collection of `tests/hostile`, and the large ones."""
    return {file.name: file.read_bytes() for file in STORED} | {name: made(name) for name in MADE}


def any_file(rng: random.Random) -> bytes:
    names: list[str | Path] = [*MADE, *STORED]
    chosen = rng.choice(names)
    return made(chosen) if isinstance(chosen, str) else chosen.read_bytes()


def any_text(rng: random.Random) -> str:
    return rng.choice(TEXTS)()


def rubbish_link(rng: random.Random) -> str:
    """A link that no page has written; one in four is as long as a link can be."""
    words = {rng.choice(LINK_WORDS): rng.choice(RUBBISH) for _ in range(4)}
    if rng.random() < 0.25:
        words[rng.choice(LINK_WORDS)] = rng.choice(("x", "%", "&a")) * 150_000
    return urlencode(words)


# ---- messages over the connection of a page


def many_names(message: BackMsg, session: str) -> None:
    """Ask for a million places for files at once. Before: 3.9 MB of it took 1,600 MB."""
    message.file_urls_request.request_id = message.file_urls_request.session_id = session
    message.file_urls_request.file_names.extend([""] * 1_900_000)


def many_widgets(message: BackMsg, _: str) -> None:
    for number in range(300_000):
        message.rerun_script.widget_states.widgets.add(id=f"{number:x}", bool_value=True)


def many_values(message: BackMsg, _: str) -> None:
    """What a component holds, as lists in lists."""
    text = '{"text":[' + '{"a":{}},' * 400_000 + "1]}"
    message.rerun_script.widget_states.widgets.add(id="$$ID-abc-None", json_value=text)


def many_files(message: BackMsg, _: str) -> None:
    """An uploader says that it has a million files."""
    widget = message.rerun_script.widget_states.widgets.add(id="$$ID-abc-trace_file")
    widget.file_uploader_state_value.uploaded_file_info.extend([UploadedFileInfo()] * 900_000)


def long_address(message: BackMsg, _: str) -> None:
    """Python remembers the last addresses that it took apart."""
    message.rerun_script.context_info.url = "https://example.org/" + "x" * 3_800_000


def switch(name: str, message: BackMsg, _: str) -> None:
    """Two bytes. Before: Streamlit ran git for each, emptied the caches of all, or logged an error and listened on."""
    setattr(message, name, True)


SWITCHES = ("load_git_info", "clear_cache", "debug_shutdown_runtime", "debug_disconnect_websocket")
MESSAGES: dict[str, Callable[[BackMsg, str], None]] = {
    "names of files": many_names,
    "widgets": many_widgets,
    "values of a component": many_values,
    "files of an uploader": many_files,
    "an address": long_address,
    **{name: partial(switch, name) for name in SWITCHES},
}
