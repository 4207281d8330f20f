"""The glossary: every word of the field that this app uses, in one sentence, and the step of the story that shows it.

One list, assets/texts/glossary.yaml, for the vocabulary of the Learn page and for the words that show their explanation
on other pages.
"""

import re
from dataclasses import dataclass
from html import escape
from typing import Literal

from specviz.core.languages import cache_by_language, current_language
from specviz.core.texts import AppTexts, Voices, Words

TipPicture = Literal["round", "full", "costs", "prefill", "speedup", ""]
Marked = Literal["drafted", "accepted", "rejected", "discarded", "correction", "bonus", "emitted", "judged", ""]
RUN = "round"  # the words' figures and pictures are from this recorded run
UNSPACED = ("zh", "ja", "th")  # languages that write no spaces between words
OWNED = r"(?<!’s )(?<!'s )(?<!its )"  # “the target’s own token” is any token that it writes, so a correction too


@dataclass(frozen=True, slots=True)
class GlossaryWord:
    name: str
    says: Voices
    lesson: str  # a step's name
    picture: TipPicture = ""
    marked: Marked = ""  # what is ringed in a picture of a round
    symbol: str = ""
    figure: str = ""  # a template: this word's figure in the recorded run
    also: tuple[str, ...] = ()  # other forms found in texts

    @property
    def id(self) -> str:
        return re.sub(r"[\W\d_]+", "-", self.name.lower()).strip("-")


glossary = AppTexts("glossary", tuple[GlossaryWord, ...])


@cache_by_language
def words_by_form() -> dict[str, GlossaryWord]:
    return {form.lower(): word for word in glossary() for form in (word.name, *word.also)}


@cache_by_language
def _pattern() -> re.Pattern[str]:
    forms = [
        f"{OWNED if form.startswith('own ') else ''}{re.escape(form)}"
        for form in sorted(words_by_form(), key=len)[::-1]
    ]
    part_of_word = "[A-Za-z0-9_-]" if current_language().startswith(UNSPACED) else r"[\w-]"
    return re.compile(f"(?<!{part_of_word})({'|'.join(forms)})(?!{part_of_word})", re.IGNORECASE)


def explained(text: str, key: str, words: Words = "technical") -> str:
    """The app's own text as HTML: a word of the glossary shows its explanation, once. `key` is unique on the page."""
    parts, seen, end = [], set(), 0
    for match in _pattern().finditer(text):
        word = words_by_form()[match.group().lower()]
        if word.name in seen:
            continue
        seen.add(word.name)
        tip = f"tip-{escape(key)}-{word.id}"
        parts += [
            escape(text[end : match.start()]),
            f'<button type="button" class="explained" aria-describedby="{tip}">{escape(match.group())}</button>'
            f'<span class="explanation" role="tooltip" id="{tip}">{escape(word.says.choose(words))}</span>',
        ]
        end = match.end()
    return "".join([*parts, escape(text[end:])])
