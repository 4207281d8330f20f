"""The recorded runs of the story, of each drafting method and of a chat model, and the measured figures beside them."""

from dataclasses import dataclass, replace
from functools import partial
from statistics import geometric_mean, median
from typing import Self

from specviz.core.files import ASSETS, MEASURED, read_stored
from specviz.core.intervals import interval_of_ratios
from specviz.core.once import cache_once
from specviz.core.rounds import EmittedToken
from specviz.core.trace import DraftedToken, Round, Trace, read_trace

STORY = "story-"  # before the name of a run of the story, in its file's name and in links
STORY_RUNS = ("round", "pays", "no-gain", "costly", "sampled")
METHOD_RUNS = (
    "method-small-model",
    "method-eagle",
    "method-medusa",
    "method-prompt-lookup",
    "method-early-exit",
    "method-tree",
    "method-argmax",
    "method-block",
)
CHAT_RUNS = ("chat-edit", "chat-story")  # one repeats its prompt, the other does not
WITH_OWN_FILES = (*METHOD_RUNS, *CHAT_RUNS)
RUNS = (*STORY_RUNS, *WITH_OWN_FILES)
DRAFT_LENGTH = 4  # of the methods' runs


@dataclass(frozen=True, slots=True)
class SweptSpeedup:
    target: str
    draft: str
    draft_length: int
    temperature: float
    rounds: int
    emitted: int
    drafted: int
    accepted: int
    rejected: int
    speedups: list[float]  # of each prompt: the geometric mean of its repeats

    @property
    def speedup(self) -> float:
        return geometric_mean(self.speedups)

    @property
    def acceptance(self) -> float:
        return self.accepted / self.drafted

    @property
    def judgement(self) -> float:
        return self.accepted / (self.accepted + self.rejected)

    def resolved_from(self, other: Self) -> bool:
        """Whether these prompts tell the two settings apart: the 95 % interval of the paired ratios leaves out 1."""
        low, high = interval_of_ratios([a / b for a, b in zip(self.speedups, other.speedups, strict=True)])
        return low > 1 or high < 1


@dataclass(frozen=True, slots=True)
class Overlap:
    """How often a drafted token is accepted at temperature 1, averaged over positions of real text. p: the target's."""

    positions: int
    product: float  # Σ p·q: the draft draws, and the target's own draw must be the same token
    minimum: float  # Σ min(p, q): the draft draws, and the lossless rule judges
    most_likely: float  # p(argmax q): the draft takes its most likely token, and the target's draw must be the same


@dataclass(frozen=True, slots=True)
class Figures:
    recorded_on: str
    draft_lengths: list[SweptSpeedup]
    drafts: list[SweptSpeedup]
    temperatures: list[SweptSpeedup]
    overlap: Overlap
    tried: dict[str, int]  # how many runs were tried for each recorded run, before one was chosen
    tried_per_call: dict[str, list[float]]  # tokens per target call of each of them, in order: counted, not timed


def mixed_round(trace: Trace) -> Round | None:
    return next((r for r in trace.rounds if r.accepted and r.rejected and r.discarded), None)


def full_round(trace: Trace, after: int = -1) -> Round | None:
    length = trace.settings.draft_length
    later = trace.rounds[after + 1 :]
    return next((r for r in later if r.accepted == length and r.emitted.kind == "bonus"), None)


def drawn_round(trace: Trace) -> Round | None:
    """The round whose token was rejected by a dice roll that could have accepted it, with the most even leftover."""
    lost = [r for r in trace.rounds if r.rejected and 0.5 <= (r.drafted[r.accepted].accept_prob or 0.0) < 1]
    shown = [r for r in lost if any(c.id == r.emitted.id for c in r.emitted.residual_top)]
    return min(shown, key=lambda r: max(c.r for c in r.emitted.residual_top), default=None)


def branch_round(trace: Trace) -> Round | None:
    return next((round for round in trace.rounds if siblings_of(round) is not None), None)


def siblings_of(round: Round) -> tuple[DraftedToken, DraftedToken] | None:
    if not round.is_tree:
        return None
    rejected = {token.parent: token for token in reversed(round.drafted) if token.status == "rejected"}
    accepted = (token for token in round.accepted_tokens if token.parent in rejected)
    return next(((rejected[token.parent], token) for token in accepted), None)


def linked_trace(link_name: str) -> Trace | None:
    if link_name in WITH_OWN_FILES:
        return story_trace(link_name)
    name = link_name.removeprefix(STORY)
    return story_trace(name) if link_name.startswith(STORY) and name in STORY_RUNS else None


@cache_once
def story_trace(name: str) -> Trace:
    """The recorded run of that name; InputError if its file is missing or damaged."""
    file = name if name in WITH_OWN_FILES else f"{STORY}{name}"
    return read_trace(ASSETS / "traces" / f"{file}.json")


story_figures = cache_once(partial(read_stored, MEASURED / "story.json", Figures, "the story's figures"))


def target_alone(trace: Trace) -> Trace:
    """The plain run that was recorded beside this one, as a run of its own; ValueError where it wrote other tokens."""
    plain = trace.autoregressive
    if plain is None or plain.token_ids != trace.output.token_ids:
        raise ValueError("the run was not recorded beside one of the target alone with the same tokens")
    texts = list[str]()
    for round in trace.rounds:
        own = [] if round.emitted.kind == "none" else [round.emitted.text]
        texts += [*(token.shown for token in round.accepted_tokens), *own]
    passes = zip(plain.token_ids, texts, plain.seconds_per_token, strict=True)
    rounds = [
        Round(index, 0.0, seconds, 0.0, [], EmittedToken("bonus", token_id, text))
        for index, (token_id, text, seconds) in enumerate(passes)
    ]
    return replace(trace, drafter=None, rounds=rounds)


@dataclass(frozen=True, slots=True)
class TokenOdds:
    text: str
    p: float  # the target's
    q: float  # the draft's


@dataclass(frozen=True, slots=True)
class RoundOverlap:
    """One place of a round: its recorded tokens, and all others together."""

    tokens: list[TokenOdds]
    beta: float  # Σ min(p, q) over the vocabulary, the acceptance at one place; α is its mean (Leviathan et al. 2023)

    @property
    def others(self) -> tuple[float, float, float]:
        """Σ p, Σ q and Σ min(p, q) over the tokens that were not recorded."""
        p, q, both = (sum(column) for column in zip(*((t.p, t.q, min(t.p, t.q)) for t in self.tokens), strict=True))
        return 1 - p, 1 - q, self.beta - both


def overlap_of(round: Round) -> RoundOverlap:
    """At the rejected token of a sampled chain: what both models' probabilities have in common there, exactly.

    A run records the most probable tokens only. But a correction's leftover is r = (p − q)₊ / Σ (p − q)₊, summed over
    the whole vocabulary. So p, q and r of one token give that sum, which is 1 − β; and with it what all other tokens
    have in common.
    """
    candidates = [each for each in round.drafted[round.accepted].candidates if each.q is not None]
    left = {each.id: each.r for each in round.emitted.residual_top}
    totals = [(each.p - (each.q or 0.0)) / left[each.id] for each in candidates if left.get(each.id)]
    tokens = [TokenOdds(each.text, each.p, each.q or 0.0) for each in candidates]
    return RoundOverlap(tokens, 1 - median(totals))
