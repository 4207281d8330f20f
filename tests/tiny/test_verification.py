"""The rules that accept drafted tokens: cases worked by hand, and the block rule summed up exactly. No model."""

import math
from itertools import product

import pytest
import torch
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specviz import DecodeSettings
from specviz.decoding import Draft
from specviz.decoding.sampler import Sampling
from specviz.decoding.verification import (
    BlockRule,
    GreedyRule,
    GreedyTreeRule,
    SamplingRule,
    SamplingTreeRule,
    Verification,
    make_rule,
    residual,
)


def rows(*values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)


GENERATOR = torch.Generator().manual_seed(0)


def given(monkeypatch: pytest.MonkeyPatch, numbers: list[float]) -> None:
    """The random numbers of a rule, in order."""
    left = iter(numbers)

    def rand(count: int, **_: object) -> torch.Tensor:
        return torch.tensor([next(left) for _ in range(count)], dtype=torch.float64)

    monkeypatch.setattr(torch, "rand", rand)


def test_greedy_keeps_the_matching_prefix_and_corrects_or_adds_the_targets_best() -> None:
    draft = Draft([2, 0, 1], rows([0, 0, 9], [9, 0, 0], [0, 9, 0]))
    verification = GreedyRule().verify(draft, rows([0, 0, 1], [0, 5, 1], [7, 0, 0], [0, 0, 1]))
    assert (verification.accepted, verification.token_id) == (1, 1)
    assert verification.accept_probs == [1.0, 0.0]  # the third was never judged
    assert verification.drawn is None
    whole = GreedyRule().verify(draft, rows([0, 0, 1], [5, 0, 1], [0, 3, 0], [0, 0, 1]))
    assert (whole.accepted, whole.token_id, whole.accept_probs) == (3, 2, [1.0, 1.0, 1.0])


@pytest.mark.parametrize("tree", [False, True])
def test_a_round_without_a_draft_is_one_step_of_the_target(tree: bool) -> None:
    nothing = Draft([], None, parents=[] if tree else None)
    assert (GreedyTreeRule() if tree else GreedyRule()).verify(nothing, rows([0, 0, 1])).token_id == 2
    sampling = [SamplingTreeRule(GENERATOR)] if tree else [SamplingRule(GENERATOR), BlockRule(GENERATOR)]
    for rule in sampling:
        found = rule.verify(nothing, rows([0, 1, 0]))
        assert (found.accepted, found.token_id, found.accept_probs, found.residual) == (0, 1, [], None)
        assert found.rows == ([0] if tree else None)


def test_sampling_keeps_with_p_over_q_and_corrects_from_the_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    # token 0: q .5, p .25, so it is accepted with probability .5. (p - q)+ = [0, .15, .10] -> [0, .6, .4]
    draft = Draft([0], rows([0.5, 0.25, 0.25]))
    target = rows([0.25, 0.40, 0.35], [1.0, 0.0, 0.0])
    given(monkeypatch, [0.49])
    verification = SamplingRule(GENERATOR).verify(draft, target)
    assert (verification.accepted, verification.token_id) == (1, 0)
    assert (verification.accept_probs, verification.drawn) == ([0.5], [0.49])
    given(monkeypatch, [0.5])
    rejected = SamplingRule(GENERATOR).verify(draft, target)
    assert (rejected.accepted, rejected.accept_probs) == (0, [0.5])
    assert rejected.token_id in (1, 2)
    assert rejected.residual.tolist() == pytest.approx([0, 0.6, 0.4], abs=1e-6)


def test_what_the_target_likes_better_is_kept_and_no_q_is_a_point_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, [0.999999, 0.31])
    better = SamplingRule(GENERATOR).verify(Draft([1], rows([0.9, 0.1])), rows([0.2, 0.8], [1, 0]))
    assert (better.accepted, better.accept_probs) == (1, [1.0])
    certain = SamplingRule(GENERATOR).verify(Draft([1], None), rows([0.2, 0.3, 0.5], [1, 0, 0]))
    assert certain.accept_probs == pytest.approx([0.3])
    assert certain.accepted == 0
    assert certain.residual.tolist() == pytest.approx([2 / 7, 0, 5 / 7])
    same = rows([0.5, 0.5])
    assert residual(same[0], Draft([0], same), 0).tolist() == [0.5, 0.5], "lost to rounding: the target's own"


def judged(draft: Draft, target: torch.Tensor, drawn: list[float], monkeypatch: pytest.MonkeyPatch) -> Verification:
    given(monkeypatch, drawn)
    return BlockRule(GENERATOR).verify(draft, target)


# The paper's own example (section 2): p(a) = 1/3, p(b) = 2/3; q(a) = 2/3, q(b) = 1/3; the same at every place.
P, Q = [1 / 3, 2 / 3], [2 / 3, 1 / 3]
TARGET, PROPOSED = rows(P, P, P), rows(Q, Q)


def test_each_prefix_passes_as_in_the_paper_which_accepts_eleven_ninths_of_two_tokens() -> None:
    """The token rule accepts 10/9."""
    by_block = 0.0
    for guesses, accept_probs in (
        # shares 1/2, 1/4: the first passes with (1/2·2/3 - 1/3)+ + (1/2·1/3 - 2/3)+ = 0 out of 0 + 1 - 1/2
        ([0, 0], [0.0, 0.25]),
        ([0, 1], [0.0, 1.0]),  # shares 1/2, 1: the second makes up for the first
        ([1, 0], [1.0, 0.5]),  # share 1: 1/3 out of 1/3 + 0
        ([1, 1], [1.0, 1.0]),
    ):
        verification = BlockRule(GENERATOR).verify(Draft(guesses, PROPOSED), TARGET)
        assert verification.accept_probs == pytest.approx(accept_probs, abs=1e-6)
        assert len(verification.drawn) == 2
        chance = Q[guesses[0]] * Q[guesses[1]]
        by_block += chance * sum(length * weight for length, weight in enumerate(lengths_of_block(accept_probs)))
    assert by_block == pytest.approx(11 / 9, abs=1e-6)
    same = BlockRule(GENERATOR).verify(Draft([0, 1], PROPOSED), rows(Q, Q, P))
    assert same.accept_probs == pytest.approx([1, 1]), "equal distributions accept everything"


def lengths_of_block(passes: list[float]) -> list[float]:
    """Probability of each accepted length: the longest prefix that passes its own draw."""
    left, lengths = 1.0, []
    for chance in reversed(passes):
        lengths.append(left * chance)
        left *= 1 - chance
    return [left, *reversed(lengths)]


def test_what_is_not_accepted_is_replaced_from_the_rest_of_its_own_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    later = judged(Draft([0, 1], PROPOSED), TARGET, [0.9, 0.9], monkeypatch)
    assert (later.accepted, later.residual) == (2, None), "a later prefix that passes accepts the tokens before it"
    assert judged(Draft([1, 1], PROPOSED), TARGET, [0.5, 0.5], monkeypatch).accepted == 2, "the longest that passes"
    first = judged(Draft([0, 0], PROPOSED), TARGET, [0.5, 0.5], monkeypatch)
    assert first.accepted == 0
    assert first.token_id == 1  # (p - q)+ is all on b
    target = rows([0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [1, 0, 0])
    draft = Draft([0, 0], rows([0.8, 0.1, 0.1], [0.7, 0.2, 0.1]))
    share = 0.5 / 0.8
    rest = [0, share * 0.5 - 0.2, share * 0.3 - 0.1]  # (s·p - q)+ after the first token, not (p - q)+
    passes = sum(rest) / (sum(rest) + 1 - share)
    second = judged(draft, target, [passes - 0.01, 0.99], monkeypatch)
    assert second.accepted == 1
    assert second.accept_probs == pytest.approx([passes, share * 0.2 / 0.7], abs=1e-6)
    assert second.residual.tolist() == pytest.approx([part / sum(rest) for part in rest], abs=1e-5)
    assert judged(draft, target, [passes + 0.01, 0.99], monkeypatch).accepted == 0


def test_a_draft_of_one_token_is_judged_as_by_the_token_rule() -> None:
    target, draft = rows([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]), Draft([0], rows([0.6, 0.3, 0.1]))
    for seed in range(50):
        block = BlockRule(torch.Generator().manual_seed(seed)).verify(draft, target)
        token = SamplingRule(torch.Generator().manual_seed(seed)).verify(draft, target)
        assert (block.accepted, block.token_id) == (token.accepted, token.token_id)
        assert block.accept_probs == pytest.approx(token.accept_probs)
    rules = [make_rule(DecodeSettings(temperature=1.0, verification=name), GENERATOR) for name in ("block", "token")]
    assert [type(rule) for rule in rules] == [BlockRule, SamplingRule], "the setting chooses"


def test_guesses_without_a_distribution_are_accepted_as_often_as_by_the_token_rule() -> None:
    """With a point mass the share of a prefix is the product of its p: at least i tokens survive with just that."""
    target = rows([0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [1, 0, 0])
    draft = Draft([1, 0], None)
    rule = BlockRule(GENERATOR)
    passes = rule.verify(draft, target).accept_probs
    assert passes[1] == pytest.approx(0.3 * 0.6)
    at_least_one = passes[1] + (1 - passes[1]) * passes[0]
    assert at_least_one == pytest.approx(0.3)


# ---- exact, over all drafts of a random pair: what the paper proves

VOCABULARY = LENGTH = 3
Text = tuple[int, ...]
After = dict[Text, torch.Tensor]  # a distribution after every text


def random_model(generator: torch.Generator) -> After:
    texts = [text for n in range(LENGTH + 1) for text in product(range(VOCABULARY), repeat=n)]
    return {text: (2 * torch.randn(VOCABULARY, generator=generator)).softmax(-1) for text in texts}


def chance_of(text: Text, after: After) -> float:
    return math.prod(float(after[text[:i]][token]) for i, token in enumerate(text))


@pytest.mark.parametrize("seed", range(4))
def test_the_output_is_distributed_as_the_targets_to_the_last_digit(seed: int) -> None:
    """All drafts, all accepted lengths, the rest drawn from (s·p - q)+ and then from p: summed up, not sampled."""
    generator = torch.Generator().manual_seed(seed)
    p, q = random_model(generator), random_model(generator)
    written: dict[Text, float] = {}
    texts = list(product(range(VOCABULARY), repeat=LENGTH))
    for text in texts:
        prefixes, shares = [text[:i] for i in range(LENGTH + 1)], [1.0]
        draft = Draft(list(text), torch.stack([q[prefix] for prefix in prefixes[:-1]]))
        passes = BlockRule(GENERATOR).verify(draft, torch.stack([p[prefix] for prefix in prefixes])).accept_probs
        for prefix, token in zip(prefixes, text, strict=False):
            shares.append(min(1.0, shares[-1] * float(p[prefix][token] / q[prefix][token])))
        for prefix, share, weight in zip(prefixes, shares, lengths_of_block(passes), strict=True):
            rest = p[prefix] if prefix == text else (share * p[prefix] - q[prefix]).clamp(min=0)
            rest = rest / rest.sum() if rest.sum() > 0 else p[prefix]
            for token, part in enumerate(rest.tolist()):
                _add_all(written, p, (*prefix, token), chance_of(text, q) * weight * part)
    for text in texts:
        assert written[text] == pytest.approx(chance_of(text, p), abs=1e-5)


def _add_all(written: dict[Text, float], p: After, text: Text, chance: float) -> None:
    """Cuts the text to the length, or lets the target write on by itself until then."""
    if len(text) >= LENGTH:
        written[text[:LENGTH]] = written.get(text[:LENGTH], 0.0) + chance
        return
    for token, part in enumerate(p[text].tolist()):
        _add_all(written, p, (*text, token), chance * part)


# ---- trees


def test_the_second_sibling_is_judged_by_what_the_first_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # q = [.5, .3, .2]; token 0 drawn first, then token 1 from [0, .6, .4]. p = [.1, .5, .4].
    # Token 0: accepted with .2. Then p := (p - q)+ = [0, .2, .2] -> [0, .5, .5]; token 1: accepted with .5 / .6.
    # If that fails too: (p - q)+ = [0, 0, .1] -> token 2 for certain.
    draft = Draft([0, 1], rows([0.5, 0.3, 0.2], [0, 0.6, 0.4]), parents=[-1, -1])
    target = rows([0.1, 0.5, 0.4], [1, 0, 0], [0, 0, 1])
    generator = torch.Generator().manual_seed(0)
    given(monkeypatch, [0.21, 0.83])
    second = SamplingTreeRule(generator).verify(draft, target)
    assert (second.path, second.judged, second.token_id) == ([1], [0, 1], 2)
    assert second.accept_probs == pytest.approx([0.2, 5 / 6], abs=1e-6)
    assert second.residual is None  # a bonus: nothing was drafted after token 1
    given(monkeypatch, [0.21, 0.84])
    neither = SamplingTreeRule(generator).verify(draft, target)
    assert (neither.path, neither.accepted, neither.token_id) == ([], 0, 2)
    assert neither.residual.tolist() == pytest.approx([0, 0, 1])
    given(monkeypatch, [0.19])
    first = SamplingTreeRule(generator).verify(draft, target)
    assert (first.path, first.judged, first.token_id) == ([0], [0], 0)


def test_a_point_mass_is_accepted_with_what_is_left_of_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together that is one draw of the target's own: .2 and then .3 of the .8 that are left."""
    draft = Draft([0, 1], None, parents=[-1, -1])
    given(monkeypatch, [0.9, 0.9])
    found = SamplingTreeRule(torch.Generator()).verify(draft, rows([0.2, 0.3, 0.5], [1, 0, 0], [1, 0, 0]))
    assert found.accept_probs == pytest.approx([0.2, 0.375])
    assert found.token_id == 2


def test_greedy_goes_down_the_tree_to_where_no_child_is_the_targets_own() -> None:
    #        0:4      1:5            2:6     (after the text)
    #        3:4      4:2 5:3        6:1
    draft = Draft([4, 5, 6, 4, 2, 3, 1], rows(*[[0.0] * 7] * 7), parents=[-1, -1, -1, 0, 1, 1, 2])
    best = [5, 0, 3, 0, 0, 0, 6, 0]  # after the text, then after each node
    scores = torch.nn.functional.one_hot(torch.tensor(best), 7).float()
    found = GreedyTreeRule().verify(draft, scores)
    assert (found.path, found.accepted, found.judged, found.token_id) == ([1, 5], 2, [0, 1, 4, 5], 6)
    assert found.accept_probs == [0.0, 1.0, 0.0, 1.0]
    assert found.rows == [0, 2, 6]


LOGITS = 4 * torch.randn(20, 101, generator=torch.Generator().manual_seed(7))
TIES = LOGITS.round()  # equal logits at the edge of top-k
CASES = list(product((0.3, 1.0, 1.7), (None, 1, 2, 40, 500), (None, 0.1, 0.9, 1.0)))


def expected(logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None) -> torch.Tensor:
    warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    if top_k is not None:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p is not None and top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    warped: torch.Tensor = warpers(torch.LongTensor(), logits)
    return warped.softmax(-1)


@pytest.mark.parametrize("logits", [LOGITS, TIES], ids=["different", "ties"])
@pytest.mark.parametrize(("temperature", "top_k", "top_p"), CASES)
def test_scores_are_the_probabilities_of_transformers_warpers(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    settings = DecodeSettings(temperature=temperature, top_k=top_k, top_p=top_p)
    before = logits.clone()
    ours = Sampling(settings, torch.Generator()).scores(logits)
    assert torch.equal(ours, expected(logits, temperature, top_k, top_p))
    assert torch.equal(logits, before), "the logits stay as they are"


def test_the_coldest_temperature_above_0_takes_the_most_probable_token() -> None:
    """Found: at 1e-38 the probabilities were nan, and a run ended in a RuntimeError."""
    scores = Sampling(DecodeSettings(temperature=5e-324), torch.Generator()).scores(LOGITS)
    assert torch.equal(scores, torch.nn.functional.one_hot(LOGITS.argmax(-1), LOGITS.shape[-1]).float())
