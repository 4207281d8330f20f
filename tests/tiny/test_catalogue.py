"""The catalogue: nothing in it goes without a source."""

from specviz.models.catalogue import HUB_MODELS, PAIRS, known_names


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
