"""Drafts of the target's own parts: heads draft as they were trained, and its first layers as a model of its own."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from specviz import DecodeSettings, PromptLookupDrafter, speculative_decode
from specviz.core.steps import result_of
from specviz.decoding import LookupFirstDrafter
from specviz.decoding.drafters import early_exit
from specviz.decoding.drafters.head import EagleReader, HeadDrafter
from specviz.decoding.drafters.tree import Tree
from specviz.models.heads import load_head
from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import LoadedModel
from tests.support.architectures import family_model
from tests.support.strategies import refusal
from tests.support.tiny_heads import FEW_WORDS, KINDS, WORDS, loaded_head, random_head, tiny_head
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=3, layers=3, name="target", context=400)
TEXT = [(5 * i) % 7 for i in range(40)]


def last_states(target: LoadedModel, text: list[int]) -> torch.Tensor:
    """As transformers has them, of one text."""
    with torch.no_grad():
        states: torch.Tensor = target.model.model(torch.tensor([text])).last_hidden_state
    return states


@pytest.mark.parametrize("target", [TARGET, family_model("grouped heads")], ids=["one to one", "grouped heads"])
@pytest.mark.parametrize("kind", ["eagle", FEW_WORDS])
def test_eagle_drafts_as_it_was_trained(kind: str, target: LoadedModel, tmp_path: Path) -> None:
    """Step by step the same states, at every place: what was read again after a round has left nothing behind."""
    trained = random_head(kind, target)
    network, steps = loaded_head(trained, target, tmp_path).network, 4
    known = last_states(target, TEXT)
    with torch.no_grad():
        made = trained.guesses(known, torch.tensor([TEXT]), steps)
    states = HiddenStates()
    states.append(known[0, :9])
    reader = EagleReader(network, states, TEXT[:10], 7)
    for _ in reader.read_prompt():
        pass
    for place in (9, 10, 13, 20, 21, 36):
        states.append(known[0, states.length : place])  # the target reads all of the text except its last token
        rows = [reader.read_text(TEXT[: place + 1])]
        chain = Tree(TEXT[place + 1 : place + steps], list(range(-1, steps - 2)))
        rows += [reader.read_nodes(chain, [node]) for node in range(steps - 1)]
        wanted = [network.logits(made[step][0, place - 1 : place]) for step in range(steps)]
        assert torch.allclose(torch.cat(rows), torch.cat(wanted), atol=1e-4), place


def test_a_tree_of_eagle_has_on_every_path_what_a_chain_has() -> None:
    network, states = tiny_head("eagle", TARGET).network, HiddenStates()
    states.append(last_states(TARGET, TEXT[:9])[0])

    def logits(tree: Tree, *passes: list[int]) -> torch.Tensor:
        reader = EagleReader(network, states, TEXT[:10], 7)
        reader.read_text(TEXT[:10])
        return torch.cat([reader.read_nodes(tree, nodes) for nodes in passes])

    branched = logits(Tree([1, 2, 3, 4, 5, 6], [-1, -1, 0, 0, 1, 4]), [0, 1], [3, 4], [5])
    for token_ids, rows in (([1, 4], [0, 2]), ([2, 5, 6], [1, 3, 4])):
        chain = Tree(token_ids, list(range(-1, len(token_ids) - 1)))
        assert torch.allclose(logits(chain, *([place] for place in range(len(token_ids)))), branched[rows], atol=1e-5)


def test_a_head_of_few_words_guesses_no_other_and_its_file_counts_no_ids_as_parameters(tmp_path: Path) -> None:
    trained = random_head(FEW_WORDS, TARGET)
    loaded = loaded_head(trained, TARGET, tmp_path)
    assert loaded.info.parameters == sum(weight.numel() for weight in trained.parameters())
    assert loaded.network.embedding is TARGET.llama.embedding
    settings = DecodeSettings(max_new_tokens=40, temperature=1.0, draft_length=3)
    rounds = speculative_decode(TARGET, HeadDrafter(loaded), [1, 2, 3], settings).rounds
    drafted = {token.id for round in rounds for token in round.drafted}
    assert drafted == set(WORDS.tolist())
    assert {token for round in rounds for token in round.emitted_ids} > drafted, "the target's own words are all there"


def test_a_head_behind_lookup_guesses_what_it_would_guess_alone_whatever_was_not_its_turn() -> None:
    """It reads what it has missed. With many words and a text that is drawn, words are new now and then."""
    target = tiny_model(seed=3, vocabulary=60, context=400)
    alone = HeadDrafter(tiny_head(FEW_WORDS, target))
    settings = DecodeSettings(max_new_tokens=60, draft_length=3, temperature=1.0, draft_sampling="argmax")
    text, turns = [1, 2, 3], []
    for round in speculative_decode(target, LookupFirstDrafter(alone, "lookup-eagle"), text, settings).rounds:
        guessed = [token.id for token in round.drafted]
        found = PromptLookupDrafter(shortest=2).propose(text, len(guessed)).token_ids
        assert guessed == (found or result_of(alone.guess_along(target, text, [0])).proposals[0][: len(guessed)])
        turns.append(bool(found))
        text = text + round.emitted_ids
    assert {(True, False), (False, True), (False, False)} <= set(pairwise(turns[:-1]))


def test_medusa_guesses_from_the_last_state_alone() -> None:
    head = tiny_head("medusa", TARGET)
    settings = DecodeSettings(max_new_tokens=12, draft_length=3)
    guesses = speculative_decode(TARGET, HeadDrafter(head), [1, 2, 3], settings).rounds[0].drafted
    made = head.network.logits(last_states(TARGET, [1, 2])[0, -1])
    assert [token.id for token in guesses] == made.argmax(-1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_another_target_is_refused_in_one_sentence(kind: str, tmp_path: Path) -> None:
    loaded = loaded_head(random_head(kind, TARGET), TARGET, tmp_path)
    other = tiny_model(seed=4, name="other", context=400)
    for refused in (
        lambda: load_head(f"tiny-{kind}", other, folder=tmp_path),
        lambda: speculative_decode(other, HeadDrafter(loaded), [1, 2]),
    ):
        assert re.match(rf"tiny-{kind} drafts from the hidden states of target, .* other\.$", refusal(refused))
    assert refusal(lambda: load_head("nobody", TARGET)) == "There is no head named 'nobody' here."


def test_the_first_layers_are_a_model_that_shares_every_weight() -> None:
    made = early_exit.load("early-exit:1", TARGET, "float32")
    first, whole = made.llama, TARGET.llama
    assert first.layers == whole.layers[:1]
    assert first.output is whole.output
    assert first.embedding is whole.embedding
    assert made.bytes == 0
    assert made.info.parameters == tiny_model(seed=0, layers=1).info.parameters
    assert made.cache_bytes_per_token * 3 == TARGET.cache_bytes_per_token
