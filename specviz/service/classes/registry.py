"""All open classes of this server. Any thread may call; nothing is ever written to the disk."""

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from specviz.core.errors import InputError
from specviz.core.once import cache_once
from specviz.core.texts import Sentences
from specviz.data.lessons.story import quiz
from specviz.game.game import GamePlan
from specviz.service.classes.room import ClassNow, Membership, Room, SharedRound, Student
from specviz.service.sessions import is_public

# A code is short enough to type, and long enough to need no limit on wrong ones, which would shut out a whole school
# behind one address: there are 24^10 = 6.3e13 codes. With all 40 classes of a server open, somebody who tries 100 codes
# a second for a whole day finds one of them with a probability of 8,640,000 x 40 / 6.3e13: 1 in 183,000.
ALPHABET = "34679ACDEFGHJKMNPQRTVWXY"  # without what looks alike: 0 O, 1 I L, 2 Z, 5 S, 8 B, U V
LENGTH = 10
_BETWEEN = re.compile(r"[\s\-–—_.]+")
_LONGEST_TYPED = 40

MAX_NAME = 24  # characters
_MARKS = 2  # of accents on one letter: more would reach into the lines above and below

say = Sentences("class")


@dataclass(frozen=True, slots=True)
class ClassLimits:
    """Times in seconds, the others are counts."""

    day: float = 24 * 3600.0  # a class ends this long after it was opened
    idle: float = 4 * 3600.0  # ... or when for so long nobody looked at its board, joined or sent anything
    safe: float = 5 * 60.0  # for so long after its last change a class keeps its place, and as long for each student
    safest: float = 60 * 60.0  # ... at most
    classes: int = 40  # open at the same moment
    classes_of_one_address: int = 10  # ... from one public address
    classes_of_others: int = 30  # ... from all private and unknown addresses
    students: int = 60  # of a class


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_secret() -> str:
    """A secret of 192 random bits, fit for a cookie and a link."""
    return secrets.token_urlsafe(24)


def read_code(typed: str) -> str | None:
    """The code that somebody typed, in capitals and without spaces or dashes; None where it cannot be one."""
    code = _BETWEEN.sub("", typed[:_LONGEST_TYPED]).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def shown_code(code: str) -> str:
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def tidy_name(typed: str) -> str:
    """The name without control characters, marks that turn the direction of writing, and towers of accents."""
    letters: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", typed[: 8 * MAX_NAME]):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind[0] == "M" else 0
        if kind[0] in "ZC":
            letters.append(" " if char.isspace() else "")
        elif marks <= _MARKS:
            letters.append(char)
    return " ".join("".join(letters).split())[:MAX_NAME].strip()


class Classes:
    """Opens classes, lets students in, takes what they send, and forgets it all in time."""

    def __init__(self, clock: Callable[[], float] = monotonic, limits: ClassLimits | None = None) -> None:
        self._clock, self.limits = clock, limits or ClassLimits()
        self._lock = Lock()
        self._rooms: dict[str, Room] = {}  # by the teacher's secret

    def forget_old(self) -> None:
        """Forget the classes that are over. Nobody may ever ask again for them, so a timer does this too."""
        with self._lock:
            now = self._clock()
            self._rooms = {secret: room for secret, room in self._rooms.items() if not self._is_over(room, now)}

    # ---- the teacher

    def open(self, address: str, plan: GamePlan) -> str:
        """Open a class with this game; returns the teacher's secret, which is the right to its board.

        InputError: the server has too many classes, or too many from this address.
        """
        self.forget_old()
        with self._lock:
            now, address = self._clock(), address if is_public(address) else ""
            self._make_place(address, now)
            taken = {room.code for room in self._rooms.values()}
            code = next(code for code in iter(new_code, "") if code not in taken)
            secret = new_secret()
            self._rooms[secret] = Room(code, plan, address, now, now, now)
            return secret

    def look(self, secret: str) -> ClassNow | None:
        """The class as it is now; None where there is none with this secret (any more)."""
        with self._lock:
            room = self._used(self._rooms.get(secret))
            return room.now() if room else None

    def changes(self, secret: str) -> int | None:
        """How often something has changed in the class, which costs nearly nothing to ask; None where it is over."""
        with self._lock:
            room = self._used(self._rooms.get(secret))
            return room.changes if room else None

    def remove(self, secret: str, number: int) -> None:
        with self._lock:
            if room := self._used(self._rooms.get(secret)):
                for student in [key for key, one in room.students.items() if one.number == number]:
                    self._remove_student(student)

    def end(self, secret: str) -> None:
        with self._lock:
            self._rooms.pop(secret, None)

    # ---- the student

    def join(self, typed: str, name: str = "") -> str:
        """Enter the class with this code; returns the student's secret."""
        self.forget_old()
        with self._lock:
            code = read_code(typed)
            room = next((room for room in self._rooms.values() if room.code == code), None)
            if room is None:
                raise InputError(say("wrong_code") if _BETWEEN.sub("", typed) else say("no_code"))
            if len(room.students) >= self.limits.students:
                raise InputError(say("full", students=self.limits.students))
            secret, room.joined = new_secret(), room.joined + 1
            room.students[secret] = Student(room.joined, tidy_name(name))
            self._changed(room)
            return secret

    def membership(self, secret: str) -> Membership | None:
        """The class that this student is in; None where it is over, or the student is not in it (any more)."""
        with self._lock:
            room = self._room_of(secret)
            if room is None or self._is_over(room, self._clock()):
                return None
            student = room.students[secret]
            return Membership(room.code, room.plan, student.number, student.name)

    def rename(self, secret: str, name: str) -> None:
        with self._lock:
            room = self._used(self._room_of(secret))
            if room and room.students[secret].name != tidy_name(name):
                room.students[secret].name = tidy_name(name)
                self._changed(room)

    def send_rounds(self, secret: str, plan: GamePlan, rounds: Iterable[SharedRound]) -> None:
        """Put a student's rounds on the board: of the class's own game only, and each place in it once."""
        with self._lock:
            room = self._used(self._room_of(secret))
            if room is None or plan != room.plan:
                return
            if sum([room.students[secret].add_round(one) for one in rounds]):
                self._changed(room)

    def send_answers(self, secret: str, answers: Mapping[int, int]) -> None:
        """Put a student's answers to the quiz on the board: question → option, the first answer to each counts."""
        with self._lock:
            if room := self._used(self._room_of(secret)):
                known = room.students[secret].answers
                new = {number: answers[number] for number in answers.keys() - known if number in range(len(quiz()))}
                new = {number: given for number, given in new.items() if given in range(len(quiz()[number].options))}
                known.update(new)
                if new:
                    self._changed(room)

    def leave(self, secret: str) -> None:
        with self._lock:
            self._remove_student(secret)

    # ---- inside the lock

    def _make_place(self, address: str, now: float) -> None:
        """Where the address or the server has no place left, the class whose place was safe the shortest makes room.

        A place is safe for some time after something has changed on the board, the longer the more students are there.
        """
        most = self.limits.classes_of_one_address if address else self.limits.classes_of_others
        here = [key for key, room in self._rooms.items() if room.address == address]
        full = here if len(here) >= most else list(self._rooms) if len(self._rooms) >= self.limits.classes else []
        if full:
            first = min(full, key=lambda key: self._safe_until(self._rooms[key]))
            if self._safe_until(self._rooms[first]) > now:
                raise InputError(say("no_place"))
            del self._rooms[first]

    def _room_of(self, student: str) -> Room | None:
        return next((room for room in self._rooms.values() if student in room.students), None)

    def _safe_until(self, room: Room) -> float:
        return room.changed + min(self.limits.safest, self.limits.safe * (1 + len(room.students)))

    def _used(self, room: Room | None) -> Room | None:
        """The room, which is in use now; None where there is none or its time is over."""
        now = self._clock()
        if room is None or self._is_over(room, now):
            return None
        room.used = now
        return room

    def _is_over(self, room: Room, now: float) -> bool:
        return now - room.opened >= self.limits.day or now - room.used >= self.limits.idle

    def _changed(self, room: Room) -> None:
        room.used = room.changed = self._clock()
        room.changes += 1

    def _remove_student(self, secret: str) -> None:
        if room := self._room_of(secret):
            del room.students[secret]
            self._changed(room)


@cache_once
def classes() -> Classes:
    """The server's classes. Not in Streamlit's own cache, which any visitor can clear."""
    return Classes()
