"""Drafting with a model of another tokenizer: the text it writes is split again into the target's tokens.

This is string-level matching, as in transformers' universal assisted generation (Timor et al. 2025, arXiv 2502.05202).
The draft's probabilities belong to other tokens than the target's, so q is unknown and only greedy decoding is offered:
there a guess is accepted if it is the target's own token, whatever made it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.texts import Sentences
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import Sampler
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import same_tokens, shared_vocabulary
from specviz.models.tokens import Tokens, TokenTexts

say = Sentences("decoding")

LOOK_BACK = 200  # characters tokenized again to see how a text continues: longer than any word
UNFINISHED = 3  # most tokens that can hold the start of a character: UTF-8 has up to four bytes a character
REPLACEMENT = "\ufffd"  # how decoding shows bytes that are not a character, or not yet
MOST_PER_TOKEN = 3  # draft tokens a round may take for each target token, beyond the first


class TextTokens:
    """What the tokens of one tokenizer spell, and how it splits a text."""

    def __init__(self, tokenizer: Tokens) -> None:
        self._tokenizer = tokenizer
        self._near: tuple[str, list[int]] = ("", [])  # the end of the last text that was extended, and its tokens

    def spell(self, token_ids: Sequence[int]) -> str:
        """The text of these tokens. Special tokens mean nothing to another model and are left out."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return str(self._tokenizer.decode(list(token_ids), **options))

    def spell_whole(self, token_ids: Sequence[int]) -> tuple[str, int]:
        """The text without an unfinished character at its end, and how many of the tokens spell it."""
        for length in range(len(token_ids), max(len(token_ids) - UNFINISHED, 0) - 1, -1):
            text = self.spell(token_ids[:length])
            if not text.endswith(REPLACEMENT):
                return text, length
        return self.spell(token_ids), len(token_ids)  # not the start of a character: bytes that never become one

    def split(self, text: str, special: bool = False) -> list[int]:
        """The tokens of a text; marks in it are text too. `special`: also those that the tokenizer puts around it."""
        options = {"add_special_tokens": special, "split_special_tokens": True, "verbose": False}
        return list(self._tokenizer(text, **options)["input_ids"])

    def open(self, text: str) -> list[int]:
        """The tokens of a text, with the special tokens before it (beginning of text) but not those after it."""
        tokens, around = self.split(text), self.split(text, special=True)
        before = next((n for n in range(len(around)) if around[n : n + len(tokens)] == tokens), 0)
        return around[:before] + tokens

    def extend(self, text: str, added: str) -> tuple[list[int], list[int]]:
        """How `added` changes the tokens of `text`: the last tokens that go, and those that replace them."""
        near = text[-LOOK_BACK:]
        if near != self._near[0]:
            self._near = near, self.split(near)
        before, after = self._near[1], self.split(near + added)
        same = common_length(before, after)
        return before[same:], after[same:]


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class TranslatedDrafter(Drafter):
    def __init__(self, loaded: LoadedModel, target: LoadedModel) -> None:
        self.loaded: LoadedModel | None = loaded
        self._model, self._target = loaded, target
        self._draft_tokens, self._target_tokens = TextTokens(loaded.tokens), TextTokens(target.tokens)
        self._token_texts = TokenTexts(loaded.tokens)
        self.info = loaded.info.make_drafter_info("model")

    def check(self, settings: DecodeSettings) -> None:
        if not settings.greedy:
            raise InputError(say("greedy_only", draft=self._model.name, target=self._target.name))

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """Also in the draft's tokenizer."""
        if not same_tokens(target.tokens, self._target.tokens):
            raise InputError(say("other_target", draft=self._model.name, target=target.name))
        self.check(settings)
        self.check_tree(settings)
        setup = set_up_run(target, None, prompt, settings)
        text, _ = self._target_tokens.spell_whole(setup.prompt.token_ids)
        length, room = len(self._draft_tokens.open(text)), self._model.context
        if length + settings.max_new_tokens > room:
            new, name = settings.max_new_tokens, self._model.name
            raise InputError(say("no_fit", count=length, new=new, model=name, context=room))
        return setup

    def begin(self, context: DraftContext) -> "TranslatedProposer":
        """Split the prompt into the draft's own tokens. A constraint is left to the target: it is about its tokens."""
        # A longer text may change tokens far back, so a sliding window keeps all of them.
        model = CachedModel(self._model, shared_vocabulary(self._model), whole=True)
        text, _ = self._target_tokens.spell_whole(context.setup.prompt.token_ids)
        writer = DraftWriter(model, context.sampler, self._draft_tokens, text, self._model)
        own, ends = self._target.tokens.eos_token_id, self._target.end_ids
        end_id = own if own in ends else min(ends, default=None)
        return TranslatedProposer(writer, self._target_tokens, self._token_texts, context.setup.vocabulary, end_id)


@dataclass
class TranslatedProposer(Proposer):
    """Turns the target's tokens into text for the draft, and the draft's text into the target's tokens."""

    _writer: "DraftWriter"
    _target_tokens: TextTokens
    _token_texts: TokenTexts
    _vocabulary: int
    _end_id: int | None

    def read_prompt(self) -> Iterator[None]:
        yield from self._writer.read_prompt()

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """At most `count` tokens of the target, made from as many draft tokens as they take.

        The draft writes until one token more is there: the last one may be only the start of a longer token.
        """
        text, spelled = self._target_tokens.spell_whole(token_ids)
        self._writer.follow(text)
        written: list[int] = []  # draft tokens
        guesses: list[int] = []  # target tokens
        while count and len(guesses) <= count and len(written) < MOST_PER_TOKEN * (count if guesses else 1) + count:
            token_id = self._writer.guess(len(written))
            if token_id is None:
                break
            written.append(token_id)
            guesses = self._continue(text, token_ids[spelled:], *self._writer.added(len(written)))
        return Draft(guesses[:count], None, [self._token_texts[token_id] for token_id in written])

    def _continue(self, text: str, started: Sequence[int], added: str, ended: bool) -> list[int]:
        """The target's tokens for `added` after `text`; the target has already written `started` of them.

        Empty if the tokenizer would split `text` in another way once it knows what follows. The tokens that the target
        wrote then show that it is about to write something else.
        """
        gone, new = self._target_tokens.extend(text, added)
        if gone or new[: len(started)] != list(started):
            return []
        end = [self._end_id] if ended and self._end_id is not None else []
        return list(takewhile(lambda token_id: token_id < self._vocabulary, new[len(started) :] + end))


class DraftWriter:
    """The draft model at work in its own tokens: it continues a text and reads no token of it twice."""

    def __init__(
        self, model: CachedModel, sampler: Sampler, tokens: TextTokens, text: str, loaded: LoadedModel
    ) -> None:
        self._model = model
        self._sampler = sampler
        self._tokens = tokens
        self._ends = loaded.end_ids
        self._context = loaded.context
        self._text = text  # the text that was split last
        self._text_ids = tokens.open(text)  # its tokens
        self._spelled = tokens.spell(self._text_ids)  # what they spell: the text, or as much of it as they can
        self._ids = list(self._text_ids)  # the same, then the guesses that nothing has contradicted yet
        self._known = len(self._ids)  # how many of them are known to be part of the text as whole tokens
        self._past = 0  # characters of the guesses that the text contains by now

    def read_prompt(self) -> Iterator[None]:
        yield from self._model.prefill_steps(self._ids[:-1])

    def follow(self, text: str) -> None:
        """Take note of how the text continued. The cache and the guesses keep what is still true of it."""
        if self._foresaw(text):
            return
        self._text_ids = self._split(text)
        self._spelled = self._tokens.spell(self._text_ids)
        self._text, self._past, self._known = text, 0, len(self._text_ids)
        same = common_length(self._ids, self._text_ids)
        if same < len(self._text_ids):  # otherwise the text continued as guessed, and the other guesses stay
            self._ids = list(self._text_ids)
            self._model.crop(same)

    def guess(self, place: int) -> int | None:
        """The token after the text and `place` earlier guesses; None after an end of text or without room."""
        at = self._known + place
        if at > len(self._text_ids) and self._ids[at - 1] in self._ends:
            return None
        if at == len(self._ids):
            if not at or at > self._context:
                return None
            scores = self._sampler.scores(self._model.read(self._ids[self._model.length :])[-1:])
            self._ids.append(self._sampler.choose(scores[0]))
        return self._ids[at]

    def added(self, guesses: int) -> tuple[str, bool]:
        at = self._known + guesses
        return self._guessed(at)[self._past :], self._ids[at - 1] in self._ends

    def _guessed(self, at: int) -> str:
        """What the first `at` tokens spell after the text that was split last: whole characters, up to broken bytes."""
        after, _ = self._tokens.spell_whole(self._ids[:at])
        return after[len(self._spelled) :].split(REPLACEMENT)[0] if after.startswith(self._spelled) else ""

    def _foresaw(self, text: str) -> bool:
        """Whether the guesses contain all of the text and more. They stay, even if the text ends inside one of them."""
        fresh = text.removeprefix(self._text)
        guessed = self._guessed(len(self._ids))
        if self._text + fresh != text or len(guessed) <= len(fresh) or not guessed.startswith(fresh):
            return False
        self._past = len(fresh)
        while len(self._guessed(self._known + 1)) <= self._past:
            self._known += 1
        return True

    def _split(self, text: str) -> list[int]:
        """The tokens of the text; if it only became longer, made from the tokens of the earlier text."""
        if self._text and text.startswith(self._text):
            gone, new = self._tokens.extend(self._text, text[len(self._text) :])
            same = len(self._text_ids) - len(gone)
            if self._text_ids[same:] == gone:
                return self._text_ids[:same] + new
        return self._tokens.open(text)
