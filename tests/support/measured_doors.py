"""How each way into the program is measured: where it is in the code, the largest that it takes, what is sent to it."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.hostile import MESSAGES
from specviz.cli.options import MOST_TEXT
from specviz.core.request import MAX_PROMPT_CHARACTERS
from specviz.core.trace import FILE, UPLOAD
from specviz.data.lessons.plans import MAX_BYTES
from specviz.measure.endpoints import result as bench_result
from specviz.measure.endpoints.reading import MOST_LINE
from specviz.measure.endpoints.result import MOST_MEGABYTES
from specviz.measure.sweep import table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS
from specviz.service.classes.registry import ClassLimits
from specviz.systems import MAX_CHARACTERS, MOST_UPLOADED
from specviz.systems.fields import MOST_BYTES
from specviz.ui.shared.components import MOST
from specviz.ui.shared.guard import MOST_FILES, MOST_ITEMS, MOST_VALUES, SESSION_BYTES
from specviz.ui.watch.watch_state import LIST_BYTES, MAX_RUNS
from specviz.ui.when_it_helps.your_server_state import UPLOAD_MEGABYTES
from tests.support import door_contents as sent
from tests.support.hostile_records import RECORDS

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


DOORS = {
    "a trace": door(
        """ui/watch/files.py: file_uploader trace_file
        core/trace.py: reads""",
        f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds",
        "from specviz.systems import RecordOptions, open_run",
        "f'{len(open_run(content, RecordOptions()).rounds)} rounds'",
        lambda: [sent.long_trace(UPLOAD.megabytes, UPLOAD.rounds), *sent.files()],
        r"[0-9]{3,4} rounds",
    ),
    "the draws of a student's rule": door(
        """ui/same_quality/own_rule.py: file_uploader same_quality_file
        lab/draws.py: reads""",
        f"{UPLOAD.megabytes} MB, {UPLOAD.rounds:,} rounds",
        "from specviz.lab.draws import read_draws",
        "f'{len(read_draws(content)[1].positions)} tokens'",
        lambda: [sent.drawn(UPLOAD.megabytes, UPLOAD.rounds), *sent.files()],
        "1 tokens",
    ),
    "a record of another system": door(
        """ui/watch/files.py: text_input PROMPT
        ui/watch/files.py: text_input TARGET
        ui/watch/files.py: text_input DRAFT
        ui/watch/files.py: a name that is typed, TOKENIZER
        systems/fields.py: reads""",
        f"{MOST_UPLOADED // sent.MEGA} MB, {UPLOAD.rounds:,} steps, {UPLOAD.drafted:,} drafted tokens",
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
    "a sweep as CSV": door(
        """ui/when_it_helps/when_it_helps_page.py: file_uploader when_it_helps_csv
        measure/sweep/table.py: reads""",
        f"{table.UPLOAD_MEGABYTES} MB, {table.UPLOAD.rows:,} rows",
        "from specviz.measure.sweep.table import read_frame\nimport pandas",
        "f'{len(read_frame(content, chr(73))):,} rows'",
        lambda: [sent.sweep(table.UPLOAD.rows), *sent.files()],
        f"{table.UPLOAD.rows:,} rows",
    ),
    "a bench file": door(
        """ui/when_it_helps/your_server.py: file_uploader when_it_helps_bench
        measure/endpoints/result.py: reads""",
        f"{UPLOAD_MEGABYTES} MB",
        sent.BENCH,
        "shown_bench(content)",
        lambda: [sent.bench(UPLOAD_MEGABYTES), *sent.files()],
        r"\d{3} rows, \d+ sentences",
    ),
    "a file of prompts": door(
        """ui/when_it_helps/controls.py: file_uploader when_it_helps_file
        measure/sweep/prompt_files.py: reads""",
        f"{MAX_FILE_BYTES // sent.MEGA} MB, {MAX_PROMPTS} prompts",
        "from specviz.measure.sweep.prompt_files import read_prompts",
        "f'{len(read_prompts(content).prompts)} prompts'",
        lambda: [sent.prompts(), *sent.files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a lesson plan": door(
        """ui/lesson/lesson_page.py: file_uploader lesson_file
        data/lessons/plans.py: reads""",
        f"{MAX_BYTES // 1000} kB",
        "from specviz.data.lessons.plans import MAX_BYTES, parse_plan",
        "f'{len(parse_plan(content[:MAX_BYTES + 1], chr(120)).moments)} moments'",
        lambda: [sent.plan(), *sent.files()],
        r"\d+ moments",
    ),
    "files of one visitor together": door(
        "ui/shared/below_streamlit.py: guards MemoryUploadedFileManager.add_file",
        f"{MOST_FILES} files, {SESSION_BYTES // sent.MEGA} MB",
    ),
    "a message over the page's connection": door(
        """ui/shared/below_streamlit.py: guards WebSocket._raise_on_disconnect
        ui/shared/below_streamlit.py: guards StarletteSessionClient.write_forward_msg
        ui/shared/below_streamlit.py: guards WebsocketSessionManager.disconnect_session""",
        f"4 MB, {MOST_ITEMS:,} items of lists",
        sent.FORGED,
        "forged(content)",
        lambda: [sent.typed("x" * 3_900_000), *map(sent.message, MESSAGES.values()), *sent.files()],
        "False",
    ),
    "values of components": door(
        """ui/lesson/lesson_page.py: on_moment_change
        ui/race/lanes.py: on_place_change
        ui/shared/stage.py: on_gamma_change
        ui/shared/stage.py: on_gap_change
        ui/shared/stage.py: on_step_change
        ui/shared/stage.py: on_tour_change
        ui/shared/components.py: on_text_change""",
        f"{MOST_VALUES:,} characters outside of texts",
        sent.FORGED,
        "forged(content)",
        lambda: [sent.valued('{"text":"' + 'x\\"' * 600_000 + '"}'), *map(sent.valued, sent.dense())],
        "False",
    ),
    "a prompt that is written": door(
        """ui/shared/run_controls.py: text_area chosen
        ui/watch/reply.py: chat_input key
        ui/race/race_page.py: text_area race_own
        ui/shared/run_controls.py: a name that is typed, key""",
        f"{MAX_PROMPT_CHARACTERS:,} characters",
        sent.PAGE,
        "said(opened('race').run().text_area('race_own').set_value(content.decode()).run())",
        lambda: [b"x" * MAX_PROMPT_CHARACTERS, *sent.texts()],
        "shown.*",
    ),
    "pasted counters": door(
        """ui/worksheet/worksheet_page.py: text_area worksheet_paste
        systems/finding.py: reads""",
        f"{MAX_CHARACTERS:,} characters",
        sent.PAGE,
        "said(opened('worksheet').run().text_area('worksheet_paste').set_value(content.decode()).run())",
        lambda: [b"vllm:spec_decode_num_drafts_total 3\n" * (MAX_CHARACTERS // 40), *sent.texts(b"draft ")],
        "shown.*",
    ),
    "a guess, a name or a code": door(
        """ui/be_the_draft/be_the_draft_page.py: text_input be_the_draft_guess
        ui/be_the_draft/be_the_draft_page.py: text_input be_the_draft_second
        ui/be_the_draft/be_the_draft_page.py: text_input be_the_draft_name
        ui/classes/classes_page.py: text_input class_code
        ui/classes/classes_page.py: text_input class_name
        ui/classes/membership.py: text_input class_name
        ui/classes/membership.py: text_input class_rename""",
        "4 MB, of which 200 characters are looked at",
        sent.PAGE,
        "said(write_all(content.decode()))",
        lambda: [b"a" * 200, *sent.texts()],
        "shown.*",
    ),
    "a link": door(
        """ui/classes/classes_page.py: query_params
        ui/classes/classes_page.py: query_params
        ui/lesson/lesson_page.py: query_params
        ui/shared/address.py: query_params
        ui/shared/language.py: query_params
        ui/watch/on_stage.py: query_params""",
        "524,288 characters, 1,000 parameters",
        sent.PAGE,
        "said(linked(content.decode()))",
        sent.links,
        "shown.*",
    ),
    "a game that the tab held": door(
        """ui/be_the_draft/be_the_draft_page.py: keep game
        game/saved.py: reads""",
        f"{MOST:,} characters",
        "from specviz.game.saved import dump_game, load_game, SavedGame",
        "type(load_game(content.decode())).__name__",
        lambda: [b'{"link":{}}', *sent.texts(), *(each for each in sent.files() if sent.is_text(each))],
        "SavedGame|.*cannot be read",
    ),
    "quiz answers that the tab held": door(
        """ui/learn/questions.py: keep answers
        ui/learn/questions.py: reads""",
        f"{MOST:,} characters, of which 10,000 are read",
        "from specviz.ui.learn.questions import read_answers",
        "len(read_answers(content.decode()))",
        lambda: [b'{"quiz-1": 0}', *sent.texts(), *(each for each in sent.files() if sent.is_text(each))],
        "1",
    ),
    "a list of tries that the tab held": door(
        "ui/watch/tried.py: keep tried",
        f"{MOST:,} characters, of which {MAX_RUNS} runs are looked for, in files of {LIST_BYTES // sent.MEGA} MB",
        sent.TRIED,
        "taken_back(content.decode())",
        lambda: [" ".join(sent.stored_ids(MOST // 17)).encode(), *sent.texts()],
        "3 runs, 0 gone",
    ),
    "a class that the tab or a cookie held": door(
        """ui/classes/membership.py: keep class
        ui/shared/components.py: cookies""",
        f"{MOST:,} characters, three secrets of 64",
        sent.PAGE + "\nfrom specviz.ui.classes.membership import _restore",
        "_restore(content.decode())",
        lambda: [b"a.b.c", *sent.texts()],
        "None",
    ),
    "what is sent for a class": door(
        """ui/classes/classes_page.py: class action changes
        ui/classes/classes_page.py: class action look
        ui/classes/classes_page.py: class action remove
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
        sent.CLASSES,
        "taught()",
        lambda: [b"Ada", b"\xf0\x9f\x90\xa6" * 250_000],
        f"{ClassLimits().classes} classes, {ClassLimits().classes * ClassLimits().students} students",
    ),
    "a trace on the command line": door(
        """cli/traces.py: file TRACE.json
        cli/lessons.py: file options.what[0]""",
        f"{FILE.megabytes} MB, {FILE.rounds:,} rounds",
        sent.COMMAND,
        "cli('show', 'file')",
        lambda: [sent.long_trace(FILE.megabytes - 3, FILE.rounds), *sent.files()],
        "done",
    ),
    "a record on the command line": door(
        """cli/traces.py: file FILE
        cli/traces.py: file --prompt-file
        cli/traces.py: reads""",
        f"{MOST_BYTES // sent.MEGA} MB",
        sent.COMMAND,
        "cli('import', 'file', '--from', 'vllm', '--out', 'out')",
        lambda: [RECORDS["vllm"](370), *sent.files()],
        "done",
    ),
    "a prompt or a schema on the command line": door(
        """cli/options.py: file --prompt-file
        cli/options.py: file --json-schema
        cli/options.py: reads
        data/prompts/grammars.py: reads""",
        f"{MOST_TEXT // sent.MEGA} MB, of which 20,000 characters are taken",
        sent.OPTIONS,
        "both()",
        lambda: [sent.schema(), *sent.files()],
        "prompt: read; schema: read",
    ),
    "a file of prompts on the command line": door(
        "cli/options.py: file --prompts-file",
        f"{MAX_FILE_BYTES // sent.MEGA} MB, {MAX_PROMPTS} prompts",
        sent.COMMAND + "\nfrom specviz.measure.sweep.prompt_files import read_prompt_file",
        "f'{file.write_bytes(content) * 0 + len(read_prompt_file(file).prompts)} prompts'",
        lambda: [sent.prompts(), *sent.files()],
        f"{MAX_PROMPTS} prompts",
    ),
    "a sweep on the command line": door(
        "cli/options.py: file --csv",
        f"{table.MOST_BYTES // sent.MEGA} MB, {table.FILE.rows:,} rows",
        "from pathlib import Path\nimport tempfile, pandas\nfrom specviz.measure.sweep.table import SweepFile\n"
        "file = Path(tempfile.mkdtemp()) / 'file'",
        "f'{file.write_bytes(content) * 0 + len(SweepFile(file).rows):,} rows'",
        lambda: [sent.sweep(table.FILE.rows), *sent.files()],
        f"{table.FILE.rows:,} rows",
    ),
    "an answer of a server that bench asks": door(
        "measure/endpoints/reading.py: reads",
        f"{MOST_LINE // 1000} kB a part",
    ),
    "a bench on the command line": door(
        """cli/bench.py: file --import
        cli/bench.py: reads""",
        f"{MOST_MEGABYTES} MB, of which {bench_result.MAX_PROMPTS} prompts are read",
        "from specviz.measure.endpoints.importers import import_files",
        "f'{len(import_files(content, content).answers)} answers'",
        lambda: [sent.tool_file(MOST_MEGABYTES), *sent.files()],
        f"{2 * bench_result.MAX_PROMPTS} answers",
    ),
    "a lesson plan on the command line": door(
        "cli/lessons.py: file PLAN.yaml",
        f"{MAX_BYTES // 1000} kB",
        sent.COMMAND,
        "cli('lesson', 'check', 'file')",
        lambda: [sent.plan(), *sent.files()],
        "done",
    ),
}
