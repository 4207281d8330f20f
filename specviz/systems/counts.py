"""What a system counts of speculation, and the figures of a round that follow: one type for every system.

The rate of a position is (accepted at this position) / (number of rounds), so it falls along the draft even when every
token is equally easy to guess. A round's tokens include the target's own one: of 2.7 tokens, 1.7 were drafted.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as field_of
from typing import Self, TypeVar

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.core.theory import alpha_from_acceptance_rate

say_count = Sentences("counters")
Number = TypeVar("Number", int, float)

MAX_POSITIONS = 64
LONGEST = 400  # characters of a number
THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
MOST = 1e15  # no server counts further; a longer number is a mistake or an attack
FIRST_TOKENS = 0.05  # counters do not say how many requests' first tokens are among those written


@dataclass(frozen=True, slots=True)
class Counts:
    """What a text, a page or an answer of a system counts, None where it does not; of `figures_of`, a round's figures.

    Several are added up by `added`.
    """

    engine: str
    tokens_per_target_call: float | None = None  # with the target's own token, as the text says it or as counted
    draft_length: float | None = None  # mean drafted tokens per round, of a tree its depth
    survival: tuple[float, ...] = ()  # share of rounds in which position 1, 2, … was accepted
    running: float | None = None  # requests that are decoded together
    drafted: float | None = None  # tokens that were checked, without the target's own; of a tree its nodes
    accepted: float | None = None
    checked: float | None = None  # nodes of a draft tree and its root: what one pass over it checks
    rounds: float | None = None  # passes of the target that checked a draft
    written: float | None = None  # output tokens
    requests: float = 1.0  # among these tokens, each with a first token of the pass over its prompt
    limit: float = 0.0  # the most that a round may draft; 0 if it is not named
    ignored: float = 0.0
    derived: bool = False  # rounds or accepted tokens come from the length: not exact, so they bound nothing
    many: bool = False  # the answers of a benchmark, of which nobody knows how they ended
    of_server: bool = False  # of all requests since its start, of which some may not be counted among the written
    drafting_share: float | None = None  # share of the target's calls that checked a draft; None if it is unknown
    over_all_calls: bool = False  # also over those without a draft: then less than one token a call may be drafted
    calls_assumed: bool = False  # no calls are counted in the text: γ, and with it the tokens of a call, are chosen
    block: bool = False  # the drafter writes a whole block in one step (DFlash, PARD, …): its price is not γ steps
    notes: tuple[str, ...] = ()  # how the figures were read, and what they leave out
    convention: str = field_of(default="own", compare=False)  # the name of a text: what the figures count
    used: tuple[str, ...] = field_of(default=(), compare=False)  # what of the text was read: names, or how many lines
    reading: str = field_of(default="", compare=False)  # the same in words

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

    def alike_alpha(self, draft_length: int) -> float:
        """The alpha that gives the same tokens per target call with this draft length, if all judgements are alike."""
        return alpha_from_acceptance_rate(min(1.0, self.accepted_per_call(draft_length) / draft_length), draft_length)

    def accepted_per_call(self, draft_length: int) -> float:
        if self.tokens_per_target_call is not None:
            return self.tokens_per_target_call - 1
        return (self.acceptance_rate or 0.0) * draft_length

    def assuming(self, draft_length: int) -> Self:
        """The same with this draft length, where the text reports tokens but neither calls nor a draft length."""
        if self.tokens_per_target_call is not None:
            return self
        tokens = 1 + self.accepted_per_call(draft_length)
        notes = (*self.notes, say_count("not_counted", length=draft_length))
        return replace(
            self, tokens_per_target_call=tokens, draft_length=float(draft_length), calls_assumed=True, notes=notes
        )


def added(counts: Sequence[Counts]) -> Counts:
    """The sum. Rates of positions are weighted by rounds; what only one of several reports is left out."""
    last = counts[-1]
    if len(counts) == 1:
        return last
    rounds = add_up(each.rounds for each in counts)
    weighted = [tuple((each.rounds or 0) * rate for rate in each.survival) for each in counts]
    longest = max(map(len, weighted)) if all(weighted) else 0
    columns = [sum(row[place] for row in weighted if place < len(row)) for place in range(longest)]
    return replace(
        last,
        rounds=rounds,
        drafted=add_up(each.drafted for each in counts),
        accepted=add_up(each.accepted for each in counts),
        written=add_up(each.written for each in counts),
        requests=sum(each.requests for each in counts),
        survival=tuple(count / rounds for count in columns) if rounds else (),
        ignored=sum(each.ignored for each in counts),
        limit=max(each.limit for each in counts) if all(each.limit for each in counts) else 0.0,
        derived=any(each.derived for each in counts),
        used=tuple(name for each in counts for name in each.used),
    )


def add_up(values: Iterable[Number | None]) -> Number | None:
    """The sum; None where one of them is not known, and of none."""
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if known and len(known) == len(every) else None


def figures_of(counts: Counts, limited: int = 0) -> Counts:
    """With the figures of a round; `limited` of the answers ended at their limit of tokens. Raises InputError."""
    rounds, accepted, drafted, tokens = counts.rounds, counts.accepted, counts.drafted, counts.tokens_per_target_call
    if 0 in (rounds, drafted) or (accepted is None and tokens is None and not counts.survival):
        raise InputError(say_count("nothing_drafted", engine=counts.engine))
    length, share, over_all_calls = counts.draft_length or float(len(counts.survival)) or None, None, False
    notes = list[str]()
    if rounds and accepted is not None:
        tokens, length = 1 + accepted / rounds, counts.draft_length or (drafted / rounds if drafted else length)
        if counts.written is None:
            notes.append(say_count("only_drafting"))
        else:  # one call writes its accepted tokens and one more, another call one token
            others = counts.written - counts.requests - (rounds + accepted)
            share = rounds / (rounds + others) if others > rounds * FIRST_TOKENS else 1.0
            notes += [say_count("over_all", tokens=1 + share * accepted / rounds)] if share != 1 else []
    elif tokens is None and accepted is None:
        tokens = 1 + sum(counts.survival)
    elif tokens is None and accepted is not None and counts.written:
        calls = counts.written - counts.requests - accepted
        if calls < 1:
            raise InputError(say_count("past_the_end", accepted=accepted, written=counts.written))
        tokens, length, over_all_calls = 1 + accepted / calls, None if drafted is None else drafted / calls, True
        notes.append(say_count("all_calls"))
    most = max(length or 0.0, (tokens or 1.0) - 1)
    if counts.limit and most > counts.limit + 0.01:
        raise InputError(say_count("over_limit", drafted=most, limit=counts.limit))
    notes += [*counts.notes, *([say_count("ignored", count=counts.ignored)] if counts.ignored else [])]
    found = replace(counts, tokens_per_target_call=tokens, draft_length=length, drafting_share=share)
    return checked(_limit_to_written(replace(found, over_all_calls=over_all_calls, notes=tuple(notes)), limited))


def _limit_to_written(counts: Counts, limited: int) -> Counts:
    """Not more tokens than were written. What a limit cut off stays counted: it was judged on the same text."""
    rounds, accepted, written, requests = counts.rounds, counts.accepted, counts.written, counts.requests
    if not rounds or accepted is None or written is None or counts.derived:
        return counts
    room = written - requests - rounds  # for accepted tokens
    excess = accepted - room
    if excess <= 0 or (counts.of_server and (room < 0 or excess <= FIRST_TOKENS * rounds)):
        return counts
    may_be_cut = limited or (requests if counts.many or counts.of_server else 0)  # each may have ended inside a draft
    if excess <= may_be_cut * (counts.draft_length or 0):
        room = max(0.0, room + 1 if requests == 1 else room)  # the last round of one answer wrote no token of its own
        note = say_count("cut_off" if limited else "past_ends", engine=counts.engine, accepted=accepted, room=room)
        return replace(counts, notes=(*counts.notes, note))
    if room < 0:
        raise InputError(say_count("too_few_written", rounds=rounds, written=written))
    notes = (*counts.notes, say_count("bounded", accepted=accepted, room=room))
    return replace(counts, tokens_per_target_call=1 + room / rounds, accepted=room, survival=(), notes=notes)


def checked(counters: Counts) -> Counts:
    """The counters; InputError, one sentence, where they contradict each other."""
    tokens, rate, survival = counters.tokens_per_target_call, counters.acceptance_rate, counters.survival
    more = counters.accepted is not None and counters.drafted is not None and counters.accepted > counters.drafted
    length, positions = counters.draft_length, len(survival)
    if tokens is not None and tokens < 1:
        raise InputError(say_count("less_than_one", tokens=tokens))
    if more or (rate is not None and rate > 1.001):
        raise InputError(say_count("more_accepted"))
    if tokens is not None and survival and tokens > positions + 1.01:
        raise InputError(say_count("too_many_for_positions", tokens=tokens, positions=positions))
    if length and length < 1 and not counters.over_all_calls:
        raise InputError(say_count("short_draft", length=length))
    if max(positions, length or 0, (tokens or 1) - 1) > MAX_POSITIONS:
        raise InputError(say_count("long_draft", most=MAX_POSITIONS))
    if any(after > before + 0.001 for before, after in zip((1.0, *survival), survival, strict=False)):
        raise InputError(say_count("rising"))
    return counters


def number(value: object, name: str) -> float:
    """The value from 0 to `MOST`; commas are between thousands (“1,660”) or a decimal one (“2,28”). Else InputError."""
    written = str(value)
    plain = written.replace(",", "" if THOUSANDS.fullmatch(written.rstrip("%")) else ".")
    try:
        usable = not isinstance(value, bool) and len(written) < LONGEST
        found = float(plain.rstrip("%")) if usable else math.nan
    except ValueError:
        found = math.nan
    if not 0 <= found <= MOST:  # written so that nan fails
        raise InputError(say_count("no_number", name=name[:60], value=shown(written)))
    return found


def numbers(texts: Iterable[str], name: str) -> tuple[float, ...]:
    return tuple(number(text.strip(), name) for text in texts if text.strip())


def field(text: str, pattern: str, name: str) -> float | None:
    """The last number that the pattern finds."""
    found = re.findall(pattern, text)
    return number(found[-1], name) if found else None


def shown(text: str) -> str:
    """A short piece of what was pasted, without characters that a page could read as markup."""
    return "“" + re.sub(r"[^\w.+-]", "?", text[:20]) + ("…”" if len(text) > 20 else "”")
