"""What is sent to the ways into the program: the largest that each takes, and the programs that take it."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg

from specviz.core.files import TEXTS as APP_TEXTS
from specviz.core.request import RunRequest
from specviz.core.trace import Output, dump_trace, parse_trace
from specviz.data.lessons.plans import MAX_BYTES
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run
from specviz.measure.endpoints import result as bench_result
from specviz.measure.endpoints.result import dump_result
from specviz.measure.proof.rows import recorded_proof
from specviz.measure.sweep import rows as table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS, MOST_READ
from specviz.service.job import RunResult
from specviz.service.run_store import _STORED, StoredRun
from tests.load.hostile import TEXTS, all_files
from tests.support.bench_results import make_bench
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.known import known

MEGA = 10**6

# ---- the largest that are taken


def long_trace(megabytes: float, rounds: int) -> bytes:
    """A valid trace of about so many megabytes, with at most so many rounds."""
    short = fake_trace(tokens=64, plain=False)
    each = len(dump_trace(short)) // len(short.rounds)
    count = min(rounds, int(megabytes * MEGA * 0.9) // each)
    long = [replace(short.rounds[at % len(short.rounds)], index=at) for at in range(count)]
    ids = [token_id for round in long for token_id in round.emitted_ids]
    settings = replace(short.settings, max_new_tokens=len(ids))
    return dump_trace(
        replace(short, rounds=long, output=Output(ids, "x" * len(ids), "length"), settings=settings)
    ).encode()


def drawn(megabytes: float, rounds: int) -> bytes:
    """A long trace with the draws of a rule."""
    batches = known(recorded_proof()).draws[0].batches
    draws = LabDraws([DrawnPosition("first", batches)])
    return dump_run(parse_trace(long_trace(megabytes - 0.1, rounds)), draws).encode()


@cache
def files() -> list[bytes]:
    return list(all_files().values())


def sweep(rows: int) -> bytes:
    return table.dump_frame(table.frame_of([row_at("story", 4, 1.5)] * rows)).encode()


def bench(megabytes: int) -> bytes:
    """A bench file of nearly so many megabytes."""
    loads, short = range(1, 21), make_bench({1: 1.5})
    count = megabytes * MEGA * 9 // 10 // len(dump_result(short).encode())
    blocks = len({answer.block for answer in short.answers})
    answers = [
        replace(answer, concurrency=loads[at % len(loads)], block=answer.block + blocks * at)
        for at in range(count)
        for answer in short.answers
    ]
    settings = replace(short.settings, concurrency=[*loads])
    return dump_result(replace(short, settings=settings, answers=answers)).encode()


def tool_file(megabytes: int) -> bytes:
    """A result file of vLLM's bench of nearly so many megabytes: the most requests that are read, and long answers."""
    count = bench_result.MAX_ANSWERS
    gap = "0.0123456789"
    parts = min(500, megabytes * MEGA * 8 // 10 // count // (len(gap) + 1))
    lists = {"output_lens": parts + 1, "ttfts": 0.05, "itls": f"[{','.join([gap] * parts)}]", "start_times": 1.5}
    written = ",".join(f'"{name}":[{",".join([str(value)] * count)}]' for name, value in lists.items())
    return f'{{"model_id":"m",{written}}}'.encode()


BENCH = """
from specviz.ui.when_it_helps.your_server import YourServer
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.report import table
from specviz.measure.endpoints.sentences import conclusion
def shown_bench(content):
    state = YourServer()
    state.open(content, "bench.json")
    result = state.opened[1].result
    return f"{len(table(BenchFindings(result)))} rows, {len(conclusion(result))} sentences"
"""


def prompts() -> bytes:
    length = MOST_READ // MAX_PROMPTS - 10
    read = b"\n".join(b"%d " % number + b"x " * (length // 2 - 3) for number in range(MAX_PROMPTS))
    return read + b"\nx" * ((MAX_FILE_BYTES - len(read)) // 2)


def plan() -> bytes:
    """The app's own, filled up with a comment."""
    own = (APP_TEXTS / "lessons" / "ten-minutes.yaml").read_bytes()
    return own + b"# " + b"x" * (MAX_BYTES - len(own) - 2)


def is_text(content: bytes) -> bool:
    try:
        return bool(content.decode()) or True
    except UnicodeDecodeError:
        return False


def texts(begin: bytes = b"") -> list[bytes]:
    return [begin + make().encode() for make in TEXTS]


def links() -> list[bytes]:
    """The longest that Streamlit reads (524,288 characters, 1,000 parameters), and how it may be filled."""
    words = ("preset", "prompt", "gamma", "run", "class", "lesson", "hide", "view", "position", "tab", "n%d")
    return [b"preset=story-1&gamma=5"] + [
        "&".join(f"{word % at if '%' in word else word}={'x9'[at % 2] * 550}" for at in range(900)).encode()
        for word in words
    ]


def message(make: Callable[[BackMsg, str], None]) -> bytes:
    """What a browser sends, as bytes."""
    sent = BackMsg()
    make(sent, "session")
    return sent.SerializeToString()


def valued(value: str) -> bytes:
    """What a component says."""
    sent = BackMsg()
    sent.rerun_script.widget_states.widgets.add(id="$$ID-1-stage", json_value=value)
    return sent.SerializeToString()


def typed(text: str) -> bytes:
    sent = BackMsg()
    sent.rerun_script.widget_states.widgets.add(id="$$ID-1-race_own", string_value=text)
    return sent.SerializeToString()


def dense() -> list[str]:
    """JSON with many values for its size."""
    parts = ('{"a":{}},', "[],", "1.5,", '"",', '"a",')
    return ['{"text":[' + part * (3_900_000 // len(part)) + "1]}" for part in parts]


# ---- programs

FORGED = """
from streamlit.proto.BackMsg_pb2 import BackMsg
from specviz.ui.shared.guard import is_forged
def forged(data):
    sent = BackMsg()
    try:
        sent.ParseFromString(data)
    except Exception:  # no message: Streamlit ends the connection
        return True
    return is_forged(sent)
"""

COMMAND = """
import contextlib, io, tempfile
from pathlib import Path
from specviz.cli.main import main
import specviz.cli.traces, specviz.cli.lessons, specviz.cli.sweep, specviz.data.prompts.grammars, llguidance
import rich.console, rich.table, rich.text
folder = Path(tempfile.mkdtemp())
file = folder / "file"
def cli(*arguments):
    out, err = io.StringIO(), io.StringIO()
    file.write_bytes(content)
    given = [str(folder / each) if each in ("file", "out") else each for each in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(given)
    if status:
        raise InputError(err.getvalue().strip())
    return "done"
"""
PAGE = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from specviz.data.links.page_names import PAGES
from specviz.service import EngineService
from specviz.ui.shared import engine
engine.service_wanted = lambda: EngineService((sys.executable, "-c", "import sys; sys.stdin.read()"))
import os
os.environ["SPECVIZ_RUNS"] = "memory"
def said(page):
    if page.exception:
        raise RuntimeError(page.exception[0].message)
    return " ".join(["shown", *(each.value for each in [*page.error, *page.warning])])
def opened(name):
    return AppTest.from_file(str(Path("pages", name + ".py").resolve()), default_timeout=600)
def write_all(text):
    for name, keys, button in (("be_the_draft", ["be_the_draft_guess", "be_the_draft_second"], "be_the_draft_send"),
                               ("class", ["class_code", "class_name"], "class_join")):
        page = opened(name).run()
        for key in keys:
            page.text_input(key).set_value(text[:1_900_000])
        page.button(key=button).click().run()
        said(page)
    return page
links = []
def linked(query):
    from urllib.parse import parse_qs
    links.append(query)
    page = opened(PAGES[len(links) % len(PAGES)])
    for name, values in parse_qs(query).items():
        page.query_params[name] = values
    return page.run()
for name in ("race", "worksheet", "watch", "be_the_draft", "class"):
    opened(name).run()
"""
STORED = 69  # of the longest runs: a store of 200 MB is full


def stored_ids(count: int) -> list[str]:
    return [f"{number:016x}" for number in range(count)]


def fill_store(folder: Path) -> None:
    """Write a store that is full of one request's longest runs, as older versions named their files."""
    folder.mkdir()
    run = StoredRun("key", RunRequest("Once"), RunResult(fake_trace(tokens=64), "text", id="the id"))
    parts = re.fullmatch(rb'(.*"rounds":\[)(.*)(\],"autoregressive".*)', _STORED.dump_json(run))
    begin, rounds, end = known(parts).groups()
    long = begin + b",".join([rounds] * (2_900_000 // len(rounds))) + end
    for run_id in stored_ids(STORED):
        (folder / f"{'0' * 16}-{run_id}.json").write_bytes(long.replace(b"the id", run_id.encode()))


TRIED = """
import atexit, shutil, tempfile
from pathlib import Path
from specviz.service import EngineService
from specviz.service.run_store import RunStore
from specviz.ui.watch import tried
from specviz.ui.watch.watch_state import WatchState
from tests.support.door_contents import fill_store
folder = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, folder)
fill_store(folder / "runs")
service = EngineService((), store=RunStore(folder / "runs"))
tried.engine = lambda: service
def taken_back(text):
    watching = WatchState()
    tried.restore_list(watching, text)
    return f"{len(watching.past.finished)} runs, {watching.past.gone} gone"
"""

CLASSES = """
import json
from specviz.game.game import GamePlan
from specviz.service.classes.registry import Classes, shown_code
def taught():
    \"\"\"Everything that can be sent for a class, more of it than there is room for.\"\"\"
    all_classes, text, full = Classes(), content.decode(), set()
    teachers = []
    for number in range(60):
        try:
            teachers.append(all_classes.open(f"93.184.{number}.1", GamePlan(seed=number)))
        except InputError as error:
            full.add(str(error))
    for teacher in teachers:
        code = all_classes.look(teacher).code
        for _ in range(70):
            try:
                student = all_classes.join(code, text)
            except InputError as error:
                full.add(str(error))
                continue
            all_classes.rename(student, text)
            all_classes.send_answers(student, {number: number for number in range(2_000)})
        for typed in (text, text[:40], ""):
            try:
                all_classes.join(typed, text)
            except InputError as error:
                full.add(str(error))
    return f"{len(teachers)} classes, {sum(len(all_classes.look(one).students) for one in teachers)} students"
"""
OPTIONS = (
    COMMAND
    + """
from argparse import Namespace
from specviz.cli.options import grammar_of, prompt_of
def both():
    file.write_bytes(content)
    said = []
    for name, read in (
        ("prompt", lambda: prompt_of(Namespace(prompt=None, prompt_file=file))),
        ("schema", lambda: grammar_of(Namespace(json_schema=file, regex=None))),
    ):
        try:
            said.append(f"{name}: {'read' if read() else 'empty'}")
        except InputError as refused:
            said.append(f"{name}: {refused}")
    return "; ".join(said)
"""
)


def schema() -> bytes:
    """Of 20,000 characters."""
    fields = ",".join(f'"field{number:04}":{{"type":"string"}}' for number in range(600))
    return b'{"type":"object","properties":{' + fields.encode() + b"}}"
