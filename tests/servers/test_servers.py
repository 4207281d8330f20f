"""vLLM and llama.cpp, asked again: what the program reads of their answers, and their rounds beside ours."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import Pair
from specviz.core.errors import InputError
from specviz.systems import read_counters
from tests.servers.conftest import Fresh, folder_of
from tests.servers.questions import DRAFT_LENGTH, OPENING, OTHERS, setups
from tests.servers.recording import prompt_ids
from tests.servers.running import running
from tests.support.endpoint_checks import (
    check_log_of_llama_cpp,
    check_log_of_vllm,
    check_pages,
    check_pasted_answer,
    check_run,
    has_a_place_for_each_round,
)

TEXTS = (OPENING, *OTHERS)
BENCH_TOKENS = 16


def test_answers_become_runs_and_counters(fresh: Fresh) -> None:
    drafted = [answer for answer in fresh.answers if fresh.setup.options and answer.rounds]
    assert bool(drafted) == bool(fresh.setup.options)
    for answer in drafted:
        check_pasted_answer(answer)
        if has_a_place_for_each_round(answer):
            check_run(answer)


def test_pages_and_logs_count_what_the_answers_say(fresh: Fresh) -> None:
    if not fresh.setup.options:
        with pytest.raises(InputError):  # without speculation there is nothing to count
            read_counters(fresh.batches[-1].after)
        return
    for batch in fresh.batches:
        check_pages(batch)
    if fresh.setup.system == "vllm":
        check_log_of_vllm(fresh.log)
    else:
        check_log_of_llama_cpp(fresh.log, fresh.answers)


def same_rounds(theirs: Sequence[tuple[int, int]], ours: Sequence[tuple[int, int]]) -> bool:
    """Whether another system had our rounds, up to the last token.

    Near it ours are shorter: vLLM drafts as many tokens as ever, and then drops those over the limit. So the rounds
    before that are compared.
    """
    whole = [each for each in ours if each[0] == DRAFT_LENGTH]
    return list(theirs[: len(whole)]) == whole


def test_texts_and_rounds_are_ours(fresh: Fresh, pair: Pair) -> None:
    greedy = [answer for answer in fresh.answers if "greedy" in answer.file or "several" in answer.file]
    assert len(greedy) == 4
    for answer in greedy:
        ids, _, ours = pair.rounds(answer.question["body"]["prompt"])
        assert answer.text == pair.target.tokenizer.decode(ids)
        assert fresh.setup.name != "draft" or same_rounds(answer.rounds, ours)


@pytest.mark.parametrize("system", ["vllm", "llama.cpp"])
def test_bench_measures_two_servers(system: str, pair: Pair, tmp_path: Path) -> None:
    """With a draft and without: their texts are the same, and the accepted tokens are those of our decoder."""
    folder = folder_of(system)
    found = {each.name: each for each in setups(prompt_ids) if each.system == system}
    with (
        running(found["draft"], folder, tmp_path / "draft.log") as drafting,
        running(found["plain"], folder, tmp_path / "plain.log") as plain,
    ):
        urls = ["--with", str(drafting.client.base_url), "--without", str(plain.client.base_url)]
        told = bench(*urls, folder=tmp_path)
    answers = {(each["side"], each["prompt"]): each for each in told["answers"]}
    assert len(answers) == 2 * len(TEXTS)
    for at, text in enumerate(TEXTS):
        speculative, alone = answers["with", at], answers["without", at]
        assert speculative["text"] == alone["text"]
        _, _, rounds = replace(pair, tokens=BENCH_TOKENS).rounds(prompt_ids(text))
        drafted, accepted = (sum(column) for column in zip(*rounds, strict=True))
        counted = speculative["accepted"]
        past_the_limit = system == "vllm"  # drafted, and counted, although there is no room for it
        assert counted["drafted"] >= drafted if past_the_limit else counted["drafted"] == drafted
        assert counted["accepted"] >= accepted if past_the_limit else counted["accepted"] == accepted


def bench(*options: str, folder: Path) -> dict[str, Any]:
    """What `python -m specviz bench` writes of these servers."""
    asked, out = folder / "prompts.jsonl", folder / "bench.json"
    asked.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in TEXTS))
    command = [sys.executable, "-m", "specviz", "bench", *options, "--prompts-file", str(asked), "--json", str(out)]
    done = subprocess.run([*command, "--max-new-tokens", str(BENCH_TOKENS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(out.read_text())
    return told
