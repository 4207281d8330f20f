"""What a serving engine reports of speculation, checked: the same fields for every engine.

Two things are easy to get wrong. The rate of a position is (accepted at this position) / (number of rounds). So it
falls along the draft even when every token is equally easy to guess: it is the product of the per-judgement rates up to
this position. And a round's tokens include the target's own one: of 2.7 tokens, 1.7 were drafted.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from dataclasses import field as field_of
from typing import Any, Literal

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.core.theory import alpha_from_acceptance_rate

say = Sentences("counters")

MAX_POSITIONS = 64
LONGEST = 400  # characters
THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
MOST = 1e15  # no server counts further; a longer number is a mistake or an attack


@dataclass(frozen=True, slots=True)
class ServingCounters:
    engine: str
    tokens_per_target_call: float | None  # includes the target's own token; None if the text counts no passes
    draft_length: float | None = None  # mean drafted tokens per round, of a tree its depth; None if the text is silent
    survival: tuple[float, ...] = ()  # share of rounds in which position 1, 2, ... was accepted
    running: float | None = None  # requests that are decoded together
    drafted: float | None = None  # tokens, of a tree its nodes
    accepted: float | None = None  # tokens
    checked: float | None = None  # tokens that one pass over a draft tree checks
    drafting_share: float | None = None  # share of the target's calls that checked a draft; None if it is unknown
    notes: tuple[str, ...] = ()  # how the figures were read, and what they leave out
    latency: float | None = None  # seconds for an output token of a request, with speculation
    reading: str = field_of(default="", compare=False)  # which parts of the text were read, and which were not
    written: float | None = None  # output tokens that the text reports; they bound what is counted
    over_all_calls: bool = False  # also over those without a draft: then less than one token a call may be drafted
    bounded: bool = False  # whether `tokens_per_target_call` was cut to the tokens that were written
    calls_assumed: bool = False  # no calls are counted in the text: γ, and with it the tokens of a call, are chosen
    drafter: str = ""  # the method that the text names, as the text writes it
    block: bool = False  # the drafter writes a whole block in one step (DFlash, PARD, …): its price is not γ steps
    rates: Literal["", "marginal", "conditional"] = ""  # how the text itself gives the rates of positions
    convention: str = field_of(default="", compare=False)  # what its figures count: the target's own token, the rates

    @property
    def acceptance_rate(self) -> float | None:
        if self.tokens_per_target_call and self.draft_length:
            return (self.tokens_per_target_call - 1) / self.draft_length
        return self.accepted / self.drafted if self.drafted and self.accepted is not None else None

    @property
    def position_rates(self) -> tuple[float, ...]:
        """Per judgement, h_j: of the rounds that reached position j, the share that accepted it."""
        before = (1.0, *self.survival)
        return tuple(here / reached for here, reached in zip(self.survival, before, strict=False) if reached)

    @property
    def counts_judgements(self) -> bool:
        """Whether rejections can be counted. They can if every round drafted up to the last position."""
        full = self.draft_length is None or abs(self.draft_length - len(self.survival)) < 0.01
        return bool(self.survival) and full

    def alpha(self, draft_length: int) -> float:
        """accepted / (accepted + rejected); `alike_alpha` where rejections cannot be counted."""
        accepted = self.accepted_per_call(draft_length)
        if self.counts_judgements and self.survival[-1] < 1:
            return accepted / (accepted + 1 - self.survival[-1])
        return self.alike_alpha(draft_length)

    def alike_alpha(self, draft_length: int) -> float:
        """The alpha that gives the same tokens per target call with this draft length, if all judgements are alike."""
        return alpha_from_acceptance_rate(min(1.0, self.accepted_per_call(draft_length) / draft_length), draft_length)

    def accepted_per_call(self, draft_length: int) -> float:
        if self.tokens_per_target_call is not None:
            return self.tokens_per_target_call - 1
        return (self.acceptance_rate or 0.0) * draft_length

    def assuming(self, draft_length: int) -> "ServingCounters":
        """The same with this draft length, where the text reports tokens but neither calls nor a draft length."""
        if self.tokens_per_target_call is not None:
            return self
        note = say("not_counted", length=draft_length)
        tokens = 1 + self.accepted_per_call(draft_length)
        read: dict[str, Any] = {"tokens_per_target_call": tokens, "draft_length": draft_length, "calls_assumed": True}
        return replace(self, **read, notes=(*self.notes, note))


def checked(counters: ServingCounters) -> ServingCounters:
    """The counters; InputError, one sentence, where they contradict each other."""
    tokens, rate = counters.tokens_per_target_call, counters.acceptance_rate
    if tokens is not None and tokens < 1:
        raise InputError(say("less_than_one", tokens=tokens))
    if rate is not None and rate > 1.001:
        raise InputError(say("more_accepted"))
    if counters.accepted is not None and counters.drafted is not None and counters.accepted > counters.drafted:
        raise InputError(say("more_accepted"))
    positions = len(counters.survival)
    if tokens is not None and positions and tokens > positions + 1.01:
        raise InputError(say("too_many_for_positions", tokens=tokens, positions=positions))
    if counters.draft_length and counters.draft_length < 1 and not counters.over_all_calls:
        raise InputError(say("short_draft", length=counters.draft_length))
    if max(len(counters.survival), counters.draft_length or 0, (tokens or 1) - 1) > MAX_POSITIONS:
        raise InputError(say("long_draft", most=MAX_POSITIONS))
    if any(after > before + 0.001 for before, after in zip((1.0, *counters.survival), counters.survival, strict=False)):
        raise InputError(say("rising"))
    return counters


def number(value: object, name: str) -> float:
    """The value from 0 to `MOST`. Else InputError, with a short, harmless piece of it."""
    try:
        usable = not isinstance(value, bool) and len(str(value)) < LONGEST
        found = float(str(value).rstrip("%")) if usable else math.nan
    except ValueError:
        found = math.nan
    if not 0 <= found <= MOST:  # written so that nan fails
        raise InputError(say("no_number", name=name[:60], value=shown(str(value))))
    return found


def figure(text: str) -> str:
    """The number with a point: commas are between thousands (“1,660”), else the only one is a decimal one (“2,28”)."""
    if THOUSANDS.fullmatch(text.rstrip("%")):
        return text.replace(",", "")
    return text.replace(",", ".") if text.count(",") == 1 else text


def numbers(texts: Iterable[str], name: str) -> tuple[float, ...]:
    return tuple(number(text.strip(), name) for text in texts if text.strip())


def field(text: str, pattern: str, name: str = "A figure in the text") -> float | None:
    found = re.findall(pattern, text)
    return number(found[-1], name) if found else None


def shown(text: str) -> str:
    """A short piece of what was pasted, without characters that a page could read as markup."""
    return "“" + re.sub(r"[^\w.+-]", "?", text[:20]) + ("…”" if len(text) > 20 else "”")


def quoted(line: str) -> str:
    """The beginning of a line of what was pasted, legible, without characters that a page could read as markup."""
    text = re.sub(r"[^\w .,:;=+%/(){}#'\"-]", "", " ".join(line[:200].split()))
    return "“" + text[:40].strip() + ("…”" if len(text) > 40 else "”")


def whole(value: float, relative_error: float) -> float:
    """The nearest whole number where the value cannot be told from it, else the value."""
    nearest = round(value)
    return float(nearest) if nearest and abs(value - nearest) <= relative_error * value else value
