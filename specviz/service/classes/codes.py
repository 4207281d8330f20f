"""The code of a class, and the secrets that stand for a teacher and for a student.

A code is short enough to type, so it is protected by a limit on wrong codes, not by its length alone: there are
24^8 = 1.1e11 codes. From one public address, 60 wrong codes in 10 minutes are 8,640 a day. With all 40 classes of a
server open, they find one of them with a probability of 8,640 x 40 / 1.1e11: 1 in 318,500 a day.
"""

import re
import secrets

ALPHABET = "34679ACDEFGHJKMNPQRTVWXY"  # without what looks alike: 0 O, 1 I L, 2 Z, 5 S, 8 B, U V
LENGTH = 8
_BETWEEN = re.compile(r"[\s\-–—_.]+")
_LONGEST_TYPED = 40


def new_code() -> str:
    """A code that no other code says anything about."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_secret() -> str:
    """A secret of 192 random bits, fit for a cookie and a link."""
    return secrets.token_urlsafe(24)


def read_code(typed: str) -> str | None:
    """The code that somebody typed, in capitals and without spaces or dashes; None where it cannot be one."""
    code = _BETWEEN.sub("", typed[:_LONGEST_TYPED]).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def shown_code(code: str) -> str:
    """In two groups, for reading aloud and typing."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"
