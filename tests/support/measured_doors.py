"""How each way into the program is measured: where it is in the code, the largest that it takes, what is sent to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.hostile import MESSAGES, TEXTS, all_files
from specviz.cli.options import MOST_TEXT
from specviz.core.request import MAX_PROMPT_CHARACTERS
from specviz.core.trace import FILE, UPLOAD, Output, dump_trace
from specviz.data.importers import MOST_UPLOADED
from specviz.data.importers.record import MOST_BYTES
from specviz.data.lessons.plans import MAX_BYTES
from specviz.data.serving_counters import MAX_CHARACTERS
from specviz.measure.sweep import table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS
from specviz.service.classes.registry import ClassLimits
from specviz.ui.shared.components import MOST
from specviz.ui.shared.messages import MOST_VALUES, MOST_WIDGETS
from specviz.ui.shared.uploads import MOST_FILES, SESSION_BYTES
from tests.support.doors import ROOT
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.hostile_records import RECORDS

MEGA = 10**6
MEASURED = "tests/pages/test_door_budgets.py::test_a_door_keeps_its_budget"


@dataclass(frozen=True, slots=True)
class Door:
    """A row: where it is in the code, how much it takes, and how it is measured here."""

    code: frozenset[str]
    largest: str
    setup: str = ""  # lines of Python for the process
    read: str = ""  # an expression with `content`; empty: another test measures it
    contents: Callable[[], list[bytes]] = lambda: []
    says: str = ""  # what the first of them gives, which is the largest that is taken


def door(code: str, largest: str, setup: str = "", read: str = "", *rest: object) -> Door:
    return Door(frozenset(line.strip() for line in code.strip().splitlines()), largest, setup, read, *rest)  # type: ignore[arg-type]


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


@cache
def files() -> list[bytes]:
    return list(all_files().values())


def sweep(rows: int) -> bytes:
    return table.dump_frame(table.frame_of([row_at("story", 4, 1.5)] * rows)).encode()


def prompts() -> bytes:
    length = MAX_FILE_BYTES // MAX_PROMPTS - 10
    return b"\n".join(b"%d " % number + b"x " * (length // 2 - 3) for number in range(MAX_PROMPTS))


def plan() -> bytes:
    """The app's own, filled up with a comment."""
    own = (ROOT / "assets" / "lessons" / "ten-minutes.yaml").read_bytes()
    return own + b"# " + b"x" * (MAX_BYTES - len(own) - 2)


def is_text(content: bytes) -> bool:
    try:
        return bool(content.decode()) or True
    except UnicodeDecodeError:
        return False


def texts() -> list[bytes]:
    return [make().encode() for make in TEXTS]


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

COMMAND = """
import contextlib, io, tempfile
from pathlib import Path
from specviz.cli.main import main
import specviz.cli.traces, specviz.cli.lessons, specviz.cli.sweep, specviz.data.grammars, llguidance
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
    for name, keys, button in (("play", ["play_guess", "play_second"], "play_send"),
                               ("class", ["class_code", "class_name"], "class_join")):
        page = opened(name).run()
        for key in keys:
            page.text_input(key).set_value(text[:1_900_000])
        page.button(key=button).click().run()
        said(page)
    return page
NAMES = ("watch", "race", "helps", "worksheet", "learn", "proof", "play", "class")
links = []
def linked(query):
    from urllib.parse import parse_qs
    links.append(query)
    page = opened(NAMES[len(links) % len(NAMES)])
    for name, values in parse_qs(query).items():
        page.query_params[name] = values
    return page.run()
opened("race").run(), opened("worksheet").run(), opened("watch").run(), opened("play").run(), opened("class").run()
"""
CLASSES = """
import json
from specviz.game.game import Plan
from specviz.service.classes.registry import Classes, shown_code
def taught():
    \"\"\"Everything that can be sent for a class, more of it than there is room for.\"\"\"
    all_classes, text, full = Classes(), content.decode(), set()
    teachers = []
    for number in range(60):
        try:
            teachers.append(all_classes.open(f"93.184.{number}.1", Plan(seed=number)))
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


DOORS = {
    "a trace": door(
        """ui/watch/files.py: file_uploader trace_file
        core/trace.py: reads""",
        f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds",
        "from specviz.data.importers import Given, open_run",
        "f'{len(open_run(content, Given()).rounds)} rounds'",
        lambda: [long_trace(UPLOAD.megabytes, UPLOAD.rounds), *files()],
        r"[0-9]{3,4} rounds",
    ),
    "a record of another system": door(
        """ui/watch/files.py: text_input PROMPT
        ui/watch/files.py: text_input TARGET
        ui/watch/files.py: text_input DRAFT
        ui/watch/files.py: a name that is typed, TOKENIZER
        data/importers/record.py: reads
        data/importers/llama_cpp.py: reads
        data/importers/lm_studio.py: reads
        data/importers/sglang.py: reads
        data/importers/transformers.py: reads
        data/importers/vllm.py: reads""",
        f"{MOST_UPLOADED // MEGA} MB, {UPLOAD.rounds:,} steps, {UPLOAD.drafted:,} drafted tokens",
        """from specviz.data.importers import Given, open_run
from tests.support.records import FakeTokenizer
LONG = "x" * 100_000
def opened():
    tokenizer = FakeTokenizer() if b'candidate_ids' in content else None
    return open_run(content, Given(LONG, LONG, LONG, tokenizer=tokenizer))""",
        "f'{len(opened().rounds)} rounds'",
        lambda: [*(make(370) for make in RECORDS.values()), *files()],
        r"37[01] rounds",
    ),
    "a sweep as CSV": door(
        """ui/helps/helps_page.py: file_uploader sweep_csv
        measure/sweep/table.py: reads""",
        f"{table.UPLOAD_MEGABYTES} MB, {table.UPLOAD.rows:,} rows",
        "from specviz.measure.sweep.table import read_frame\nimport pandas",
        "f'{len(read_frame(content, chr(73))):,} rows'",
        lambda: [sweep(table.UPLOAD.rows), *files()],
        f"{table.UPLOAD.rows:,} rows",
    ),
    "a file of prompts": door(
        """ui/helps/controls.py: file_uploader sweep_file
        measure/sweep/prompt_files.py: reads""",
        f"{MAX_FILE_BYTES // MEGA} MB, {MAX_PROMPTS} prompts",
        "from specviz.measure.sweep.prompt_files import read_prompts",
        "f'{len(read_prompts(content).prompts)} prompts'",
        lambda: [prompts(), *files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a lesson plan": door(
        """ui/lesson/teachers.py: file_uploader lesson_file
        data/lessons/plans.py: reads""",
        f"{MAX_BYTES // 1000} kB",
        "from specviz.data.lessons.plans import MAX_BYTES, parse_plan",
        "f'{len(parse_plan(content[:MAX_BYTES + 1], chr(120)).moments)} moments'",
        lambda: [plan(), *files()],
        r"\d+ moments",
    ),
    "files of one visitor together": door(
        "serve.py: middleware Uploads",
        f"{MOST_FILES} files, {SESSION_BYTES // MEGA} MB",
    ),
    "a message over the page's connection": door(
        "serve.py: middleware Messages",
        f"4 MB, {MOST_WIDGETS:,} widgets",
        "from specviz.ui.shared.messages import is_forged",
        "is_forged(content)",
        lambda: [typed("x" * 3_900_000), *map(message, MESSAGES.values()), *files()],
        "False",
    ),
    "values of components": door(
        """ui/lesson/walk.py: on_moment_change
        ui/race/lanes.py: on_place_change
        ui/shared/stage.py: on_gamma_change
        ui/shared/stage.py: on_gap_change
        ui/shared/stage.py: on_step_change
        ui/shared/stage.py: on_tour_change
        ui/shared/components.py: on_text_change""",
        f"{MOST_VALUES:,} characters outside of texts",
        "from specviz.ui.shared.messages import is_forged",
        "is_forged(content)",
        lambda: [valued('{"text":"' + 'x\\"' * 600_000 + '"}'), *map(valued, dense())],
        "False",
    ),
    "a prompt that is written": door(
        """ui/shared/run_controls.py: text_area chosen
        ui/race/race_page.py: text_area race_own
        ui/shared/run_controls.py: a name that is typed, chosen""",
        f"{MAX_PROMPT_CHARACTERS:,} characters",
        PAGE,
        "said(opened('race').run().text_area('race_own').set_value(content.decode()).run())",
        lambda: [b"x" * MAX_PROMPT_CHARACTERS, *texts()],
        "shown",
    ),
    "pasted counters": door(
        "ui/worksheet/sections.py: text_area worksheet_paste",
        f"{MAX_CHARACTERS:,} characters",
        PAGE,
        "said(opened('worksheet').run().text_area('worksheet_paste').set_value(content.decode()).run())",
        lambda: [b"vllm:spec_decode_num_drafts_total 3\n" * (MAX_CHARACTERS // 40), *texts()],
        "shown",
    ),
    "a guess, a name or a code": door(
        """ui/play/play_page.py: text_input play_guess
        ui/play/play_page.py: text_input play_second
        ui/play/final.py: text_input play_name
        ui/classes/classes_page.py: text_input class_code
        ui/classes/classes_page.py: text_input class_name
        ui/classes/membership.py: text_input class_name
        ui/classes/membership.py: text_input class_rename""",
        "4 MB, of which 200 characters are looked at",
        PAGE,
        "said(write_all(content.decode()))",
        lambda: [b"a" * 200, *texts()],
        "shown",
    ),
    "a link": door(
        """ui/classes/board.py: query_params
        ui/classes/classes_page.py: query_params
        ui/lesson/notes.py: query_params
        ui/lesson/walk.py: query_params
        ui/shared/address.py: query_params
        ui/watch/controls.py: query_params
        ui/watch/on_stage.py: query_params""",
        "524,288 characters, 1,000 parameters",
        PAGE,
        "said(linked(content.decode()))",
        links,
        "shown",
    ),
    "a game that the tab held": door(
        """ui/play/play_page.py: keep game
        game/saved.py: reads""",
        f"{MOST:,} characters",
        "from specviz.game.saved import dump_game, load_game, SavedGame",
        "type(load_game(content.decode())).__name__",
        lambda: [b'{"link":{}}', *texts(), *(each for each in files() if is_text(each))],
        "SavedGame|.*cannot be read",
    ),
    "quiz answers that the tab held": door(
        """ui/learn/questions.py: keep answers
        ui/learn/questions.py: reads""",
        f"{MOST:,} characters, of which 10,000 are read",
        "from specviz.ui.learn.questions import read_answers",
        "len(read_answers(content.decode()))",
        lambda: [b'{"quiz-1": 0}', *texts(), *(each for each in files() if is_text(each))],
        "1",
    ),
    "a class that the tab or a cookie held": door(
        """ui/classes/membership.py: keep class
        ui/shared/components.py: cookies""",
        f"{MOST:,} characters, three secrets of 64",
        PAGE + "\nfrom specviz.ui.classes.membership import _take_back",
        "_take_back(content.decode())",
        lambda: [b"a.b.c", *texts()],
        "None",
    ),
    "what is sent for a class": door(
        """ui/classes/board.py: class action changes
        ui/classes/board.py: class action look
        ui/classes/board.py: class action remove
        ui/classes/classes_page.py: class action changes
        ui/classes/classes_page.py: class action look
        ui/classes/membership.py: class action changes
        ui/classes/membership.py: class action end
        ui/classes/membership.py: class action join
        ui/classes/membership.py: class action leave
        ui/classes/membership.py: class action membership
        ui/classes/membership.py: class action open
        ui/classes/membership.py: class action rename
        ui/classes/membership.py: class action send_answers
        ui/classes/membership.py: class action send_rounds""",
        f"{ClassLimits().classes} classes of {ClassLimits().students} students",
        CLASSES,
        "taught()",
        lambda: [b"Ada", b"\xf0\x9f\x90\xa6" * 250_000],
        f"{ClassLimits().classes} classes, {ClassLimits().classes * ClassLimits().students} students",
    ),
    "a trace on the command line": door(
        """cli/traces.py: file trace
        cli/lessons.py: file options.what[0]""",
        f"{FILE.megabytes} MB, {FILE.rounds:,} rounds",
        COMMAND,
        "cli('show', 'file')",
        lambda: [long_trace(FILE.megabytes - 3, FILE.rounds), *files()],
        "done",
    ),
    "a record on the command line": door(
        """cli/traces.py: file record
        cli/traces.py: file --prompt-file
        cli/traces.py: reads""",
        f"{MOST_BYTES // MEGA} MB",
        COMMAND,
        "cli('import', 'file', '--from', 'vllm', '--out', 'out')",
        lambda: [RECORDS["vllm"](370), *files()],
        "done",
    ),
    "a prompt or a schema on the command line": door(
        """cli/options.py: file --prompt-file
        cli/options.py: file --json-schema
        cli/options.py: reads
        data/grammars.py: reads""",
        f"{MOST_TEXT // MEGA} MB, of which 20,000 characters are taken",
        OPTIONS,
        "both()",
        lambda: [schema(), *files()],
        "prompt: The prompt is too long.*; schema: read",
    ),
    "a file of prompts on the command line": door(
        "cli/options.py: file --prompts-file",
        f"{MAX_FILE_BYTES // MEGA} MB, {MAX_PROMPTS} prompts",
        COMMAND + "\nfrom specviz.measure.sweep.prompt_files import read_prompt_file",
        "f'{file.write_bytes(content) * 0 + len(read_prompt_file(file).prompts)} prompts'",
        lambda: [prompts(), *files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a sweep on the command line": door(
        "cli/sweep.py: file --csv",
        f"{table.MOST_BYTES // MEGA} MB, {table.FILE.rows:,} rows",
        "from pathlib import Path\nimport tempfile, pandas\nfrom specviz.measure.sweep.table import SweepFile\n"
        "file = Path(tempfile.mkdtemp()) / 'file'",
        "f'{file.write_bytes(content) * 0 + len(SweepFile(file).rows):,} rows'",
        lambda: [sweep(table.FILE.rows), *files()],
        f"{table.FILE.rows:,} rows",
    ),
    "a lesson plan on the command line": door(
        "cli/lessons.py: file plan",
        f"{MAX_BYTES // 1000} kB",
        COMMAND,
        "cli('lesson', 'check', 'file')",
        lambda: [plan(), *files()],
        "done",
    ),
}
