"""Every way to draft and to verify, in every command that measures, saves or shows a run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.core.trace import read_trace
from tests.support.commands import PROMPT
from tests.support.grids import grid

SHORT = ["--target", "wren-base", "--max-new-tokens", "8"]
SAMPLED = ["--temperature", "1"]
WAYS = {
    "a head with a tree": ["--draft", "wren-eagle", "--tree", "2,2"],
    "several heads": ["--draft", "wren-medusa", "--draft-length", "3"],
    "early exit with a dynamic tree": ["--draft", "early-exit:2", "--tree", "dynamic:6"],
    "a tree": ["--draft", "wren-nano", "--tree", "4,2,1"],
    "most probable drafts": ["--draft", "wren-nano", "--draft-sampling", "argmax", *SAMPLED],
    "block verification": ["--draft", "wren-nano", "--verification", "block", *SAMPLED],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_follows_a_grammar_is_saved_shown_and_exported(
    ok: Callable[..., str], tmp_path: Path, way: str
) -> None:
    file, page = tmp_path / "run.json", tmp_path / "run.html"
    grammar = ["--prompt", "Number: ", "--regex", "[0-9]{6}", "--ignore-eos"]
    ok("run", *SHORT, *WAYS[way], *grammar, "--json", file)
    trace = read_trace(file)
    assert trace.drafter is not None
    assert trace.drafter.name == WAYS[way][1]
    assert trace.output.text[:6].isdigit()
    assert sum(len(round.drafted) for round in trace.rounds) > 0
    assert ("┬" in ok("show", file)) == bool(trace.settings.tree)
    ok("export", file, "-o", page)
    assert trace.drafter.name in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", grid(WAYS, ("a tree", "block verification")))
def test_it_is_compared_and_swept(ok: Callable[..., str], way: str) -> None:
    compared = json.loads(ok("compare", *SHORT, *WAYS[way], *PROMPT, "--repeats", "2", "--json", "-"))
    assert compared["speedup"] > 0
    assert compared["identical"] is (None if SAMPLED[0] in WAYS[way] else True)
    plan = ["--workload", "copy", "--prompts", "1", "--draft-lengths", "2"]
    rows = json.loads(ok("sweep", *SHORT, *WAYS[way], *plan, "--json", "-"))["rows"]
    assert len(rows) == 1
    assert rows[0]["drafted"] > 0
    asked = dict(zip(WAYS[way][::2], WAYS[way][1::2], strict=True))
    for name, default in (("draft-sampling", "sample"), ("verification", "token"), ("tree", None)):
        assert rows[0][name.replace("-", "_")] == asked.get(f"--{name}", default)
