"""Write down what a running server answers; tests/fixtures/records/endpoints/README.md says what the files are."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from httpx2 import Client
from tokenizers import Tokenizer

from specviz.models.catalogue import MODELS_FOLDER
from tests.servers.questions import TARGET, Question, Setup

# The counters of speculation and of tokens. A page of vLLM has 40 kB: histograms, and what Python and HTTP count.
KEPT = re.compile(
    r"(vllm:(spec_decode|generation_tokens|prompt_tokens|request_success|num_requests|num_preemptions)|llamacpp:)(?!.*_by_)"
)
LOGGED = ("SpecDecoding metrics", "generation throughput", "draft acceptance", "eval time", "statistics")
PATIENCE = 40.0  # seconds until counters are still, or the log has a line; vLLM writes its line every ten
PAGES = ("version", "props", "v1/models")


def prompt_ids(text: str) -> list[int]:
    """The ids of a text as the models read it: their first token is the end of another text."""
    tokenizer = Tokenizer.from_file(f"{MODELS_FOLDER}/{TARGET}/tokenizer.json")
    return [0, *tokenizer.encode(text, add_special_tokens=False).ids]


def record(client: Client, log: Path, setup: Setup, out: Path) -> None:
    """Ask everything, and write the answers byte by byte, the counters between, the other pages and the log's lines."""

    def ask(question: Question) -> dict[str, Any]:
        answer = client.post(question.path, json=question.body)
        kind = answer.headers["content-type"]
        name = f"{setup.stem}-{question.name}.{'sse' if kind.startswith('text/event-stream') else 'json'}"
        (out / name).write_bytes(answer.content)
        told = {"file": name, "path": question.path, "status": answer.status_code, "content_type": kind}
        return told | {"body": question.body}

    def counters() -> str:
        """The page /metrics without what counts other things, once it is still: an answer may be counted later."""
        before, page, until = None, "", time.monotonic() + PATIENCE
        while page != before and time.monotonic() < until:
            time.sleep(0.5)
            before, lines = page, client.get("/metrics").raise_for_status().text.splitlines()
            kept = [line for line in lines if KEPT.match(re.sub(r"^# (HELP|TYPE) ", "", line))]
            page = "\n".join(line for line in kept if "_created" not in line) + "\n"
        counted.append(f"{setup.stem}-metrics-{len(counted)}.txt")
        (out / counted[-1]).write_text(page)
        return counted[-1]

    counted, batches, pages = list[str](), list[dict[str, Any]](), list[str]()
    counters()
    for questions in setup.batches:
        at_once = questions[0].name.startswith("several")
        with ThreadPoolExecutor(len(questions) if at_once else 1) as pool:
            asked = list(pool.map(ask, questions))
        batches.append({"before": counted[-1], "after": counters(), "at_once": at_once, "questions": asked})
    for path in PAGES:
        if (answer := client.get(f"/{path}")).is_success:
            pages.append(f"{setup.stem}-{path.rpartition('/')[2]}.json")
            (out / pages[-1]).write_bytes(answer.content)
    about = {"system": setup.system, "options": setup.options, "recorded": datetime.now(UTC).date().isoformat()}
    index = json.dumps(about | {"pages": pages, "batches": batches})
    (out / f"{setup.stem}.json").write_text(re.sub(r'(?=\{"(?:before|file)")', "\n", index) + "\n")
    word, until = "SpecDecoding" if setup.name != "plain" else "generation throughput", time.monotonic() + PATIENCE
    while setup.system == "vllm" and word not in log.read_text(errors="replace") and time.monotonic() < until:
        time.sleep(1)
    lines = [line for line in log.read_text(errors="replace").splitlines() if any(word in line for word in LOGGED)]
    (out / f"{setup.stem}.log").write_text("\n".join(lines) + "\n")
