"""Decode one position many times, with the speculative loop under any rule and plainly, and count the tokens.

Many draws begin with the same prompt, and most ask for the same passes of the models: these are remembered.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.metrics import first_difference
from specviz.core.settings import DecodeSettings
from specviz.core.texts import Sentences
from specviz.core.trace import Round
from specviz.decoding import DraftContext, Proposer, fit_drafter
from specviz.decoding.autoregressive import autoregressive_steps
from specviz.decoding.drafters.choose import Loaded
from specviz.decoding.drafters.translated import common_length
from specviz.decoding.recording import Recorder
from specviz.decoding.run_setup import RunSetup
from specviz.decoding.sampler import Greedy, Sampling
from specviz.decoding.speculative import speculative_rounds
from specviz.decoding.verification import AcceptanceRule, make_rule
from specviz.measure.compare import next_logits
from specviz.measure.proof import rows as proof
from specviz.measure.proof.algebra import enumerated, to_probs
from specviz.measure.proof.other_rules import MostProbable, guess_probs, rule_of_proof
from specviz.models.cached_model import CachedModel
from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import LoadedModel
from specviz.models.tokens import TokenTexts

say = Sentences("decoding")

MOST_BYTES = 32 * 10**6  # of remembered logits, for each model
PILOT = 100  # draws that decide which tokens those are; they are not used for anything else
PATIENCE = 20  # most runs for each draw that is wanted
NUMBERS: dict[proof.Position, int] = {"first": 1, "second": 2, "third": 3}


class Passes:
    def __init__(self, loaded: LoadedModel, vocabulary: int, prompt: Sequence[int]) -> None:
        self.prompt = list(prompt)
        self._loaded, self._vocabulary = loaded, vocabulary
        self._model = CachedModel(loaded, vocabulary, whole=True)
        self._model.prefill(prompt[:-1])
        self._read = self.prompt[:-1]  # what the model's own cache contains
        self._rows: dict[tuple[int, ...], Tensor] = {}  # by the text after the prompt
        self._most_rows = MOST_BYTES // (4 * vocabulary)
        self._states: dict[tuple[int, ...], Tensor] = {}  # by the whole text

    def rows(self, token_ids: Sequence[int], count: int) -> Tensor:
        """The logits after each of a text's last `count` tokens, (count, vocabulary)."""
        start = len(self.prompt)
        ends = range(len(token_ids) - count + 1, len(token_ids) + 1)
        keys = [tuple(token_ids[start:end]) for end in ends]
        known = next((place for place, key in enumerate(keys) if key not in self._rows), count)
        found = [self._rows[key] for key in keys[:known]]
        if known < count:
            # One forward pass over what the cache does not contain yet.
            same = min(common_length(self._read, token_ids), len(token_ids) - (count - known))
            self._model.crop(same)
            fresh = list(self._model.read(token_ids[same:])[known - count :])
            self._read = list(token_ids)
            if len(self._rows) + len(fresh) > self._most_rows:
                self._rows.clear()
            self._rows |= {key: row.clone() for key, row in zip(keys[known:], fresh, strict=True)}  # a view holds all
            found += fresh
        return torch.stack(found)

    def states(self, token_ids: Sequence[int]) -> Tensor:
        """The last hidden states of a text, for a head; InputError: the forward pass does not give them."""
        key = tuple(token_ids)
        if key not in self._states:
            if sum(4 * states.numel() for states in self._states.values()) > MOST_BYTES:
                self._states.clear()
            model, stored, read = self._storing
            same = common_length(read, token_ids)
            model.crop(same)
            if same < len(token_ids):
                model.read(token_ids[same:])
            read[:] = token_ids
            self._states[key] = stored.since(0).clone()
        return self._states[key]

    @cached_property
    def _storing(self) -> tuple[CachedModel, HiddenStates, list[int]]:
        """The same model with a cache of its own, its stored states, and what that cache contains."""
        model = CachedModel(self._loaded, self._vocabulary)
        return model, model.store_states(), []


class RememberingModel(CachedModel):
    """Stands in for a model that has read the prompt except its last token; takes its logits from `Passes`."""

    def __init__(self, passes: Passes) -> None:  # without `super().__init__`: it has no cache of its own
        self._passes = passes
        self._token_ids = passes.prompt[:-1]
        self.length = len(self._token_ids)
        self._paths: list[list[int]] = []  # to each node of a tree, as tokens after the text

    def prefill_steps(self, tokens: Sequence[int]) -> Iterator[None]:
        yield from ()

    def read(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        if parents is None:
            self._token_ids += tokens
            self.length = len(self._token_ids)
            return self._passes.rows(self._token_ids, len(tokens))
        for token_id, parent in zip(tokens, parents, strict=True):
            self._paths.append([*(self._paths[parent] if parent >= 0 else []), token_id])
        self.length = len(self._token_ids) + len(self._paths)
        return torch.cat([self._passes.rows([*self._token_ids, *path], 1) for path in self._paths[-len(tokens) :]])

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        if path is not None:
            self._token_ids += [self._paths[node][-1] for node in path]
            self._paths = []
        del self._token_ids[length:]
        self.length = len(self._token_ids)

    def store_states(self) -> HiddenStates:
        return RememberedStates(self._token_ids, self._passes)


class RememberedStates(HiddenStates):
    def __init__(self, text: list[int], passes: Passes) -> None:
        super().__init__()
        self._text = text  # the model's own list: it grows and is cropped
        self._passes = passes

    def since(self, start: int) -> Tensor:
        return self._passes.states(self._text)[start:]


class NeverCropped(RememberingModel):
    """WRONG: does not remove rejected tokens, and continues after them."""

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        """Forget nothing."""


class Draws:
    """A prompt, a position and a rule, which can be decoded as often as needed; InputError at temperature 0."""

    def __init__(
        self,
        target: LoadedModel,
        draft: Loaded,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        rule: proof.RuleName | AcceptanceRule,
        position: proof.Position,
    ) -> None:
        if settings.greedy:
            raise InputError(say("no_chance"))
        self._position = position
        self._drafter = fit_drafter(target, draft, settings)
        # Runs just long enough for the position (`whole`: and a draft). An end of text is a token like any other.
        whole = not isinstance(rule, str) or proof.rule_text(rule).joint or settings.verification == "block"
        longest = settings.draft_length
        length = longest + 2 if position == "after" else NUMBERS[position] + (longest if whole else 1)
        most = 2 * longest + 2  # what a target with an uncropped cache reads until then
        setup = self._drafter.set_up(target, prompt, replace(settings, max_new_tokens=most, stop_at_eos=False))
        self._setup = replace(setup, settings=replace(setup.settings, max_new_tokens=length))
        self._step = replace(self._setup, settings=replace(self._setup.settings, max_new_tokens=1))
        self._generator = torch.Generator()
        self._sampler = Sampling(settings, self._generator)
        self._rule = rule_of_proof(rule, settings, self._generator) if isinstance(rule, str) else rule
        drafts_with = MostProbable if rule == "greedy-draft" else Sampling
        self._drafts_with = drafts_with(settings, self._generator)
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

    def try_one(self) -> tuple[tuple[int, ...], int] | None:
        """One run: the whole text before its token at the position, and that token, if it got there."""
        token_ids = list(self._setup.prompt.token_ids)
        start = len(token_ids)
        target = self._model_of(self._target)
        proposer, recorder = self._begin(target), self._recorder
        rounds = speculative_rounds(target, proposer, self._sampler, self._rule, token_ids, self._setup, recorder)
        first = next(rounds)
        if self._position == "after":
            if not first.rejected:
                return None
            start = len(token_ids)
            next(rounds)
        else:
            start += NUMBERS[self._position] - 1
            while len(token_ids) <= start:
                next(rounds)
        return tuple(token_ids[:start]), token_ids[start]

    def plainly(self, history: Sequence[int]) -> int:
        token_ids = list(history)
        model = RememberingModel(self._target)
        if unread := token_ids[model.length : -1]:
            model.read(unread)
        token_id, _ = next(autoregressive_steps(model, self._sampler, token_ids, self._step, None))
        return token_id

    def probabilities(self, history: Sequence[int]) -> Tensor:
        return self._sampler.scores(self._target.rows(history, 1))[0]

    def enumerate_rules(self, seed: int) -> proof.EnumeratedRules:
        """Every rule of pieces along one whole draft; InputError if there is none."""
        self.seed(seed, 0)
        text = list(self._setup.prompt.token_ids)
        draft = self._begin(RememberingModel(self._target)).propose(text, self._setup.settings.draft_length)
        guesses = draft.token_ids
        if not guesses:
            raise InputError(say("nothing_drafted"))
        p = to_probs(self._sampler.scores(self._target.rows([*text, *guesses], len(guesses) + 1)))
        q = [guess_probs(draft, i, p.shape[1]) for i in range(len(guesses))]
        return enumerated(p, q, guesses, self.text_of)

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


def draw_batches(draws: Draws, seed: int, each: int, numbers: Sequence[int]) -> Iterator[proof.DrawBatch | None]:
    """The batches with these numbers; None is a chance to stop. A batch depends only on its number and the seed.

    InputError: the runs do not reach the position, for example because nothing is ever rejected.
    """
    yield None
    draws.seed(seed, 0)
    classes = yield from _classes(draws)
    for number in numbers:
        draws.seed(seed, number + 1)
        yield (yield from _batch(draws, classes, each, Random(f"places {seed} {number}")))


def _classes(draws: Draws) -> Generator[None, None, list[int]]:
    total: Tensor | None = None
    for _ in range(PILOT):
        yield None
        if drawn := draws.try_one():
            p = draws.probabilities(drawn[0])
            total = p if total is None else total + p
    if total is None:
        raise InputError(say("never_rejected"))
    top = total.topk(min(proof.CLASSES, len(total) - 1))
    return [token_id for token_id, p in zip(top.indices.tolist(), top.values.tolist(), strict=True) if p > 0]


def _batch(draws: Draws, classes: list[int], each: int, random: Random) -> Generator[None, None, proof.DrawBatch]:
    """`random` is of the places alone: they change nothing in what is drawn."""
    class_of = {token_id: place for place, token_id in enumerate(classes)}
    # What each way to decode wrote: how often each class, and each twentieth of the probability.
    counts = {way: ([0] * (len(classes) + 1), [0] * proof.PLACES) for way in ("speculative", "plain")}

    def add(way: str, p: Tensor, token_id: int) -> None:
        its_classes, places = counts[way]
        its_classes[class_of.get(token_id, len(classes))] += 1
        places[min(proof.PLACES - 1, int(proof.PLACES * place_of(p, token_id, random.random())))] += 1

    ids, expected = torch.tensor(classes, dtype=torch.long), torch.zeros(len(classes), dtype=torch.float64)
    done, tries = 0, 0
    while done < each:
        if tries >= PATIENCE * each:
            raise InputError(say("never_rejected"))
        tries += 1
        if drawn := draws.try_one():
            history, token_id = drawn
            done += 1
            p, alone = draws.probabilities(history), draws.plainly(history)
            expected += p[ids].double()
            add("speculative", p, token_id)
            add("plain", p, alone)
        yield None
    return proof.DrawBatch(
        tokens=[*map(draws.text_of, classes), "any other"],
        speculative=counts["speculative"][0],
        plain=counts["plain"][0],
        expected=[*expected.tolist(), max(0.0, each - float(expected.sum()))],
        speculative_places=counts["speculative"][1],
        plain_places=counts["plain"][1],
    )


def place_of(p: Tensor, token_id: int, v: float) -> float:
    """The place of this token in p, (vocabulary,), from 0 to 1; `v` is uniform. 1 for a token of probability 0."""
    own = p[token_id]
    before = p.double()[p > own].sum() + p.double()[:token_id][p[:token_id] == own].sum()
    return min(1.0, float(before) + v * float(own))


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

    def decided(self, place: int) -> tuple[Tensor, int]:
        """The logits after the first `place` tokens of the text, and how many tokens the pass read that decided them.

        Of the last pass that computed them.
        """
        covers = (one for one in reversed(self.passes) if one[0] < place <= one[0] + len(one[1]))
        before, logits, read = next(covers)
        return logits[place - 1 - before], read


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
) -> Iterator[proof.GreedyRow | None]:
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
    at, tie, dtype = first_difference(speculative, plain), None, target.info.dtype
    if at is not None:
        ids, (batched, read) = (plain[at], speculative[at]), speculative_model.decided(at)
        deciding = (
            ("one token", dtype, plain_model.decided(at)[0]),
            ("batched", dtype, batched),
            ("float32", "float32", next_logits(exact, plain[:at])),
        )
        tie = _near_tie(setup, plain[:at], ids, read, deciding)
    yield proof.GreedyRow(
        preset=preset,
        prompt=setup.prompt.text,
        target=target.name,
        draft=drafter.info.name,
        dtype=dtype,
        draft_length=settings.draft_length,
        tokens=len(plain) - len(start),
        same=len(plain) - len(start) if at is None else at - len(start),
        drafted=sum(len(round.drafted) for round in rounds),
        accepted=sum(round.accepted for round in rounds),
        near_tie=tie,
        tree=settings.tree,
    )


def _near_tie(
    setup: RunSetup, before: list[int], ids: tuple[int, int], read: int, deciding: Sequence[tuple[str, str, Tensor]]
) -> proof.NearTie:
    """The plain run's token and the speculative one's after the same text, with the logits that decided each way."""
    text = str(setup.target.tokens.decode(before, clean_up_tokenization_spaces=False))
    return proof.NearTie(
        position=len(before) - len(setup.prompt.token_ids),
        text=text[-TEXT_SHOWN:],
        plain_token=setup.token_texts[ids[0]],
        speculative_token=setup.token_texts[ids[1]],
        batch=read,
        ways=[proof.Contenders(way, kind, *map(float, logits[list(ids)])) for way, kind, logits in deciding],
    )
