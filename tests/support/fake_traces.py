"""Traces without models: true speculative sampling over made-up distributions, so that the numbers agree."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.replay import DraftGuesses
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import (
    Autoregressive,
    Candidate,
    DraftedToken,
    DrafterInfo,
    EmittedToken,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    ResidualCandidate,
    Round,
    Trace,
)

STORY = """\
Once upon a time , there was a little girl named Lily . She loved to play in the park . One day , she saw a big dog \
with a red ball . The dog was sad : nobody wanted to play . Lily said , “ Hello , do you want to be my friend ? ” \
The dog wagged its tail and they ran to the tree .\n\nAfter lunch her mom gave them some bread and they were happy ."""
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202eright to left", "\x00\x07\x1b[31m"]
HOSTILE += ["<b>bold</b>", "a" * 300, "\t\t", "\r\n", "⟨E2⟩⟨80⟩", "&lt;", "", "$x^2$ **md**", "日本語の", "👩‍👩‍👧"]
EOS = "<|end|>"
FIRST_PLACE = 9  # of the script, that is written; what comes before is the prompt
SHARPNESS = 6.0


def _words(text: str) -> list[str]:
    """TokenTexts as a byte-level tokenizer cuts them: a word takes the space before it."""
    pieces: list[str] = []
    for word in text.replace("\n\n", " \n\n ").split(" "):
        pieces.append(word if word in {".", ",", "?", "\n\n"} or not pieces or pieces[-1] == "\n\n" else " " + word)
    return pieces


@dataclass
class World:
    """Two made-up models: `p` mostly follows a script, `q` is a blurred copy of it."""

    script: list[str]
    sharpness: float  # how much both models agree with the script
    rng: random.Random
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
            return _normalised(weights), [float(i == _argmax(blurred)) for i in range(len(blurred))]
        return _normalised(weights), _normalised(blurred)


def _normalised(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights]


def _argmax(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _candidates(world: World, p: list[float], q: list[float] | None, also: int) -> list[Candidate]:
    tops = {also, *sorted(range(len(p)), key=lambda i: -p[i])[:4]}
    tops |= set(sorted(range(len(p)), key=lambda i: -q[i])[:4]) if q else set()
    return [Candidate(i, world.vocabulary[i], p[i], q[i] if q else None) for i in sorted(tops, key=lambda i: -p[i])]


def _round(world: World, index: int, place: int, length: int, *, greedy: bool, record: bool) -> Round:
    rng, drafted, replaced = world.rng, [], None
    emitted = EmittedToken("none")
    for k in range(length):
        p, q = world.distributions(place + k)
        token = _argmax(q) if greedy else rng.choices(range(len(q)), q)[0]
        keep = float(_argmax(p) == token) if greedy else min(1.0, p[token] / q[token])
        u = None if greedy else rng.random()
        passes = keep == 1 if u is None else u < keep
        status = "discarded" if replaced is not None else "accepted" if passes else "rejected"
        if status == "rejected":
            replaced = k
            emitted = _correction(world, p, q, greedy=greedy)
        drafted.append(_drafted(world, token, status, p, q, keep, u, record=record))
    if replaced is None:
        p, _ = world.distributions(place + length)
        token = _argmax(p) if greedy else rng.choices(range(len(p)), p)[0]
        emitted = EmittedToken("bonus", token, world.vocabulary[token], p[token], _candidates(world, p, None, token))
    noise = rng.uniform(0.9, 1.15)
    verify = 3.8e-3 * (1 + 0.09 * length) * noise
    return Round(index, 0.36e-3 * length * rng.uniform(0.9, 1.2), verify, 0.15e-3 * noise, drafted, emitted)


def _drafted(world, token, status, p, q, keep, u, *, record) -> DraftedToken:  # type: ignore[no-untyped-def]
    made = DraftedToken(token, world.vocabulary[token], status)
    if not record:
        return made
    made = replace(made, target_prob=p[token], draft_prob=q[token], candidates=_candidates(world, p, q, token))
    return made if status == "discarded" else replace(made, accept_prob=keep, u=u)


def _correction(world: World, p: list[float], q: list[float], *, greedy: bool) -> EmittedToken:
    if greedy:
        token = _argmax(p)
        return EmittedToken("correction", token, world.vocabulary[token], p[token], _candidates(world, p, q, token))
    residual = _normalised([max(0.0, a - b) for a, b in zip(p, q, strict=True)])
    token = world.rng.choices(range(len(p)), residual)[0]
    top = sorted(range(len(p)), key=lambda i: -residual[i])[:5]
    shown = [ResidualCandidate(i, world.vocabulary[i], residual[i]) for i in top]
    return EmittedToken("correction", token, world.vocabulary[token], p[token], _candidates(world, p, q, token), shown)


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
    record: bool = True,
    seed: int = 0,
) -> Trace:
    """A whole run. `eos` ends it at an accepted end of text with one drafted token left unjudged."""
    rng = random.Random(seed)
    script = HOSTILE if hostile else _words(STORY)
    world = World(script, sharpness, rng, lookup)
    rounds: list[Round] = []
    written: list[int] = []
    while len(written) < tokens:
        length = min(draft_length, tokens - len(written) - 1)
        if lookup and len(rounds) % 3 == 0:
            length = 0
        made = _round(world, len(rounds), len(written) + FIRST_PLACE, length, greedy=greedy, record=record)
        if lookup:
            made = replace(made, draft_seconds=2e-5)
        if eos and len(rounds) == 4:
            made = _ended(world, made, draft_length)
        rounds.append(made)
        written += made.emitted_ids
        if made.emitted.kind == "none":
            break
    model = DrafterInfo("model", "wren-nano", 700_000, "float32", "11")
    alone = [3.8e-3 * rng.uniform(0.9, 1.2) for _ in written]
    prompt = script[:FIRST_PLACE]
    return run_of(
        rounds,
        Autoregressive(alone, list(written)) if plain else None,
        recorded_on=Machine("a test's machine", "2.13.0", "5.23.0", 1),
        target=ModelInfo("wren-base", 7_500_000, "float32", "00"),
        drafter=DrafterInfo("prompt-lookup", "lookup") if lookup else model,
        settings=DecodeSettings(tokens, draft_length, temperature=0.0 if greedy else 1.0, seed=seed),
        prompt=Prompt("".join(prompt), list(range(len(prompt))), prompt),
        prefill_seconds=PrefillSeconds(0.01, 0.002),
        output=Output(list(written), "".join(world.vocabulary[i] for i in written), "eos" if eos else "length"),
    )


def fake_run(request: RunRequest) -> Trace:
    """The run that a request asks for, as an engine would have made it: greedy runs of one prompt write one text."""
    settings = request.settings
    trace = fake_trace(
        tokens=settings.max_new_tokens,
        draft_length=settings.draft_length,
        greedy=settings.greedy,
        sharpness=SHARPNESS,
        seed=settings.seed,
    )
    pieces = pieces_of(request.prompt)
    return replace(
        trace,
        created=datetime.now(UTC).isoformat(),  # their times are alike, so this tells two runs apart
        target=replace(trace.target, name=request.target),
        drafter=DrafterInfo("prompt-lookup", "lookup")
        if request.draft == PROMPT_LOOKUP
        else DrafterInfo("model", request.draft, 700_000, "float32", "11"),
        settings=settings,
        prompt=Prompt(request.prompt, list(range(len(pieces))), pieces),
    )


def pieces_of(text: str) -> list[str]:
    """The text as a byte-level tokenizer cuts it, about: a word takes the space before it."""
    return re.findall(r" ?\w+|\s|[^\w\s]", text)


def draft_guesses_of(trace: Trace, sharpness: float = SHARPNESS) -> DraftGuesses:
    """What the made-up draft of a greedy run would guess along its output."""
    world = World(_words(STORY), sharpness, random.Random(0))
    written = trace.output.token_ids
    guesses = [_argmax(world.distributions(FIRST_PLACE + place)[1]) for place in range(len(written))]
    pieces = {token: world.vocabulary[token] for token in (*guesses, *written)}
    assert trace.drafter is not None
    return DraftGuesses(trace.drafter, written, guesses, None, pieces, True)


def _ended(world: World, made: Round, length: int) -> Round:
    """That round as it would be had its second drafted token been an accepted end of text."""
    end = world.vocabulary.index(EOS)
    first = replace(made.drafted[0], status="accepted", accept_prob=1.0, u=0.5)
    second = replace(first, id=end, text=EOS)
    rest = [replace(first, status="discarded", accept_prob=None, u=None) for _ in range(length - 2)]
    return replace(made, drafted=[first, second, *rest], emitted=EmittedToken("none"))


def without_alternatives(trace: Trace) -> Trace:
    """That run with one candidate a token: nearly as small as a file of so many rounds can be."""
    rounds = [
        replace(
            round,
            drafted=[replace(token, candidates=token.candidates[:1]) for token in round.drafted],
            emitted=replace(round.emitted, candidates=round.emitted.candidates[:1], residual_top=[]),
        )
        for round in trace.rounds
    ]
    return replace(trace, rounds=rounds)


def translated(trace: Trace) -> Trace:
    """That run as a draft with another tokenizer would have made it: tokens three letters long, and no q."""
    rounds = []
    for round in trace.rounds:
        text = "".join(token.text for token in round.drafted)
        own = [text[i : i + 3] for i in range(0, len(text), 3)]
        drafted = [
            replace(token, draft_prob=None, candidates=[c._replace(q=None) for c in token.candidates])
            for token in round.drafted
        ]
        emitted = replace(round.emitted, candidates=[c._replace(q=None) for c in round.emitted.candidates])
        rounds.append(replace(round, drafted=drafted, emitted=emitted, draft_tokens=own))
    return replace(trace, rounds=rounds)


def cut(trace: Trace, rounds: int, alone: int | None = None) -> Trace:
    """That run while it goes on, after some rounds; `alone`: tokens the target alone has written, None: as many."""
    some, plain = trace.rounds[:rounds], trace.autoregressive
    written = [token for round in some for token in round.emitted_ids]
    steps = len(written) if alone is None else alone
    if plain:
        plain = replace(plain, seconds_per_token=plain.seconds_per_token[:steps], token_ids=plain.token_ids[:steps])
    return replace(trace, rounds=some, autoregressive=plain if steps else None, output=Output(written, "", None))
