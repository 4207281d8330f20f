"""Traces without models: true speculative sampling over made-up distributions, so that the numbers agree."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.replay import DraftGuesses
from specviz.core.request import RunRequest
from specviz.core.rounds import Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, DrafterInfo, Machine, ModelInfo, Output, PrefillSeconds, Prompt, Trace

STORY = """\
Once upon a time , there was a little girl named Lily . She loved to play in the park . One day , she saw a big dog \
with a red ball . The dog was sad : nobody wanted to play . Lily said , “ Hello , do you want to be my friend ? ” \
The dog wagged its tail and they ran to the tree .\n\nAfter lunch her mom gave them some bread and they were happy ."""
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202eright to left", "\x00\x07\x1b[31m"]
HOSTILE += ["<b>bold</b>", "a" * 300, "\t\t", "\r\n", "⟨E2⟩⟨80⟩", "&lt;", "", "$x^2$ **md**", "日本語の", "👩‍👩‍👧"]
EOS = "<|end|>"
FIRST_PLACE = 9  # of the script, that is written; what comes before is the prompt
SHARPNESS = 6.0
MODEL, LOOKUP = DrafterInfo("model", "wren-nano", 700_000, "float32", "11"), DrafterInfo("prompt-lookup", "lookup")


def _words(text: str) -> list[str]:
    """The text as a byte-level tokenizer cuts it: a word takes the space before it."""
    pieces: list[str] = []
    for word in text.replace("\n\n", " \n\n ").split(" "):
        pieces.append(word if word in {".", ",", "?", "\n\n"} or not pieces or pieces[-1] == "\n\n" else " " + word)
    return pieces


def _normalised(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights]


def _top(values: Sequence[float], count: int) -> list[int]:
    return sorted(range(len(values)), key=lambda i: -values[i])[:count]


@dataclass
class World:
    """Two made-up models: `p` mostly follows a script, `q` is a blurred copy of it."""

    script: list[str]
    sharpness: float  # how much both models agree with the script
    rng: random.Random
    greedy: bool = False
    lookup: bool = False  # the draft is sure of its one proposal
    vocabulary: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.vocabulary = [*dict.fromkeys(self.script), EOS]

    def distributions(self, place: int) -> tuple[list[float], list[float]]:
        rng = random.Random(f"{place}-{self.sharpness}")
        weights = [rng.random() ** 12 for _ in self.vocabulary]
        blurred = [weight * (0.3 + 1.4 * rng.random()) for weight in weights]
        favourite = self.vocabulary.index(self.script[place % len(self.script)])
        weights[favourite] += self.sharpness * sum(weights) * rng.random()
        blurred[favourite] += self.sharpness * sum(blurred) * rng.random() * 0.6
        if self.lookup:
            [best] = _top(blurred, 1)
            blurred = [float(i == best) for i in range(len(blurred))]
        return _normalised(weights), _normalised(blurred)

    def choose(self, shares: Sequence[float], ranks: Sequence[float]) -> int:
        """A draw from the shares; of greedy models the most probable token."""
        return _top(ranks, 1)[0] if self.greedy else self.rng.choices(range(len(shares)), shares)[0]

    def candidates(self, p: list[float], q: list[float] | None, also: int) -> list[Candidate]:
        tops = sorted({also, *_top(p, 4), *(_top(q, 4) if q else ())}, key=lambda i: -p[i])
        return [Candidate(i, self.vocabulary[i], p[i], q[i] if q else None) for i in tops]

    def emit(self, p: list[float], q: list[float] | None = None) -> EmittedToken:
        """A bonus; with q, of a rejected guess, a correction."""
        rest = _normalised([max(0.0, a - b) for a, b in zip(p, q, strict=True)]) if q and not self.greedy else p
        token = self.choose(rest, p)
        shown = [ResidualCandidate(i, self.vocabulary[i], rest[i]) for i in _top(rest, 5)] if rest is not p else []
        kind, candidates = "correction" if q else "bonus", self.candidates(p, q, token)
        return EmittedToken(kind, token, self.vocabulary[token], p[token], candidates, shown)  # type: ignore[arg-type]

    def round(self, index: int, place: int, length: int) -> Round:
        drafted, emitted = list[DraftedToken](), None
        for k in range(length):
            p, q = self.distributions(place + k)
            token = self.choose(q, q)
            keep = float(_top(p, 1)[0] == token) if self.greedy else min(1.0, p[token] / q[token])
            u = None if self.greedy else self.rng.random()
            made = DraftedToken(token, self.vocabulary[token], "discarded", p[token], q[token])
            made = replace(made, candidates=self.candidates(p, q, token))
            if emitted is None:
                passes = keep == 1 if u is None else u < keep
                made = replace(made, status="accepted" if passes else "rejected", accept_prob=keep, u=u)
                emitted = None if passes else self.emit(p, q)
            drafted.append(made)
        emitted = emitted or self.emit(self.distributions(place + length)[0])
        noise, slower = self.rng.uniform(0.9, 1.15), self.rng.uniform(0.9, 1.2)
        draft = 2e-5 if self.lookup else 0.36e-3 * length * slower
        return Round(index, draft, 3.8e-3 * (1 + 0.09 * length) * noise, 0.15e-3 * noise, drafted, emitted)


def run_of(rounds: Sequence[Round], plain: Autoregressive | None = None, **changes: Any) -> Trace:
    """The run that these rounds make; `changes` are fields of it that are to be others."""
    written = [token for round in rounds for token in round.emitted_ids]
    ended = bool(rounds) and rounds[-1].emitted.kind == "none"
    made = Trace(
        schema=2,
        created="2026-01-01T00:00:00+00:00",
        recorded_on=Machine("a machine", "2.13.0", "5.23.0", 1),
        target=ModelInfo("target", 2, "float32", "00"),
        drafter=DrafterInfo("model", "draft", 1, "float32", "11"),
        settings=DecodeSettings(max_new_tokens=max(1, len(written))),
        prompt=Prompt("a", [1], ["a"]),
        prefill_seconds=PrefillSeconds(0.01, 0.01),
        rounds=list(rounds),
        autoregressive=plain,
        output=Output(written, "a" * len(written), "eos" if ended else "length"),
    )
    return replace(made, **changes)


def fake_trace(
    *,
    tokens: int = 64,
    draft_length: int = 4,
    greedy: bool = False,
    lookup: bool = False,
    sharpness: float = 3.0,
    plain: bool = True,
    eos: bool = False,
    hostile: bool = False,
    seed: int = 0,
) -> Trace:
    """A whole run. `eos` ends it at an accepted end of text with one drafted token left unjudged."""
    script = HOSTILE if hostile else _words(STORY)
    world = World(script, sharpness, random.Random(seed), greedy, lookup)
    rounds, written = list[Round](), list[int]()
    while len(written) < tokens and (not rounds or rounds[-1].emitted.kind != "none"):
        length = 0 if lookup and len(rounds) % 3 == 0 else min(draft_length, tokens - len(written) - 1)
        made = world.round(len(rounds), len(written) + FIRST_PLACE, length)
        rounds.append(_ended(world, made) if eos and len(rounds) == 4 else made)
        written += rounds[-1].emitted_ids
    alone = [3.8e-3 * world.rng.uniform(0.9, 1.2) for _ in written]
    prompt = script[:FIRST_PLACE]
    return run_of(
        rounds,
        Autoregressive(alone, list(written)) if plain else None,
        recorded_on=Machine("a test's machine", "2.13.0", "5.23.0", 1),
        target=ModelInfo("wren-base", 7_500_000, "float32", "00"),
        drafter=LOOKUP if lookup else MODEL,
        settings=DecodeSettings(tokens, draft_length, temperature=0.0 if greedy else 1.0, seed=seed),
        prompt=Prompt("".join(prompt), list(range(len(prompt))), prompt),
        prefill_seconds=PrefillSeconds(0.01, 0.002),
        output=Output(list(written), "".join(world.vocabulary[i] for i in written), "eos" if eos else "length"),
    )


def _ended(world: World, made: Round) -> Round:
    """That round as it would be had its second drafted token been an accepted end of text."""
    first = replace(made.drafted[0], status="accepted", accept_prob=1.0, u=0.5)
    second = replace(first, id=world.vocabulary.index(EOS), text=EOS)
    rest = [replace(first, status="discarded", accept_prob=None, u=None) for _ in made.drafted[2:]]
    return replace(made, drafted=[first, second, *rest], emitted=EmittedToken("none"))


def fake_run(request: RunRequest) -> Trace:
    """The run that a request asks for, as an engine would have made it: greedy runs of one prompt write one text."""
    asked = request.settings
    sizes: dict[str, Any] = {"tokens": asked.max_new_tokens, "draft_length": asked.draft_length, "seed": asked.seed}
    trace = fake_trace(**sizes, greedy=asked.greedy, sharpness=SHARPNESS)
    pieces = re.findall(r" ?\w+|\s|[^\w\s]", request.prompt)  # about as a byte-level tokenizer cuts it
    return replace(
        trace,
        created=datetime.now(UTC).isoformat(),  # their times are alike, so this tells two runs apart
        target=replace(trace.target, name=request.target),
        drafter=LOOKUP if request.draft == PROMPT_LOOKUP else replace(MODEL, name=request.draft),
        settings=asked,
        prompt=Prompt(request.prompt, list(range(len(pieces))), pieces),
    )


def draft_guesses_of(trace: Trace, sharpness: float = SHARPNESS) -> DraftGuesses:
    """What the made-up draft of a greedy run would guess along its output."""
    world = World(_words(STORY), sharpness, random.Random(0))
    written = trace.output.token_ids
    guesses = [_top(world.distributions(FIRST_PLACE + place)[1], 1)[0] for place in range(len(written))]
    pieces = {token: world.vocabulary[token] for token in (*guesses, *written)}
    assert trace.drafter is not None
    return DraftGuesses(trace.drafter, written, guesses, None, pieces, True)


def _with_candidates(round: Round, change: Callable[[list[Candidate]], list[Candidate]]) -> Round:
    drafted = [replace(token, candidates=change(token.candidates)) for token in round.drafted]
    return replace(round, drafted=drafted, emitted=replace(round.emitted, candidates=change(round.emitted.candidates)))


def without_alternatives(trace: Trace) -> Trace:
    """That run with one candidate a token: nearly as small as a file of so many rounds can be."""
    rounds = [_with_candidates(round, lambda its: its[:1]) for round in trace.rounds]
    return replace(trace, rounds=[replace(each, emitted=replace(each.emitted, residual_top=[])) for each in rounds])


def translated(trace: Trace) -> Trace:
    """That run as a draft with another tokenizer would have made it: tokens three letters long, and no q."""
    rounds = []
    for round in trace.rounds:
        text = "".join(token.text for token in round.drafted)
        made = _with_candidates(round, lambda its: [each._replace(q=None) for each in its])
        drafted = [replace(token, draft_prob=None) for token in made.drafted]
        rounds.append(replace(made, drafted=drafted, draft_tokens=[text[i : i + 3] for i in range(0, len(text), 3)]))
    return replace(trace, rounds=rounds)


def cut(trace: Trace, rounds: int, alone: int | None = None) -> Trace:
    """That run while it goes on, after some rounds; `alone`: tokens the target alone has written, None: as many."""
    some, plain = trace.rounds[:rounds], trace.autoregressive
    written = [token for round in some for token in round.emitted_ids]
    steps = len(written) if alone is None else alone
    if plain:
        plain = replace(plain, seconds_per_token=plain.seconds_per_token[:steps], token_ids=plain.token_ids[:steps])
    return replace(trace, rounds=some, autoregressive=plain if steps else None, output=Output(written, "", None))
