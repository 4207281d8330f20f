"""Drafting with a model of another tokenizer: what it writes is cut anew into the target's tokens.

String-level matching, as in transformers' universal assisted generation (Timor et al. 2025, arXiv 2502.05202). The
probabilities of the draft are of other tokens than the target's, so q is unknown and only greedy decoding is offered:
there a guess is kept if it is the target's own token, whatever made it.
"""

from collections.abc import Sequence
from itertools import takewhile

from transformers import PreTrainedTokenizerBase

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.trace import DrafterInfo
from specviz.decoding.constraints import LogitsConstraint
from specviz.decoding.drafters import Draft, Drafter, ModelDrafter, PromptLookupDrafter
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import Sampler
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import same_tokens, shared_vocabulary
from specviz.models.token_texts import TokenTexts

LOOK_BACK = 200  # characters cut again to see how a text goes on: more than a word, so that its cut is the whole text's
UNFINISHED = 3  # most tokens a started character can lie in: UTF-8 has up to four bytes a character
MOST = 3  # draft tokens a round may take for each target token, beyond the first
REPLACEMENT = "\ufffd"  # how decoding shows bytes that are no character, or not yet


def make_drafter(target: LoadedModel, draft: LoadedModel | None, settings: DecodeSettings) -> Drafter:
    """The drafter that fits the pair: token for token where the tokenizers are equal, else by way of the text.

    Args:
        target: the model whose output is wanted.
        draft: the draft model; None is prompt lookup.
        settings: of the run to come.

    Raises:
        InputError: the tokenizers differ and the settings ask for sampling.
    """
    if draft is None:
        return PromptLookupDrafter()
    if same_tokens(target.tokenizer, draft.tokenizer):
        return ModelDrafter(draft)
    drafter = TranslatedDrafter(draft, target)
    drafter.check(settings)
    return drafter


class TextTokens:
    """One tokenizer's two directions: what its tokens spell, and how it cuts a text."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._near: tuple[str, list[int]] = ("", [])  # the end of the last text that was extended, and its tokens

    def spell(self, token_ids: Sequence[int]) -> str:
        """Their text; special tokens mean nothing to another model and spell nothing."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return str(self._tokenizer.decode(list(token_ids), **options))

    def spell_whole(self, token_ids: Sequence[int]) -> tuple[str, int]:
        """Their text but for a character only started at its end, and how many of the tokens it takes."""
        for kept in range(len(token_ids), max(len(token_ids) - UNFINISHED, 0) - 1, -1):
            text = self.spell(token_ids[:kept])
            if not text.endswith(REPLACEMENT):
                return text, kept
        return self.spell(token_ids), len(token_ids)  # no start of a character: bytes that never become one

    def cut(self, text: str, special: bool = False) -> list[int]:
        """Its tokens; `special` adds those the tokenizer puts around a text. One spelled out is text like any other."""
        options = {"add_special_tokens": special, "split_special_tokens": True, "verbose": False}
        return list(self._tokenizer(text, **options)["input_ids"])

    def open(self, text: str) -> list[int]:
        """Its tokens after those that stand before every text, such as a beginning of text; none that would end it."""
        tokens, around = self.cut(text), self.cut(text, special=True)
        before = next((n for n in range(len(around)) if around[n : n + len(tokens)] == tokens), 0)
        return around[:before] + tokens

    def extend(self, text: str, added: str) -> tuple[list[int], list[int]]:
        """What `added` changes in the tokens of `text`: the last ones that go, and what takes their place."""
        near = text[-LOOK_BACK:]
        if near != self._near[0]:
            self._near = near, self.cut(near)
        before, after = self._near[1], self.cut(near + added)
        same = common_length(before, after)
        return before[same:], after[same:]


class TranslatedDrafter:
    """Drafts with a model whose tokenizer is not the target's; greedy only."""

    def __init__(self, loaded: LoadedModel, target: LoadedModel) -> None:
        self.loaded: LoadedModel | None = loaded
        self._model, self._target = loaded, target
        self._theirs, self._ours = TextTokens(loaded.tokenizer), TextTokens(target.tokenizer)
        self._token_texts = TokenTexts(loaded.tokenizer)
        made = loaded.info
        self.info = DrafterInfo("model", made.name, made.parameters, made.dtype, made.weights_hash)

    def check(self, settings: DecodeSettings) -> None:
        """Refuse to sample.

        Raises:
            InputError: the settings ask for it.
        """
        if not settings.greedy:
            raise InputError(
                f"{self._model.name} can draft for {self._target.name} at temperature 0 only, because their tokenizers "
                "differ; to sample, use a draft with the target's tokenizer or prompt lookup."
            )

    def open(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """What `set_up_run` does for models that share their tokens: tokenise and check, in both tokenizers.

        Raises:
            InputError: see `check` and `set_up_run`; or the target's tokenizer is another one.
        """
        if not same_tokens(target.tokenizer, self._target.tokenizer):
            raise InputError(f"{self._model.name} was made to draft for {self._target.name}, not for {target.name}.")
        self.check(settings)
        setup = set_up_run(target, None, prompt, settings)
        length, room = len(self._open(setup.prompt.token_ids)), self._model.context
        if length + settings.max_new_tokens > room:
            raise InputError(
                f"The prompt ({length} tokens as {self._model.name} cuts it) and {settings.max_new_tokens} new tokens "
                f"do not fit its context window of {room} tokens."
            )
        return setup

    def begin(
        self, prompt: Sequence[int], vocabulary: int, sampler: Sampler, constraint: LogitsConstraint | None
    ) -> "TranslatedProposer":
        """Read the prompt in the draft's own tokens. A constraint is the target's to keep: it speaks of its tokens."""
        model = CachedModel(self._model, shared_vocabulary(self._model), whole=True)  # a new cut may change old tokens
        text, _ = self._ours.spell_whole(prompt)
        writer = DraftWriter(model, sampler, self._theirs, text, self._model.end_ids, self._model.context)
        return TranslatedProposer(writer, self._ours, self._token_texts, vocabulary, _end_id(self._target))

    def _open(self, prompt: Sequence[int]) -> list[int]:
        text, _ = self._ours.spell_whole(prompt)
        return self._theirs.open(text)


class TranslatedProposer:
    """Turns the target's tokens into text for the draft, and the draft's text into the target's tokens."""

    def __init__(
        self, writer: "DraftWriter", ours: TextTokens, token_texts: TokenTexts, vocabulary: int, end_id: int | None
    ) -> None:
        self._writer = writer
        self._ours = ours
        self._token_texts = token_texts
        self._vocabulary = vocabulary
        self._end_id = end_id

    def propose(self, text: Sequence[int], count: int) -> Draft:
        """At most `count` tokens of the target's, from as many of the draft's as these take.

        One more is waited for: the last one may only be the start of another, longer token.
        """
        known, spelled = self._ours.spell_whole(text)
        self._writer.follow(known)
        guesses: list[int] = []
        token_ids: list[int] = []
        while count and len(token_ids) <= count and len(guesses) < MOST * (count if token_ids else 1) + count:
            guess = self._writer.guess(len(guesses))
            if guess is None:
                break
            guesses.append(guess)
            token_ids = self._continue(known, text[spelled:], *self._writer.added(len(guesses)))
        return Draft(token_ids[:count], None, [self._token_texts[guess] for guess in guesses])

    def _continue(self, known: str, started: Sequence[int], added: str, ended: bool) -> list[int]:
        """The target's tokens for `added` after `known`, of which the text has `started` some already.

        Nothing where its tokenizer would have cut the text so far in another way had it known how it goes on: what the
        target wrote then shows that it is about to say something else.
        """
        gone, new = self._ours.extend(known, added)
        if gone or new[: len(started)] != list(started):
            return []
        end = [self._end_id] if ended and self._end_id is not None else []
        return list(takewhile(lambda token_id: token_id < self._vocabulary, new[len(started) :] + end))

    def commit(self, length: int) -> None:
        """What holds of the guesses is found from the text, before the next ones."""


class DraftWriter:
    """The draft model at work in its own tokens: continues a text, and reads no token of it twice."""

    def __init__(
        self, model: CachedModel, sampler: Sampler, tokens: TextTokens, text: str, ends: frozenset[int], context: int
    ) -> None:
        self._model = model
        self._sampler = sampler
        self._tokens = tokens
        self._ends = ends
        self._context = context
        self._text = text  # the text as last cut
        self._cuts = tokens.open(text)  # its tokens
        self._spelled = tokens.spell(self._cuts)  # what they spell: the text, or as much of it as they can say
        self._ids = list(self._cuts)  # the same, and the guesses after them that nothing has contradicted yet
        self._known = len(self._ids)  # how many of them the text is known to hold, whole
        self._past = 0  # characters of the guesses that the text has since been found to hold
        model.prefill(self._ids[:-1])  # the last one is never read: the next guess starts from it

    def follow(self, text: str) -> None:
        """Take note of how the text went on. Of the cache and the guesses stays what still stands in it."""
        if self._foresaw(text):
            return
        self._cuts = self._cut(text)
        self._spelled = self._tokens.spell(self._cuts)
        self._text, self._past, self._known = text, 0, len(self._cuts)
        same = common_length(self._ids, self._cuts)
        if same < len(self._cuts):  # otherwise it went on as guessed so far, and the other guesses stand
            self._ids = list(self._cuts)
            self._model.crop(same)

    def guess(self, place: int) -> int | None:
        """The token it expects after the text and the `place` guesses before; None after an end, or out of room."""
        at = self._known + place
        if at > len(self._cuts) and self._ids[at - 1] in self._ends:
            return None
        if at == len(self._ids):
            if not at or at > self._context:
                return None
            scores = self._sampler.scores(self._model.read(self._ids[self._model.length :])[-1:])
            self._ids.append(self._sampler.choose(scores[0]))
        return self._ids[at]

    def added(self, guesses: int) -> tuple[str, bool]:
        """What that many guesses add to the text, and whether they end it."""
        at = self._known + guesses
        return self._guessed(at)[self._past :], self._ids[at - 1] in self._ends

    def _guessed(self, at: int) -> str:
        """What the first `at` tokens say beyond the text as last cut: whole characters, up to bytes that are none."""
        after, _ = self._tokens.spell_whole(self._ids[:at])
        return after[len(self._spelled) :].split(REPLACEMENT)[0] if after.startswith(self._spelled) else ""

    def _foresaw(self, text: str) -> bool:
        """Whether the guesses hold all of the text and more: then they stand, though it may end inside one of them."""
        fresh = text.removeprefix(self._text)
        guessed = self._guessed(len(self._ids))
        if self._text + fresh != text or len(guessed) <= len(fresh) or not guessed.startswith(fresh):
            return False
        self._past = len(fresh)
        while len(self._guessed(self._known + 1)) <= self._past:
            self._known += 1
        return True

    def _cut(self, text: str) -> list[int]:
        """The tokens of the text, from those of what it was before where it only went on."""
        if self._text and text.startswith(self._text):
            gone, new = self._tokens.extend(self._text, text[len(self._text) :])
            kept = len(self._cuts) - len(gone)
            if self._cuts[kept:] == gone:
                return self._cuts[:kept] + new
        return self._tokens.open(text)


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _end_id(target: LoadedModel) -> int | None:
    """The token a target most likely ends its text with."""
    own = target.tokenizer.eos_token_id
    return own if own in target.end_ids else min(target.end_ids, default=None)
