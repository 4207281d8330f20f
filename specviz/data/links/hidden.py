"""How much a page shows: a link's view, and what its `hide=` takes away, by the names in assets/texts/hidden.yaml."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from specviz.core.texts import AppTexts, NonEmptyText, join_choices
from specviz.data.texts import page_texts

View = Literal["simple", "full", "projector", "stage"]  # how much is shown around the tokens
VIEWS: tuple[View, ...] = get_args(View)
PARAMETER = "hide"
MAX_NAMES = 40  # of a link that are looked at
hidden_texts = AppTexts("hidden", dict[str, NonEmptyText])  # by name
HIDEABLE = tuple(hidden_texts.read().content)


def hidden_in(values: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    """The names that the lists of `hide` in a link hold, and those that there are not, in the order given."""
    named = [name.strip() for value in values for name in value.split(",", MAX_NAMES)[:MAX_NAMES]]
    known = frozenset(name for name in named if name in HIDEABLE)
    return known, list(dict.fromkeys(name for name in named if name and name not in HIDEABLE))


def written(names: Iterable[str]) -> str:
    chosen = frozenset(names)
    return ",".join(name for name in HIDEABLE if name in chosen)


def unknown_line(unknown: Sequence[str]) -> str:
    listed = join_choices([name[:30] for name in unknown[:5]], "and")
    return page_texts("links")["unknown_hidden"].format(names=listed, known=join_choices([*HIDEABLE], "and"))
