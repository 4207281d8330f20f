"""What the stage component draws, as plain JSON: a pure function of a trace."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, get_args

from specviz.core.drafters import Method
from specviz.core.metrics import Running, autoregressive_clock, by_position, longest_draft, running
from specviz.core.names import forward_in_words, pair_name
from specviz.core.readable import merged, readable
from specviz.core.rounds import known_seconds
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.trace import MAX_TOKENS, Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Trace
from specviz.core.tree_shape import DYNAMIC
from specviz.player.narration import narrate, teller_of
from specviz.player.payload import (
    CandidateRow,
    Chip,
    DiscardedChip,
    FiguresAfter,
    HowPayload,
    JudgedChip,
    MethodPayload,
    NoReplay,
    NotTakenChip,
    Phase,
    PromptPayload,
    Replays,
    RoundPayload,
    ShareRow,
    StagePayload,
    TargetChip,
    TreePayload,
)
from specviz.player.replay import replay_data
from specviz.player.tree_rows import fold, tree_rows

PHASES: tuple[Phase, ...] = get_args(Phase)
SUBSTEPS = len(PHASES)  # the playhead counts these
SHOWN_CANDIDATES = 3
SHOWN_PROMPT_TOKENS = 60
SHOWN_CHARACTERS = 80  # of one token's text

# live: decoded for this visitor; stored: measured on this server before; recorded: in a file, on some machine
Source = Literal["live", "stored", "recorded"]


def stage_data(
    trace: Trace,
    *,
    run_id: str,
    source: Source,
    running: bool,
    notice: str | None = None,
    link: dict[str, str] | None = None,
    playhead: int | None = None,
    gamma: int | None = None,
    replay: NoReplay | Replays | None = None,
) -> StagePayload:
    """Everything the stage shows of a run, finished or not.

    Args:
        trace: the run; while it goes on `output.stopped_by` is None, and rounds and plain steps grow together.
        run_id: a new one makes the stage start again; the same one with more rounds keeps its playhead.
        running: whether more rounds, or more of the plain run, may still come.
        notice: one short line beside the badge; `link`: the query parameters that reproduce the run.
        playhead: the sub-step to show first; None plays from the start.
        gamma: the draft length the visitor asked for; None is the run's own.
        replay: what `replay_data` made of it; None where the draft's guesses are not known.
    """
    return {
        "stream": "",  # a page with a feed names it
        "version": 0,
        "run_id": run_id,
        "name": pair_name(trace),
        "differs": "",
        "running": running,
        "more": running and trace.output.stopped_by is None,  # rounds
        "phases": list(PHASES),
        "longest_draft": MAX_DRAFT_LENGTH,
        "notice": notice,
        "badge": _badge(trace, source, running),
        "measured": _measured(trace, source),
        "idle": notice or ("Waiting for the first round…" if running else "No draft model took part in this run."),
        "link": link or {},
        "playhead": playhead,
        **_how(trace),  # type: ignore[typeddict-item]  # it has no others
        "timed": trace.timed,
        "imported": trace.imported is not None,
        "draft_length": trace.settings.draft_length,
        "gamma": gamma or trace.settings.draft_length,
        "replay": replay or replay_data(trace, None, None, running),
        "prompt": _prompt(trace),
        "rounds": _rounds(readable(trace)),
        "plain": _plain(trace),
    }


def _measured(trace: Trace, source: Source) -> str:
    if trace.imported:
        return " ".join([f"imported from {trace.imported.system}: {pair_name(trace)}.", *trace.imported.notes])
    place = trace.recorded_on.machine if source == "recorded" else "this machine"
    return ", ".join(filter(None, (f"measured on {place}", forward_in_words(trace))))


def _badge(trace: Trace, source: Source, running: bool) -> str:
    if trace.imported:
        return f"imported from {trace.imported.system}"
    if source == "recorded":
        return "recorded run"
    if source == "stored":
        return f"measured here on {trace.created[:10]} at {trace.created[11:16]} UTC"
    return "waiting…" if running and not trace.rounds else "live · this machine"


def _how(trace: Trace) -> HowPayload:
    teller = teller_of(trace)
    return {
        "greedy": trace.settings.greedy,
        "drafter": teller.method.kind,
        "method": _method(teller.method),
        "rule": teller.rule,
        "point_mass": _is_point_mass(trace.settings),
        "tree": trace.settings.tree,
        "translated": any(round.draft_tokens for round in trace.rounds),
    }


def _method(method: Method) -> MethodPayload:
    return {
        "by_hand": method.by_hand,
        "at_once": method.at_once,
        "sees_state": method.sees_state,
        "title": method.title,
        "gives": method.gives,
        "certain": method.certain,
    }


def _is_point_mass(settings: DecodeSettings) -> bool:
    """Whether a model does not draw its guesses by chance, above temperature 0: q is then 1 on each."""
    chosen = settings.draft_sampling == "argmax" or (settings.tree or "").startswith(DYNAMIC)
    return chosen and not settings.greedy


def _prompt(trace: Trace) -> PromptPayload:
    """The prompt's last tokens, those of one character as one, and how many come before them."""
    tokens = trace.prompt.tokens
    last = tokens[-SHOWN_PROMPT_TOKENS:]
    return {"hidden": len(tokens) - len(last), "tokens": [_short(text) for text in merged(last)]}


def _plain(trace: Trace) -> list[float] | None:
    """Milliseconds at which the target alone had written each token."""
    plain = trace.autoregressive
    if plain is None:
        return None
    return [_ms(seconds) for seconds in autoregressive_clock(plain, len(plain.seconds_per_token))[1:]]


def _rounds(trace: Trace) -> list[RoundPayload]:
    states, plain = running(trace), trace.autoregressive
    total = states[-1].counts.emitted if states else 0
    clock = autoregressive_clock(plain, min(total, len(plain.token_ids))) if plain else None
    longest = longest_draft(trace)
    judged, accepted = [0] * longest, [0] * longest
    rounds: list[RoundPayload] = []
    for round, state in zip(trace.rounds, states, strict=True):
        for place in by_position([round], longest):
            judged[place.position - 1] += place.judged
            accepted[place.position - 1] += place.accepted
        positions = list(zip(accepted, judged, strict=True))
        rounds.append(_round(trace, round, state, clock, positions))
    return rounds


def _round(
    trace: Trace, round: Round, state: Running, clock: Sequence[float] | None, positions: list[tuple[int, int]]
) -> RoundPayload:
    settings = trace.settings
    written = state.counts.emitted - round.emits
    sentences = narrate(
        round,
        teller_of(trace),
        draft_length=settings.draft_length,
        remaining=MAX_TOKENS if trace.imported else settings.max_new_tokens - written,  # a limit is often not reported
        ends=trace.output.stopped_by == "eos" and round is trace.rounds[-1],
    )
    start, drafted, verified, end = _moments(round, state)
    made: RoundPayload = {
        "sentences": sentences,
        "chips": _chips(round),
        "ms": (_ms(start), _ms(drafted), _ms(verified), _ms(end)),
        "alone": None if clock is None else (_by(clock, drafted), _by(clock, verified), _by(clock, end)),
        "after": _figures(state, positions),
    }
    if round.draft_tokens:  # of a draft with another tokenizer
        made["draft_tokens"] = [_short(text) for text in round.draft_tokens]
    if round.is_tree:
        made["tree"] = _tree(round)
    return made


def _tree(round: Round) -> TreePayload:
    rows = tree_rows(round)
    hidden = fold(round, rows)
    parents = [-1 if token.parent is None else token.parent for token in round.drafted]
    return {"parents": parents, "rows": rows, "folded": hidden.rows, "best": _rounded(hidden.best)}


def _moments(round: Round, state: Running) -> tuple[float, float, float, float]:
    """When the phases of the round begin and when it ends, in seconds; zeros where the run has no times."""
    end = state.speculative_seconds
    if end is None or round.seconds is None:
        return 0.0, 0.0, 0.0, 0.0
    start = end - round.seconds
    drafted = start + known_seconds(round.draft_seconds)
    return max(start, 0.0), drafted, drafted + known_seconds(round.verify_seconds), end


def _by(clock: Sequence[float], moment: float) -> int:
    """How many tokens the target alone had written by then."""
    return bisect_right(clock, moment) - 1


def _figures(state: Running, positions: list[tuple[int, int]]) -> FiguresAfter:
    """The figures after a round; `positions` are (accepted, judged) so far at each place of the draft.

    A place counts as judged once, also where siblings of a tree were tried for it.
    """
    counts, judged = state.counts, sum(judged for _, judged in positions)
    return {
        "emitted": counts.emitted,
        "accepted": counts.accepted,
        "drafted": counts.drafted,
        "judged": judged,
        "acceptance": _rounded(counts.acceptance_rate),
        "judgement": _rounded(counts.accepted / judged if judged else None),
        "speedup": _rounded(state.speedup),
        "positions": positions,
    }


def _chips(round: Round) -> list[Chip]:
    chips: list[Chip] = [_drafted_chip(token) for token in round.drafted]
    if round.added != "none":
        chips.append(_target_chip(round.emitted, round.added))
    return chips


def _drafted_chip(token: DraftedToken) -> DiscardedChip | NotTakenChip | JudgedChip:
    if token.status == "discarded":
        return {"text": _short(token.shown), "status": "discarded", "q": _rounded(token.draft_prob)}
    return _not_taken_chip(token) if token.status == "not taken" else _judged_chip(token)


def _not_taken_chip(token: DraftedToken) -> NotTakenChip:
    p, q = _rounded(token.target_prob), _rounded(token.draft_prob)
    return {"text": _short(token.shown), "status": "not taken", "p": p, "q": q}


def _judged_chip(token: DraftedToken) -> JudgedChip:
    return {
        "text": _short(token.shown),
        "status": "accepted" if token.status == "accepted" else "rejected",
        "p": _rounded(token.target_prob),
        "q": _rounded(token.draft_prob),
        "accept_prob": _rounded(token.accept_prob),
        "u": _rounded(token.u),
        "candidates": _candidates(token.candidates, token.id),
    }


def _target_chip(token: EmittedToken, status: Literal["correction", "bonus", "own"]) -> TargetChip:
    return {
        "text": _short(token.text),
        "status": status,
        "p": _rounded(token.target_prob),
        "candidates": _candidates(token.candidates, token.id),
        "residual": _residual(token.residual_top, token.id),
    }


def _candidates(candidates: Sequence[Candidate], own: int | None) -> list[CandidateRow]:
    """The token itself, each model's most probable one and the next most probable ones, ordered by p."""
    if not candidates:
        return []
    ranked = sorted(candidates, key=lambda c: (c.id != own, -max(c.p, c.q or 0.0)))
    favourites = [max(candidates, key=lambda c: c.p), max(candidates, key=lambda c: c.q or 0.0)]
    wanted = list(dict.fromkeys([*ranked[:1], *favourites, *ranked]))[:SHOWN_CANDIDATES]
    ordered = sorted(wanted, key=lambda c: (-c.p, -(c.q or 0.0)))
    return [(_short(c.text), round(c.p, 6), _rounded(c.q), c.id == own) for c in ordered]


def _residual(top: Sequence[ResidualCandidate], own: int | None) -> list[ShareRow]:
    """The residual's most probable tokens, this token among them where it was recorded."""
    wanted = sorted(top, key=lambda c: (c.id != own, -c.r))[:SHOWN_CANDIDATES]
    return [(_short(c.text), round(c.r, 6), c.id == own) for c in sorted(wanted, key=lambda c: -c.r)]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
