"""The greedy proof: are the ids the target's own? Where they differ, how nearly equal were the two tokens?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from specviz.core.metrics import first_difference
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Round
from specviz.decoding import DraftContext, fit_drafter
from specviz.decoding.autoregressive import autoregressive_steps
from specviz.decoding.drafters.choose import Loaded
from specviz.decoding.recording import Recorder
from specviz.decoding.run_setup import RunSetup
from specviz.decoding.sampler import Greedy
from specviz.decoding.speculative import speculative_rounds
from specviz.decoding.verification import make_rule
from specviz.measure.compare import next_logits
from specviz.measure.proof.rows import Contenders, GreedyRow, NearTie
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

TEXT_SHOWN = 60  # characters shown before the place where two outputs differ


class LoggingModel(CachedModel):
    def __init__(self, loaded: LoadedModel, vocabulary: int) -> None:
        super().__init__(loaded, vocabulary)
        # for each: the tokens of the text before it, the logits after each token of the text that it read, (n,
        # vocabulary), and how many tokens it read at once
        self.passes: list[tuple[int, Tensor, int]] = []
        self.forgotten = 0  # rows of the text that its cache lacks

    def read(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        before = self.length + self.forgotten
        logits = super().read(tokens, parents)
        self.passes.append((before, logits, len(logits)))
        return logits

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        """As `CachedModel.crop`. Of a tree, only the rows of the path belong to the text."""
        if path is not None:
            before, logits, read = self.passes.pop()
            self.passes.append((before, logits[list(path)], read))
        super().crop(length, path)

    def decided(self, place: int) -> Tensor:
        """The logits after the first `place` tokens of the text, from the last pass that computed them."""
        before, logits, _ = self._pass(place)
        return logits[place - 1 - before]

    def batch(self, place: int) -> int:
        return self._pass(place)[2]

    def _pass(self, place: int) -> tuple[int, Tensor, int]:
        covers = (one for one in reversed(self.passes) if one[0] < place <= one[0] + len(one[1]))
        return next(covers)


class ForgetsOneRow(LoggingModel):
    """WRONG: at the first rejection it removes one row too many from its cache, the last accepted token's."""

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        if not self.forgotten and length < self.length:
            self.forgotten = 1
        super().crop(length - self.forgotten, path)


def greedy_row(
    target: LoadedModel,
    draft: Loaded,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    exact: LoadedModel,
    preset: str = "",
    forgets: bool = False,
) -> Iterator[GreedyRow | None]:
    """Decode both ways and compare id by id. None is a chance to stop; `forgets` gives the loop a wrong cache.

    `exact` is the target in float32.
    """
    settings = replace(settings, temperature=0.0)
    drafter = fit_drafter(target, draft, settings)
    setup = drafter.set_up(target, prompt, settings)
    plain_model = LoggingModel(target, setup.vocabulary)
    speculative_model = (ForgetsOneRow if forgets else LoggingModel)(target, setup.vocabulary)
    start = setup.prompt.token_ids
    plain, speculative = list(start), list(start)
    yield from plain_model.prefill_steps(start[:-1])
    for _ in autoregressive_steps(plain_model, Greedy(), plain, setup, None):
        yield None
    proposer = drafter.begin(DraftContext(setup, Greedy(), target=speculative_model))
    yield from speculative_model.prefill_steps(start[:-1])
    recorder, rule = Recorder(setup.token_texts, Greedy(), False), make_rule(settings, torch.Generator())
    yield from proposer.read_prompt()
    rounds: list[Round] = []
    for round in speculative_rounds(speculative_model, proposer, Greedy(), rule, speculative, setup, recorder):
        rounds.append(round)
        yield None
    at = first_difference(speculative, plain)
    tie = None if at is None else near_tie(setup, plain_model, speculative_model, plain, speculative, at, exact)
    yield GreedyRow(
        preset=preset,
        prompt=setup.prompt.text,
        target=target.name,
        draft=drafter.info.name,
        dtype=target.info.dtype,
        draft_length=settings.draft_length,
        tokens=len(plain) - len(start),
        same=len(plain) - len(start) if at is None else at - len(start),
        drafted=sum(len(round.drafted) for round in rounds),
        accepted=sum(round.accepted for round in rounds),
        near_tie=tie,
        tree=settings.tree,
    )


def near_tie(
    setup: RunSetup,
    plain_model: LoggingModel,
    speculative_model: LoggingModel,
    plain: list[int],
    speculative: list[int],
    at: int,
    exact: LoadedModel,
) -> NearTie:
    """The two tokens that were chosen after the first `at` tokens of both texts, with the logits that decided."""
    ids = (plain[at], speculative[at])
    dtype = setup.target.info.dtype

    def contenders(way: str, dtype: str, logits: Tensor) -> Contenders:
        return Contenders(way, dtype, float(logits[ids[0]]), float(logits[ids[1]]))

    before = setup.target.tokens.decode(plain[:at], clean_up_tokenization_spaces=False)
    return NearTie(
        position=at - len(setup.prompt.token_ids),
        text=str(before)[-TEXT_SHOWN:],
        plain_token=setup.token_texts[ids[0]],
        speculative_token=setup.token_texts[ids[1]],
        batch=speculative_model.batch(at),
        ways=[
            contenders("one token", dtype, plain_model.decided(at)),
            contenders("batched", dtype, speculative_model.decided(at)),
            contenders("float32", "float32", next_logits(exact, plain[:at])),
        ],
    )
