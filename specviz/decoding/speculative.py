"""Speculative decoding: a draft proposes tokens, the target verifies all of them in one pass.

`speculative_rounds` is the algorithm (Leviathan et al. 2023, Algorithm 1; Chen et al. 2023, Algorithm 2) and nothing
else. The rest of the file chooses how long drafts are, and starts a run around the algorithm.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from time import perf_counter

import torch

from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.trace import PrefillSeconds, Round, Trace
from specviz.decoding.autoregressive import AutoregressiveRun, TimedReading
from specviz.decoding.drafters.protocol import DraftContext, Drafter, Proposer
from specviz.decoding.recording import Recorder, RoundSeconds
from specviz.decoding.run_setup import RunSetup, cut_at_end
from specviz.decoding.sampler import LogitsConstraint, Sampler, constrain, make_sampler
from specviz.decoding.verification import AcceptanceRule, make_rule
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel


def speculative_rounds(
    target: CachedModel,
    proposer: Proposer,
    sampler: Sampler,
    rule: AcceptanceRule,
    token_ids: list[int],
    setup: RunSetup,
    recorder: Recorder,
    constraint: LogitsConstraint | None = None,
) -> Iterator[Round]:
    """Append to `token_ids` round by round, and yield each round.

    At the start and at every yield, both models have read all tokens except the last one.
    """
    final_length = len(token_ids) + setup.settings.max_new_tokens
    draft_length = DraftLength(setup.settings)
    for index in count():
        began = perf_counter()

        # 1. The draft proposes n tokens. The target adds one token of its own to every round, so leave room for it.
        room = final_length - len(token_ids) - 1
        draft = proposer.propose(token_ids, min(draft_length.tokens, room))
        drafted = perf_counter()

        # 2. The target reads the last token and the n drafted tokens in one pass. This gives n + 1 distributions.
        logits = target.read([token_ids[-1], *draft.token_ids], draft.tree)
        verified = perf_counter()

        # 3. The rule accepts the first tokens of the draft. The target's own token follows: a correction or a bonus.
        if constraint:
            logits = constrain(logits, constraint, draft.texts(token_ids))
        target_scores = sampler.scores(logits)
        verification = rule.verify(draft, target_scores)
        draft_length.update(len(draft.token_ids), verification.accepted)
        emitted = cut_at_end([*verification.survivors(draft), verification.token_id], setup.ends)
        token_ids.extend(emitted)

        # 4. Both caches drop what was not accepted. The last token stays unread: the next round starts with it.
        target.crop(len(token_ids) - 1, verification.rows)
        proposer.commit(len(token_ids) - 1)

        seconds = RoundSeconds(draft=drafted - began, verify=verified - drafted, overhead=perf_counter() - verified)
        yield recorder.round(index, seconds, draft, target_scores, verification, emitted)
        if len(token_ids) == final_length or token_ids[-1] in setup.ends:
            return


class DraftLength:
    """The draft length of the next round.

    With the heuristic schedule it starts at the settings' draft length and changes after each round as in transformers
    (`AssistedCandidateGenerator.update_candidate_strategy`, generation/candidate_generator.py, 5.23; there without an
    upper limit, and carried over from one text to the next): 2 more if all drafted tokens were accepted, else 1 fewer.
    With the other schedules it does not change. With "confidence" the proposer itself may stop earlier.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        self.tokens = settings.draft_length
        self._adapts = settings.draft_schedule == "heuristic"

    def update(self, drafted: int, accepted: int) -> None:
        if self._adapts and drafted:
            self.tokens += 2 if accepted == drafted else -1
            self.tokens = min(max(self.tokens, 1), MAX_DRAFT_LENGTH)


class SpeculativeRun:
    """One speculative run, round by round; `trace()` is the run so far. Raises InputError: see `Drafter.set_up`."""

    def __init__(
        self,
        target: LoadedModel,
        drafter: Drafter,
        prompt: str | Sequence[int],
        settings: DecodeSettings | None = None,
        *,
        record: bool = True,
        rule: AcceptanceRule | None = None,
        constraint: LogitsConstraint | None = None,
    ) -> None:
        settings = settings or DecodeSettings()
        self.setup = setup = drafter.set_up(target, prompt, settings)
        generator = torch.Generator().manual_seed(settings.seed)
        sampler = make_sampler(settings, generator)
        token_ids = list(setup.prompt.token_ids)

        model = CachedModel(target, setup.vocabulary)
        began = perf_counter()
        proposer = drafter.begin(DraftContext(setup, sampler, constraint, target=model))
        self._draft_reading = TimedReading(proposer.read_prompt(), perf_counter() - began)
        self._target_reading = TimedReading(model.prefill_steps(token_ids[:-1]))

        self._drafter = drafter.info
        self._rounds: list[Round] = []
        self._decoding = speculative_rounds(
            model,
            proposer,
            sampler,
            rule or make_rule(settings, generator),
            token_ids,
            setup,
            Recorder(setup.token_texts, sampler, record),
            constraint,
        )

    def read_prompt(self) -> Iterator[None]:
        """Let both models read the prompt, and yield between their passes; a second call reads what is left."""
        yield from self._target_reading
        yield from self._draft_reading

    def rounds(self) -> Iterator[Round]:
        """Decode; yields each round as it ends. Reads what is left of the prompt first."""
        for _ in self.read_prompt():
            pass
        for round in self._decoding:
            self._rounds.append(round)
            yield round

    def trace(self) -> Trace:
        """The run so far; `output.stopped_by` is None until the run has ended."""
        written = [token_id for round in self._rounds for token_id in round.emitted_ids]
        prefill = PrefillSeconds(self._target_reading.seconds, self._draft_reading.seconds)
        return self.setup.trace(self._drafter, prefill, self._rounds, None, written)


def alternate(speculative: SpeculativeRun, plain: AutoregressiveRun) -> Iterator[Round | tuple[int, float] | None]:
    """Both decoders in turns: after each speculative round the target alone writes as many tokens.

    Whatever slows the machine for a moment then slows both, so their ratio hardly changes. Each has its own cache.
    Yields each round and each plain step (token id, seconds) as it ends. The target alone reads the prompt after the
    first round, so that this is seen sooner; None between two such passes. Two sampled texts may differ in length: at
    the end the longer one goes on alone.
    """
    steps = plain.steps()
    for round in speculative.rounds():
        yield round
        yield from plain.read_prompt()
        yield from islice(steps, len(round.emitted_ids))
    yield from steps


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
    return SpeculativeRun(target, drafter, prompt, settings, record=record, rule=rule, constraint=constraint).rounds()


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
        drafter: where the guesses come from.
        prompt: text, or token ids of the target's tokenizer.
        settings: see `DecodeSettings`; None takes the defaults.
        record: store probabilities and candidates for each token; ids, statuses and times are always stored.
        rule: how drafts are verified; None takes the lossless rule for these settings.
        constraint: which tokens may come next, applied to both models.

    Raises:
        InputError: the prompt is empty or does not fit a context window, or the two tokenizers differ.
    """
    run = SpeculativeRun(target, drafter, prompt, settings, record=record, rule=rule, constraint=constraint)
    for _ in run.rounds():
        pass
    return run.trace()
