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
    bins: tuple[Bin, ...]  # from 1 token per target call, which nobody is below, to the best
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
    rounds = [one for student in now.students for one in student.rounds.values()]
    mine, model = total(one.mine for one in rounds), total(one.model for one in rounds)
    scores = tuple(
        Score(
            student,
            total(one.mine for one in student.rounds.values()),
            total(one.model for one in student.rounds.values()),
            sum(quiz()[number].right == given for number, given in student.answers.items()),
        )
        for student in now.students
    )
    per_call = [score.mine.tokens_per_target_call for score in scores]
    at = [int((each - 1) / BIN) for each in per_call if each is not None]
    of_model = int((model.tokens_per_target_call - 1) / BIN) if model.tokens_per_target_call else None
    last = max([*at, of_model or 0, 3]) if at else -1  # nothing before the first round
    places: dict[tuple[int, int, str], list[SharedRound]] = {}
    for one in rounds:
        places.setdefault(one.where, []).append(one)
    return Board(
        scores,
        tuple(Bin(1 + BIN * each, 1 + BIN * (each + 1), at.count(each), each == of_model) for each in range(last + 1)),
        mine,
        model,
        tuple(sorted(map(_place, places.values()), key=lambda place: (-place.students, place.text, place.after))),
        tuple(
            tuple(sum(student.answers.get(number) == option for student in now.students) for option in range(len(each)))
            for number, each in enumerate(asked.options for asked in quiz())
        ),
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
