"""A game as a text that its player's browser holds, and back. What comes back is checked: anyone can send it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, TypeAdapter

from specviz.core.csv_cells import csv_text, safe_cell
from specviz.core.errors import InputError
from specviz.core.metrics import count
from specviz.core.outside import MostItems, check_density
from specviz.core.trace import UPLOAD, check_trace
from specviz.data.links.page_link import one_of
from specviz.data.texts import page_texts
from specviz.game import game as rules
from specviz.game.words import MAX_CHARACTERS, MOST_GUESSES, branches, draft_text

MAX_NAME = 60
GAME = ("seed", "set", "mode")
FIGURES = ("drafted", "accepted", "rejected", "discarded", "emitted")


def game_csv(plan: rules.GamePlan, games: Sequence[Sequence[rules.Turn]], name: str = "") -> str:
    """The scored rounds of a game as CSV.

    Columns: name (the visitor's own, may be empty), seed, set, mode, prompt (the preset's name), round from 1 on each
    prompt, draft (the visitor's tokens as text, two guesses with " / " between them); then for each of you, model
    (the rival) and lookup (prompt lookup), at the same place and with as many tokens: drafted, accepted, rejected,
    discarded, emitted (one target call each); then target, prompt_format and rival (a draft's name).
    """
    columns = [f"{prefix}_{figure}" for prefix in ("you", "model", "lookup") for figure in FIGURES]
    game, models = [str(plan.seed), plan.set, plan.mode], [plan.target, plan.prompt_format, plan.rival]
    rows = [["name", *GAME, "prompt", "round", "draft", *columns, "target", "prompt_format", "rival"]]
    for preset, turns in zip(plan.prompts, games, strict=False):
        played = zip(*(rules.rounds_of(turns, player) for player in (rules.YOU, plan.rival, rules.LOOKUP)), strict=True)
        for number, rounds in enumerate(played, start=1):
            own = [safe_cell(name[:MAX_NAME]), *game, preset.name, str(number)]
            figures = [str(getattr(count([round]), figure)) for round in rounds for figure in FIGURES]
            rows.append([*own, safe_cell(draft_text(rounds[0])), *figures, *models])
    return csv_text(rows)


SAYS = page_texts("be_the_draft")
PLAN = tuple(rules.GamePlan.model_fields)  # what its link names
Turns = Annotated[list[rules.Turn], MostItems(rules.MAX_TURNS)]


@dataclass(frozen=True, slots=True)
class SavedGame:
    link: Annotated[
        dict[Annotated[str, one_of(PLAN)], Annotated[str, Field(max_length=MAX_NAME)]], MostItems(len(PLAN))
    ]
    place: Annotated[int, Field(ge=0, le=rules.PROMPTS)] = 0
    games: Annotated[list[Turns], MostItems(rules.PROMPTS), Field(min_length=rules.PROMPTS)] = field(
        default_factory=lambda: [[] for _ in range(rules.PROMPTS)]
    )
    typed: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""
    name: Annotated[str, Field(max_length=MAX_NAME)] = ""
    second: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""  # typed as another guess

    @property
    def plan(self) -> rules.GamePlan:
        return rules.plan_from_link(self.link)[0]


_GAME: TypeAdapter[SavedGame] = TypeAdapter(SavedGame)


def dump_game(game: SavedGame) -> str:
    return _GAME.dump_json(game).decode()


def load_game(text: str) -> SavedGame:
    try:
        raw = text.encode()
        check_density(raw, "trace")
        game = _GAME.validate_json(raw, strict=True)
    except ValueError:  # half a character, too many values, or another type
        raise InputError(SAYS["not_read"]) from None
    if rules.plan_from_link(game.link)[1] or not all(
        _possible(turns, preset.text, game.plan.rival)
        for turns, preset in zip(game.games, game.plan.prompts, strict=True)
    ):
        raise InputError(SAYS["not_read"])
    return game


def _possible(turns: list[rules.Turn], prompt: str, rival: str) -> bool:
    """Whether these turns can be of one text: each is one round after it, and together they are a valid run."""
    if any(rules.is_over(turns[:played]) for played in range(len(turns))):
        return False
    for turn in turns:
        trace, rivals = turn.trace, {rival, rules.LOOKUP} if turn.scored else set[str]()
        if trace is None or len(trace.rounds) != 1 or trace.drafter is None or not rivals <= set(turn.rivals):
            return False
        if trace.rounds[0].is_tree and len(branches(trace.rounds[0])) != MOST_GUESSES:
            return False
        if not trace.prompt.text.startswith(prompt) or not turn.text.startswith(prompt):
            return False
    runs = [rules.run_of(turns), *(turn.trace for turn in turns)]
    try:
        return all(check_trace(run, UPLOAD) for run in runs if run)
    except InputError:
        return False
