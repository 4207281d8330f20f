"""Every way into the program: the table of docs/security.md, what reads what comes that way, and what is sent.

`python -m tests.support.doors NAME` reads each part of standard input by that way, with `resource` limits, and prints
what was said of them and by how many megabytes the process grew.
"""

import atexit
import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from io import StringIO
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from urllib.parse import parse_qs

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.testing.v1 import AppTest

from specviz.cli.main import main as specviz
from specviz.cli.options import MOST_TEXT, PromptOptions, grammar_of, prompt_of
from specviz.core.errors import InputError
from specviz.core.request import MAX_PROMPT_CHARACTERS
from specviz.core.trace import FILE, UPLOAD
from specviz.data.lessons.plans import MAX_BYTES
from specviz.data.links.page_names import PAGES
from specviz.game.game import GamePlan
from specviz.game.saved import load_game
from specviz.lab.draws import read_draws
from specviz.measure.endpoints import result
from specviz.measure.endpoints.importers import import_files
from specviz.measure.endpoints.reading import MOST_LINE
from specviz.measure.endpoints.report import table as bench_table
from specviz.measure.endpoints.sentences import conclusion
from specviz.measure.sweep import rows as table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS, read_prompt_file
from specviz.service import EngineService
from specviz.service.classes.registry import Classes, ClassLimits
from specviz.service.run_store import RunStore
from specviz.systems import MAX_CHARACTERS, MOST_UPLOADED, RecordOptions, open_run
from specviz.systems.fields import MOST_BYTES
from specviz.ui.classes.membership import _restore
from specviz.ui.learn.questions import read_answers
from specviz.ui.shared import engine
from specviz.ui.shared.components import MOST
from specviz.ui.shared.guard import MOST_FILES, MOST_ITEMS, MOST_VALUES, SESSION_BYTES, is_forged
from specviz.ui.watch import tried
from specviz.ui.watch.watch_state import LIST_BYTES, MAX_RUNS, WatchState
from specviz.ui.when_it_helps.your_server import UPLOAD_MEGABYTES, YourServer
from tests.support import door_contents as sent
from tests.support.app_pages import opened
from tests.support.app_server import SILENT
from tests.support.door_contents import MEGA
from tests.support.hostile_records import RECORDS
from tests.support.known import known
from tests.support.records import FakeTokenizer

SECONDS = 300  # of a processor
ADDRESSES = 3 * 2**30  # bytes of addresses that a process may use: the machine stays alive if a bound is gone
LOADED_LATE = ("llguidance", "pandas", "rich.console", "rich.table", "rich.text")  # what a package takes does not count
MEASURED = "tests/pages/test_door_budgets.py::test_a_door_keeps_its_budget"
Reader = Callable[[bytes], object]


@cache
def folder() -> Path:
    made = TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


def written(content: bytes) -> Path:
    file = folder() / "file"
    file.write_bytes(content)
    return file


def command(*arguments: str) -> Reader:
    """A command, where “file” has the content and “out” is beside it."""

    def read(content: bytes) -> str:
        written(content)
        given, errors = [str(folder() / each) if each in ("file", "out") else each for each in arguments], StringIO()
        with redirect_stdout(StringIO()), redirect_stderr(errors):
            status = specviz(given)
        if status:
            raise InputError(errors.getvalue().strip())
        return "done"

    return read


def asked(**given: object) -> PromptOptions:
    return PromptOptions(target="", draft="", **given)  # type: ignore[arg-type]


def prompt_and_schema(content: bytes) -> str:
    file, taken = written(content), []
    for read in (partial(prompt_of, asked(prompt_file=file)), partial(grammar_of, asked(json_schema=file))):
        with suppress(InputError):
            taken.append(type(read()).__name__)
    return " and ".join(taken)


def record(content: bytes) -> int:
    long, tokenizer = "x" * 100_000, FakeTokenizer() if b"candidate_ids" in content else None
    return len(open_run(content, RecordOptions(long, long, long, tokenizer=tokenizer)).rounds)


def bench(content: bytes) -> str:
    state = YourServer()
    state.open(content, "bench.json")
    found = known(state.opened)[1]
    return f"{len(bench_table(found))} rows, {len(conclusion(found.result))} sentences"


def forged(content: bytes) -> bool:
    message = BackMsg()
    try:
        message.ParseFromString(content)
    except DecodeError:  # no message: Streamlit ends the connection
        return True
    return is_forged(message)


@cache
def draw_pages() -> None:
    """Without an engine. What is loaded for them does not count."""
    patch.object(engine, "service_wanted", lambda: EngineService((sys.executable, *SILENT.split(" ", 1)))).start()
    os.environ["SPECVIZ_RUNS"] = "memory"
    for name in ("race", "worksheet", "watch", "be_the_draft", "class"):
        opened(f"pages/{name}.py")


def said(page: AppTest) -> str:
    assert not page.exception, page.exception[0].message
    return " ".join(["shown", *(each.value for each in [*page.error, *page.warning])])


def field(page: str, *keys: str, press: str = "") -> Reader:
    """The text is written into these fields of a page."""

    def read(content: bytes) -> str:
        draw_pages()
        shown = opened(f"pages/{page}.py")
        for key in keys:
            shown.get_by_key(key).set_value(content.decode())
        if press:
            shown.button(key=press).click()
        return said(shown.run())

    return read


def guess_and_name(content: bytes) -> str:
    guess = field("be_the_draft", "be_the_draft_guess", "be_the_draft_second", press="be_the_draft_send")
    return f"{guess(content)} {field('class', 'class_code', 'class_name', press='class_join')(content)}"


EACH_PAGE = cycle(PAGES)


def link(content: bytes) -> str:
    draw_pages()
    return said(opened(f"pages/{next(EACH_PAGE)}.py", **parse_qs(content.decode())))


@cache
def fill_store() -> None:
    sent.fill_store(folder() / "runs")
    service = EngineService((), store=RunStore(folder() / "runs"))
    patch.object(tried, "engine", lambda: service).start()


def taken_back(content: bytes) -> str:
    fill_store()
    watching = WatchState()
    tried.restore_list(watching, content.decode())
    return f"{len(watching.past.finished)} runs, {watching.past.gone} gone"


def restored(content: bytes) -> object:
    draw_pages()
    return _restore(content.decode())


def taught(content: bytes) -> str:
    """Everything that can be sent for a class, more of it than there is room for."""
    classes, text, teachers = Classes(), content.decode(), list[str]()
    for number in range(60):
        with suppress(InputError):
            teachers.append(classes.open(f"93.184.{number}.1", GamePlan(seed=number)))
    for teacher in teachers:
        for _ in range(70):
            with suppress(InputError):
                student = classes.join(known(classes.look(teacher)).code, text)
                classes.rename(student, text)
                classes.send_answers(student, {number: number for number in range(2_000)})
        for code in (text, text[:40], ""):
            with suppress(InputError):
                classes.join(code, text)
    return f"{len(teachers)} classes, {sum(len(known(classes.look(each)).students) for each in teachers)} students"


@dataclass(frozen=True, slots=True)
class Door:
    """A row: how much it takes, what that may cost, and how it is measured."""

    largest: str
    megabytes: int  # that a process may grow
    read: Reader = bytes
    first: Callable[[], bytes] = bytes  # the largest that is taken
    says: str = "shown.*"  # what it gives
    others: Callable[[], list[bytes]] = sent.files
    test: str = ""  # another one that measures it


CLASS = ClassLimits()
PLACES = CLASS.classes * CLASS.students
UPLOADED = f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds"
RECORD = f"{MOST_UPLOADED // MEGA} MB, {UPLOAD.rounds:,} steps, {UPLOAD.drafted:,} drafted tokens"
SWEPT = f"{table.UPLOAD_MEGABYTES} MB, {table.UPLOAD.rows:,} rows"
PROMPTS = f"{MAX_FILE_BYTES // MEGA} MB, {MAX_PROMPTS} prompts"
TRIES = f"{MOST:,} characters, of which {MAX_RUNS} runs are looked for, in files of {LIST_BYTES // MEGA} MB"
BENCH = f"{result.MOST_MEGABYTES} MB, of which {result.MAX_PROMPTS} prompts are read"
ROOM = "tests/browser/test_doors.py::test_one_visitor_uploads_no_more_than_it_may_and_is_forgotten"
PARTS = "tests/tiny/test_endpoint_client.py::test_a_wrong_answer_takes_little_memory"
VLLM = partial(RECORDS["vllm"], 370)
# fmt: off
DOORS = {
    "a trace": Door(UPLOADED, 80, lambda it: len(open_run(it).rounds), sent.long_trace, r"\d{3,4}"),
    "the draws of a student's rule": Door(UPLOADED, 120, lambda it: len(read_draws(it)[1].positions), sent.drawn, "1"),
    "a record of another system": Door(RECORD, 150, record, VLLM, "371", sent.records),
    "a sweep as CSV": Door(SWEPT, 50, lambda it: len(table.read_frame(it, "I")), sent.sweep, f"{table.UPLOAD.rows}"),
    "a bench file": Door(f"{UPLOAD_MEGABYTES} MB", 100, bench, sent.bench, r"\d{3} rows, \d+ sentences"),
    "a file of prompts": Door(
        PROMPTS, 45, lambda it: len(read_prompt_file(written(it)).prompts), sent.prompts, f"{MAX_PROMPTS}"),
    "a lesson plan": Door(f"{MAX_BYTES // 1000} kB", 30, command("lesson", "check", "file"), sent.plan, "done"),
    "files of one visitor together": Door(f"{MOST_FILES} files, {SESSION_BYTES // MEGA} MB", 30, test=ROOM),
    "a message over the page's connection": Door(
        f"4 MB, {MOST_ITEMS:,} items of lists", 140, forged, partial(sent.typed, "x" * 3_900_000),
        "False", sent.forged),
    "values of components": Door(
        f"{MOST_VALUES:,} characters outside of texts", 40, forged,
        lambda: sent.valued('{"text":"' + 'x\\"' * 600_000 + '"}'), "False", lambda: [*map(sent.valued, sent.dense())]),
    "a prompt that is written": Door(
        f"{MAX_PROMPT_CHARACTERS:,} characters", 120, field("race", "race_own"),
        lambda: b"x" * MAX_PROMPT_CHARACTERS, others=sent.texts),
    "pasted counters": Door(
        f"{MAX_CHARACTERS:,} characters", 100, field("worksheet", "worksheet_paste"),
        lambda: b"vllm:spec_decode_num_drafts_total 3\n" * (MAX_CHARACTERS // 40), others=sent.pasted),
    "a guess, a name or a code": Door(
        "4 MB, of which 200 characters are looked at", 140, guess_and_name, lambda: b"a" * 200,
        others=lambda: [text for text in sent.texts() if len(text) < 2 * MEGA]),  # it is written into two fields
    "a link": Door(
        "524,288 characters, 1,000 parameters", 50, link, lambda: b"preset=story-1&gamma=5", others=sent.links),
    "a game that the tab held": Door(
        f"{MOST:,} characters", 100, lambda it: type(load_game(it.decode())).__name__, lambda: b'{"link":{}}',
        "SavedGame|.*cannot be read", sent.from_a_tab),
    "quiz answers that the tab held": Door(
        f"{MOST:,} characters, of which 10,000 are read", 30, lambda it: len(read_answers(it.decode())),
        lambda: b'{"quiz-1": 0}', "1", sent.from_a_tab),
    "a list of tries that the tab held": Door(TRIES, 50, taken_back, sent.many_runs, "3 runs, 0 gone", sent.texts),
    "a class that the tab or a cookie held": Door(
        f"{MOST:,} characters, two secrets of 64", 50, restored, lambda: b"a.b", "None", sent.texts),
    "what is sent for a class": Door(
        f"{CLASS.classes} classes of {CLASS.students} students", 30, taught, lambda: b"Ada",
        f"{CLASS.classes} classes, {PLACES} students", lambda: [b"\xf0\x9f\x90\xa6" * 250_000]),
    "a trace on the command line": Door(
        f"{FILE.megabytes} MB, {FILE.rounds:,} rounds", 320, command("show", "file"),
        partial(sent.long_trace, FILE.megabytes - 3, FILE.rounds), "done"),
    "a record on the command line": Door(
        f"{MOST_BYTES // MEGA} MB", 170, command("import", "file", "--from", "vllm", "--out", "out"), VLLM, "done"),
    "a prompt or a schema on the command line": Door(
        f"{MOST_TEXT // MEGA} MB, of which 20,000 characters are taken", 100, prompt_and_schema, sent.schema,
        "str and Grammar"),
    "a sweep on the command line": Door(
        f"{table.MOST_BYTES // MEGA} MB, {table.FILE.rows:,} rows", 100,
        lambda it: len(table.SweepFile(written(it)).rows), partial(sent.sweep, table.FILE.rows), f"{table.FILE.rows}"),
    "an answer of a server that bench asks": Door(f"{MOST_LINE // 1000} kB a part", 100, test=PARTS),
    "a bench on the command line": Door(
        BENCH, 400, lambda it: len(import_files(it, it).answers), sent.tool_file, f"{2 * result.MAX_PROMPTS}"),
}
# fmt: on

ZERO = Path("/dev/zero")
ENDLESS: dict[bytes, Callable[[], object]] = {
    b"show": partial(command("show", "/dev/zero"), b""),
    b"export": partial(command("export", "/dev/zero", "--out", "out"), b""),
    b"import": partial(command("import", "/dev/zero", "--from", "vllm"), b""),
    b"import with a prompt": partial(command("import", "file", "--from", "vllm", "--prompt-file", "/dev/zero"), b""),
    b"lesson": partial(command("lesson", "check", "/dev/zero"), b""),
    b"prompt": partial(prompt_of, asked(prompt_file=ZERO)),
    b"schema": partial(grammar_of, asked(json_schema=ZERO)),
    b"prompts": partial(read_prompt_file, ZERO),
    b"sweep": partial(table.SweepFile, ZERO),
}
OTHERS = {  # in no row
    "a file without an end": Door("", 400, lambda it: it and ENDLESS[it](), lambda: b"show", others=lambda: [*ENDLESS]),
    "an expression": Door(
        "", 400, lambda it: bool(grammar_of(asked(regex=it.decode()))), lambda: b"a", others=sent.expressions
    ),
}


def outcome(read: Reader, content: bytes) -> tuple[str, str]:
    try:
        return "read", str(read(content))
    except InputError as refused:
        return "refused", str(refused)
    except MemoryError:
        return "broken", "out of memory"


def grown() -> float:
    """Megabytes; not by getrusage: a child's peak begins with what its parent had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS,) * 2)
    for package in LOADED_LATE:
        import_module(package)
    read, packed, outcomes = (DOORS | OTHERS)[sys.argv[1]].read, memoryview(sys.stdin.buffer.read()), []
    outcome(read, b"")  # what it loads does not count
    before = grown()
    while packed:
        size = 4 + int.from_bytes(packed[:4], "big")
        outcomes.append(outcome(read, bytes(packed[4:size])))
        packed = packed[size:]
    print(json.dumps([outcomes, grown() - before]))


if __name__ == "__main__":
    main()
