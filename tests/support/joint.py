"""Is what a loop writes distributed as the target's own text? The exact joint distribution of a few tokens, and a test.

The test is Pearson's chi-squared over all texts of that many tokens. Texts that are expected fewer than five times are
counted together.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from scipy.stats import chisquare
from torch import Tensor

from specviz.core.settings import DecodeSettings
from specviz.decoding import DraftContext, Drafter
from specviz.decoding.recording import Recorder
from specviz.decoding.sampler import LogitsConstraint, Sampling
from specviz.decoding.speculative import speculative_rounds
from specviz.decoding.verification import AcceptanceRule, make_rule
from specviz.measure.proof.draws import Passes, RememberingModel
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

Joint = dict[tuple[int, ...], float]
FALSE_ALARM = 1e-4  # odds that a right method fails one test with new seeds; with fixed seeds it is decided for ever


class OddAndNew:
    """A constraint for a vocabulary of seven tokens: odd token ids alone, and none twice in a row."""

    def allowed(self, token_ids: Sequence[int]) -> Tensor:
        """What may follow depends on the last token, so on the path of a tree."""
        ids = torch.arange(7)
        return (ids % 2 == 1) & (ids != token_ids[-1])


def exact_joint(
    target: LoadedModel,
    prompt: list[int],
    settings: DecodeSettings,
    tokens: int,
    constraint: LogitsConstraint | None = None,
) -> Joint:
    """Probability of every continuation, from one forward pass a prefix, by definition: no cache."""
    vocabulary = target.model.config.vocab_size

    def next_token(text: list[int]) -> Tensor:
        logits = target.model(torch.tensor([text])).logits[0, -1].double() / settings.temperature
        if constraint:
            logits[~constraint.allowed(text)] = float("-inf")
        if settings.top_k:
            logits[logits < logits.topk(settings.top_k).values[-1]] = float("-inf")
        p = logits.softmax(-1)
        if settings.top_p:
            order = p.argsort(descending=True)
            before = p[order].cumsum(0) - p[order]
            p[order[before >= settings.top_p]] = 0
        return p / p.sum()

    joint: Joint = {(): 1.0}
    for _ in range(tokens):
        joint = {
            (*text, token): chance * float(p[token])
            for text, chance in joint.items()
            if chance > 0
            for p in [next_token([*prompt, *text])]
            for token in range(vocabulary)
        }
    assert len(joint) <= vocabulary**tokens
    return {text: chance for text, chance in joint.items() if chance > 0}


def p_value(seen: Counter[tuple[int, ...]], expected: Joint) -> float:
    """The probability of counts at least this uneven, if the draws come from this distribution."""
    assert set(seen) <= set(expected), "a text the target cannot write"
    runs = seen.total()
    common = [text for text, chance in expected.items() if chance * runs >= 5]
    observed, wanted = [seen[text] for text in common], [expected[text] * runs for text in common]
    if runs - sum(wanted) >= 5:
        observed, wanted = [*observed, runs - sum(observed)], [*wanted, runs - sum(wanted)]
    wanted = [value * sum(observed) / sum(wanted) for value in wanted]
    return float(chisquare(observed, wanted).pvalue)


class Loop:
    """The speculative loop from one prompt, as often as needed; forward passes are remembered from run to run.

    `specviz.measure.proof.draws` says why that changes nothing, and test_other_rules.py shows it. Each run is long
    enough for a whole draft, so that a rule that judges it jointly can show what it does.
    """

    def __init__(
        self,
        target: LoadedModel,
        drafter: Drafter,
        prompt: list[int],
        settings: DecodeSettings,
        rule: Callable[[torch.Generator], AcceptanceRule] | None = None,
        constraint: LogitsConstraint | None = None,
    ) -> None:
        self._generator = torch.Generator()
        self._sampler = Sampling(settings, self._generator)
        self._rule = rule(self._generator) if rule else make_rule(settings, self._generator)
        long = replace(settings, max_new_tokens=settings.draft_length + 3, stop_at_eos=False)
        self._drafter, self._setup = drafter, drafter.set_up(target, prompt, long)
        self._passes: dict[int, Passes] = {}  # by the model's `id`
        self._target = target
        self._constraint = constraint
        self._recorder = Recorder(self._setup.token_texts, self._sampler, False)

    def first(self, tokens: int, seed: int) -> tuple[int, ...]:
        self._generator.manual_seed(seed)
        token_ids = list(self._setup.prompt.token_ids)
        start = len(token_ids)
        target = self._open(self._target, self._setup.vocabulary)
        context = DraftContext(self._setup, self._sampler, self._constraint, self._open, target)
        proposer = self._drafter.begin(context)
        for _ in proposer.read_prompt():
            pass
        parts = self._sampler, self._rule, token_ids, self._setup, self._recorder, self._constraint
        rounds = speculative_rounds(target, proposer, *parts)
        while len(token_ids) < start + tokens:
            next(rounds)
        return tuple(token_ids[start : start + tokens])

    def _open(self, loaded: LoadedModel, vocabulary: int) -> CachedModel:
        if id(loaded) not in self._passes:
            self._passes[id(loaded)] = Passes(loaded, vocabulary, self._setup.prompt.token_ids)
        return RememberingModel(self._passes[id(loaded)])


_JOINTS: dict[tuple[object, ...], tuple[Joint, LoadedModel, LogitsConstraint | None]] = {}


def p_value_of_loop(
    target: LoadedModel,
    drafter: Drafter,
    prompt: list[int],
    settings: DecodeSettings,
    *,
    runs: int,
    rule: Callable[[torch.Generator], AcceptanceRule] | None = None,
    constraint: LogitsConstraint | None = None,
) -> float:
    """The test on the first three tokens of this many runs; the seeds are 0, 1, 2, ..."""
    loop = Loop(target, drafter, prompt, settings, rule, constraint)
    how = settings.temperature, settings.top_k, settings.top_p
    key = id(target), tuple(prompt), how, id(constraint) if constraint else 0
    if key not in _JOINTS:  # with what its key names, so that no `id` is used again
        _JOINTS[key] = exact_joint(target, prompt, settings, 3, constraint), target, constraint
    expected = _JOINTS[key][0]
    return p_value(Counter(loop.first(3, seed) for seed in range(runs)), expected)
