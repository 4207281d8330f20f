"""The exercise on the whole loop: greedy speculative decoding with two caches, on small models that keep a record.

`speculative_decode(target, draft, prompt, draft_length, new_tokens)` gives the new tokens. A model has `read(tokens)`,
which adds tokens to its cache and gives the most probable next token after each of them; `length`, how many tokens its
cache has; and `cut(length)`, which forgets those after the first so many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NoReturn

from specviz.lab.exercise import LabFinding, Raised, StudentFunction, outcome, written

WORDS = 13  # tokens of the small models
NEW_TOKENS, DRAFT_LENGTH = 40, 4
PROMPTS = ((3, 1, 4, 1, 5), (2, 7, 1, 8, 2, 8), (9, 9, 6))
MOST_READS = 12 * NEW_TOKENS  # of both models: a loop that goes on after these does not end
ENDLESS, EMPTY = "the loop does not end", "read() was called without a token"
PREFILL = 2  # passes over the prompt that no round needs


class LoopError(Exception):
    """A model was asked too often, or for something that it cannot do."""


@dataclass(frozen=True, slots=True)
class Read:
    """One pass of a model: its cache before, and what it read."""

    is_draft: bool
    cache: list[int]
    tokens: list[int]

    @property
    def after(self) -> list[int]:
        return self.cache + self.tokens


@dataclass
class SmallModel:
    """Its next token depends on the last three tokens of its cache; the draft's is often the same."""

    log: list[Read] = field(default_factory=list)  # of both models, in order
    is_draft: bool = False
    cache: list[int] = field(default_factory=list)
    problem: str = ""

    @property
    def length(self) -> int:
        return len(self.cache)

    @property
    def reads(self) -> list[Read]:
        return [read for read in self.log if read.is_draft == self.is_draft]

    @property
    def rows(self) -> int:
        """Tokens that were read in all."""
        return sum(len(read.tokens) for read in self.reads)

    def read(self, tokens: Sequence[int]) -> list[int]:
        if not tokens:
            self._fail(EMPTY)
        if len(self.log) == MOST_READS:
            self._fail(ENDLESS)
        self.log.append(Read(self.is_draft, self.cache.copy(), list(tokens)))
        best = list[int]()
        for token in tokens:
            self.cache.append(token)
            best.append(self._next())
        return best

    def cut(self, length: int) -> None:
        if not 0 <= length <= len(self.cache):
            self._fail(f"cut({length}) was called, and the cache has {len(self.cache)} tokens")
        del self.cache[length:]

    def _fail(self, problem: str) -> NoReturn:
        self.problem = problem
        raise LoopError(problem)

    def _next(self) -> int:
        a, b, c = [0, 0, 0, *self.cache][-3:]
        target = (7 * a + 5 * b * b + 3 * c + len(self.cache)) % WORDS
        differs = self.is_draft and (a + 2 * b + 3 * c + len(self.cache)) % 4 == 0
        return (target + 1) % WORDS if differs else target


def speculative_decode(
    target: SmallModel, draft: SmallModel, prompt: Sequence[int], draft_length: int, new_tokens: int
) -> list[int]:
    """A right solution. Each cache holds the text but for its last token, which is read with the guesses."""
    text = list(prompt)
    if len(text) > 1:
        target.read(text[:-1])
    while len(text) < len(prompt) + new_tokens:
        guesses = list[int]()
        for _ in range(draft_length):
            guesses.append(draft.read((text + guesses)[draft.length :])[-1])
        best = target.read([text[-1], *guesses])
        accepted = next((i for i, guess in enumerate(guesses) if guess != best[i]), len(guesses))
        text += [*guesses[:accepted], best[accepted]]
        target.cut(len(text) - 1)
        draft.cut(min(draft.length, len(text) - 1))
    return text[len(prompt) :][:new_tokens]


@dataclass(frozen=True)
class LoopRun:
    """A run of a student's loop on one prompt, and what should have come of it."""

    prompt: list[int]
    given: object
    target: SmallModel
    draft: SmallModel
    own: list[int]  # the target's tokens
    calls: int  # of the target, in a right solution
    rows: int  # that it reads there

    @property
    def tokens(self) -> list[int]:
        return list(self.given) if isinstance(self.given, list | tuple) else []

    @property
    def text(self) -> list[int]:
        return [*self.prompt, *self.tokens]

    @property
    def wrong_at(self) -> int | None:
        """The first token that is not the target's own."""
        return next((i for i, (a, b) in enumerate(zip(self.tokens, self.own, strict=False)) if a != b), None)

    def is_kept(self, tokens: Sequence[int]) -> bool:
        return list(tokens) == self.text[: len(tokens)]


def _problem(run: LoopRun) -> str:
    """The kind of a loop that gives no tokens; empty where it gives some, "?" for an error of its own."""
    if ENDLESS in (run.target.problem, run.draft.problem):
        return "never_ends"
    if run.draft.problem == EMPTY and any(not read.is_draft for read in run.draft.log):
        return "draft_not_cut"  # its cache is longer than the text, so nothing is new to it
    return "" if isinstance(run.given, list | tuple) else "?"


def _shape(run: LoopRun) -> str:
    """The kind of a loop whose tokens are the target's, and too many or too few of them."""
    if run.tokens[: len(run.prompt)] == run.prompt and run.tokens[len(run.prompt) :] == run.own:
        return "prompt_returned"
    if run.wrong_at is None and len(run.tokens) != len(run.own):
        return "too_long" if len(run.tokens) > len(run.own) else "too_short"
    return ""


def _wrong_token(run: LoopRun) -> str:
    """The kind of a loop that writes another token than the target."""
    at = run.wrong_at
    if at is None:
        return ""
    if not all(run.is_kept(read.cache) for read in run.target.reads):
        return "target_not_cut"
    before = [*run.prompt, *run.own[:at]]
    if run.tokens[at] == SmallModel(is_draft=True).read(before)[-1]:
        return "wrong_guess_kept"
    if at and run.tokens[at] == run.own[at - 1]:
        return "row_early"
    return "row_late" if run.tokens[at : at + 1] == run.own[at + 1 : at + 2] else "?"


def _waste(run: LoopRun) -> str:
    """The kind of a loop that writes the target's tokens, and needs too many passes for them."""
    reads = run.target.reads
    if run.target.rows > 2 * run.rows:
        return "target_reads_again"
    if run.draft.rows > 3 * run.rows:
        return "draft_reads_again"
    again = (now.cache == was.after[:-1] and now.tokens[0] == was.tokens[-1] for was, now in pairwise(reads))
    if any(again):
        return "bonus_forgotten"
    if len(reads) > run.calls + PREFILL and not any(len(read.tokens) > 1 for read in reads[1:]):
        return "one_pass_each"
    for was, now in pairwise(run.draft.log):
        if now.is_draft and not was.is_draft:  # the draft's first pass of a round
            if not run.is_kept(now.cache):
                return "draft_not_cut"
            if not run.is_kept(now.after):
                return "draft_misses_token"
    return "?" if len(reads) > run.calls + PREFILL else ""


@dataclass(frozen=True)
class LoopExercise:
    name: str = "speculative_decode"

    def check(self, student: StudentFunction) -> LabFinding:
        for prompt in PROMPTS:
            made = run(student, prompt)
            for kind_of in (_problem, _shape, _wrong_token, _waste):
                if kind := kind_of(made):
                    return LabFinding(example=_describe(made)) if kind == "?" else LabFinding(kind=kind)
        return LabFinding(right=True)


def run(student: StudentFunction, prompt: Sequence[int]) -> LoopRun:
    target, right = SmallModel(), SmallModel()
    draft, other = SmallModel(target.log, is_draft=True), SmallModel(right.log, is_draft=True)
    given = outcome(student, (target, draft, prompt, DRAFT_LENGTH, NEW_TOKENS))
    own = speculative_decode(right, other, prompt, DRAFT_LENGTH, NEW_TOKENS)
    return LoopRun(list(prompt), given, target, draft, own, len(right.reads), right.rows)


def _describe(made: LoopRun) -> str:
    if problem := made.target.problem or made.draft.problem:
        return problem
    if isinstance(made.given, Raised):
        return f"it ends in {made.given.error}"
    if made.wrong_at is None:
        return f"it gives {written(made.given)} with {len(made.target.reads)} passes of the target, and {made.calls} do"
    at = made.wrong_at
    return f"new token {at + 1} is {made.tokens[at]}, and the target alone writes {made.own[at]}"
