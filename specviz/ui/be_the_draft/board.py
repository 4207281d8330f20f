"""The two pictures of the game: the text so far, and the result of a draft. The code: assets/browser/be_the_draft/."""

import json
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from specviz.core.conversation import read_messages
from specviz.core.files import ASSETS
from specviz.core.once import cache_once
from specviz.core.readable import readable
from specviz.core.trace import Round, Trace
from specviz.data.texts import page_texts
from specviz.game.game import LOOKUP, Turn, load_turn
from specviz.game.messages import explain, headline, wanted
from specviz.game.words import Fate, best_branch, branches, words_of
from specviz.player.data import tokens_of
from specviz.player.payload import ShareRow, TokenPayload
from specviz.ui.shared.components import component


class MessagePayload(TypedDict):
    """A message of a chat, before the answer."""

    name: str
    text: str


class TextPicture(TypedDict):
    """The text so far; `fresh` is what the last turn added."""

    kind: Literal["text"]
    label: str
    asked: list[MessagePayload]
    text: str
    fresh: str
    inside: bool
    focus: str
    busy: bool


class WordPayload(TypedDict):
    text: str
    fate: Fate
    pieces: int


class GuessPayload(TypedDict):
    """One guess: its chips, the target's own token where it follows, and how its chips make words."""

    chips: list[TokenPayload]
    words: list[WordPayload]


class RivalPayload(TypedDict):
    """What another drafter proposed at the same position."""

    name: str
    chips: list[TokenPayload]
    more: str


class TurnPicture(TypedDict):
    kind: Literal["turn"]
    label: str
    title: str
    said: str
    spoken: bool
    guesses: list[GuessPayload]
    lines: list[str]
    asked: str
    wants: list[ShareRow]
    mine: Literal["yours", "theirs"]
    rivals: list[RivalPayload]


SAYS = page_texts("be_the_draft")
PlayPayload = TextPicture | TurnPicture
RECORDED = ASSETS / "traces" / "play.json"
SHOWN_TEXT = 330  # characters: what fits a projector beside everything else


@dataclass(frozen=True, slots=True)
class Example:
    """A recorded turn, shown before the first one."""

    prompt: str
    guess: str
    turn: Turn


def text_data(
    text: str, last: Turn | None, *, inside: bool, focus: str, busy: bool = False, asked: str = ""
) -> TextPicture:
    """The text so far, only its end where it is long. What the last turn added is marked. A chat is `asked` first."""
    added = last.trace.output.text if last and last.trace else ""
    fresh = added if text.endswith(added) else ""
    old = text.removesuffix(fresh)
    return {
        "kind": "text",
        "label": SAYS["answer" if asked else "text"],
        "asked": [{"name": SAYS[f"asked_{role}"], "text": message} for role, message in read_messages(asked)],
        "text": old if len(old) <= SHOWN_TEXT else "…" + old[-SHOWN_TEXT:],
        "fresh": fresh,
        "inside": inside,
        "focus": focus,
        "busy": busy,
    }


def example_data(example: Example) -> TurnPicture:
    data = turn_data(example.turn, whose="theirs")
    round = example.turn.round
    assert round is not None
    counts = {"accepted": round.accepted, "drafted": len(round.drafted)}
    said = SAYS["example_said"].format(prompt=example.prompt, guess=example.guess, **counts)
    return {**data, "title": SAYS["example"], "said": said, "spoken": False, "rivals": []}


def turn_data(turn: Turn, whose: Literal["yours", "theirs"] = "yours") -> TurnPicture:
    assert turn.trace is not None
    trace, round = turn.trace, turn.trace.rounds[0]
    wants = wanted(readable(trace).rounds[0]) if round.drafted else []

    def guess(branch: Round) -> GuessPayload:
        words = [WordPayload(text=word.text, fate=word.fate, pieces=len(word.pieces)) for word in words_of(branch)]
        return {"chips": _chips(trace, branch), "words": words}

    return {
        "kind": "turn",
        "label": SAYS["outcome"],
        "title": headline(round),
        "said": "",
        "spoken": True,
        "guesses": [guess(branch) for branch in branches(round)],
        "lines": explain(turn),
        "asked": SAYS["probabilities_there" if round.emitted.kind == "correction" else "probabilities_next"],
        "wants": [(text, float(f"{p:.6f}"), mine) for text, p, mine in wants],
        "mine": whose,
        "rivals": [_rival(trace, name, rival) for name, rival in turn.rivals.items()],
    }


def _chips(trace: Trace, round: Round) -> list[TokenPayload]:
    return tokens_of(readable(replace(trace, rounds=[round])).rounds[0])


def _rival(trace: Trace, name: str, rival: Round) -> RivalPayload:
    """What a rival drafted (of a tree, the best branch), as far as the visitor's text reaches: more would tell."""
    branch = best_branch(rival)
    chips = _chips(trace, branch)
    shown = chips[: len(trace.rounds[0].emitted_ids)]
    if not rival.drafted:
        return {"name": player_name(name), "chips": [], "more": SAYS["rival_nothing"]}
    hidden = max(0, len(branch.drafted) - len(shown))
    counts = {"accepted": branch.accepted, "drafted": len(branch.drafted), "nodes": len(rival.drafted)}
    more = SAYS["rival_tree" if rival.is_tree else "rival"].format(**counts)
    more = SAYS["rival_hidden"].format(hidden=hidden, more=more) if hidden else more
    return {"name": player_name(name), "chips": shown, "more": more}


def player_name(player: str) -> str:
    """Of a rival."""
    return SAYS["lookup"] if player == LOOKUP else player


STYLES = ("stage/stage.css", "be_the_draft/be_the_draft.css", "stage/paper.css")
# Mounts a `PlayPayload`.
picture = component("specviz_play", "be_the_draft/be_the_draft.html", STYLES, "be_the_draft/be_the_draft")


@cache_once
def recorded_example() -> Example:
    """The turn made by `scripts.record play`."""
    saved = json.loads(RECORDED.read_text(encoding="utf-8"))
    return Example(str(saved["prompt"]), str(saved["guess"]), load_turn(saved["turn"]))
