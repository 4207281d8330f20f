"""One open class: its game, its students, and what they have sent: of a round the place in the text, the words, and the
counts, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specviz.core.metrics import Counts, count
from specviz.core.trace import Round
from specviz.game.game import MODEL, PROMPTS, ROUNDS, YOU, GamePlan, Turn, rounds_of
from specviz.game.words import best_branch, draft_text, words_of

MAX_WORD, MAX_GUESS, MAX_BEFORE, MAX_WRITTEN = 30, 60, 120, 200  # characters


@dataclass(frozen=True, slots=True)
class SharedRound:
    """One scored round of one student, with what wren-nano drafted at the same place."""

    text: int  # which text of the game, from 0
    number: int  # of the round on that text, from 1
    place: int  # characters that were written after the prompt, before this round
    before: str  # the last of them, which tell the place apart where rounding has changed the text
    guess: str
    word: str  # the guess's first word
    fits: bool  # whether all of that word was accepted
    written: str  # by this round's target call, at most 200 characters of it
    mine: Counts
    model: Counts
    model_word: str  # the first word of wren-nano's draft; empty where it drafted none

    @property
    def key(self) -> tuple[int, int]:
        return self.text, self.number

    @property
    def where(self) -> tuple[int, int, str]:
        return self.text, self.place, self.before


def shared_rounds(plan: GamePlan, games: Sequence[Sequence[Turn]]) -> list[SharedRound]:
    return [
        _shared(turn, text, number, preset.text)
        for text, (preset, turns) in enumerate(zip(plan.prompts, games, strict=False))
        for number, turn in enumerate((turn for turn in turns if turn.scored), start=1)
    ]


def _shared(turn: Turn, text: int, number: int, prompt: str) -> SharedRound:
    assert turn.trace is not None
    mine, model = rounds_of([turn], YOU)[0], turn.rivals.get(MODEL)
    word, fits = _first_word(mine)
    before = turn.trace.prompt.text.removeprefix(prompt)
    return SharedRound(
        text,
        number,
        place=len(before),
        before=before[-MAX_BEFORE:],
        guess=draft_text(mine).strip()[:MAX_GUESS],
        word=word,
        fits=fits,
        written=turn.trace.output.text[:MAX_WRITTEN],
        mine=count([mine]),
        model=count([model] if model else []),
        model_word=_first_word(model)[0] if model else "",
    )


def _first_word(round: Round) -> tuple[str, bool]:
    """The first word of a draft, of two guesses the better one, and whether all of it was accepted."""
    words = words_of(best_branch(round))
    return (words[0].text[:MAX_WORD], words[0].fate == "accepted") if words else ("", False)


@dataclass(slots=True)
class Student:
    """One student. Each round and each question counts once: the first time."""

    number: int  # in the order of joining, from 1
    name: str = ""
    rounds: dict[tuple[int, int], SharedRound] = field(default_factory=dict)  # by text and number
    answers: dict[int, int] = field(default_factory=dict)  # question → option, both from 0

    def add_round(self, round: SharedRound) -> bool:
        """Add a round, unless there is one with this number or at this place already; whether it was added."""
        known = round.key in self.rounds or any(round.where == one.where for one in self.rounds.values())
        new = not known and 0 <= round.text < PROMPTS and 1 <= round.number <= ROUNDS
        if new:
            self.rounds[round.key] = round
        return new


@dataclass(frozen=True, slots=True)
class ClassNow:
    code: str
    plan: GamePlan
    students: tuple[Student, ...]
    changes: int  # so far: the same number is the same board


@dataclass(frozen=True, slots=True)
class Membership:
    code: str
    plan: GamePlan
    number: int
    name: str


@dataclass(slots=True)
class Room:
    code: str
    plan: GamePlan
    address: str  # of the teacher; empty where it is private or not known
    opened: float
    used: float
    changed: float  # what is on its board
    students: dict[str, Student] = field(default_factory=dict)  # by their secrets
    joined: int = 0  # so far, with those who have left: a number is given once
    changes: int = 0

    def now(self) -> ClassNow:
        """As it is; nothing in it changes later."""
        all_here = self.students.values()
        students = tuple(replace(one, rounds=dict(one.rounds), answers=dict(one.answers)) for one in all_here)
        return ClassNow(self.code, self.plan, students, self.changes)
