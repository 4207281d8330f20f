"""One tokenizer in both directions, for a draft and a target that share only the text."""

from collections.abc import Sequence

from specviz.models.tokens import Tokens

LOOK_BACK = 200  # characters tokenized again to see how a text continues: longer than any word
UNFINISHED = 3  # most tokens that can hold the start of a character: UTF-8 has up to four bytes a character
REPLACEMENT = "\ufffd"  # how decoding shows bytes that are not a character, or not yet


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
    """The number of tokens that two sequences have in common at their start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
