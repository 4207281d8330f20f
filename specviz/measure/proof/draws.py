"""Decode one position many times, with the speculative loop under any rule and plainly, and count the tokens."""

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.decoding import DraftContext, Drafter, Proposer, fit_drafter
from specviz.decoding.autoregressive import autoregressive_steps
from specviz.decoding.drafters.choose import Loaded
from specviz.decoding.recording import Recorder
from specviz.decoding.run_setup import RunSetup
from specviz.decoding.sampler import Sampling
from specviz.decoding.speculative import speculative_rounds
from specviz.measure.proof.other_rules import drafts_with, rule_of_proof
from specviz.measure.proof.remembering import NeverCropped, Passes, RememberingModel
from specviz.measure.proof.rows import CLASSES, PLACES, DrawBatch
from specviz.measure.proof.rule_names import Position, RuleName, rule_text
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.tokens import TokenTexts

PILOT = 100  # draws that decide which tokens those are; they are not used for anything else
PATIENCE = 20  # most runs for each draw that is wanted
NUMBERS: dict[Position, int] = {"first": 1, "second": 2, "third": 3}


@dataclass(frozen=True, slots=True)
class Draw:
    history: tuple[int, ...]  # the whole text before it
    token_id: int


class Acceptance(NamedTuple):
    """The probability that the first drafted token is accepted: three ways to draft and to verify."""

    products: float  # sum over tokens of p·q: a drawn token, accepted if the target draws the same
    minima: float  # sum of min(p, q): a drawn token, judged by the rule of Leviathan et al. 2023
    most_probable: float  # p(argmax q): the most probable token of q, which is then a point mass


class Draws:
    """A prompt, a position and a rule, which can be decoded as often as needed; InputError at temperature 0."""

    def __init__(
        self,
        target: LoadedModel,
        draft: Loaded,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        rule: RuleName,
        position: Position,
    ) -> None:
        if settings.greedy:
            raise InputError("At temperature 0 nothing is drawn by chance: choose a temperature above 0.")
        self._position = position
        self._drafter = fit_drafter(target, draft, settings)
        whole = rule_text(rule).joint or settings.verification == "block"
        self._setup = _set_up(target, self._drafter, prompt, settings, position, whole)
        self._step = replace(self._setup, settings=replace(self._setup.settings, max_new_tokens=1))
        self._generator = torch.Generator()
        self._sampler = Sampling(settings, self._generator)
        self._rule = rule_of_proof(rule, settings, self._generator)
        self._drafts_with = drafts_with(rule, self._sampler)
        self._model_of = NeverCropped if rule == "uncropped" else RememberingModel
        self._recorder = Recorder(TokenTexts(target.tokens), self._sampler, False)
        self._target = Passes(target, self._setup.vocabulary, self._setup.prompt.token_ids)
        self._draft_passes: dict[int, Passes] = {}  # by the draft model's `id`

    def seed(self, *numbers: int) -> None:
        """Make everything that follows depend on these numbers only."""
        mixed = 0
        for number in numbers:
            mixed = (mixed * 1_000_003 + number + 1) % 2**63
        self._generator.manual_seed(mixed)

    def try_one(self) -> tuple[Draw | None, bool | None]:
        """One run: its token at the position, if it got there, and whether a drafted token was accepted in it."""
        token_ids = list(self._setup.prompt.token_ids)
        start = len(token_ids)
        target = self._model_of(self._target)
        proposer, recorder = self._begin(target), self._recorder
        rounds = speculative_rounds(target, proposer, self._sampler, self._rule, token_ids, self._setup, recorder)
        first = next(rounds)
        accepted = first.accepted > 0 if first.drafted else None
        if self._position == "after":
            if not first.rejected:
                return None, accepted
            start = len(token_ids)
            next(rounds)
        else:
            start += NUMBERS[self._position] - 1
            while len(token_ids) <= start:
                next(rounds)
        return Draw(tuple(token_ids[:start]), token_ids[start]), accepted

    def plainly(self, history: Sequence[int]) -> int:
        token_ids = list(history)
        model = RememberingModel(self._target)
        if unread := token_ids[model.length : -1]:
            model.read(unread)
        token_id, _ = next(autoregressive_steps(model, self._sampler, token_ids, self._step, None))
        return token_id

    def probabilities(self, history: Sequence[int]) -> Tensor:
        return self._sampler.scores(self._target.rows(history, 1))[0]

    def acceptance(self) -> Acceptance | None:
        draft = self._begin(RememberingModel(self._target)).propose(self._setup.prompt.token_ids, 1)
        if not draft.token_ids:
            return None
        p = self.probabilities(self._setup.prompt.token_ids)
        if draft.draft_scores is None or self._drafts_with is not self._sampler:
            point_mass = float(p[draft.token_ids[0]])
            return Acceptance(point_mass, point_mass, point_mass)
        q = draft.draft_scores[0]
        return Acceptance(float((p * q).sum()), float(torch.minimum(p, q).sum()), float(p[q.argmax()]))

    def text_of(self, token_id: int) -> str:
        return self._setup.token_texts[token_id]

    def _begin(self, target: CachedModel) -> Proposer:
        context = DraftContext(self._setup, self._drafts_with, open_model=self._open_draft, target=target)
        proposer = self._drafter.begin(context)
        for _ in proposer.read_prompt():
            pass
        return proposer

    def _open_draft(self, loaded: LoadedModel, vocabulary: int) -> CachedModel:
        if id(loaded) not in self._draft_passes:
            self._draft_passes[id(loaded)] = Passes(loaded, vocabulary, self._setup.prompt.token_ids)
        return RememberingModel(self._draft_passes[id(loaded)])


def _set_up(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    position: Position,
    whole: bool,
) -> RunSetup:
    """Runs just long enough for the position (`whole`: and a whole draft). An end of text is a token like any other."""
    longest = settings.draft_length
    length = longest + 2 if position == "after" else NUMBERS[position] + (longest if whole else 1)
    most = 2 * settings.draft_length + 2  # what a target with an uncropped cache reads until then
    setup = drafter.set_up(target, prompt, replace(settings, max_new_tokens=most, stop_at_eos=False))
    return replace(setup, settings=replace(setup.settings, max_new_tokens=length))


def draw_batches(draws: Draws, seed: int, each: int, numbers: Sequence[int]) -> Iterator[DrawBatch | None]:
    """The batches with these numbers; None is a chance to stop. A batch depends only on its number and the seed.

    Raises:
        InputError: the runs do not reach the position, for example because nothing is ever rejected.
    """
    yield None
    draws.seed(seed, 0)
    classes = yield from _classes(draws)
    for number in numbers:
        draws.seed(seed, number + 1)
        batch = _Counting(draws, classes, Random(f"places {seed} {number}"))
        while batch.draws < each:
            batch.count_one(PATIENCE * each)
            yield None
        yield batch.result()


def _classes(draws: Draws) -> Generator[None, None, list[int]]:
    total: Tensor | None = None
    for _ in range(PILOT):
        yield None
        drawn, _ = draws.try_one()
        if drawn is not None:
            p = draws.probabilities(drawn.history)
            total = p if total is None else total + p
    if total is None:
        raise InputError(NEVER_REJECTED)
    top = total.topk(min(CLASSES, len(total) - 1))
    return [token_id for token_id, p in zip(top.indices.tolist(), top.values.tolist(), strict=True) if p > 0]


NEVER_REJECTED = (
    "The first draft was almost never rejected, so there are too few tokens after a rejection to test. "
    "Choose another prompt, draft or draft length."
)


class _Counting:
    def __init__(self, draws: Draws, classes: list[int], random: Random) -> None:
        self._from = draws
        self._ids = torch.tensor(classes, dtype=torch.long)
        self._class_of = {token_id: i for i, token_id in enumerate(classes)}
        self._speculative, self._plain = [0] * (len(classes) + 1), [0] * (len(classes) + 1)
        self._places, self._plain_places = [0] * PLACES, [0] * PLACES
        self._random = random  # of its own: the places change nothing in what is drawn
        self._histories: Counter[tuple[int, ...]] = Counter()
        self._proposed = self._accepted = 0
        self.tries = self.draws = 0

    def count_one(self, most_tries: int) -> None:
        if self.tries >= most_tries:
            raise InputError(NEVER_REJECTED)
        drawn, accepted = self._from.try_one()
        self.tries += 1
        self._proposed += accepted is not None
        self._accepted += bool(accepted)
        if drawn is not None:
            self.draws += 1
            self._histories[drawn.history] += 1
            p, plain = self._from.probabilities(drawn.history), self._from.plainly(drawn.history)
            self._count(p, drawn.token_id, self._speculative, self._places)
            self._count(p, plain, self._plain, self._plain_places)

    def result(self) -> DrawBatch:
        products, minima, most_probable = self._from.acceptance() or (None, None, None)
        texts = [self._from.text_of(token_id) for token_id in self._class_of]
        return DrawBatch(
            [*texts, "any other"],
            self._speculative,
            self._plain,
            self._expected(),
            len(self._histories),
            self.tries,
            self._proposed,
            self._accepted,
            products,
            minima,
            self._places,
            self._plain_places,
            most_probable,
        )

    def _count(self, p: Tensor, token_id: int, classes: list[int], places: list[int]) -> None:
        classes[self._class_of.get(token_id, len(self._class_of))] += 1
        places[min(PLACES - 1, int(PLACES * place_of(p, token_id, self._random.random())))] += 1

    def _expected(self) -> list[float]:
        total = torch.zeros(len(self._ids), dtype=torch.float64)
        for history, count in self._histories.items():
            total += count * self._from.probabilities(history)[self._ids].double()
        known: list[float] = total.tolist()
        return [*known, max(0.0, self.draws - sum(known))]


def place_of(p: Tensor, token_id: int, v: float) -> float:
    """The place of this token in p, (vocabulary,), from 0 to 1; `v` is uniform. 1 for a token of probability 0."""
    own = p[token_id]
    before = p.double()[p > own].sum() + p.double()[:token_id][p[:token_id] == own].sum()
    return min(1.0, float(before) + v * float(own))
