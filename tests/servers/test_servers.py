"""vLLM and llama.cpp, asked again: what the program reads of their answers, and their rounds beside ours."""

import json
from collections.abc import Sequence
from dataclasses import replace
from operator import ge
from pathlib import Path

import pytest

from benchmarks.peers import Pair
from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.measure.endpoints.result import read_result
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
from tests.support.known import known

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
    folder, asked, out = folder_of(system), tmp_path / "prompts.jsonl", tmp_path / "bench.json"
    found = {each.name: each for each in setups(prompt_ids) if each.system == system}
    asked.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in TEXTS))
    with (
        running(found["draft"], folder, tmp_path / "draft.log") as drafting,
        running(found["plain"], folder, tmp_path / "plain.log") as plain,
    ):
        urls = ["--with", str(drafting.base_url), "--without", str(plain.base_url), "--prompts-file", str(asked)]
        assert main(["bench", *urls, "--json", str(out), "--max-new-tokens", str(BENCH_TOKENS)]) == 0
    answers = {(each.side, each.prompt): each for each in read_result(out.read_bytes()).answers}
    assert len(answers) == 2 * len(TEXTS)
    for at, text in enumerate(TEXTS):
        speculative, alone = answers["with", at], answers["without", at]
        assert speculative.text == alone.text
        _, _, rounds = replace(pair, tokens=BENCH_TOKENS).rounds(prompt_ids(text))
        ours, counted = [sum(column) for column in zip(*rounds, strict=True)], known(speculative.accepted)
        theirs = [counted.drafted, counted.accepted]
        # vLLM drafts, and counts, what has no room below the limit.
        assert theirs == ours or (system == "vllm" and all(map(ge, theirs, ours)))
