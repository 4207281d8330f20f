"""Greedy: are the ids the target's own? And where they are not, how near a tie was it that rounding decided?

Both runs are the real loops; their targets are overheard, so that the logits shown are the ones that were decided by.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from torch import Tensor

from specviz.core.metrics import count, first_difference
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Round
from specviz.decoding.autoregressive import autoregressive_steps
from specviz.decoding.draft_length import unsure_below
from specviz.decoding.drafters import ModelProposer
from specviz.decoding.recording import Recorder
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import Greedy
from specviz.decoding.speculative import speculative_rounds
from specviz.decoding.translated import TranslatedDrafter, make_drafter
from specviz.decoding.verification import GreedyRule
from specviz.measure.proof.rows import Contenders, GreedyRow, NearTie
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

TEXT_SHOWN = 60  # characters before the place where two outputs part

Exact = Callable[[], LoadedModel]  # the target in float32, loaded when it is asked for


class LoggingModel(CachedModel):
    """A target that keeps the logits of every pass, and where in the text each pass began."""

    def __init__(self, loaded: LoadedModel, vocabulary: int) -> None:
        super().__init__(loaded, vocabulary)
        self.passes: list[tuple[int, Tensor]] = []  # tokens read before, logits (n, vocabulary)

    def read(self, tokens: Sequence[int]) -> Tensor:
        """As `CachedModel.read`."""
        before = self.length
        logits = super().read(tokens)
        self.passes.append((before, logits))
        return logits

    def decided(self, place: int) -> Tensor:
        """The logits after the text's first `place` tokens, as the last pass that made them has them."""
        before, logits = self._pass(place)
        return logits[place - 1 - before]

    def batch(self, place: int) -> int:
        """How many tokens that pass read at once."""
        return len(self._pass(place)[1])

    def _pass(self, place: int) -> tuple[int, Tensor]:
        covers = (one for one in reversed(self.passes) if one[0] < place <= one[0] + len(one[1]))
        return next(covers)


def greedy_row(
    target: LoadedModel,
    draft: LoadedModel | None,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    exact: Exact,
    preset: str = "",
) -> Iterator[GreedyRow | None]:
    """Decode both ways and compare, id for id; None now and then as a chance to stop, the row at the end.

    Raises:
        InputError: as `set_up_run` and `make_drafter`.
    """
    settings = replace(settings, temperature=0.0)
    drafter = make_drafter(target, draft, settings)
    setup = _open(target, draft, drafter, prompt, settings)
    plainly, speculatively = (LoggingModel(target, setup.vocabulary) for _ in range(2))
    start = setup.prompt.token_ids
    plain, ours = list(start), list(start)
    plainly.prefill(start[:-1])
    for _ in autoregressive_steps(plainly, Greedy(), plain, setup, None):
        yield None
    speculatively.prefill(start[:-1])
    recorder = Recorder(setup.token_texts, Greedy(), False)
    proposer = drafter.begin(start, setup.vocabulary, Greedy(), None)
    if isinstance(proposer, ModelProposer):
        proposer.unsure_below = unsure_below(settings)
    rounds: list[Round] = []
    for round in speculative_rounds(speculatively, proposer, Greedy(), GreedyRule(), ours, setup, recorder):
        rounds.append(round)
        yield None
    at = first_difference(ours, plain)
    tie = None if at is None else near_tie(setup, plainly, speculatively, plain, ours, at, exact)
    counts = count(rounds)
    yield GreedyRow(
        preset=preset,
        prompt=setup.prompt.text,
        target=target.name,
        draft=drafter.info.name,
        dtype=target.info.dtype,
        draft_length=settings.draft_length,
        tokens=len(plain) - len(start),
        same=len(plain) - len(start) if at is None else at - len(start),
        drafted=counts.drafted,
        accepted=counts.accepted,
        near_tie=tie,
    )


def _open(
    target: LoadedModel,
    draft: LoadedModel | None,
    drafter: object,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
) -> RunSetup:
    if isinstance(drafter, TranslatedDrafter):
        return drafter.open(target, prompt, settings)
    return set_up_run(target, draft, prompt, settings)


def near_tie(
    setup: RunSetup,
    plainly: LoggingModel,
    speculatively: LoggingModel,
    plain: list[int],
    ours: list[int],
    at: int,
    exact: Exact,
) -> NearTie:
    """The two tokens that were chosen after the text's first `at` tokens, by the logits that chose them.

    An output that ends early for an end of text has no other token there: the lists are of greedy runs of the same
    length, so both have a token at the first place where they differ.
    """
    ids = (plain[at], ours[at])
    dtype = setup.target.info.dtype

    def contenders(way: str, dtype: str, logits: Tensor) -> Contenders:
        return Contenders(way, dtype, float(logits[ids[0]]), float(logits[ids[1]]))

    whole = CachedModel(exact(), setup.vocabulary).read(plain[:at])[-1]
    before = setup.target.tokenizer.decode(plain[:at], clean_up_tokenization_spaces=False)
    return NearTie(
        position=at - len(setup.prompt.token_ids),
        text=str(before)[-TEXT_SHOWN:],
        plain_token=setup.token_texts[ids[0]],
        speculative_token=setup.token_texts[ids[1]],
        batch=speculatively.batch(at),
        ways=[
            contenders("one token", dtype, plainly.decided(at)),
            contenders("batched", dtype, speculatively.decided(at)),
            contenders("float32", "float32", whole),
        ],
    )
