"""What `hide=` in a link can take away of a page: the names, which links depend on, and what each one is."""

from collections.abc import Iterable, Sequence

PARAMETER = "hide"
MAX_NAMES = 40  # of a link that are looked at
HIDEABLE = {
    "menu": "the menu of pages",
    "prompt": "the prompt",
    "target": "the menu of target models",
    "draft": "the menu of drafts",
    "temperature": "the temperature",
    "pairs": "the pairs worth trying",
    "more": "more settings: top-k, top-p, schedule, new tokens, seed, number format",
    "run": "“Run again” and “Undo”",
    "draft-length": "the draft length",
    "explanation": "the explanation of a token: p, q and what follows from them",
    "legend": "the legend of the marks",
    "timeline": "the timeline",
    "figures": "the small figures: acceptance, speedup, each draft length, positions",
    "copy-link": "“Copy link”",
    "result": "the result, what changed, and what was tried",
    "texts": "the texts of both decoders",
    "costs": "what checking several tokens costs",
    "files": "saving and opening a run",
    "views": "the buttons below: more, less, projector, task link",
}


def hidden_in(values: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    """The names that the lists of `hide` in a link hold, and those that there are not, in the order given."""
    named = [name.strip() for value in values for name in value.split(",", MAX_NAMES)[:MAX_NAMES]]
    known = frozenset(name for name in named if name in HIDEABLE)
    return known, list(dict.fromkeys(name for name in named if name and name not in HIDEABLE))


def written(names: Iterable[str]) -> str:
    chosen = frozenset(names)
    return ",".join(name for name in HIDEABLE if name in chosen)


def unknown_line(unknown: Sequence[str]) -> str:
    listed = ", ".join(name[:30] for name in unknown[:5])
    return f"hide={listed} names no control that a link can hide: ignored. The names are {', '.join(HIDEABLE)}."
