"""How many classes a server has, how large they are, how long they last, and how often a code may be tried."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassLimits:
    """Times in seconds, the others are counts."""

    day: float = 24 * 3600.0  # a class ends this long after it was opened
    idle: float = 4 * 3600.0  # ... or when for so long nobody looked at its board, joined or sent anything
    look: float = 60.0  # between two looks for classes that are over
    classes: int = 40  # open at the same moment
    classes_of_one_address: int = 10  # ... from one public address
    students: int = 60  # of a class
    window: float = 600.0  # in which wrong codes are counted
    wrong_codes: int = 10  # of one visitor
    wrong_codes_of_one_address: int = 60  # a class behind one router has one address
    wrong_codes_of_a_shared_address: int = 600  # of one that is not public, or not known: it can be everybody's
