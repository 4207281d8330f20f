"""Speculative decoding: a draft proposes, the target judges the whole proposal in one pass.

`speculative_rounds` is the algorithm (Leviathan et al. 2023, Algorithm 1; Chen et al. 2023, Algorithm 2) and
nothing else; the rest of the file opens a run around it. It knows nothing of screens or files.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from time import perf_counter

import torch

from specviz.core.settings import DecodeSettings
from specviz.core.trace import PrefillSeconds, Round, Trace
from specviz.decoding.constraints import LogitsConstraint, constrain
from specviz.decoding.draft_length import DraftLength, unsure_below
from specviz.decoding.drafters import Drafter, ModelProposer, Proposer
from specviz.decoding.recording import Recorder, Seconds
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import Sampler, make_sampler
from specviz.decoding.translated import TranslatedDrafter
from specviz.decoding.verification import AcceptanceRule, make_rule
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel


def speculative_rounds(
    target: CachedModel,
    proposer: Proposer,
    sampler: Sampler,
    rule: AcceptanceRule,
    text: list[int],
    setup: RunSetup,
    recorder: Recorder,
    constraint: LogitsConstraint | None = None,
) -> Iterator[Round]:
    """Append to `text` round by round. Both models have read all of it but its last token, here and at every yield."""
    final_length = len(text) + setup.settings.max_new_tokens
    draft_length = DraftLength(setup.settings)
    for index in count():
        began = perf_counter()

        # 1. The draft proposes. The target adds a token of its own to every round, so leave room for it.
        room = final_length - len(text) - 1
        draft = proposer.propose(text, min(draft_length.tokens, room))
        drafted = perf_counter()

        # 2. The target reads the last token and all n guesses in one pass: what it would say after each of the n + 1.
        logits = target.read([text[-1], *draft.token_ids])
        verified = perf_counter()

        # 3. The rule keeps a prefix of the guesses; the target's own token follows: a correction, or a bonus.
        if constraint:
            logits = constrain(logits, constraint, text, draft.token_ids)
        scores = sampler.scores(logits)
        verification = rule.verify(draft, scores)
        draft_length.update(len(draft.token_ids), verification.accepted)
        emitted = [*draft.token_ids[: verification.accepted], verification.token_id]
        emitted = emitted[: next((i + 1 for i, token in enumerate(emitted) if token in setup.ends), None)]
        text.extend(emitted)

        # 4. Forget what did not survive. The last token stays unread: the next pass begins with it.
        target.crop(len(text) - 1)
        proposer.commit(len(text) - 1)

        overhead = perf_counter() - verified
        seconds = Seconds(drafted - began, verified - drafted, overhead)
        yield recorder.round(index, seconds, draft, scores, verification, emitted)
        if len(text) == final_length or text[-1] in setup.ends:
            return


class SpeculativeRun:
    """One speculative run, round by round; `trace()` is the run so far.

    Raises:
        InputError: see `set_up_run`, and `TranslatedDrafter.open` for a draft with another tokenizer.
    """

    def __init__(
        self,
        target: LoadedModel,
        drafter: Drafter,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        *,
        record: bool = True,
        rule: AcceptanceRule | None = None,
        constraint: LogitsConstraint | None = None,
    ) -> None:
        if isinstance(drafter, TranslatedDrafter):
            self.setup = setup = drafter.open(target, prompt, settings)
        else:
            self.setup = setup = set_up_run(target, drafter.loaded, prompt, settings)
        generator = torch.Generator().manual_seed(settings.seed)
        sampler = make_sampler(settings, generator)
        text = list(setup.prompt.token_ids)

        began = perf_counter()
        model = CachedModel(target, setup.vocabulary)
        model.prefill(text[:-1])
        target_read = perf_counter()
        proposer = drafter.begin(text, setup.vocabulary, sampler, constraint)
        if isinstance(proposer, ModelProposer):  # of the others none has a q to be unsure by
            proposer.unsure_below = unsure_below(settings)
        self._prefill = PrefillSeconds(target_read - began, perf_counter() - target_read)

        self._drafter = drafter.info
        self._rounds: list[Round] = []
        self._decoding = speculative_rounds(
            model,
            proposer,
            sampler,
            rule or make_rule(settings, generator),
            text,
            setup,
            Recorder(setup.token_texts, sampler, record),
            constraint,
        )

    def rounds(self) -> Iterator[Round]:
        """Decode; yields each round as it ends."""
        for round in self._decoding:
            self._rounds.append(round)
            yield round

    def trace(self) -> Trace:
        """The run so far; `output.stopped_by` is None until it is over."""
        written = [token_id for round in self._rounds for token_id in round.emitted_ids]
        return self.setup.trace(self._drafter, self._prefill, self._rounds, None, written)


def iter_speculative_decode(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings | None = None,
    *,
    record: bool = True,
    rule: AcceptanceRule | None = None,
    constraint: LogitsConstraint | None = None,
) -> Iterator[Round]:
    """Decode speculatively, yielding each round as it ends; arguments and errors as `speculative_decode`."""
    run = SpeculativeRun(
        target, drafter, prompt, settings or DecodeSettings(), record=record, rule=rule, constraint=constraint
    )
    return run.rounds()


def speculative_decode(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings | None = None,
    *,
    record: bool = True,
    rule: AcceptanceRule | None = None,
    constraint: LogitsConstraint | None = None,
) -> Trace:
    """Decode speculatively. Greedy output is the target's own; sampled output is distributed as the target's.

    Args:
        target: the model whose output is wanted.
        drafter: where guesses come from.
        prompt: text, or token ids of the target's tokenizer.
        settings: see `DecodeSettings`; None takes the defaults.
        record: keep probabilities and candidates for each token; ids, statuses and times are always kept.
        rule: how drafts are judged; None takes the lossless rule for these settings.
        constraint: which tokens may come next, applied to both models.

    Raises:
        InputError: the prompt is empty or does not fit a context window, or the two tokenizers differ.
    """
    run = SpeculativeRun(
        target, drafter, prompt, settings or DecodeSettings(), record=record, rule=rule, constraint=constraint
    )
    for _ in run.rounds():
        pass
    return run.trace()
