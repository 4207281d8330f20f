"""A visitor's part in a class: as its teacher, as a student, or invited by a link. No drawing."""

from dataclasses import dataclass, field
from typing import Literal, get_args

ClassPart = Literal["join", "scores", "guesses", "quiz", "students"]
PARTS: tuple[ClassPart, ...] = get_args(ClassPart)


@dataclass(slots=True)
class ClassState:
    """One visitor. The secrets are also in cookies and in the browser tab, so that a reload changes nothing."""

    student: str = ""  # the secret of a student; empty in no class
    teacher: str = ""  # the secret of a class's teacher
    other: str = ""  # ... of a second class, which a link brought
    cookies_read: bool = False
    handed: set[str] = field(default_factory=set)  # the cookies that the browser was given in this visit
    held: bool = False  # whether the tab was given the secrets in this visit
    asked: str = ""  # the code in the last link that was read
    invited: str = ""  # ... while the visitor has not answered yet
    message: str = ""  # why a class was not opened or joined, or that it is over
    part: ClassPart = "join"  # of the board
    written: str = ""  # the part that the page's address was given last
    asked_part: ClassPart | None = None  # by the address that the browser sent last
    seen: int = -1  # how many changes the board on the teacher's screen has
    open: bool = False  # the teacher's class, when it was last looked at
