"""What the board shows, computed from a class as it is now. Pure functions.

All students of a class play the same texts, and the text of the game goes on with the target's own tokens, whoever
drafts. So two students who have as much text before them are at the same place, and their guesses can be counted
together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from specviz.core.csv_cells import csv_text, safe_cell
from specviz.core.metrics import Counts
from specviz.data.lessons.story import quiz
from specviz.game.messages import EVEN
from specviz.measure.paired import total
from specviz.service.classes.room import ClassNow, SharedRound, Student

BIN = 0.5  # tokens per target call
FIGURES = ("drafted", "accepted", "emitted")
ROUND_COLUMNS = ["student", "name", "seed", "set", "mode", "prompt", "round", "guess", "written"]
ROUND_COLUMNS += [f"{who}_{figure}" for who in ("you", "model") for figure in FIGURES]
ANSWER_COLUMNS = ["student", "name", "question", "asked", "option", "answer", "right"]


@dataclass(frozen=True, slots=True)
class Score:
    student: Student
    mine: Counts
    model: Counts  # wren-nano, in the same rounds
    right: int

    @property
    def ahead(self) -> int:
        """1 where the student is better than wren-nano, -1 where worse, 0 where about even or nothing was played."""
        mine, model = self.mine.tokens_per_target_call, self.model.tokens_per_target_call
        if mine is None or model is None or abs(mine - model) <= EVEN:
            return 0
        return 1 if mine > model else -1


@dataclass(frozen=True, slots=True)
class Bin:
    """Students with at least `low` and less than `high` tokens per target call."""

    low: float
    high: float
    students: int
    has_model: bool  # wren-nano, over all rounds, lies in it


@dataclass(frozen=True, slots=True)
class Guess:
    word: str
    students: int
    fits: bool


@dataclass(frozen=True, slots=True)
class ClassPlace:
    """One place of one text, with what the class guessed there."""

    text: int
    after: int  # characters behind the prompt
    before: str  # the last of them
    students: int
    guesses: tuple[Guess, ...]  # the commonest first
    target: str  # what the target wrote there, as far as a round has shown it
    model_word: str


@dataclass(frozen=True, slots=True)
class Board:
    scores: tuple[Score, ...]  # in the order of joining
    bins: tuple[Bin, ...]
    mine: Counts  # the class, all rounds together
    model: Counts  # wren-nano, in the same rounds
    places: tuple[ClassPlace, ...]  # those with the most students first
    questions: tuple[tuple[int, ...], ...]  # students, by question and option

    @property
    def played(self) -> int:
        return sum(score.mine.rounds > 0 for score in self.scores)

    def count_ahead(self, sign: int) -> int:
        """How many of those who played are better than wren-nano (1), about even (0) or worse (-1)."""
        return sum(score.mine.rounds > 0 and score.ahead == sign for score in self.scores)


def board_of(now: ClassNow) -> Board:
    scores = tuple(map(_score, now.students))
    rounds = [one for student in now.students for one in student.rounds.values()]
    at: dict[tuple[int, int, str], list[SharedRound]] = {}
    for one in rounds:
        at.setdefault(one.where, []).append(one)
    mine, model = total(one.mine for one in rounds), total(one.model for one in rounds)
    per_call = [score.mine.tokens_per_target_call for score in scores]
    return Board(
        scores,
        _bins([each for each in per_call if each is not None], model.tokens_per_target_call),
        mine,
        model,
        tuple(sorted(map(_place, at.values()), key=lambda place: (-place.students, place.text, place.after))),
        tuple(_question(number, now.students) for number in range(len(quiz()))),
    )


def _score(student: Student) -> Score:
    rounds = student.rounds.values()
    right = sum(quiz()[number].right == given for number, given in student.answers.items())
    return Score(student, total(one.mine for one in rounds), total(one.model for one in rounds), right)


def _bins(per_call: Sequence[float], model: float | None) -> tuple[Bin, ...]:
    """From 1 token per target call, which nobody is below, to the best; nothing before the first round."""
    if not per_call:
        return ()
    index = [int((each - 1) / BIN) for each in per_call]
    of_model = None if model is None else int((model - 1) / BIN)
    last = max([*index, of_model or 0, 3])
    return tuple(
        Bin(1 + BIN * number, 1 + BIN * (number + 1), index.count(number), number == of_model)
        for number in range(last + 1)
    )


def _place(rounds: Sequence[SharedRound]) -> ClassPlace:
    words = Counter(one.word for one in rounds)
    fits = {one.word for one in rounds if one.fits}
    guesses = [Guess(word, students, word in fits) for word, students in words.items()]
    return ClassPlace(
        *rounds[0].where,
        len(rounds),
        tuple(sorted(guesses, key=lambda guess: (-guess.students, not guess.fits, guess.word))),
        target=max((one.written for one in rounds), key=len),
        model_word=next((one.model_word for one in rounds if one.model_word), ""),
    )


def _question(number: int, students: Sequence[Student]) -> tuple[int, ...]:
    given = [student.answers[number] for student in students if number in student.answers]
    return tuple(given.count(option) for option in range(len(quiz()[number].options)))


def rounds_csv(now: ClassNow) -> str:
    """The rounds.

    Columns: student (in the order of joining, from 1), name (may be empty), seed, set, mode, prompt (the preset's
    name), round from 1 on each prompt, guess (at most 60 characters of it), written (by the target call); then for you
    and model (wren-nano, at the same place, with as many tokens): drafted, accepted, emitted (one target call each).
    """
    prompts, figures = [preset.name for preset in now.plan.prompts], attrgetter(*FIGURES)
    game = (now.plan.seed, now.plan.set, now.plan.mode)
    rows: list[list[object]] = []
    for student in now.students:
        for one in sorted(student.rounds.values(), key=lambda one: one.key):
            said = (prompts[one.text], one.number, safe_cell(one.guess), safe_cell(one.written))
            rows.append([*_identify(student), *game, *said, *figures(one.mine), *figures(one.model)])
    return csv_text([ROUND_COLUMNS, *rows])


def answers_csv(now: ClassNow) -> str:
    """The answers: question from 1, its text, option from 1, its text, right (1 or 0)."""
    rows: list[list[object]] = []
    for student in now.students:
        for number, option in sorted(student.answers.items()):
            asked = quiz()[number]
            said = [number + 1, asked.text.technical, option + 1, asked.options[option].text.technical]
            rows.append([*_identify(student), *said, int(asked.right == option)])
    return csv_text([ANSWER_COLUMNS, *rows])


def _identify(student: Student) -> tuple[int, str]:
    return student.number, safe_cell(student.name)
