"""Servers of other systems, in folders that VLLM and LLAMA name. Tests of a system without a folder are skipped."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.peers import DRAFT, TARGET, Pair
from specviz import load_model
from tests.servers.questions import DRAFT_LENGTH, GREEDY, Setup, setups
from tests.servers.recording import prompt_ids, record
from tests.servers.running import running
from tests.support.endpoint_records import Answered, Asked, asked_of

FOLDERS = {"vllm": ("VLLM", "make_vllm.sh", "bin/vllm"), "llama.cpp": ("LLAMA", "make_llama.sh", "llama-server")}


def folder_of(system: str) -> Path:
    name, script, program = FOLDERS[system]
    given = os.environ.get(name)
    if not given:
        pytest.skip(f"{name}=FOLDER is not given; `tests/servers/{script} FOLDER` makes such a folder")
    folder = Path(given).resolve()
    if not (folder / program).exists():
        pytest.fail(f"{folder} has no {program}; `tests/servers/{script} FOLDER` makes such a folder", pytrace=False)
    return folder


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a server answered just now."""

    setup: Setup
    batches: list[Asked]
    log: str

    @property
    def answers(self) -> list[Answered]:
        return [answer for batch in self.batches for answer in batch.good]


@pytest.fixture(scope="module", params=setups(prompt_ids), ids=lambda setup: setup.stem)
def fresh(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """Each server in turn: one runs at a time. With RECORDS=FOLDER what they answer stays there."""
    setup: Setup = request.param
    folder, scratch = folder_of(setup.system), tmp_path_factory.mktemp(setup.stem)
    out, log = Path(os.environ.get("RECORDS", scratch)), scratch / "all.txt"
    out.mkdir(parents=True, exist_ok=True)
    with running(setup, folder, log) as client:
        record(client, log, setup, out)
    return Fresh(setup, asked_of(out)[setup.stem], (out / f"{setup.stem}.log").read_text())


@pytest.fixture(scope="session")
def pair() -> Pair:
    return Pair(load_model(TARGET), load_model(DRAFT), GREEDY["max_tokens"], DRAFT_LENGTH)
