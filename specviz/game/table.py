"""A game as a CSV table: one row for each scored round, so that a class can collect them."""

import csv
import io
from collections.abc import Sequence

from specviz.core.csv_cells import safe_cell
from specviz.core.metrics import Counts, count
from specviz.game.game import LOOKUP, MODEL, YOU, Plan, Turn, rounds_of
from specviz.game.guesses import draft_text

MAX_NAME = 60
PREFIXES = {YOU: "you", MODEL: "model", LOOKUP: "lookup"}


def game_csv(plan: Plan, games: Sequence[Sequence[Turn]], name: str = "") -> str:
    """The scored rounds of a game as CSV.

    Columns: name (the visitor's own, may be empty), seed, set, mode, prompt (the preset's name), round from 1 on each
    prompt, draft (the visitor's tokens as text, two guesses with " / " between them); then for each of you, model
    (wren-nano) and lookup (prompt lookup), at the same place and with as many tokens: drafted, accepted, rejected,
    discarded, emitted (one target call each).
    """
    rows = [
        {
            "name": safe_cell(name[:MAX_NAME]),
            **plan.link,
            "prompt": preset.name,
            "round": number,
            "draft": safe_cell(draft_text(rounds_of(turns, YOU)[number - 1])),
            **_figures(turns, number - 1),
        }
        for preset, turns in zip(plan.prompts, games, strict=False)
        for number in range(1, len(rounds_of(turns, YOU)) + 1)
    ]
    written = io.StringIO()
    columns = ["name", *plan.link, "prompt", "round", "draft", *_columns()]
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


FIGURES = ("drafted", "accepted", "rejected", "discarded", "emitted")


def _columns() -> list[str]:
    return [f"{prefix}_{figure}" for prefix in PREFIXES.values() for figure in FIGURES]


def _figures(turns: Sequence[Turn], index: int) -> dict[str, int]:
    of: dict[str, Counts] = {prefix: count([rounds_of(turns, player)[index]]) for player, prefix in PREFIXES.items()}
    return {f"{prefix}_{figure}": getattr(counts, figure) for prefix, counts in of.items() for figure in FIGURES}
