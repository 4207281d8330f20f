"""The engine's work for the game: a person's words as a draft, verified in one real round beside the rivals' drafts.

Nothing is saved between turns: each command holds the text so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from random import Random

from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.settings import DYNAMIC, MAX_DRAFT_LENGTH, DecodeSettings, PromptFormat
from specviz.core.steps import Steps
from specviz.core.texts import Sentences
from specviz.core.trace import DrafterInfo, Round, Trace
from specviz.decoding import (
    Draft,
    DraftContext,
    Drafter,
    PromptLookupDrafter,
    Proposer,
    SpeculativeRun,
    autoregressive_decode,
    fit_drafter,
)
from specviz.decoding.drafters.choose import Loaded, own_model
from specviz.decoding.run_setup import prompt_ids
from specviz.game.game import LOOKUP, OFFERS, GameRequest, Offer, Turn
from specviz.game.words import Guesses, ends_inside_word, guess_problem, joined, joined_guesses, tidy, whole_words
from specviz.measure.compare import next_logits
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import same_numbers, shared_vocabulary
from specviz.models.tokens import TokenTexts
from specviz.service import protocol as wire
from specviz.service.workshop import Workshop

say = Sentences("service")

OFFERED_TOKENS = 4  # about; whole words
RUNNERS_UP = 8  # of the target's next tokens, to make candidates from
MAX_PLACES = 10_000  # more than any text has tokens, so that each place has its own shuffle


class PersonDrafter(Drafter, Proposer):
    """Drafts what somebody typed, for one round; it is its own proposer."""

    info = DrafterInfo("person", "you")
    grows_trees = True

    def __init__(self, guesses: Guesses) -> None:
        self._guesses = guesses

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """The person's tokens, each with q = 1: a person names one or two continuations and no probabilities."""
        return Draft(self._guesses.token_ids, None, parents=self._guesses.parents)


def play_steps(command: wire.Play, workshop: Workshop) -> wire.JobSteps:
    """Raises InputError: what was typed cannot be played, or the text has grown too long."""
    target, drafts = yield from workshop.load_pair(command.job, command.request)
    draft = own_model(drafts)
    draft = draft if draft and same_numbers(target.tokens, draft.tokens) else None
    if not command.done:
        ask, request = command.ask, command.request
        place = _place(target, draft, request, ask)
        mine, cut = _drafted(target, place, ask)
        yield wire.RunStarted(command.job)
        trace, rivals = None, {}
        if ask.action != "offer":
            # The prompt itself where nothing is written yet, so that the trace holds it as it was given.
            start: str | list[int] = ask.text_ids or request.prompt
            trace = decode_round(target, PersonDrafter(mine), start, mine, request.settings.prompt_format)
            if ask.text_ids:
                trace = replace(trace, prompt=replace(trace.prompt, text=place.text))
            yield None
            if mine.token_ids:
                rivals = yield from _rivals(target, request.draft, drafts, place.text_ids, mine)
            place = place.after(target, trace.output.token_ids)
        turn = yield from _next_turn(target, draft, request, ask, place)
        yield wire.JobItem(command.job, "play", replace(turn, trace=trace, rivals=rivals, cut=cut))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the text is: what was asked, of a chat model in its own template, and the text that guesses continue."""

    asked: str  # of a chat; empty where all is one text
    asked_ids: list[int]
    own: str
    own_ids: list[int]

    @property
    def text(self) -> str:
        return self.asked + self.own

    @property
    def text_ids(self) -> list[int]:
        return [*self.asked_ids, *self.own_ids]

    def after(self, target: LoadedModel, written: list[int]) -> "Place":
        own_ids = [*self.own_ids, *written]
        return replace(self, own=_spelled(target, own_ids), own_ids=own_ids)


def _place(target: LoadedModel, draft: LoadedModel | None, request: RunRequest, ask: GameRequest) -> Place:
    vocabulary, read_as = shared_vocabulary(target, draft), request.settings.prompt_format
    text_ids = prompt_ids(target, ask.text_ids or request.prompt, vocabulary, read_as)
    if read_as == "raw":
        return Place("", [], _spelled(target, text_ids), text_ids)
    asked_ids = prompt_ids(target, request.prompt, vocabulary, read_as)
    return Place(request.prompt, asked_ids, "", []).after(target, text_ids[len(asked_ids) :])


def _rivals(target: LoadedModel, name: str, draft: Loaded, text: list[int], mine: Guesses) -> Steps[dict[str, Round]]:
    """What the other players would have had at the same place, with as many tokens: a model in a tree as deep, too.

    Prompt lookup has one guess a place: beside a tree it drafts a chain as deep.
    """
    drafters: dict[str, Drafter] = {name: fit_drafter(target, draft, DecodeSettings()), LOOKUP: PromptLookupDrafter()}
    rounds = {}
    for player, drafter in drafters.items():
        alike = mine if drafter.grows_trees else replace(mine, token_ids=mine.token_ids[: mine.depth], parents=None)
        rounds[player] = decode_round(target, drafter, text, alike).rounds[0]
        yield None
    return rounds


def decode_round(
    target: LoadedModel,
    drafter: Drafter,
    text: str | Sequence[int],
    like: Guesses,
    prompt_format: PromptFormat = "raw",
) -> Trace:
    """A run of one round, greedy, with a draft of as many tokens and as deep as these guesses, a tree if they are one.

    Its settings hold no more tokens than it wrote.
    """
    tree = f"{DYNAMIC}{len(like.token_ids)}" if like.parents else None
    length = max(like.depth, 1)
    settings = DecodeSettings(like.depth + 1, draft_length=length, tree=tree, prompt_format=prompt_format)
    run = SpeculativeRun(target, drafter, text, settings)
    next(iter(run.rounds()))
    trace = run.trace()
    written = len(trace.output.token_ids)
    stopped = trace.output.stopped_by or "length"
    settings, output = replace(settings, max_new_tokens=written), replace(trace.output, stopped_by=stopped)
    return replace(trace, settings=settings, output=output)


def _drafted(target: LoadedModel, place: Place, ask: GameRequest) -> tuple[Guesses, int]:
    """What the person drafts, at most 16 tokens a guess, and how many more there were."""
    if ask.action != "guess":
        return joined_guesses([]), 0
    guessed = partial(guess_ids, target, place.own_ids, inside_word=ask.joins, answers=bool(place.asked))
    lines = [list(ask.picked) or guessed(ask.guess)]
    if ask.other or ask.second.strip():
        lines.append(list(ask.other) or guessed(ask.second))
    cut = sum(max(0, len(line) - MAX_DRAFT_LENGTH) for line in lines)
    return joined_guesses([line[:MAX_DRAFT_LENGTH] for line in lines]), cut


def guess_ids(
    target: LoadedModel, text_ids: Sequence[int], guess: str, inside_word: bool = False, answers: bool = False
) -> list[int]:
    """A person's words in the target's tokens, as they go on after the text.

    The text's own tokens are final. Where the tokenizer splits text and words together at their boundary, that split is
    used. Where it would merge across the boundary, the words are split by themselves. A text that `answers` has no
    beginning of its own: a chat's prompt stands before it.
    """
    tokens = target.tokens
    if problem := guess_problem(guess, tokens.all_special_tokens):
        raise InputError(problem)
    before = _spelled(target, text_ids)
    added = joined(before, tidy(guess), inside_word)
    whole = list(tokens(before + added, split_special_tokens=True, add_special_tokens=not answers)["input_ids"])
    if whole[: len(text_ids)] == list(text_ids):
        token_ids = whole[len(text_ids) :]
    else:
        token_ids = list(tokens(added, split_special_tokens=True, add_special_tokens=False)["input_ids"])
    if not token_ids or _spelled(target, [*text_ids, *token_ids]) != before + added:
        raise InputError(say("no_tokens"))
    return token_ids


def _spelled(target: LoadedModel, token_ids: Sequence[int]) -> str:
    return str(target.tokens.decode(list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _next_turn(
    target: LoadedModel, draft: LoadedModel | None, request: RunRequest, ask: GameRequest, place: Place
) -> Steps[Turn]:
    text_ids = place.text_ids
    if target.end_ids.intersection(place.own_ids[-1:]) and len(text_ids) > 1:
        return Turn(place.text, text_ids, joins=False, ended=True)
    token_texts = TokenTexts(target.tokens)
    next_scores = next_logits(target, text_ids, draft)
    joins = ends_inside_word(place.own, token_texts[int(next_scores.argmax())])
    offers: list[Offer] = []
    if ask.offers:
        offers = yield from _offers(target, draft, text_ids, next_scores, request.settings.seed)
    return Turn(place.text, text_ids, joins, ended=False, offers=offers)


def _offers(
    target: LoadedModel, draft: LoadedModel | None, text_ids: list[int], next_scores: Tensor, seed: int
) -> Steps[list[Offer]]:
    """Candidates that differ, shuffled by the seed: both models' own words, a half-right one, and runners-up."""
    token_texts, ends = TokenTexts(target.tokens), target.end_ids
    runners_up: list[int] = next_scores.topk(min(RUNNERS_UP, len(next_scores))).indices.tolist()
    own = _goes_on(target, text_ids, [])
    second = next_logits(target, [*text_ids, *own[:1]]).topk(2).indices.tolist()[1:]
    starts: list[list[int]] = [[], [*own[:1], *second], *([token] for token in runners_up[1:])]
    lines = chain([own], (_goes_on(draft or target, text_ids, start) for start in starts if start or draft))
    found: dict[str, Offer] = {}
    for line in lines:
        yield None
        until = next((i for i, token in enumerate(line) if token in ends), len(line))
        words = line[: whole_words([token_texts[token] for token in line[:until]], OFFERED_TOKENS)] if until else []
        text = _spelled(target, words)
        if text.strip() and len(words) <= MAX_DRAFT_LENGTH:
            found.setdefault(text.strip().lower(), Offer(text, words))
        if len(found) == OFFERS:
            break
    rng = Random(seed * MAX_PLACES + len(text_ids))
    return [offer for _, offer in sorted(((rng.random(), offer) for offer in found.values()), key=lambda pair: pair[0])]


def _goes_on(model: LoadedModel, text_ids: list[int], first: list[int]) -> list[int]:
    settings = DecodeSettings(max_new_tokens=2 * OFFERED_TOKENS)
    return [*first, *autoregressive_decode(model, [*text_ids, *first], settings).output.token_ids]
