"""What is there to translate, and what is wrong with a translation: missing, outdated, other figures, other terms."""

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.languages import ENGLISH, Entries, Entry, languages, locale, translation
from specviz.core.texts import PLURALS, AppTexts, TextFile, places

# The program's own names, which stand in these files beside the texts; in the others all is text.
STRUCTURE: Mapping[str, frozenset[str]] = {
    "story": frozenset({"name", "trace", "asks_at", "reveals_at", "focus", "picture"}),
    "questions": frozenset({"name", "trace", "source", "page", "link", "cites", "measured"}),
    "glossary": frozenset({"lesson", "picture", "marked", "symbol"}),
    "tour": frozenset({"until", "place", "phase", "lights", "page"}),
    "family": frozenset({"name", "measured"}),
    "roofline": frozenset({"name", "shows"}),
    "workloads": frozenset({"name", "prompts", "more_prompts", "grammar"}),
    "chat_workloads": frozenset({"name", "prompts", "more_prompts"}),
    "tables/settings": frozenset({"metavar", "option_help", "most_in_words"}),
    "tables/methods": frozenset({"kind", "module", "loads", "names", "colour", "symbol"}),
    "tables/rules": frozenset({"name", "pieces", "position"}),
    "tables/pairs": frozenset({"models", "target", "draft", "lesson", "place"}),
    # of the exercises, a page shows what is said of a wrong rule of acceptance
    "lab": frozenset(
        {"acceptance_chance", "leftover", "expected_tokens", "best_draft_length", "prompt_lookup", "walk_tree"}
    )
    | {"speculative_decode", "title", "hint"},
    "lessons/ten-minutes": frozenset({"link"}),
    "lessons/fifty-minutes": frozenset({"link"}),
}
_FIGURES = {"p": "per cent", "h": "a number out of a hundred", "w": "a small number in words", "f": "a number"}
ANY_FORMS = ("one", "…", "other")  # where the language is not known
TERMS = "terms"  # of a language: the words for the field's terms, by the English ones


@dataclass(frozen=True, slots=True)
class Translation:
    """One file of texts in one language."""

    code: str
    name: str
    english: Sequence[tuple[str, str]]  # place and text
    entries: Entries
    terms: Mapping[str, Sequence[str]]

    @property
    def missing(self) -> list[str]:
        return [
            place for place, text in self.english if not (entry := self.entries.get((place, text))) or not entry.text
        ]

    def problems(self) -> Iterator[str]:
        today = set(self.english)
        for key, entry in self.entries.items():
            if key not in today or entry.outdated:
                yield self._describe(entry.place, "the English text has changed since, so it is shown")
            elif entry.text:
                yield from (self._describe(entry.place, said) for said in self._problems_of(*key, entry))

    def _problems_of(self, place: str, english: str, entry: Entry) -> Iterator[str]:
        try:
            given, wanted = _figures(entry.text), _figures(english)
        except ValueError:
            yield "a brace is alone"
            return
        for name in sorted(given ^ wanted):
            yield f"{{{name}}} is {'missing' if name in wanted else 'not in the English text'}"
        forms = forms_of(self.code)
        for _, figure, how, _ in string.Formatter().parse(entry.text):
            if 1 < len((how or "").split("|")) < len(forms):
                yield f"{{{figure}:{how}}} needs a word for each count: {{{figure}:{'|'.join(forms)}}}"
        words_only = _words_of(english)
        for term, words in self.terms.items() if not place.endswith("/plain") else ():
            if f" {term} " in words_only and not any(word.lower() in entry.text.lower() for word in words):
                yield f"“{term}” is {' or '.join(f'“{word}”' for word in words)} in this language"

    def _describe(self, place: str, problem: str) -> str:
        return f"{self.code}/{self.name}.po, {place}: {problem}."


def texts_to_translate(file: TextFile[Any], name: str) -> list[tuple[str, str]]:
    """The texts of a file that people read, each once with its place."""
    found = [
        (place, node.value)
        for place, node in places(file.node)
        if node.tag == "tag:yaml.org,2002:str" and not STRUCTURE.get(name, frozenset()) & {*place.split("/")}
        if _is_language(node.value)
    ]
    return list(dict.fromkeys(found))


@cache
def forms_of(code: str) -> list[str]:
    """The plural categories of whole numbers, in the CLDR's order: a word for a count has a form for each."""
    category_of = locale(code).plural_form
    found = {category_of(number) for number in range(200)}
    return [category for category in (*PLURALS, "other") if category in found]


def explain_figures(text: str, forms: Sequence[str] = ANY_FORMS) -> str:
    """What each figure in a text is, for who translates it; empty where it names none."""
    kinds: dict[str, str] = {}
    for _, name, how, conversion in string.Formatter().parse(text):
        if name and "|" not in (how or ""):
            kinds[name] = _FIGURES.get(conversion or (how or "")[-1:], "a text or a whole number")
        elif name and len(forms) > 1:
            kinds[f"{name}:{'|'.join(forms)}"] = "a word for each of these counts"
    return "; ".join(f"{{{name}}}: {kind}" for name, kind in kinds.items())


def _is_language(text: str) -> bool:
    """Whether it has words, or the signs between figures: a full stop is another one in Chinese."""
    own = _without_figures(text).strip()
    return any(map(str.isalpha, own)) or bool(own and own != text.strip())


def translations(texts: Sequence[AppTexts[Any]], folder: Path = TEXTS) -> Iterator[Translation]:
    for code in languages(folder):
        if code != ENGLISH:
            terms = terms_of(folder, code)
            for each in texts:
                english = texts_to_translate(each.read(folder), each.name)
                yield Translation(code, each.name, english, translation(folder, each.name, code), terms)


def terms_of(folder: Path, code: str) -> dict[str, list[str]]:
    """The language's own words for the field's terms, those that a translation may use for each."""
    path = folder / code / f"{TERMS}.yaml"
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return {str(term): [words] if isinstance(words, str) else [*map(str, words)] for term, words in found.items()}
    except (OSError, ValueError, AttributeError, TypeError, yaml.YAMLError) as error:
        raise InputError(f"{code}/{TERMS}.yaml has no words by English term.") from error


def _figures(text: str) -> set[str]:
    """The figures that a text names, each as it is written there; words for one and for several may differ."""
    return {
        f"{name}{(conversion and f'!{conversion}') or ''}{f':{how}' if how and '|' not in how else ''}"
        for _, name, how, conversion in string.Formatter().parse(text)
        if name is not None
    }


def _without_figures(text: str) -> str:
    try:
        return "".join(
            before + (how or "" if "|" in (how or "") else "") for before, _, how, _ in string.Formatter().parse(text)
        )
    except ValueError:
        return text


def _words_of(text: str) -> str:
    """In small letters, each with a space before and after it."""
    return "".join(letter if letter.isalnum() else " " for letter in f" {_without_figures(text).lower()} ")
