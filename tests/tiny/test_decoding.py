"""The loops on tiny random models, chains and trees: lengths that adapt, nothing read twice, ends, what is recorded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter
from specviz.core.settings import UNSURE_BELOW, DraftSchedule
from specviz.core.steps import result_of
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.decoding import (
    Draft,
    DraftContext,
    Drafter,
    Proposer,
    autoregressive_decode,
    iter_speculative_decode,
    speculative_decode,
)
from specviz.decoding.speculative import DraftLength
from specviz.measure.proof.draws import greedy_row
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from tests.support.counted_reads import CountedReads
from tests.support.strategies import refusal
from tests.support.tiny_models import ending, greedy_of_transformers, tiny_model

PROMPT = [1, 2, 3]
TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")  # starts from the target's own weights, so agrees now and then
TWIN = tiny_model(seed=1, name="twin")


class Scripted(Drafter, Proposer):
    """Proposes these drafts, round by round, then nothing. It inherits everything else from the protocols."""

    info = DrafterInfo("other", "scripted")
    grows_trees = True

    def __init__(self, *drafts: Draft) -> None:
        self._drafts = drafts

    def begin(self, context: DraftContext) -> Proposer:
        self._left = iter(self._drafts)
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        return next(self._left, Draft([], None, parents=self._drafts[0].parents and []))


@pytest.mark.parametrize(
    ("schedule", "start", "rounds", "lengths"),
    [
        ("heuristic", 4, [(4, 4), (6, 6), (8, 3), (7, 0)], [6, 8, 7, 6]),  # 2 more after all, 1 fewer after any other
        ("heuristic", 2, [(2, 1), (1, 0), (1, 0), (1, 1)], [1, 1, 1, 3]),  # never below 1
        ("heuristic", 14, [(14, 14), (16, 16), (16, 15)], [16, 16, 15]),  # never above 16
        ("heuristic", 5, [(0, 0), (3, 3), (0, 0)], [5, 7, 7]),  # nothing drafted; all of fewer than asked for
        ("fixed", 4, [(4, 4), (4, 0), (4, 2)], [4, 4, 4]),
        ("confidence", 4, [(4, 4), (4, 0), (4, 2)], [4, 4, 4]),
    ],
)
def test_the_draft_length_by_hand(
    schedule: DraftSchedule, start: int, rounds: list[tuple[int, int]], lengths: list[int]
) -> None:
    length = DraftLength(DecodeSettings(draft_length=start, draft_schedule=schedule))
    seen = []
    for drafted, accepted in rounds:
        length.update(drafted, accepted)
        seen.append(length.tokens)
    assert seen == lengths


def test_the_loop_drafts_as_the_heuristic_says() -> None:
    settings = DecodeSettings(max_new_tokens=40, draft_length=2, draft_schedule="heuristic")
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    length, left = DraftLength(settings), 40
    for round in trace.rounds:
        assert len(round.drafted) == min(length.tokens, left - 1)
        length.update(len(round.drafted), round.accepted)
        left -= len(round.emitted_ids)
    assert max(len(round.drafted) for round in trace.rounds) > 2


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_the_confidence_schedule_the_first_unsure_token_is_the_last_one(temperature: float) -> None:
    settings = DecodeSettings(55, draft_length=6, draft_schedule="confidence", temperature=temperature)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    early, written = Counter[bool](), 0
    for round in trace.rounds:
        probs = [token.draft_prob or 0.0 for token in round.drafted]
        most = min(6, 55 - written - 1)
        assert all(prob >= UNSURE_BELOW for prob in probs[:-1])
        assert len(probs) == most or probs[-1] < UNSURE_BELOW
        early[len(probs) < most] += 1
        written += len(round.emitted_ids)
    assert min(early[True], early[False]) >= 1, "all rounds alike show nothing"


@pytest.mark.parametrize(("draft", "full_accepts"), [(DRAFT, False), (TWIN, True)])
def test_no_token_is_read_twice_and_the_draft_reads_one_token_a_step(draft: LoadedModel, full_accepts: bool) -> None:
    target_reads, draft_reads = CountedReads(TARGET), CountedReads(draft)
    settings = DecodeSettings(max_new_tokens=40)
    trace = speculative_decode(target_reads.loaded, ModelDrafter(draft_reads.loaded), PROMPT, settings)
    assert target_reads.lengths == [2, *(len(round.drafted) + 1 for round in trace.rounds)]
    expected = [2]
    previous_full = False
    for round in trace.rounds:
        if round.drafted:
            expected += [2 if previous_full else 1] + [1] * (len(round.drafted) - 1)
        previous_full = round.emitted.kind == "bonus"
    assert draft_reads.lengths == expected
    assert (2 in expected[1:]) == full_accepts
    if full_accepts:  # a model that drafts for itself is always accepted
        for temperature in (0.0, 1.0):
            again = replace(settings, temperature=temperature)
            trace = speculative_decode(TARGET, ModelDrafter(draft), PROMPT, again)
            assert [round.accepted for round in trace.rounds] == [4] * 8  # 40 tokens, 5 a round


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("tree", ["3,2,1", "dynamic:7"])
def test_each_model_reads_each_token_of_a_tree_once(tree: str, temperature: float) -> None:
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


@pytest.mark.parametrize(("temperature", "top_k", "most"), [(0.0, None, 7), (1.0, None, 7), (1.0, 2, 2)])
@pytest.mark.parametrize("tree", ["12,2", "3,9", "dynamic:40"])
def test_a_place_has_only_so_many_children(tree: str, temperature: float, top_k: int | None, most: int) -> None:
    settings = DecodeSettings(12, draft_length=2, tree=tree, temperature=temperature, top_k=top_k)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    children = [Counter(token.parent for token in round.drafted) for round in trace.rounds]
    assert max(number for each in children for number in each.values()) == most
    assert parse_trace(dump_trace(trace)) == trace  # which checks that siblings differ
    if not temperature:
        assert trace.output.token_ids == greedy_of_transformers(TARGET, PROMPT, 12)


@pytest.mark.parametrize("forgets", [False, True])
def test_the_greedy_proof_sees_a_tree_and_a_cache_that_forgets_one_of_its_rows(forgets: bool) -> None:
    settings = DecodeSettings(max_new_tokens=30, draft_length=3, tree="3,2,1")
    found = greedy_row(TARGET, DRAFT, PROMPT, settings, TARGET, forgets=forgets)
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


@pytest.mark.parametrize("tree", [None, "2,1,1,1,1,1,1"], ids=["chain", "tree"])
def test_an_accepted_end_of_text_ends_the_output_inside_the_block(tree: str | None) -> None:
    written = greedy_of_transformers(TARGET, PROMPT, 6)
    end = next(token for token in written[1:] if token not in written[:1])
    place = written.index(end)
    target = ending(TARGET, end)
    wrong = (written[0] + 1) % 7
    chain = Draft([wrong, *written], None, parents=[-1, -1, 1, 2, 3, 4, 5]) if tree else Draft(written, None)
    settings = DecodeSettings(max_new_tokens=10, draft_length=7 if tree else 6, tree=tree)
    trace = speculative_decode(target, Scripted(chain), PROMPT, settings)
    assert trace.output.token_ids == written[: place + 1]
    assert trace.output.stopped_by == "eos"
    only = trace.rounds[0]
    fates = ["rejected"] * bool(tree) + ["accepted"] * (place + 1)
    left = "not taken" if tree else "discarded"
    assert [token.status for token in only.drafted] == fates + [left] * (5 - place)
    assert (only.emitted.kind, only.emitted.id) == ("none", None)
    assert all(token.accept_prob is None for token in only.drafted[len(fates) :])
    assert trace.output.token_ids == autoregressive_decode(target, PROMPT, settings).output.token_ids
    assert parse_trace(dump_trace(trace)) == trace
    ignoring = replace(settings, stop_at_eos=False)
    assert len(speculative_decode(target, Scripted(chain), PROMPT, ignoring).output.token_ids) == 10


@pytest.mark.parametrize(("tree", "depth"), [(None, 4), ("4,2,1", 3)])
def test_recorded_probabilities_are_the_rules_own(tree: str | None, depth: int) -> None:
    settings = DecodeSettings(40, draft_length=depth, tree=tree, temperature=1.0, top_k=5, seed=3)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    drafted = [(round, place, token) for round in trace.rounds for place, token in enumerate(round.drafted)]
    assert all((token.u is not None) == (token.status in ("accepted", "rejected")) for _, _, token in drafted)
    judged = [  # a later sibling is judged by what is left of p
        token
        for round, place, token in drafted
        if token.u is not None and not (tree and any(other.parent == token.parent for other in round.drafted[:place]))
    ]
    assert {token.status for token in judged} == {"accepted", "rejected"}
    for token in judged:
        assert token.accept_prob == pytest.approx(min(1, token.target_prob / token.draft_prob), rel=1e-5)
        assert (token.u < token.accept_prob) == (token.status == "accepted")
        mine = next(c for c in token.candidates if c.id == token.id)
        assert (mine.p, mine.q) == (token.target_prob, token.draft_prob)
        assert sum(c.p for c in token.candidates) <= 1 + 1e-5
    for round in trace.rounds:
        assert any(c.id == round.emitted.id for c in round.emitted.candidates)
        if round.emitted.kind == "correction":
            assert round.emitted.residual_top
            assert tree or round.drafted[round.accepted].id not in [r.id for r in round.emitted.residual_top]
        else:
            assert all(c.q is None for c in round.emitted.candidates)


def test_prompt_lookup_takes_the_longest_and_then_the_latest_match() -> None:
    lookup = PromptLookupDrafter(longest=3)
    #       0  1  2  3  4  5  6  7  8  9
    text = [1, 2, 3, 9, 5, 2, 3, 8, 2, 3]
    assert lookup.propose(text, 4).token_ids == [8, 2, 3]  # "2 3" last seen at 5
    assert lookup.propose([1, 2, 3, 9, 4, 2, 3, 8, 1, 2, 3], 2).token_ids == [9, 4]  # "1 2 3" beats the later "2 3"
    assert lookup.propose([1, 2, 3], 4).token_ids == []
    assert lookup.propose([1], 4).token_ids == []


def test_a_drafter_needs_only_info_and_begin_and_a_proposer_only_propose() -> None:
    scripted = Scripted(Draft([3, 3], None))
    trace = speculative_decode(TARGET, scripted, PROMPT, DecodeSettings(max_new_tokens=12, draft_length=3))
    assert trace.output.token_ids == greedy_of_transformers(TARGET, PROMPT, 12)
    assert trace.drafter == Scripted.info
    assert scripted.loaded is None
    assert result_of(scripted.guess_along(TARGET, PROMPT, trace.output.token_ids)) is None


@pytest.mark.parametrize(
    ("prompt", "tokens", "sentence"),
    [("", 5, "prompt is empty"), ([], 5, "prompt is empty"), ([99], 5, "outside 0 to 6"), ([1] * 60, 5, "do not fit")],
)
def test_bad_input_is_one_sentence(prompt: str | list[int], tokens: int, sentence: str) -> None:
    settings = DecodeSettings(max_new_tokens=tokens)
    assert sentence in refusal(lambda: autoregressive_decode(TARGET, prompt, settings))
    assert sentence in refusal(lambda: iter_speculative_decode(TARGET, ModelDrafter(DRAFT), prompt, settings))


def test_a_tree_that_cannot_be_read_or_grown_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")
    by_transformers = tiny_model(seed=1, name="target")
    settings = DecodeSettings(max_new_tokens=8, draft_length=2, tree="2,2")
    for target, drafter, says in (
        (by_transformers, ModelDrafter(DRAFT), "target is read by transformers"),
        (TARGET, ModelDrafter(by_transformers), "target is read by transformers"),
        (TARGET, PromptLookupDrafter(), "prompt lookup, n-grams up to 3 guesses one continuation at a time"),
    ):
        assert refusal(partial(speculative_decode, target, drafter, PROMPT, settings)).startswith(says)
