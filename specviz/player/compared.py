"""The run that the one on screen is compared with: its lines in the plots, and what is different about it."""

from collections.abc import Iterator

from specviz.core.drafters import menu_title, named
from specviz.core.metrics import Costs, count, running
from specviz.core.names import first_words, short_name
from specviz.core.replay import DraftGuesses, counts_of, ends_of, every_length
from specviz.core.result import at_calibrated
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.player.data import replay_times, replayable
from specviz.player.payload import ComparedPayload

PROMPT_CHARACTERS = 16


def compared(trace: Trace, guesses: DraftGuesses | None, costs: Costs | None) -> ComparedPayload:
    """Its figures after each round and at each draft length."""
    states = running(trace)
    verdict = verdict_of_run(trace, costs)
    return {
        "name": run_name(trace),
        "differs": "",  # the run on screen decides
        "draft_length": trace.settings.draft_length,
        "acceptance": [_rounded(state.counts.acceptance_rate) for state in states],
        "speedup": [_rounded(state.speedup) for state in states],
        "lengths": _lengths(trace, replayable(trace, guesses), costs),
        "per_call": count(trace.rounds).tokens_per_target_call,
        "estimated": _rounded(at_calibrated(trace, costs)),
        "trusted": verdict is None or verdict.trusted,
        "pinned": False,
    }


def run_name(trace: Trace) -> str:
    """A run by its draft and draft length: "wren-nano, 4"."""
    return f"{draft_name(trace)}, {trace.settings.draft_length}"


def draft_name(trace: Trace) -> str:
    """The draft as the menus name it."""
    name = trace.drafter.asked_as if trace.drafter else "no draft"
    return menu_title(name) if named(name) else short_name(name)


def differences(trace: Trace, other: Trace) -> str:
    """What else the other run has different, as it is in this one; empty where that is nothing."""
    return ", ".join(_differences(trace, other))


def _differences(trace: Trace, other: Trace) -> Iterator[str]:
    settings, others = trace.settings, other.settings
    if trace.target.name != other.target.name:
        yield f"for {short_name(trace.target.name)}"
    if trace.prompt.text != other.prompt.text:
        yield f"“{first_words(trace.prompt.text, PROMPT_CHARACTERS)}”"
    if settings.temperature != others.temperature:
        yield f"temperature {settings.temperature:g}"
    if settings.manner != others.manner and settings.manner:
        yield settings.manner.strip(" ,")
    if settings.max_new_tokens != others.max_new_tokens:
        yield f"{settings.max_new_tokens} tokens"
    if trace.recorded_on.machine != other.recorded_on.machine:
        yield "recorded on another machine" if trace.created < other.created else "measured here"


def _lengths(
    trace: Trace, guesses: DraftGuesses | None, costs: Costs | None
) -> list[tuple[float | None, float | None]]:
    """Acceptance and estimated speedup at each draft length from 1; empty where the run cannot be replayed."""
    if guesses is None:
        return []
    steps, found = replay_times(trace, costs)["steps"], list[tuple[float | None, float | None]]()
    for rounds in every_length(guesses, trace.settings.max_new_tokens, ends_of(trace)).values():
        counts = counts_of(rounds)
        took = sum(steps[len(each.guesses)] for each in rounds) if steps else 0.0
        found.append((_rounded(counts.acceptance_rate), round(counts.emitted / took, 2) if took else None))
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
