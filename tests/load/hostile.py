"""What a harmful visitor sends: files, texts, links, what a tab hands back, and messages that no page sends."""

import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.serving import ROOT
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


def rivals() -> bytes:
    """A saved game with many rivals in one turn."""
    return GAME + b",".join(b'"k%d":{}' % number for number in range(170_000)) + b"}}],[],[]]}"


MADE: dict[str, Callable[[], bytes]] = {
    "empty.json": lambda: b"",
    "gzip.json": lambda: b"\x1f\x8b\x08\x00rubbish",
    "empty-rounds.json": lambda: b'{"rounds":[' + b",".join([b"{}"] * 20_000) + b"]}",
    "many-rounds.json": lambda: b'{"schema":2,"rounds":[' + b'{"index": 12345},' * 200_000 + b"0]}",
    "deep.json": lambda: b"[" * 200_000,
    "numbers.json": lambda: b'{"schema":2,"rounds":[' + b"0.51234," * 480_000 + b"0]}",
    "lists.json": lambda: b"[" + b"[]," * 1_300_000 + b"1]",
    "digits.json": lambda: b'{"schema": 1, "rounds": "' + b"9" * 1_000_000 + b'"}',
    "lines.csv": lambda: b"workload,prompt\n" + b"x,y\n" * 100_000,
    "columns.csv": lambda: b"," * 3_900_000,
    "prompts.txt": lambda: b"\0\n" * 490_000,
    "long.txt": lambda: b"x" * 3_900_000,
    "anchors.yaml": lambda: b"a: &a [x, x]\n" + b"b: [*a, *a]\n" * 4_000,
    "deep.yaml": lambda: b"[" * 60_000,
    "fields.yaml": lambda: b"\n".join(b"k%d: 1" % number for number in range(6_000)),
    "rivals.json": rivals,
    **{f"record-{system}.json": partial(of_about, system, 990_000) for system in RECORDS},
}
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
    files = widget.file_uploader_state_value.uploaded_file_info
    files.extend([type(files.add())()] * 900_000)


def long_address(message: BackMsg, _: str) -> None:
    """Python remembers the last addresses that it took apart."""
    message.rerun_script.context_info.url = "https://example.org/" + "x" * 3_800_000


def git(message: BackMsg, _: str) -> None:
    """Two bytes; before, Streamlit ran git for each, and nobody else was answered meanwhile."""
    message.load_git_info = True


def clear_cache(message: BackMsg, _: str) -> None:
    """Before, it ended what other visitors had asked for."""
    message.clear_cache = True


def end_server(message: BackMsg, _: str) -> None:
    """Before, Streamlit logged it and listened on; in its development mode the server ends."""
    message.debug_shutdown_runtime = True


def disconnect(message: BackMsg, _: str) -> None:
    """The same."""
    message.debug_disconnect_websocket = True


MESSAGES: dict[str, Callable[[BackMsg, str], None]] = {
    "names of files": many_names,
    "widgets": many_widgets,
    "values of a component": many_values,
    "files of an uploader": many_files,
    "an address": long_address,
    "git": git,
    "the caches of all": clear_cache,
    "the end of the server": end_server,
    "a switch of developers": disconnect,
}
