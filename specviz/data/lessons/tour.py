"""The tour of a first visit: six beats on the recorded first run. Each shows one idea and waits until the visitor acts.

The texts get their tokens and counts from the run, so they stay true when it is recorded again. `{token}` and the like
in `did` are filled in by the stage, which knows what the visitor did.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specviz.core.metrics import count
from specviz.core.number_words import in_words
from specviz.core.trace import Round, Trace
from specviz.data.lessons.recorded_runs import full_round, mixed_round
from specviz.data.lessons.story import Phase

# stepped to the check; chose a guess; opened a rejected token; reached a round without a wrong guess; released the
# slider at `least` or more; saw the end of the run
Until = Literal["checked", "guessed", "opened", "full", "length", "ended"]
Light = Literal["guesses", "transport", "rejected", "rounds", "bonus", "draft-length", "play"]
DRAG_TO = 8  # draft length
LAST_ROUNDS = 6  # of the run, which the last beat plays
# what to do next: the page's address, its name, and what it is for
NEXT = (
    ("learn", "Learn", "explains every part"),
    ("race", "Race", "measures it on this machine"),
    ("play", "Be the draft", "lets you guess the tokens"),
)


@dataclass(frozen=True, slots=True)
class Beat:
    """One step of the tour."""

    until: Until  # what the visitor does to go on
    says: str
    asks: str
    keys: str  # the same by keyboard
    round: int  # where the playhead stands: the index of a round
    phase: Phase
    lights: tuple[Light, ...]  # the parts of the stage that it is about
    did: Mapping[str, str]  # what the visitor did, by its outcome: the next beat begins with it
    least: int = 0  # of "length": the draft length to reach
    moves: bool = False  # whether the playhead goes there even where the visitor stands somewhere else


@dataclass(frozen=True, slots=True)
class Tour:
    """The beats, and what is said after the last one."""

    beats: tuple[Beat, ...]
    end: str


def tour_of(trace: Trace) -> Tour | None:
    """The tour on this run; None where the run does not show what the tour is about."""
    mixed = mixed_round(trace)
    full = full_round(trace, mixed.index) if mixed else None
    if mixed is None or full is None or len(trace.rounds) <= LAST_ROUNDS:
        return None
    counts = count(trace.rounds)
    beats = (_guess(mixed), _check(mixed), _judge(mixed), _rounds(mixed), _length(trace, full), _end(trace))
    end = (
        f"The target wrote {counts.emitted} tokens in {len(trace.rounds)} passes. Alone it writes one token a pass. "
        "Whether that saves time depends on the time that the drafts take: the result is below."
    )
    return Tour(beats, end)


def _guess(round: Round) -> Beat:
    return Beat(
        until="checked",
        says=f"The draft, a small model, guesses the next {_number(round)} tokens (words or parts of words; ␣ is a "
        f"space): {_quoted(*(token.shown for token in round.drafted))}. The target, a big model, has not read them "
        "yet.",
        asks="Go one step forward, to the check.",
        keys="→",
        round=round.index,
        phase="propose",
        lights=("guesses", "transport"),
        did={"done": "You stepped to the check."},
        moves=True,
    )


def _check(round: Round) -> Beat:
    failed = _quoted(round.drafted[round.accepted].shown)
    return Beat(
        until="guessed",
        says=f"The target reads all {_number(round)} guesses in one pass. From the left, it accepts each guess that is "
        "its own first choice, and stops at the first one that is not.",
        asks="Which guess fails first? Choose the one you think.",
        keys="Tab to the tokens, → to move, Enter to choose",
        round=round.index,
        phase="check",
        lights=("guesses",),
        did={
            "rejected": "You chose {token}. Right: it is the one that fails.",
            "accepted": f"You chose {{token}}. The target accepts it. {failed} is the one that fails.",
            "discarded": f"You chose {{token}}. The target never judges it, because {failed} before it fails.",
        },
    )


def _judge(round: Round) -> Beat:
    failed, own = round.drafted[round.accepted], round.emitted
    return Beat(
        until="opened",
        says=f"{_quoted(*(token.shown for token in round.drafted[: round.accepted]))} ✓ accepted: it stays. "
        f"{_quoted(failed.shown)} ✗ rejected: struck through. What follows it ⋯ discarded: never judged. "
        f"{_quoted(own.text)} ↻ correction: the target’s own token, in place of the rejected one.",
        asks=f"Open the struck token {_quoted(failed.shown)} to see why it failed.",
        keys="Tab to the tokens, → to move, Enter to open",
        round=round.index,
        phase="judge",
        lights=("rejected",),
        did={"done": "You opened {token}: it was not the target’s own first choice."},
        moves=True,
    )


def _rounds(round: Round) -> Beat:
    return Beat(
        until="full",
        says="A round ends at the first wrong guess. Even then it adds one token: the correction. "
        "The best round has no wrong guess.",
        asks=f"Go forward, round by round, until all {_number(round)} guesses are accepted.",
        keys="Shift →",
        round=round.index,
        phase="judge",
        lights=("rounds",),
        did={
            "done": "You found round {round}: all {drafted} guesses are accepted. The same pass of the target gives "
            "one more token at no extra cost: the bonus {token} (+)."
        },
    )


def _length(trace: Trace, round: Round) -> Beat:
    counts = count(trace.rounds)
    return Beat(
        until="length",
        says=f"The draft length γ is the number of guesses in a round. It is {trace.settings.draft_length} here.",
        asks=f"Drag the draft length to {DRAG_TO}. The line above this card and the tokens then show this run at that "
        "length.",
        keys="Tab to the slider, then →",
        round=round.index,
        phase="judge",
        lights=("draft-length", "bonus"),
        did={
            "done": f"At draft length {{length}}, the same text takes {{passes}} target passes instead of "
            f"{len(trace.rounds)}. But {{wasted}} guesses are wasted (rejected or discarded) instead of "
            f"{counts.rejected + counts.discarded}. This is modelled from this run."
        },
        least=DRAG_TO,
    )


def _end(trace: Trace) -> Beat:
    return Beat(
        until="ended",
        says="Long drafts save target passes and waste guesses. "
        f"The recorded run is back, at draft length {trace.settings.draft_length}, near its end.",
        asks="Press play and watch it to the end.",
        keys="Space",
        round=len(trace.rounds) - LAST_ROUNDS,
        phase="propose",
        lights=("play",),
        did={"done": "You saw the run to its end."},
        moves=True,
    )


def _number(round: Round) -> str:
    return in_words(len(round.drafted))


def _quoted(*texts: str) -> str:
    return f"“{''.join(texts).strip()}”"
