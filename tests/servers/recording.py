"""Write down what running servers answer:

    python -m tests.servers.recording FOLDER [--vllm FOLDER] [--llama FOLDER] [--only NAME]

FOLDER is tests/fixtures/records/endpoints, or any other; its README.md says what the files are.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokenizers import Tokenizer

from specviz.models.catalogue import MODELS_FOLDER
from tests.servers.questions import TARGET, Batch, Question, Setup, setups
from tests.servers.running import Running, lines_of, running

# The counters of speculation and of tokens. A page of vLLM has 40 kB: histograms, and what Python and HTTP count.
KEPT = re.compile(
    r"(vllm:(spec_decode|generation_tokens|prompt_tokens|request_success|num_requests|num_preemptions)|llamacpp:)(?!.*_by_)"
)
LOGGED = ("SpecDecoding metrics", "generation throughput", "draft acceptance", "eval time", "statistics")
LOG_PATIENCE = 40.0  # seconds; vLLM writes its line every ten
PAGES = ("/version", "/props", "/v1/models")


def prompt_ids(text: str) -> list[int]:
    """The ids of a text as the models read it: their first token is the end of another text."""
    tokenizer = Tokenizer.from_file(f"{MODELS_FOLDER}/{TARGET}/tokenizer.json")
    return [0, *tokenizer.encode(text, add_special_tokens=False).ids]


def record(server: Running, out: Path) -> None:
    """Ask everything, and write the answers, the counters between, the other pages and the log's lines."""
    setup, pages = server.setup, []
    counted = [_counters(server, out, 0)]
    asked: list[dict[str, Any]] = []
    for number, batch in enumerate(setup.batches, start=1):
        answers = ask(server, batch, out)
        counted.append(_counters(server, out, number))
        asked.append(
            {"before": counted[-2], "after": counted[-1], "at_once": batch.at_once, "questions": answers},
        )
    for path in PAGES:
        if (answer := server.client.get(path)).is_success:
            name = f"{setup.stem}-{path.rsplit('/', 1)[-1]}.json"
            (out / name).write_bytes(answer.content)
            pages.append(name)
    _wait_for_lines(server)
    about = {
        "system": setup.system,
        "options": list(setup.options),
        "recorded": datetime.now(UTC).date().isoformat(),
        "pages": pages,
        "batches": asked,
    }
    (out / f"{setup.stem}.json").write_text(_readable(about))
    (out / f"{setup.stem}.log").write_text("\n".join(lines_of(server.log, LOGGED)) + "\n")


def ask(server: Running, batch: Batch, out: Path) -> list[dict[str, Any]]:
    """Send the questions. Each answer becomes a file, byte by byte."""

    def one(question: Question) -> dict[str, Any]:
        answer = server.client.post(question.path, json=dict(question.body))
        kind = answer.headers["content-type"]
        name = f"{server.setup.stem}-{question.name}.{'sse' if kind.startswith('text/event-stream') else 'json'}"
        (out / name).write_bytes(answer.content)
        return {
            "file": name,
            "path": question.path,
            "status": answer.status_code,
            "content_type": kind,
            "body": dict(question.body),
        }

    with ThreadPoolExecutor(len(batch.questions) if batch.at_once else 1) as pool:
        return list(pool.map(one, batch.questions))


def _counters(server: Running, out: Path, number: int) -> str:
    """The page /metrics now, without what counts other things."""
    _wait_until_quiet(server)
    name = f"{server.setup.stem}-metrics-{number}.txt"
    page = server.client.get("/metrics").raise_for_status().text
    kept = [line for line in page.splitlines() if KEPT.match(re.sub(r"^# (HELP|TYPE) ", "", line))]
    (out / name).write_text("\n".join(line for line in kept if "_created" not in line) + "\n")
    return name


def _wait_until_quiet(server: Running) -> None:
    """A server may count an answer a moment after it has sent it."""
    before = ""
    until = time.monotonic() + LOG_PATIENCE
    while time.monotonic() < until:
        now = "\n".join(sorted(re.findall(r"^\S*(?:tokens|drafts)_\S* \S+$", server.client.get("/metrics").text, re.M)))
        if now == before:
            return
        before = now
        time.sleep(0.5)


def _wait_for_lines(server: Running) -> None:
    until = time.monotonic() + LOG_PATIENCE
    word = "SpecDecoding" if server.setup.options else "generation throughput"
    while server.setup.system == "vllm" and time.monotonic() < until and not lines_of(server.log, [word]):
        time.sleep(1)


def _readable(about: dict[str, Any]) -> str:
    """JSON with one question on a line."""
    lines = ["{"]
    lines += [f" {json.dumps(name)}: {json.dumps(value)}," for name, value in about.items() if name != "batches"]
    batches = []
    for batch in about["batches"]:
        head = json.dumps({key: value for key, value in batch.items() if key != "questions"})
        questions = ",\n".join(f"   {json.dumps(question)}" for question in batch["questions"])
        batches.append(f'  {head[:-1]}, "questions": [\n{questions}\n  ]}}')
    return "\n".join([*lines, ' "batches": [', ",\n".join(batches), " ]", "}"]) + "\n"


def record_setup(setup: Setup, folder: Path, out: Path) -> None:
    with TemporaryDirectory() as scratch, running(setup, folder, Path(scratch) / "server.log") as server:
        record(server, out)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vllm", type=Path, help="folder with bin/vllm")
    parser.add_argument("--llama", type=Path, help="folder with llama-server, and the models as GGUF in float32")
    parser.add_argument("--only", default="", help="a part of the name of a setup, such as vllm-0.32-draft")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    folders = {"vllm": options.vllm, "llama.cpp": options.llama}
    for setup in setups(prompt_ids):
        if folders[setup.system] and options.only in setup.stem:
            say(setup.stem)
            record_setup(setup, folders[setup.system], options.folder)


if __name__ == "__main__":
    main()
