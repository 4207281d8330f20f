"""The catalogue: nothing in it goes without a source."""

import json

import pytest

from specviz.models.catalogue import HUB_MODELS, PAIRS, bundled_names, known_names, weight_bytes
from tests.support.commands import command_line


def test_every_model_has_a_commit_every_pair_known_models_and_every_statement_a_source() -> None:
    commits = {model.commit or "" for model in HUB_MODELS}
    assert len(commits) == len(HUB_MODELS)
    assert all(len(commit) == 40 and int(commit, 16) for commit in commits)
    assert len({(pair.target, pair.draft) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        assert {pair.target, pair.draft} <= set(known_names())
        for statement in pair.statements:
            assert statement.text.endswith(".")
            assert len(statement.source) > 10


def test_there_is_something_to_learn_on_every_machine() -> None:
    bundled = [pair.lesson for pair in PAIRS if {pair.target, pair.draft} <= set(bundled_names())]
    assert set(bundled) == {"pays", "no better", "does not pay"}
    assert {pair.place for pair in PAIRS} >= {"anywhere", "4 GB", "GPU"}
    for pair in PAIRS:
        room = {"anywhere": 1e8, "4 GB": 4e9, "8 GB": 8e9, "GPU": 16e9}[pair.place]
        assert weight_bytes(pair.parameters, "float32") < 0.9 * room


def test_the_command_line_lists_models_and_pairs_with_their_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    run = command_line(capsys)
    status, shown, err = run("models")
    assert (status, err) == (0, "")
    assert "405.33 M" in shown
    assert (
        "EleutherAI/pythia-410m + EleutherAI/pythia-70m: open (4 GB; 1.90 GB in float32, 952 MB in bfloat16)" in shown
    )
    listed = json.loads(run("models", "--json", "-")[1])
    assert [pair["target"] for pair in listed["pairs"]] == [pair.target for pair in PAIRS]
    entry = next(model for model in listed["catalogue"] if model["name"] == "openai-community/gpt2")
    assert entry["memory_bytes"] == {"float32": 4 * 124_439_808, "bfloat16": 2 * 124_439_808}
