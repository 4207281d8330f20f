"""What is sent to the ways into the program: the largest that each takes, and what nobody should send."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg

from specviz.core.files import TEXTS as APP_TEXTS
from specviz.core.request import RunRequest
from specviz.core.trace import UPLOAD, Output, dump_trace, parse_trace
from specviz.data.lessons.plans import MAX_BYTES
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run
from specviz.measure.endpoints import result
from specviz.measure.endpoints.result import dump_result
from specviz.measure.proof.rows import recorded_proof
from specviz.measure.sweep import rows as table
from specviz.measure.sweep.prompt_files import MAX_FILE_BYTES, MAX_PROMPTS, MOST_READ
from specviz.service.job import RunResult
from specviz.service.run_store import _STORED, StoredRun
from specviz.ui.shared.components import MOST
from specviz.ui.when_it_helps.your_server import UPLOAD_MEGABYTES
from tests.load.hostile import MESSAGES, TEXTS, all_files
from tests.support.bench_results import make_bench
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.hostile_records import RECORDS
from tests.support.known import known

MEGA = 10**6
STORED = 69  # of the longest runs: a store of 200 MB is full


def long_trace(megabytes: float = UPLOAD.megabytes, rounds: int = UPLOAD.rounds) -> bytes:
    """A valid trace of about so many megabytes, with at most so many rounds."""
    short = fake_trace(tokens=64, plain=False)
    count = min(rounds, int(megabytes * MEGA * 0.9) // (len(dump_trace(short)) // len(short.rounds)))
    long = [replace(short.rounds[at % len(short.rounds)], index=at) for at in range(count)]
    ids = [token_id for round in long for token_id in round.emitted_ids]
    settings, output = replace(short.settings, max_new_tokens=len(ids)), Output(ids, "x" * len(ids), "length")
    return dump_trace(replace(short, rounds=long, output=output, settings=settings)).encode()


def drawn() -> bytes:
    """A long trace with the draws of a rule."""
    draws = LabDraws([DrawnPosition("first", known(recorded_proof()).draws[0].batches)])
    return dump_run(parse_trace(long_trace(UPLOAD.megabytes - 0.1)), draws).encode()


@cache
def files() -> list[bytes]:
    return list(all_files().values())


def sweep(rows: int = table.UPLOAD.rows) -> bytes:
    return table.dump_frame(table.frame_of([row_at("story", 4, 1.5)] * rows)).encode()


def bench() -> bytes:
    """Of nearly as many megabytes as an upload may have."""
    loads, short = range(1, 21), make_bench({1: 1.5})
    count = UPLOAD_MEGABYTES * MEGA * 9 // 10 // len(dump_result(short).encode())
    blocks = len({answer.block for answer in short.answers})
    answers = [
        replace(answer, concurrency=loads[at % len(loads)], block=answer.block + blocks * at)
        for at in range(count)
        for answer in short.answers
    ]
    settings = replace(short.settings, concurrency=[*loads])
    return dump_result(replace(short, settings=settings, answers=answers)).encode()


def tool_file() -> bytes:
    """A result file of vLLM's bench, nearly as large as it may be: the most requests, and long answers."""
    count, gap = result.MAX_ANSWERS, "0.0123456789"
    parts = min(500, result.MOST_MEGABYTES * MEGA * 8 // 10 // count // (len(gap) + 1))
    lists = {"output_lens": parts + 1, "ttfts": 0.05, "itls": f"[{','.join([gap] * parts)}]", "start_times": 1.5}
    written = ",".join(f'"{name}":[{",".join([str(value)] * count)}]' for name, value in lists.items())
    return f'{{"model_id":"m",{written}}}'.encode()


def prompts() -> bytes:
    length = MOST_READ // MAX_PROMPTS - 10
    read = b"\n".join(b"%d " % number + b"x " * (length // 2 - 3) for number in range(MAX_PROMPTS))
    return read + b"\nx" * ((MAX_FILE_BYTES - len(read)) // 2)


def plan() -> bytes:
    """The app's own, filled up with a comment."""
    own = (APP_TEXTS / "lessons" / "ten-minutes.yaml").read_bytes()
    return own + b"# " + b"x" * (MAX_BYTES - len(own) - 2)


def schema() -> bytes:
    """Of 20,000 characters."""
    fields = ",".join(f'"field{number:04}":{{"type":"string"}}' for number in range(600))
    return b'{"type":"object","properties":{' + fields.encode() + b"}}"


def expressions() -> list[bytes]:
    nested, many = b"(" * 900 + b"a" + b")*" * 900, b"(" + b"|".join([b"a*b*c*d*"] * 2_000) + b")*"
    return [nested, b"(a{1000}){1000}", b"(.{0,500}x){200}", many]


def records() -> list[bytes]:
    return [*(make(370) for make in RECORDS.values()), *files()]


def texts(begin: bytes = b"") -> list[bytes]:
    return [begin + make().encode() for make in TEXTS]


def pasted() -> list[bytes]:
    return texts(b"draft ")


def from_a_tab() -> list[bytes]:
    return [*texts(), *(content for content in files() if content == content.decode(errors="replace").encode())]


def links() -> list[bytes]:
    """The longest that Streamlit reads (524,288 characters, 1,000 parameters), and how it may be filled."""
    words = ("preset", "prompt", "gamma", "run", "class", "lesson", "hide", "view", "position", "tab", "n%d")
    filled = ([f"{word.replace('%d', str(at))}={'x9'[at % 2] * 550}" for at in range(900)] for word in words)
    return ["&".join(each).encode() for each in filled]


# ---- messages of a browser, as bytes


def message(make: Callable[[BackMsg, str], None]) -> bytes:
    sent = BackMsg()
    make(sent, "session")
    return sent.SerializeToString()


def forged() -> list[bytes]:
    return [*map(message, MESSAGES.values()), *files()]


def widget(name: str, **value: str) -> bytes:
    return BackMsg(rerun_script={"widget_states": {"widgets": [{"id": name, **value}]}}).SerializeToString()


def valued(value: str) -> bytes:
    """What a component says."""
    return widget("$$ID-1-stage", json_value=value)


def typed(text: str) -> bytes:
    return widget("$$ID-1-race_own", string_value=text)


def dense() -> list[str]:
    """JSON with many values for its size."""
    parts = ('{"a":{}},', "[],", "1.5,", '"",', '"a",')
    return ['{"text":[' + part * (3_900_000 // len(part)) + "1]}" for part in parts]


# ---- a store that is full


def fill_store(folder: Path) -> None:
    """One request's longest runs, as older versions named their files."""
    folder.mkdir()
    run = StoredRun("key", RunRequest("Once"), RunResult(fake_trace(tokens=64), "text", id="the id"))
    parts = re.fullmatch(rb'(.*"rounds":\[)(.*)(\],"autoregressive".*)', _STORED.dump_json(run))
    begin, rounds, end = known(parts).groups()
    long = begin + b",".join([rounds] * (2_900_000 // len(rounds))) + end
    for number in range(STORED):
        (folder / f"{'0' * 16}-{number:016x}.json").write_bytes(long.replace(b"the id", b"%016x" % number))


def many_runs() -> bytes:
    return b" ".join(b"%016x" % number for number in range(MOST // 17))
