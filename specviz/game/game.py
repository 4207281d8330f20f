"""The game of being the draft: its prompts, its turns as the engine plays them, and who scored what.

Pure data and functions: no Streamlit, of models their names only. `specviz.service.handlers.play` plays a turn, the
page stores the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import TypeAdapter, ValidationError

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import InputError
from specviz.core.metrics import Counts, count
from specviz.core.outside import MostItems
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.rounds import Round, TokenId
from specviz.core.settings import DYNAMIC, MAX_DRAFT_LENGTH, DecodeSettings, PromptFormat
from specviz.core.trace import Output, Trace
from specviz.data.links.page_link import PageLink, Params, expecting, expecting_one_of, one_of, written
from specviz.data.links.permalink import MAX_SEED, Seed
from specviz.data.prompts.workloads import CHAT_WORKLOADS, Preset, Workload, find_workload
from specviz.data.texts import page_texts
from specviz.models.catalogue import bundled_heads
from specviz.models.draft_menu import HUB_NAMES, draft_for, offered_names, reads_chats
from specviz.models.gguf_folder import SMOLLM2

PROMPTS = 3  # in a game
ROUNDS = 5  # scored, on each prompt
MAX_TURNS = 15  # on a prompt, skipped ones too: the text has to fit the target's window
MAX_TEXT_TOKENS = 4096
OFFERS = 5
DEFAULT_SEED = 0  # its first text is not the one that Watch shows first
LINK_SEED = 3  # of a link that names none, as it always was
SETS = ("story", "prose", "copy", "random")  # kinds of text that continue on the same line
CHAT_SETS = tuple(workload.name for workload in CHAT_WORKLOADS)  # what chat models are asked

YOU, MODEL, LOOKUP = "you", DEFAULT_DRAFT, "prompt lookup"
PLAYERS = (YOU, MODEL, LOOKUP)  # on the default target; on others another draft may have the model's place
Player = Annotated[str, one_of(lambda: (*PLAYERS, *bundled_heads()))]

LINKS = page_texts("links")
Mode = Literal["type", "pick"]
MODES: tuple[Mode, ...] = ("type", "pick")


def game_targets() -> list[str]:
    """The default, and the chat models that are here or come as one file."""
    return [DEFAULT_TARGET, *(name for name in offered_names() if name not in HUB_NAMES and reads_chats(name))]


def sets_of(target: str) -> tuple[str, ...]:
    return SETS if target == DEFAULT_TARGET else (*CHAT_SETS, *SETS)


class GamePlan(PageLink):
    REFUSED: ClassVar[str] = "refused_value"

    seed: Annotated[Seed, expecting(lambda: LINKS["whole"].format(least=0, most=MAX_SEED))] = DEFAULT_SEED
    # a workload's name
    set: Annotated[str, one_of((*SETS, *CHAT_SETS)), expecting_one_of((*SETS, *CHAT_SETS))] = SETS[0]
    mode: Annotated[Mode, expecting(lambda: LINKS["type_or_pick"])] = "type"
    # where the chat model is missing, it gets a sentence of its own
    target: Annotated[str, one_of(lambda: (*game_targets(), SMOLLM2)), expecting(lambda: LINKS["a_target"])] = (
        DEFAULT_TARGET
    )
    prompt_format: Annotated[PromptFormat, expecting(lambda: LINKS["raw_or_chat"])] = "raw"

    @classmethod
    def chosen(cls, seed: int, kind: str, mode: Mode, target: str) -> Self:
        """A game as the page's menus name it: what people ask chat models is read as a chat."""
        return cls(seed=seed, set=kind, mode=mode, target=target, prompt_format="chat" if kind in CHAT_SETS else "raw")

    @property
    def chats(self) -> bool:
        return self.prompt_format == "chat"

    @property
    def rival(self) -> str:
        """The draft that plays beside prompt lookup: the one to try first with this target."""
        first = draft_for(self.target, MODEL)
        return MODEL if first == PROMPT_LOOKUP else first

    def request(self, prompt: str) -> RunRequest:
        settings = DecodeSettings(seed=self.seed, prompt_format=self.prompt_format)
        return RunRequest(prompt, self.target, self.rival, settings=settings)

    @property
    def workload(self) -> Workload:
        found = find_workload(self.set)
        assert found is not None
        return found

    @property
    def prompts(self) -> list[Preset]:
        rng = Random(self.seed)
        drawn = [(rng.random(), preset) for preset in self.workload.prompts]  # only random() stays the same in Python
        return [preset for _, preset in sorted(drawn, key=lambda pair: pair[0])][:PROMPTS]

    @property
    def link(self) -> dict[str, str]:
        return {name: written(value) for name, value in self}


def plan_from_link(params: Params) -> tuple[GamePlan, list[str]]:
    """Without a kind of text, a chat is about the first that chat models are asked."""
    kind = CHAT_SETS[0] if "chat" in params.get("prompt_format", ()) else SETS[0]
    plan, problems = GamePlan.read(params, GamePlan(seed=LINK_SEED, set=kind))
    if (plan.chats or plan.set in CHAT_SETS) and not reads_chats(plan.target):
        kind = plan.set if plan.set in SETS else SETS[0]
        problems.append(f"{plan.target} is no chat model: using {kind} texts.")
        plan = plan.model_copy(update={"prompt_format": "raw", "set": kind})
    return plan, problems


@dataclass(frozen=True, slots=True)
class GameRequest:
    action: Literal["offer", "guess", "skip"]  # ask for candidates; draft; let the target write one token
    text_ids: Annotated[list[TokenId], MostItems(MAX_TEXT_TOKENS)] = field(default_factory=list)  # empty: the prompt
    joins: bool = False  # the text so far ends inside a word, which the guess continues
    guess: str = ""  # words typed
    picked: Annotated[list[TokenId], MostItems(MAX_DRAFT_LENGTH)] = field(default_factory=list)  # or a candidate
    offers: bool = False  # whether candidates are wanted for the place after
    second: str = ""  # another guess typed for the same place; empty: none
    other: Annotated[list[TokenId], MostItems(MAX_DRAFT_LENGTH)] = field(default_factory=list)  # or a candidate


@dataclass(frozen=True, slots=True)
class Offer:
    text: str
    token_ids: Annotated[list[TokenId], MostItems(MAX_DRAFT_LENGTH)]


@dataclass(frozen=True, slots=True)
class Turn:
    """One round of the visitor, what the rivals drafted at the same place, and the text after it."""

    text: str
    text_ids: Annotated[list[TokenId], MostItems(MAX_TEXT_TOKENS + MAX_DRAFT_LENGTH + 1)]
    joins: bool  # it ends inside a word
    ended: bool  # with an end of text
    trace: Trace | None = None  # of this one round; None when nothing was played
    rivals: Annotated[dict[Player, Round], MostItems(len(PLAYERS))] = field(default_factory=dict)
    offers: Annotated[list[Offer], MostItems(OFFERS)] = field(default_factory=list)
    cut: int = 0  # tokens left out because the draft was too long

    @property
    def round(self) -> Round | None:
        return self.trace.rounds[0] if self.trace else None

    @property
    def scored(self) -> bool:
        return self.round is not None and bool(self.round.drafted)


_TURN: TypeAdapter[Turn] = TypeAdapter(Turn)


def dump_turn(turn: Turn) -> dict[str, Any]:
    return dict(_TURN.dump_python(turn, mode="json"))


def load_turn(item: object) -> Turn:
    try:
        return _TURN.validate_python(item)
    except ValidationError as error:
        raise InputError(f"The turn is not valid: {error.errors(include_url=False)[0]['msg'][:200]}.") from None


def rounds_of(turns: Sequence[Turn], player: str) -> list[Round]:
    scored = [turn for turn in turns if turn.scored]
    if player == YOU:
        return [turn.round for turn in scored if turn.round]
    return [turn.rivals[player] for turn in scored if player in turn.rivals]


def score(turns: Sequence[Turn], rival: str = MODEL) -> dict[str, Counts]:
    return {player: count(rounds_of(turns, player)) for player in (YOU, rival, LOOKUP)}


def is_over(turns: Sequence[Turn]) -> bool:
    ended = bool(turns) and turns[-1].ended
    return ended or len(turns) >= MAX_TURNS or sum(turn.scored for turn in turns) >= ROUNDS


def run_of(turns: Sequence[Turn]) -> Trace | None:
    traces = [turn.trace for turn in turns if turn.trace]
    if not traces:
        return None
    first, last = traces[0], turns[-1]
    rounds = [replace(trace.rounds[0], index=index) for index, trace in enumerate(traces)]
    token_ids = [token_id for round in rounds for token_id in round.emitted_ids]
    nodes = max((len(round.drafted) for round in rounds if round.is_tree), default=0)
    settings = replace(
        first.settings,
        max_new_tokens=len(token_ids),
        draft_length=MAX_DRAFT_LENGTH,
        tree=f"{DYNAMIC}{nodes}" if nodes else None,
    )
    output = Output(token_ids, last.text.removeprefix(first.prompt.text), "eos" if last.ended else "length")
    return replace(first, settings=settings, rounds=rounds, output=output)
