"""What the stage component draws, as plain JSON: a pure function of a trace.

The scripts in assets/stage/ only draw it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal

from specviz.core.metrics import Running, autoregressive_clock, by_position, longest_draft, running
from specviz.core.trace import Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Trace
from specviz.ui.stage.narration import narrate
from specviz.ui.stage.replay import replay_data

SUBSTEPS = 3  # propose, check, judge: the playhead counts these
SHOWN_CANDIDATES = 3
SHOWN_PROMPT_TOKENS = 60
SHOWN_CHARACTERS = 80  # of one token's text

Source = Literal["live", "recorded"]
Json = dict[str, Any]


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
    replay: Json | None = None,
) -> Json:
    """Everything the stage shows of a run, finished or still going.

    Args:
        trace: the run; while it goes on `output.stopped_by` is None, and `autoregressive` is None until the plain run.
        run_id: a new one makes the stage start again; the same one with more rounds keeps its playhead.
        source: whether the figures were measured here and now, or recorded before.
        running: whether more rounds, or the plain run, may still come.
        notice: one short line beside the badge, e.g. the place in the queue.
        link: the query parameters that reproduce the run; the stage adds `step`.
        playhead: the sub-step to show when the stage is first mounted; None plays from the start.
        gamma: the draft length the visitor asks for; None is the run's own.
        replay: what `replay_data` made of it; None where nothing is foreseen.
    """
    recorded_on = trace.recorded_on.machine
    return {
        "run_id": run_id,
        "running": running,
        "more": running and trace.output.stopped_by is None,  # rounds, that is: the plain run comes after them
        "notice": notice,
        "badge": _badge(source, running, recorded_on, bool(trace.rounds)),
        "measured": "measured on this machine" if source == "live" else f"measured on {recorded_on}",
        "idle": notice or ("Waiting for the first round…" if running else "No draft model took part in this run."),
        "link": link or {},
        "playhead": playhead,
        "greedy": trace.settings.greedy,
        "lookup": _lookup(trace),
        "person": _person(trace),
        "translated": any(round.draft_tokens for round in trace.rounds),  # the draft's tokens are not the target's
        "draft_length": trace.settings.draft_length,
        "gamma": gamma or trace.settings.draft_length,
        "replay": replay or replay_data(trace, None, None, running),
        "prompt": _prompt(trace),
        "rounds": _rounds(trace),
        "plain": _plain(trace),
    }


def _badge(source: Source, running: bool, machine: str, started: bool) -> str:
    if source == "recorded":
        return f"recorded on {machine}"
    return "waiting…" if running and not started else "live · this machine"


def _lookup(trace: Trace) -> bool:
    return trace.drafter is not None and trace.drafter.kind not in ("model", "person")


def _person(trace: Trace) -> bool:
    return trace.drafter is not None and trace.drafter.kind == "person"


def _prompt(trace: Trace) -> Json:
    """The prompt's last tokens, and how many come before them."""
    tokens = trace.prompt.tokens
    shown = [_short(text) for text in tokens[-SHOWN_PROMPT_TOKENS:]]
    return {"hidden": len(tokens) - len(shown), "tokens": shown}


def _plain(trace: Trace) -> list[float] | None:
    """Milliseconds at which the target alone had written each token."""
    plain = trace.autoregressive
    if plain is None:
        return None
    return [_ms(seconds) for seconds in autoregressive_clock(plain, len(plain.seconds_per_token))[1:]]


def _rounds(trace: Trace) -> list[Json]:
    states = running(trace)
    settings = trace.settings
    total = states[-1].counts.emitted if states else 0
    clock = autoregressive_clock(trace.autoregressive, total) if trace.autoregressive else None
    longest = longest_draft(trace)
    judged, accepted = [0] * longest, [0] * longest
    rounds: list[Json] = []
    for round, state in zip(trace.rounds, states, strict=True):
        for i, counts in enumerate(by_position([round], longest)):
            judged[i] += counts.judged
            accepted[i] += counts.accepted
        written = state.counts.emitted - len(round.emitted_ids)
        rounds.append(
            {
                "sentences": list(
                    narrate(
                        round,
                        draft_length=settings.draft_length,
                        remaining=settings.max_new_tokens - written,
                        lookup=_lookup(trace),
                        person=_person(trace),
                        ends=trace.output.stopped_by == "eos" and state is states[-1],
                    )
                ),
                "chips": _chips(round),
                **_own(round),
                **_times(round, state, clock),
                "after": _figures(state, [list(pair) for pair in zip(accepted, judged, strict=True)]),
            }
        )
    return rounds


def _times(round: Round, state: Running, clock: Sequence[float] | None) -> Json:
    """When the round starts, has drafted, has verified and is over, and what the target alone had written by then."""
    start = state.speculative_seconds - round.seconds
    drafted = start + round.draft_seconds
    moments = [max(start, 0.0), drafted, drafted + round.verify_seconds, state.speculative_seconds]
    alone = [bisect_right(clock, moment) - 1 for moment in moments[1:]] if clock else None
    return {"ms": [_ms(moment) for moment in moments], "alone": alone}


def _figures(state: Running, positions: list[list[int]]) -> Json:
    """The figures after a round; `positions` are (accepted, judged) so far at each place of the draft."""
    counts = state.counts
    return {
        "emitted": counts.emitted,
        "acceptance": _rounded(counts.acceptance_rate),
        "judgement": _rounded(counts.per_judgement_rate),
        "speedup": _rounded(state.speedup),
        "positions": positions,
    }


def _chips(round: Round) -> list[Json]:
    chips = [_drafted_chip(token) for token in round.drafted]
    if round.emitted.id is not None:
        chips.append(_emitted_chip(round.emitted))
    return chips


def _own(round: Round) -> Json:
    """What a draft with another tokenizer wrote, in its own tokens; nothing of other drafts."""
    return {"own": [_short(text) for text in round.draft_tokens]} if round.draft_tokens else {}


def _drafted_chip(token: DraftedToken) -> Json:
    """A discarded token was never judged, so only what the draft thought of it is sent."""
    if token.status == "discarded":
        return {"text": _short(token.text), "status": token.status, "q": _rounded(token.draft_prob)}
    return {
        "text": _short(token.text),
        "status": token.status,
        "p": _rounded(token.target_prob),
        "q": _rounded(token.draft_prob),
        "keep": _rounded(token.accept_prob),
        "u": _rounded(token.u),
        "top": _candidates(token.candidates, token.id),
    }


def _emitted_chip(token: EmittedToken) -> Json:
    return {
        "text": _short(token.text),
        "status": token.kind,
        "p": _rounded(token.target_prob),
        "top": _candidates(token.candidates, token.id),
        "residual": _residual(token.residual_top, token.id),
    }


def _candidates(candidates: Sequence[Candidate], own: int | None) -> list[list[Any]]:
    """[text, p, q, is it this token]: the token itself, both models' favourites and the next likeliest; by p."""
    if not candidates:
        return []
    ranked = sorted(candidates, key=lambda c: (c.id != own, -max(c.p, c.q or 0.0)))
    favourites = [max(candidates, key=lambda c: c.p), max(candidates, key=lambda c: c.q or 0.0)]
    wanted = list(dict.fromkeys([*ranked[:1], *favourites, *ranked]))[:SHOWN_CANDIDATES]
    ordered = sorted(wanted, key=lambda c: (-c.p, -(c.q or 0.0)))
    return [[_short(c.text), _rounded(c.p), _rounded(c.q), int(c.id == own)] for c in ordered]


def _residual(top: Sequence[ResidualCandidate], own: int | None) -> list[list[Any]]:
    """[text, r, is it this token] of the residual's likeliest, this token among them where it was recorded."""
    wanted = sorted(top, key=lambda c: (c.id != own, -c.r))[:SHOWN_CANDIDATES]
    return [[_short(c.text), _rounded(c.r), int(c.id == own)] for c in sorted(wanted, key=lambda c: -c.r)]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
