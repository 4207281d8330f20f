"""Every way into the program: the table of docs/security.md, and what is sent to each to measure it."""

from collections.abc import Callable
from dataclasses import dataclass

from specviz.cli.options import MOST_TEXT
from specviz.core.request import MAX_PROMPT_CHARACTERS
from specviz.core.trace import FILE, UPLOAD
from specviz.data.lessons.plans import MAX_BYTES
from specviz.measure.endpoints import result as bench_result
from specviz.measure.endpoints.reading import MOST_LINE
from specviz.measure.endpoints.result import MOST_MEGABYTES
from specviz.measure.sweep import rows as table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS
from specviz.service.classes.registry import ClassLimits
from specviz.systems import MAX_CHARACTERS, MOST_UPLOADED
from specviz.systems.fields import MOST_BYTES
from specviz.ui.shared.components import MOST
from specviz.ui.shared.guard import MOST_FILES, MOST_ITEMS, MOST_VALUES, SESSION_BYTES
from specviz.ui.watch.watch_state import LIST_BYTES, MAX_RUNS
from specviz.ui.when_it_helps.your_server import UPLOAD_MEGABYTES
from tests.load.hostile import MESSAGES
from tests.support import door_contents as sent
from tests.support.hostile_records import RECORDS

SECONDS = 300  # of a processor
MEASURED = "tests/pages/test_door_budgets.py::test_a_door_keeps_its_budget"


@dataclass(frozen=True, slots=True)
class Door:
    """A row: how much it takes, what that may cost, and how it is measured."""

    largest: str
    megabytes: int  # that a process may grow
    setup: str = ""  # lines of Python for the process
    read: str = ""  # an expression with `content`
    contents: Callable[[], list[bytes]] = lambda: []
    says: str = "shown.*"  # what the first of them gives, which is the largest that is taken
    test: str = ""  # another one that measures it


DOORS = {
    "a trace": Door(
        f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds",
        80,
        "from specviz.systems import RecordOptions, open_run",
        "f'{len(open_run(content, RecordOptions()).rounds)} rounds'",
        lambda: [sent.long_trace(UPLOAD.megabytes, UPLOAD.rounds), *sent.files()],
        r"[0-9]{3,4} rounds",
    ),
    "the draws of a student's rule": Door(
        f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds",
        120,
        "from specviz.lab.draws import read_draws",
        "f'{len(read_draws(content)[1].positions)} tokens'",
        lambda: [sent.drawn(UPLOAD.megabytes, UPLOAD.rounds), *sent.files()],
        "1 tokens",
    ),
    "a record of another system": Door(
        f"{MOST_UPLOADED // sent.MEGA} MB, {UPLOAD.rounds:,} steps, {UPLOAD.drafted:,} drafted tokens",
        150,
        """from specviz.systems import RecordOptions, open_run
from tests.support.records import FakeTokenizer
LONG = "x" * 100_000
def opened():
    tokenizer = FakeTokenizer() if b'candidate_ids' in content else None
    return open_run(content, RecordOptions(LONG, LONG, LONG, tokenizer=tokenizer))""",
        "f'{len(opened().rounds)} rounds'",
        lambda: [*(make(370) for make in RECORDS.values()), *sent.files()],
        r"37[01] rounds",
    ),
    "a sweep as CSV": Door(
        f"{table.UPLOAD_MEGABYTES} MB, {table.UPLOAD.rows:,} rows",
        40,
        "from specviz.measure.sweep.rows import read_frame\nimport pandas",
        "f'{len(read_frame(content, chr(73))):,} rows'",
        lambda: [sent.sweep(table.UPLOAD.rows), *sent.files()],
        f"{table.UPLOAD.rows:,} rows",
    ),
    "a bench file": Door(
        f"{UPLOAD_MEGABYTES} MB",
        100,
        sent.BENCH,
        "shown_bench(content)",
        lambda: [sent.bench(UPLOAD_MEGABYTES), *sent.files()],
        r"\d{3} rows, \d+ sentences",
    ),
    "a file of prompts": Door(
        f"{MAX_FILE_BYTES // sent.MEGA} MB, {MAX_PROMPTS} prompts",
        45,
        "from specviz.measure.sweep.prompt_files import read_prompts",
        "f'{len(read_prompts(content).prompts)} prompts'",
        lambda: [sent.prompts(), *sent.files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a lesson plan": Door(
        f"{MAX_BYTES // 1000} kB",
        30,
        "from specviz.data.lessons.plans import MAX_BYTES, parse_plan",
        "f'{len(parse_plan(content[:MAX_BYTES + 1], chr(120)).moments)} moments'",
        lambda: [sent.plan(), *sent.files()],
        r"\d+ moments",
    ),
    "files of one visitor together": Door(
        f"{MOST_FILES} files, {SESSION_BYTES // sent.MEGA} MB",
        30,
        test="tests/browser/test_doors.py::test_one_visitor_uploads_no_more_than_it_may_and_the_only_visitor_is_forgotten_too",
    ),
    "a message over the page's connection": Door(
        f"4 MB, {MOST_ITEMS:,} items of lists",
        140,
        sent.FORGED,
        "forged(content)",
        lambda: [sent.typed("x" * 3_900_000), *map(sent.message, MESSAGES.values()), *sent.files()],
        "False",
    ),
    "values of components": Door(
        f"{MOST_VALUES:,} characters outside of texts",
        40,
        sent.FORGED,
        "forged(content)",
        lambda: [sent.valued('{"text":"' + 'x\\"' * 600_000 + '"}'), *map(sent.valued, sent.dense())],
        "False",
    ),
    "a prompt that is written": Door(
        f"{MAX_PROMPT_CHARACTERS:,} characters",
        120,
        sent.PAGE,
        "said(opened('race').run().text_area('race_own').set_value(content.decode()).run())",
        lambda: [b"x" * MAX_PROMPT_CHARACTERS, *sent.texts()],
    ),
    "pasted counters": Door(
        f"{MAX_CHARACTERS:,} characters",
        100,
        sent.PAGE,
        "said(opened('worksheet').run().text_area('worksheet_paste').set_value(content.decode()).run())",
        lambda: [b"vllm:spec_decode_num_drafts_total 3\n" * (MAX_CHARACTERS // 40), *sent.texts(b"draft ")],
    ),
    "a guess, a name or a code": Door(
        "4 MB, of which 200 characters are looked at",
        140,
        sent.PAGE,
        "said(write_all(content.decode()))",
        lambda: [b"a" * 200, *sent.texts()],
    ),
    "a link": Door(
        "524,288 characters, 1,000 parameters",
        50,
        sent.PAGE,
        "said(linked(content.decode()))",
        sent.links,
    ),
    "a game that the tab held": Door(
        f"{MOST:,} characters",
        100,
        "from specviz.game.saved import dump_game, load_game, SavedGame",
        "type(load_game(content.decode())).__name__",
        lambda: [b'{"link":{}}', *sent.texts(), *(each for each in sent.files() if sent.is_text(each))],
        "SavedGame|.*cannot be read",
    ),
    "quiz answers that the tab held": Door(
        f"{MOST:,} characters, of which 10,000 are read",
        30,
        "from specviz.ui.learn.questions import read_answers",
        "len(read_answers(content.decode()))",
        lambda: [b'{"quiz-1": 0}', *sent.texts(), *(each for each in sent.files() if sent.is_text(each))],
        "1",
    ),
    "a list of tries that the tab held": Door(
        f"{MOST:,} characters, of which {MAX_RUNS} runs are looked for, in files of {LIST_BYTES // sent.MEGA} MB",
        50,
        sent.TRIED,
        "taken_back(content.decode())",
        lambda: [" ".join(sent.stored_ids(MOST // 17)).encode(), *sent.texts()],
        "3 runs, 0 gone",
    ),
    "a class that the tab or a cookie held": Door(
        f"{MOST:,} characters, two secrets of 64",
        50,
        sent.PAGE + "\nfrom specviz.ui.classes.membership import _restore",
        "_restore(content.decode())",
        lambda: [b"a.b", *sent.texts()],
        "None",
    ),
    "what is sent for a class": Door(
        f"{ClassLimits().classes} classes of {ClassLimits().students} students",
        30,
        sent.CLASSES,
        "taught()",
        lambda: [b"Ada", b"\xf0\x9f\x90\xa6" * 250_000],
        f"{ClassLimits().classes} classes, {ClassLimits().classes * ClassLimits().students} students",
    ),
    "a trace on the command line": Door(
        f"{FILE.megabytes} MB, {FILE.rounds:,} rounds",
        320,
        sent.COMMAND,
        "cli('show', 'file')",
        lambda: [sent.long_trace(FILE.megabytes - 3, FILE.rounds), *sent.files()],
        "done",
    ),
    "a record on the command line": Door(
        f"{MOST_BYTES // sent.MEGA} MB",
        170,
        sent.COMMAND,
        "cli('import', 'file', '--from', 'vllm', '--out', 'out')",
        lambda: [RECORDS["vllm"](370), *sent.files()],
        "done",
    ),
    "a prompt or a schema on the command line": Door(
        f"{MOST_TEXT // sent.MEGA} MB, of which 20,000 characters are taken",
        100,
        sent.OPTIONS,
        "both()",
        lambda: [sent.schema(), *sent.files()],
        "prompt: read; schema: read",
    ),
    "a file of prompts on the command line": Door(
        f"{MAX_FILE_BYTES // sent.MEGA} MB, {MAX_PROMPTS} prompts",
        45,
        sent.COMMAND + "\nfrom specviz.measure.sweep.prompt_files import read_prompt_file",
        "f'{file.write_bytes(content) * 0 + len(read_prompt_file(file).prompts)} prompts'",
        lambda: [sent.prompts(), *sent.files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a sweep on the command line": Door(
        f"{table.MOST_BYTES // sent.MEGA} MB, {table.FILE.rows:,} rows",
        100,
        "from pathlib import Path\nimport tempfile, pandas\nfrom specviz.measure.sweep.rows import SweepFile\n"
        "file = Path(tempfile.mkdtemp()) / 'file'",
        "f'{file.write_bytes(content) * 0 + len(SweepFile(file).rows):,} rows'",
        lambda: [sent.sweep(table.FILE.rows), *sent.files()],
        f"{table.FILE.rows:,} rows",
    ),
    "an answer of a server that bench asks": Door(
        f"{MOST_LINE // 1000} kB a part",
        100,
        test="tests/tiny/test_endpoint_client.py::test_a_wrong_answer_takes_little_memory",
    ),
    "a bench on the command line": Door(
        f"{MOST_MEGABYTES} MB, of which {bench_result.MAX_PROMPTS} prompts are read",
        400,
        "from specviz.measure.endpoints.importers import import_files",
        "f'{len(import_files(content, content).answers)} answers'",
        lambda: [sent.tool_file(MOST_MEGABYTES), *sent.files()],
        f"{2 * bench_result.MAX_PROMPTS} answers",
    ),
    "a lesson plan on the command line": Door(
        f"{MAX_BYTES // 1000} kB",
        30,
        sent.COMMAND,
        "cli('lesson', 'check', 'file')",
        lambda: [sent.plan(), *sent.files()],
        "done",
    ),
}
