"""One open class: its game, its students, and what they have sent."""

from dataclasses import dataclass, field, replace

from specviz.game.game import Plan
from specviz.service.classes.rounds import SharedRound


@dataclass(slots=True)
class Student:
    """One student. Each round and each question counts once: the first time."""

    number: int  # in the order of joining, from 1
    name: str = ""
    rounds: dict[tuple[int, int], SharedRound] = field(default_factory=dict)  # by text and number
    answers: dict[int, int] = field(default_factory=dict)  # question → option, both from 0

    @property
    def label(self) -> str:
        """The name, or the number where there is none."""
        return self.name or f"student {self.number}"

    def take(self, round: SharedRound) -> bool:
        """Add a round, unless there is one with this number or at this place already; whether it was added."""
        known = round.key in self.rounds or any(round.where == one.where for one in self.rounds.values())
        if round.possible and not known:
            self.rounds[round.key] = round
        return round.possible and not known

    def copy(self) -> "Student":
        """As it is now."""
        return replace(self, rounds=dict(self.rounds), answers=dict(self.answers))


@dataclass(frozen=True, slots=True)
class ClassNow:
    """A class as it is at one moment, for its teacher."""

    code: str
    plan: Plan
    students: tuple[Student, ...]
    changes: int  # so far: the same number is the same board


@dataclass(frozen=True, slots=True)
class Membership:
    """What a student sees of the class."""

    code: str
    plan: Plan
    number: int
    name: str


@dataclass(slots=True)
class Room:
    """One class, as the server holds it."""

    code: str
    plan: Plan
    address: str  # of the teacher; empty where it is not known
    opened: float
    used: float
    students: dict[str, Student] = field(default_factory=dict)  # by their secrets
    joined: int = 0  # so far, with those who have left: a number is given once
    changes: int = 0

    def now(self) -> ClassNow:
        """As it is at this moment."""
        return ClassNow(self.code, self.plan, tuple(one.copy() for one in self.students.values()), self.changes)

    def membership(self, secret: str) -> Membership:
        """What this student sees."""
        student = self.students[secret]
        return Membership(self.code, self.plan, student.number, student.name)
