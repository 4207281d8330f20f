"""Drafts that are trees, on tiny random models: read in one pass, judged path by path, and the same output."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.trace import DrafterInfo, Round, dump_trace, parse_trace
from specviz.decoding import Draft, DraftContext, Drafter, Proposer, autoregressive_decode, speculative_decode
from specviz.measure.proof.greedy import greedy_row
from specviz.models.cached_model import CachedModel
from specviz.models.transformers_models import TransformersForward
from tests.support.counted_reads import CountedReads
from tests.support.tiny_models import ending, greedy_of_transformers, tiny_model, with_forward


class Scripted(Drafter, Proposer):
    """Proposes these drafts, round by round, then nothing. It notes the greatest number of depths it was asked for."""

    info = DrafterInfo("other", "scripted")
    grows_trees = True

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._drafts = drafts
        self._left: Iterator[Draft] = iter(())
        self.asked: list[int] = []

    def begin(self, context: DraftContext) -> Proposer:
        self._left, self.asked = iter(self._drafts), []
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        self.asked.append(count)
        return next(self._left, Draft([], None, parents=[]))


TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
PROMPT = [1, 2, 3]
PARENTS = [-1, -1, -1, 0, 0, 1, 3, 3, 5, 6]  # of a tree of four depths
NODES = [4, 5, 0, 6, 1, 4, 2, 3, 3, 5]


def path_to(node: int) -> list[int]:
    return [] if node < 0 else [*path_to(PARENTS[node]), node]


def logits_alone(tokens: list[int]) -> Tensor:
    """The logits after the last token, from one pass over the whole text."""
    return CachedModel(TARGET, 7).read(tokens)[-1]


# ---- reading


def test_every_node_sees_its_own_path_alone() -> None:
    model = CachedModel(TARGET, 7)
    model.prefill(PROMPT)
    logits = model.read(NODES, PARENTS)
    for node in range(len(NODES)):
        alone = logits_alone([*PROMPT, *(NODES[each] for each in path_to(node))])
        torch.testing.assert_close(logits[node], alone, rtol=1e-4, atol=1e-5)


def test_a_tree_may_be_read_depth_by_depth() -> None:
    model = CachedModel(TARGET, 7)
    model.prefill(PROMPT)
    parts = [model.read(NODES[a:b], PARENTS[a:b]) for a, b in ((0, 3), (3, 6), (6, 9), (9, 10))]
    whole = CachedModel(TARGET, 7)
    whole.prefill(PROMPT)
    torch.testing.assert_close(torch.cat(parts), whole.read(NODES, PARENTS), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("end", "tokens"), [(-1, 0), (0, 1), (2, 1), (8, 3), (9, 4), (9, 2)]
)  # the last: not to its end
def test_after_a_selection_the_cache_is_that_of_the_accepted_path(end: int, tokens: int) -> None:
    path = path_to(end)[:tokens]
    text = [*PROMPT, *(NODES[node] for node in path)]
    model = CachedModel(TARGET, 7)
    model.prefill(PROMPT)
    model.read(NODES, PARENTS)
    model.crop(len(text), path_to(end))
    assert model.length == len(text)
    chain, again = model.read([6, 2]), CachedModel(TARGET, 7)
    again.prefill(text)
    torch.testing.assert_close(chain, again.read([6, 2]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(chain[-1], logits_alone([*text, 6, 2]), rtol=1e-4, atol=1e-5)
    assert model.read([3, 4], [-1, -1]).shape == (2, 7)  # and another tree grows on it


# ---- the whole loop


def test_a_tree_of_one_child_a_depth_is_the_chain() -> None:
    chain, tree = (
        speculative_decode(
            TARGET, ModelDrafter(DRAFT), PROMPT, DecodeSettings(max_new_tokens=40, draft_length=3, tree=shape)
        )
        for shape in (None, "1,1,1")
    )
    assert [round.accepted for round in tree.rounds] == [round.accepted for round in chain.rounds]
    assert [[token.id for token in round.drafted] for round in tree.rounds] == [
        [token.id for token in round.drafted] for round in chain.rounds
    ]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("tree", ["3,2,1", "dynamic:7"])
def test_each_model_reads_each_token_once(tree: str, temperature: float) -> None:
    """One pass of the target a round; one pass of the draft a depth, over the new text and then over the new nodes."""
    target, draft = CountedReads(TARGET), CountedReads(DRAFT)
    settings = DecodeSettings(max_new_tokens=40, draft_length=3, tree=tree, temperature=temperature)
    trace = speculative_decode(target.loaded, ModelDrafter(draft.loaded), PROMPT, settings)
    assert target.lengths == [2, *(len(round.drafted) + 1 for round in trace.rounds)]
    left, passes = 40, []
    for round in trace.rounds:
        passes.append(min(3, left - 1))  # one a depth; the last tokens leave no room for three
        left -= len(round.emitted_ids)
    assert len(draft.lengths) == 1 + sum(passes)
    firsts = [draft.lengths[1 + sum(passes[:i])] for i, number in enumerate(passes) if number]
    assert set(firsts) <= {1, 2}  # two after a round that accepted a leaf, which the draft has not read


def test_the_draft_proposes_what_it_would_if_it_read_everything_again() -> None:
    settings = DecodeSettings(max_new_tokens=30, draft_length=3, tree="3,2,1")
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    text = list(PROMPT)
    for round in trace.rounds[:-1]:
        one = DecodeSettings(max_new_tokens=4, draft_length=3, tree="3,2,1", stop_at_eos=False)
        again = speculative_decode(TARGET, ModelDrafter(DRAFT), text, one).rounds[0]
        if len(round.drafted) == len(again.drafted):  # a round near the end is less deep
            assert [token.id for token in round.drafted] == [token.id for token in again.drafted]
        text += round.emitted_ids
    assert len(text) > len(PROMPT) + 20


# ---- ends and limits


def test_an_end_of_text_on_an_inner_node_ends_the_output_there() -> None:
    written = greedy_of_transformers(TARGET, PROMPT, 4)
    end = next(token for token in written[1:] if token != written[0])
    place = written.index(end)
    target = ending(TARGET, end)
    wrong = (written[0] + 1) % 7
    chain = Draft([wrong, *written], None, parents=[-1, -1, 1, 2, 3])
    settings = DecodeSettings(max_new_tokens=10, draft_length=4, tree="2,1,1,1")
    trace = speculative_decode(target, Scripted([chain]), PROMPT, settings)
    assert trace.output.token_ids == written[: place + 1]
    assert trace.output.stopped_by == "eos"
    only = trace.rounds[0]
    assert [token.status for token in only.drafted] == (
        ["rejected"] + ["accepted"] * (place + 1) + ["not taken"] * (3 - place)
    )
    assert (only.emitted.kind, only.emitted.id) == ("none", None)
    assert all(token.accept_prob is None for token in only.drafted[place + 2 :])
    assert parse_trace(dump_trace(trace)) == trace
    assert trace.output.token_ids == autoregressive_decode(target, PROMPT, settings).output.token_ids


@pytest.mark.parametrize(("temperature", "top_k", "most"), [(0.0, None, 7), (1.0, None, 7), (1.0, 2, 2)])
@pytest.mark.parametrize("tree", ["12,2", "3,9", "dynamic:40"])
def test_a_place_has_no_more_children_than_there_are_tokens_to_choose_from(
    tree: str, temperature: float, top_k: int | None, most: int
) -> None:
    settings = DecodeSettings(12, draft_length=2, tree=tree, temperature=temperature, top_k=top_k)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    assert max(_widths(trace.rounds)) == most
    assert parse_trace(dump_trace(trace)) == trace  # which checks that siblings differ
    if not temperature:
        assert trace.output.token_ids == greedy_of_transformers(TARGET, PROMPT, 12)


def _widths(rounds: Sequence[Round]) -> list[int]:
    return [most for round in rounds for most in Counter(token.parent for token in round.drafted).values()]


@pytest.mark.parametrize("forgets", [False, True])
def test_the_greedy_proof_sees_a_tree_and_a_cache_that_forgets_one_of_its_rows(forgets: bool) -> None:
    settings = DecodeSettings(max_new_tokens=30, draft_length=3, tree="3,2,1")
    found = greedy_row(TARGET, DRAFT, PROMPT, settings, lambda: TARGET, forgets=forgets)
    [row] = [each for each in found if each]
    assert (row.same == row.tokens) == (not forgets)
    assert (row.near_tie is None) == (not forgets)


def test_a_budget_takes_the_most_probable_paths() -> None:
    """Depth 2, budget 4, two children a place, from the draft's own probabilities."""
    settings = DecodeSettings(max_new_tokens=12, draft_length=2, tree="dynamic:4")
    first = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings).rounds[0]
    after = CachedModel(DRAFT, 7).read(PROMPT)[-1].softmax(-1)
    paths = {(int(token),): float(after[token]) for token in after.topk(2).indices}
    for (token,), chance in list(paths.items()):
        next_ = CachedModel(DRAFT, 7).read([*PROMPT, token])[-1].softmax(-1)
        paths |= {(token, int(each)): chance * float(next_[each]) for each in next_.topk(2).indices}
    best = sorted(paths, key=lambda path: -paths[path])[:4]
    texts: list[tuple[int, ...]] = [()]
    for token in first.drafted:
        texts.append((*texts[(token.parent or 0) + 1 if token.parent is not None else 0], token.id))
    assert set(texts[1:]) == set(best)


# ---- constrained output, and what is refused


@pytest.mark.parametrize("which", ["target", "draft"])
def test_a_model_that_transformers_reads_is_refused_in_one_sentence(which: str) -> None:
    by_transformers = with_forward(TARGET, TransformersForward(TARGET.model, TARGET.name))
    target, draft = (by_transformers, DRAFT) if which == "target" else (TARGET, by_transformers)
    settings = DecodeSettings(max_new_tokens=8, draft_length=2, tree="2,2")
    with pytest.raises(InputError, match=r"^target is read by transformers' .* draft a chain instead\.$"):
        speculative_decode(target, ModelDrafter(draft), PROMPT, settings)


def test_a_drafter_that_grows_no_tree_is_refused_in_one_sentence() -> None:
    drafter: Drafter = PromptLookupDrafter()
    with pytest.raises(InputError, match=r"^prompt lookup, n-grams up to 3 proposes one continuation at a time"):
        speculative_decode(TARGET, drafter, PROMPT, DecodeSettings(draft_length=2, tree="2,2"))
