"""The visitor's game: which one, and the place in it. No drawing."""

from dataclasses import dataclass, field

from specviz.data.prompts.workloads import Preset
from specviz.game.game import PROMPTS, GamePlan, Offer, Turn, is_over
from specviz.service.job import Items
from specviz.ui.shared.job_slot import JobSlot


@dataclass(slots=True)
class BeTheDraftState:
    plan: GamePlan = field(default_factory=GamePlan)
    place: int = 0  # which prompt; PROMPTS when the game is over
    games: list[list[Turn]] = field(default_factory=lambda: [[] for _ in range(PROMPTS)])  # turns, by prompt
    here: Turn | None = None  # the text as the engine last sent it; None at the prompt itself
    chosen: list[int] = field(default_factory=list)  # of the candidates: one, or two as two guesses
    two: bool = False  # whether two candidates may be chosen
    slot: JobSlot[Items[Turn]] = field(default_factory=lambda: JobSlot("play", Items))  # the turn being played
    typed: str = ""  # survives a visit to another page
    second: str = ""  # the same of a second guess
    name: str = ""  # for the table only
    message: str = ""  # why nothing was played
    tries: int = 0  # messages so far: each brings the caret back
    before: "BeTheDraftState | None" = None  # the previous game, which can be brought back
    linked: bool = False  # the address named the game
    ours: bool = True  # this server has checked all its rounds: a browser tab may hand back what nobody played
    begun: bool = False  # by the visitor: what the browser tab held is not wanted

    @property
    def over(self) -> bool:
        return self.place >= PROMPTS

    @property
    def preset(self) -> Preset:
        return self.plan.prompts[self.place]

    @property
    def turns(self) -> list[Turn]:
        return self.games[self.place]

    @property
    def all_turns(self) -> list[Turn]:
        return [turn for turns in self.games for turn in turns]

    @property
    def prompt_over(self) -> bool:
        return is_over(self.turns)

    @property
    def asked(self) -> str:
        """What a chat model is asked; empty where the text itself goes on."""
        return self.preset.text if self.plan.chats else ""

    @property
    def text(self) -> str:
        """The text that the next words continue: of a chat, the answer."""
        return (self.here.text if self.here else self.preset.text).removeprefix(self.asked)

    def is_game_of(self, plan: GamePlan) -> bool:
        return self.ours and self.plan == plan

    @property
    def offers(self) -> list[Offer]:
        return self.here.offers if self.here else []
