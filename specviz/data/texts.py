"""What the pages and the modules in the browser say; how texts are read is in `specviz.core.texts`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from specviz.core.files import BROWSER
from specviz.core.texts import AppTexts, NonEmptyText, Parts, fill
from specviz.core.texts import join_choices as join_choices

SAID = re.compile(r"\[\[(\w+)\]\]")  # in HTML: a text of its folder's table


def browser_texts(part: str) -> AppTexts[dict[str, NonEmptyText]]:
    """What the modules in one folder of assets/browser say."""
    return AppTexts(f"browser/{part}", dict[str, NonEmptyText], suffix=".json")


def quoted(text: str) -> str:
    """In the quotation marks of the reader's language."""
    return fill(browser_texts("shared")()["quoted"], {"text": text})


pages = AppTexts("pages", Parts)  # captions, helps, and in words what a figure or a table shows


class PageText(str):
    """A text of a page; what fills it is written as in every other text, also where only a translation needs that."""

    __slots__ = ()

    def format(self, *given: Any, **figures: Any) -> str:
        return fill(self, figures, *given)


@dataclass(frozen=True, slots=True)
class PageTexts(Mapping[str, str]):
    """One part of pages.yaml, in the language of who reads it: a module keeps it for visitors of every language."""

    part: str

    def __getitem__(self, name: str) -> str:
        return PageText(pages()[self.part][name])

    def __iter__(self) -> Iterator[str]:
        return iter(pages()[self.part])

    def __len__(self) -> int:
        return len(pages()[self.part])


def page_texts(part: str) -> Mapping[str, str]:
    """The texts of one part of pages.yaml, by name. What a text has in braces is filled in by the page."""
    return PageTexts(part)


def asset(name: str) -> str:
    """A file in assets/browser/, what it says in the language of who is to see it."""
    text = (BROWSER / name).read_text(encoding="utf-8")
    said = browser_texts(name.partition("/")[0])
    return SAID.sub(lambda mark: escape(said()[mark[1]]), text) if name.endswith(".html") else text
