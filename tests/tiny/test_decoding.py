"""The loops on tiny random models, chains and trees: lengths that adapt, nothing read twice, ends, what is recorded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter, autoregressive_decode, speculative_decode
from specviz.core.settings import UNSURE_BELOW, DraftSchedule
from specviz.core.steps import result_of
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.decoding import Draft, DraftContext, Drafter, Proposer, iter_speculative_decode
from specviz.measure.proof.draws import greedy_row
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from tests.support.counted_reads import CountedReads
from tests.support.known import known
from tests.support.strategies import refusal
from tests.support.tiny_heads import tiny_head
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
        self.asked: list[int] = []  # for how many guesses

    def begin(self, context: DraftContext) -> Proposer:
        self._left = iter(self._drafts)
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        self.asked.append(count)
        return next(self._left, Draft([], None, parents=self._drafts[0].parents and []))


@pytest.mark.parametrize(
    ("schedule", "start", "rounds", "asked"),
    [
        ("heuristic", 4, [(4, 4), (6, 6), (8, 3), (7, 0)], [4, 6, 8, 7, 6]),  # 2 more after all, 1 fewer after others
        ("heuristic", 2, [(2, 1), (1, 0), (1, 0), (1, 1)], [2, 1, 1, 1, 3]),  # never below 1
        ("heuristic", 14, [(14, 14), (1, 1), (1, 0)], [14, 16, 16, 15]),  # never above 16
        ("heuristic", 5, [(0, 0), (3, 3), (0, 0)], [5, 5, 7, 7]),  # nothing drafted; all of fewer than asked for
        ("fixed", 4, [(4, 4), (4, 0), (4, 2)], [4, 4, 4, 4]),
        ("confidence", 4, [(4, 4), (4, 0), (4, 2)], [4, 4, 4, 4]),
    ],
)
def test_how_many_guesses_are_asked_for_after_so_many_were_drafted_and_accepted(
    schedule: DraftSchedule, start: int, rounds: list[tuple[int, int]], asked: list[int]
) -> None:
    def drafts() -> Iterator[Draft]:
        written = greedy_of_transformers(TARGET, PROMPT, 60)
        for drafted, accepted in rounds:
            wrong = [(token + 1) % 7 for token in written[accepted:drafted]]
            yield Draft([*written[:accepted], *wrong], None)
            del written[: accepted + 1]

    scripted, settings = Scripted(*drafts()), DecodeSettings(60, start, draft_schedule=schedule)
    speculative_decode(TARGET, scripted, PROMPT, settings)
    assert scripted.asked[: len(asked)] == asked


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


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("tree", [None, "3,2,1", "dynamic:7"])
@pytest.mark.parametrize("draft", [DRAFT, TWIN], ids=["draft", "twin"])
def test_each_model_reads_each_token_once(draft: LoadedModel, tree: str | None, temperature: float) -> None:
    """One pass of the target a round; one pass of the draft a depth, over the new text and then over the new nodes."""
    target_reads, reads = CountedReads(TARGET), CountedReads(draft)
    settings = DecodeSettings(max_new_tokens=40, draft_length=3, tree=tree, temperature=temperature)
    rounds = speculative_decode(target_reads.loaded, ModelDrafter(reads.loaded), PROMPT, settings).rounds
    assert target_reads.lengths == [2, *(len(round.drafted) + 1 for round in rounds)]
    left, passes, starts, whole = 40, 1, list[int](), list[int]()
    for before, round in pairwise([None, *rounds]):
        if left > 1:
            starts.append(passes)
            whole.append(2 if before and before.emitted.kind == "bonus" else 1)  # a leaf, which the draft has not read
        passes += min(3, left - 1)  # one a depth; the last tokens leave no room for three
        left -= len(round.emitted_ids)
    firsts = [reads.lengths[start] for start in starts]
    assert len(reads.lengths) == passes
    assert firsts == whole if tree != "dynamic:7" else {*firsts} <= {1, 2}
    if tree is None:
        assert sum(reads.lengths) == 2 + sum(firsts) + passes - 1 - len(starts), "one token in all other passes"
        assert draft is DRAFT or [round.accepted for round in rounds] == [3] * 10, "its own twin is always accepted"


def test_the_draft_proposes_what_it_would_if_it_read_everything_again() -> None:
    settings = DecodeSettings(max_new_tokens=30, draft_length=3, tree="3,2,1")
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    text = list(PROMPT)
    for round in trace.rounds[:-1]:
        one = replace(settings, max_new_tokens=4)
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


@pytest.mark.parametrize(("head", "forgets"), [(False, False), (False, True), (True, False)])
def test_the_greedy_proof_sees_a_tree_and_a_cache_that_forgets_one_of_its_rows(head: bool, forgets: bool) -> None:
    draft = tiny_head("eagle", TARGET) if head else DRAFT
    settings = DecodeSettings(max_new_tokens=30, draft_length=3, tree="3,2,1")
    found = greedy_row(TARGET, draft, PROMPT, settings, TARGET, forgets=forgets)
    [row] = [each for each in found if each]
    assert (row.same == row.tokens) == row.identical == (not forgets)


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
    drafted = [tuple(first.drafted[place].id for place in path) for path in first.paths]
    assert {*drafted} == {*best}


@pytest.mark.parametrize("tree", [None, "2,1,1,1,1,1,1"], ids=["chain", "tree"])
def test_what_follows_an_accepted_end_of_text_was_not_judged(tree: str | None) -> None:
    """That it ends every text: `test_every_way.py`."""
    written = greedy_of_transformers(TARGET, PROMPT, 6)
    end = next(token for token in written[1:] if token not in written[:1])
    place, target = written.index(end), ending(TARGET, end)
    chain = Draft(written, None)
    if tree:
        chain = Draft([(written[0] + 1) % 7, *written], None, parents=[-1, -1, 1, 2, 3, 4, 5])
    settings = DecodeSettings(max_new_tokens=10, draft_length=7 if tree else 6, tree=tree)
    [only] = speculative_decode(target, Scripted(chain), PROMPT, settings).rounds
    fates = ["rejected"] * bool(tree) + ["accepted"] * (place + 1)
    left = "not taken" if tree else "discarded"
    assert [token.status for token in only.drafted] == fates + [left] * (5 - place)
    assert (only.emitted.kind, only.emitted.id) == ("none", None)
    assert all(token.accept_prob is None for token in only.drafted[len(fates) :])
    ignoring = replace(settings, stop_at_eos=False)
    assert len(speculative_decode(target, Scripted(chain), PROMPT, ignoring).output.token_ids) == 10


@pytest.mark.parametrize(("tree", "depth"), [(None, 4), ("4,2,1", 3)])
def test_recorded_probabilities_are_the_rules_own(tree: str | None, depth: int) -> None:
    settings = DecodeSettings(40, draft_length=depth, tree=tree, temperature=1.0, top_k=5, seed=3)
    trace, judged = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings), set[str]()
    for round in trace.rounds:
        for place, token in enumerate(round.drafted):
            assert (token.u is not None) == (token.status in ("accepted", "rejected"))
            later = tree and any(other.parent == token.parent for other in round.drafted[:place])
            if token.u is None or later:  # a later sibling is judged by what is left of p
                continue
            judged.add(token.status)
            assert token.accept_prob == pytest.approx(min(1, token.target_prob / token.draft_prob), rel=1e-5)
            assert (token.u < token.accept_prob) == (token.status == "accepted")
            mine = next(c for c in token.candidates if c.id == token.id)
            assert (mine.p, mine.q) == (token.target_prob, token.draft_prob)
            assert sum(c.p for c in token.candidates) <= 1 + 1e-5
        assert any(c.id == round.emitted.id for c in round.emitted.candidates)
        if round.emitted.kind == "correction":
            assert round.emitted.residual_top
            assert tree or round.drafted[round.accepted].id not in [r.id for r in round.emitted.residual_top]
        else:
            assert all(c.q is None for c in round.emitted.candidates)
    assert judged == {"accepted", "rejected"}


def test_prompt_lookup_takes_the_longest_and_then_the_latest_match() -> None:
    lookup = PromptLookupDrafter(longest=3)
    #       0  1  2  3  4  5  6  7  8  9
    text = [1, 2, 3, 9, 5, 2, 3, 8, 2, 3]
    assert lookup.propose(text, 4).token_ids == [8, 2, 3]  # "2 3" last seen at 5
    assert lookup.propose([1, 2, 3, 9, 4, 2, 3, 8, 1, 2, 3], 2).token_ids == [9, 4]  # "1 2 3" beats the later "2 3"
    assert lookup.propose([1, 2, 3], 4).token_ids == lookup.propose([1], 4).token_ids == []


def test_a_drafter_needs_only_info_and_begin_and_a_proposer_only_propose() -> None:
    scripted = Scripted(Draft([3, 3], None))
    trace = speculative_decode(TARGET, scripted, PROMPT, DecodeSettings(max_new_tokens=12, draft_length=3))
    assert trace.output.token_ids == greedy_of_transformers(TARGET, PROMPT, 12)
    assert trace.drafter == Scripted.info
    assert result_of(scripted.guess_along(TARGET, PROMPT, trace.output.token_ids)) is None


@pytest.mark.parametrize(("target", "draft"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_guesses_of_bfloat16_models_may_differ_from_those_of_a_run(target: str, draft: str) -> None:
    """Passes over one, two or nine tokens round differently."""
    half = [replace(of, info=replace(of.info, dtype=dtype)) for of, dtype in ((TARGET, target), (DRAFT, draft))]
    assert not known(result_of(ModelDrafter(half[1]).guess_along(half[0], PROMPT, [4, 5]))).exact


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
