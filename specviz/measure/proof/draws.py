"""Decode one position many times, speculatively and plainly, by any rule, and count what comes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.decoding.autoregressive import autoregressive_steps
from specviz.decoding.draft_length import unsure_below
from specviz.decoding.drafters import ModelDrafter, ModelProposer, Proposer
from specviz.decoding.recording import Recorder
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import Sampling
from specviz.decoding.speculative import speculative_rounds
from specviz.decoding.translated import make_drafter
from specviz.measure.proof.other_rules import drafts_with, make_other_rule
from specviz.measure.proof.remembered import NeverCropped, Passes, RememberingModel
from specviz.measure.proof.rows import DrawBatch
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import TokenTexts

CLASSES = 30  # single tokens counted by themselves: the likeliest ones
PILOT = 100  # draws that decide which those are, and count for nothing else
PATIENCE = 20  # runs for each draw wanted before giving up
NUMBERS: dict[Position, int] = {"first": 1, "second": 2, "third": 3}


@dataclass(frozen=True, slots=True)
class Draw:
    """One token at the position."""

    history: tuple[int, ...]  # the whole text before it
    token_id: int


class Draws:
    """A prompt, a position and a rule, ready to be decoded as often as wanted.

    Raises:
        InputError: nothing is drawn at temperature 0; or as `set_up_run` and `make_drafter`.
    """

    def __init__(
        self,
        target: LoadedModel,
        draft: LoadedModel | None,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        rule: RuleName,
        position: Position,
    ) -> None:
        if settings.greedy:
            raise InputError("At temperature 0 nothing is drawn by chance: choose a temperature above 0.")
        self._position = position
        self._opening = _opening(target, draft, prompt, settings, position)
        self._step = replace(self._opening, settings=replace(self._opening.settings, max_new_tokens=1))
        self._generator = torch.Generator()
        self._sampler = Sampling(settings, self._generator)
        self._rule = make_other_rule(rule, self._generator)
        self._drafts_with = drafts_with(rule, self._sampler)
        self._model_of = NeverCropped if rule == "uncropped" else RememberingModel
        self._drafter = make_drafter(target, draft, settings)
        self._recorder = Recorder(TokenTexts(target.tokenizer), self._sampler, False)
        tokens, size = self._opening.prompt.token_ids, self._opening.vocabulary
        self._target = Passes(target, size, tokens)
        self._draft = Passes(draft, size, tokens) if draft else None

    def seed(self, *numbers: int) -> None:
        """What follows depends on these numbers alone."""
        mixed = 0
        for number in numbers:
            mixed = (mixed * 1_000_003 + number + 1) % 2**63
        self._generator.manual_seed(mixed)

    def try_one(self) -> tuple[Draw | None, bool | None]:
        """One run: what it wrote at the position, if it has it, and whether its first drafted token was kept."""
        text = list(self._opening.prompt.token_ids)
        start = len(text)
        target = self._model_of(self._target)
        rounds = speculative_rounds(
            target, self._begin(), self._sampler, self._rule, text, self._opening, self._recorder
        )
        first = next(rounds)
        kept = first.drafted[0].status == "accepted" if first.drafted else None
        if self._position == "after":
            if all(token.status == "accepted" for token in first.drafted):
                return None, kept
            start = len(text)
            next(rounds)
        else:
            start += NUMBERS[self._position] - 1
            while len(text) <= start:
                next(rounds)
        return Draw(tuple(text[:start]), text[start]), kept

    def plainly(self, history: Sequence[int]) -> int:
        """The next token after `history` by plain decoding."""
        text = list(history)
        model = RememberingModel(self._target)
        if unread := text[model.length : -1]:
            model.read(unread)
        token_id, _ = next(autoregressive_steps(model, self._sampler, text, self._step, None))
        return token_id

    def probabilities(self, history: Sequence[int]) -> Tensor:
        """The target's own distribution after `history`, exactly; (vocabulary,)."""
        return self._sampler.scores(self._target.rows(history, 1))[0]

    def acceptance(self) -> tuple[float, float] | None:
        """Sum of p·q and sum of min(p, q) for the first drafted token; None where nothing is drafted."""
        draft = self._begin().propose(self._opening.prompt.token_ids, 1)
        if not draft.token_ids:
            return None
        p = self.probabilities(self._opening.prompt.token_ids)
        if draft.draft_scores is None or self._drafts_with is not self._sampler:
            sure = float(p[draft.token_ids[0]])
            return sure, sure
        q = draft.draft_scores[0]
        return float((p * q).sum()), float(torch.minimum(p, q).sum())

    def text_of(self, token_id: int) -> str:
        """The token as it is shown."""
        return self._opening.token_texts[token_id]

    def _begin(self) -> Proposer:
        prompt, size = self._opening.prompt.token_ids, self._opening.vocabulary
        if self._draft is None or not isinstance(self._drafter, ModelDrafter):
            return self._drafter.begin(prompt, size, self._drafts_with, None)
        proposer = ModelProposer(RememberingModel(self._draft), self._drafts_with, None)
        proposer.unsure_below = unsure_below(self._opening.settings)
        return proposer


def _opening(
    target: LoadedModel,
    draft: LoadedModel | None,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    position: Position,
) -> RunSetup:
    """Runs just long enough to have the position, with a draft that reaches it. An end of text is a token like any."""
    length = settings.draft_length + 2 if position == "after" else NUMBERS[position] + 1
    most = 2 * settings.draft_length + 2  # what a target that never forgets reads until then
    setup = set_up_run(target, draft, prompt, replace(settings, max_new_tokens=most, stop_at_eos=False))
    return replace(setup, settings=replace(setup.settings, max_new_tokens=length))


def draw_batches(draws: Draws, seed: int, each: int, numbers: Sequence[int]) -> Iterator[DrawBatch | None]:
    """Batches of `each` draws, of these numbers; None now and then, as a chance to stop.

    A batch depends on its number and the seed alone, so a proof cut short goes on as if it had not been.

    Raises:
        InputError: the position does not come, such as one after a rejection where nothing is ever rejected.
    """
    yield None
    draws.seed(seed, 0)
    classes = _classes(draws)
    for number in numbers:
        draws.seed(seed, number + 1)
        batch = _Counting(draws, classes)
        while batch.draws < each:
            batch.count_one(PATIENCE * each)
            if batch.tries % 16 == 0:
                yield None
        yield batch.result()


def _classes(draws: Draws) -> list[int]:
    """The tokens to count one by one, likeliest first, by a pilot whose draws are not used again."""
    total: Tensor | None = None
    for _ in range(PILOT):
        drawn, _ = draws.try_one()
        if drawn is not None:
            p = draws.probabilities(drawn.history)
            total = p if total is None else total + p
    if total is None:
        raise InputError(NEVER_REJECTED)
    top = total.topk(min(CLASSES, len(total) - 1))
    return [token_id for token_id, p in zip(top.indices.tolist(), top.values.tolist(), strict=True) if p > 0]


NEVER_REJECTED = (
    "In so many runs the first draft was hardly ever rejected, so there is no token after a rejection to look at: "
    "choose another prompt, draft or draft length."
)


class _Counting:
    """A batch that is being filled."""

    def __init__(self, draws: Draws, classes: list[int]) -> None:
        self._from = draws
        self._ids = torch.tensor(classes, dtype=torch.long)
        self._place = {token_id: place for place, token_id in enumerate(classes)}
        self._speculative, self._plain = [0] * (len(classes) + 1), [0] * (len(classes) + 1)
        self._histories: Counter[tuple[int, ...]] = Counter()
        self._proposed = self._kept = 0
        self.tries = self.draws = 0

    def count_one(self, most_tries: int) -> None:
        """Run once; counts where the run has the position."""
        if self.tries >= most_tries:
            raise InputError(NEVER_REJECTED)
        drawn, kept = self._from.try_one()
        self.tries += 1
        self._proposed += kept is not None
        self._kept += bool(kept)
        if drawn is not None:
            self.draws += 1
            self._histories[drawn.history] += 1
            self._speculative[self._class(drawn.token_id)] += 1
            self._plain[self._class(self._from.plainly(drawn.history))] += 1

    def result(self) -> DrawBatch:
        """The counts as plain values."""
        sums = self._from.acceptance()
        texts = [self._from.text_of(token_id) for token_id in self._place]
        return DrawBatch(
            [*texts, "any other"],
            self._speculative,
            self._plain,
            self._expected(),
            len(self._histories),
            self.tries,
            self._proposed,
            self._kept,
            *(sums or (None, None)),
        )

    def _class(self, token_id: int) -> int:
        return self._place.get(token_id, len(self._place))

    def _expected(self) -> list[float]:
        total = torch.zeros(len(self._ids), dtype=torch.float64)
        for history, count in self._histories.items():
            total += count * self._from.probabilities(history)[self._ids].double()
        known: list[float] = total.tolist()
        return [*known, max(0.0, self.draws - sum(known))]
