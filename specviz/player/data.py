"""What the stage component gets, as plain JSON: a run as its trace, and what the trace cannot say.

The modules in assets/browser/trace/ make of it what is drawn.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Literal, cast, get_args

from pydantic import TypeAdapter

from specviz.core.drafters import exit_layers, menu_title, method_of, named
from specviz.core.errors import InputError
from specviz.core.metrics import Costs, costs, count, estimated_at, interval_of_median, running, speedup_at
from specviz.core.names import forward_in_words, pair_name, prompt_words, short_name
from specviz.core.replay import DraftGuesses, ends_of, replay
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import terms_of
from specviz.core.texts import Sentences
from specviz.core.trace import Candidate, DraftedToken, DrafterInfo, Prompt, Round, Trace
from specviz.core.verdict import KnownCosts, compare_texts, quiet, say_result, verdict_of_run
from specviz.data.lessons.story import Phase
from specviz.player import payload as to
from specviz.player.payload import SentStage

say = Sentences("stage")

PHASES: tuple[Phase, ...] = get_args(Phase)
SUBSTEPS = len(PHASES)  # the playhead counts these
SHOWN_CANDIDATES = 3
SHOWN_PROMPT_TOKENS = 60
SHOWN_CHARACTERS = 80  # of one token's text
PROMPT_CHARACTERS = 16  # of the prompt, where another run has another one
DECIMALS = 7  # of a probability, and of seconds

# live: decoded for this visitor; stored: measured on this server before; recorded: in a file, on some machine
RunSource = Literal["live", "stored", "recorded"]

_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)
_ROUNDS: TypeAdapter[list[Round]] = TypeAdapter(list[Round])
_GUESSES: TypeAdapter[DraftGuesses] = TypeAdapter(DraftGuesses)


def stage_data(
    trace: Trace,
    *,
    run_id: str,
    source: RunSource,
    running: bool,
    guesses: DraftGuesses | None = None,
    costs: Costs | None = None,
    known: Costs | None = None,
) -> SentStage:
    """Everything the stage is sent of a run, finished or not; a page adds its own, as the link or the playhead.

    Args:
        trace: the run; while it goes on `output.stopped_by` is None, and rounds and plain steps grow together.
        run_id: a new one makes the stage start again; the same one with more rounds keeps its playhead.
        running: whether more rounds, or more of the plain run, may still come.
        guesses: of its own draft, for other draft lengths; None where they are not known.
        costs: the pair's calibrated costs, for the speedups there; None takes those the run itself shows.
        known: costs that speak where the run's own time is not trusted.
    """
    replayed = replayable(trace, guesses)
    pieces = {token: _short(text) for token, text in replayed.pieces.items()} if replayed else {}
    run: to.SentRun = {
        "trace": _trace(trace),
        "hidden": max(0, len(trace.prompt.tokens) - SHOWN_PROMPT_TOKENS),
        "method": method_payload(trace.drafter),
        "guesses": to.DraftGuessesJson(_GUESSES.dump_python(replace(replayed, pieces=pieces), mode="json"))
        if replayed
        else None,
        "times": _replay_times(trace, costs, known) if replayed else None,
        "named": _named(trace),
    }
    return {
        "stream": "",  # a page with a feed names it
        "version": 0,
        "run_id": run_id,
        "running": running,
        "phases": list(PHASES),
        "notice": None,
        "badge": _badge(trace, source, running),
        "measured": _measured(trace, source),
        "idle": say("waiting_first" if running else "alone"),
        "link": {},
        "playhead": None,
        "gamma": trace.settings.draft_length,
        "run": run,
    }


def _named(trace: Trace) -> to.RunName:
    settings = trace.settings
    return {
        "draft": draft_name(trace),
        "draft_length": settings.draft_length,
        "target": trace.target.name,
        "prompt": blake2b(trace.prompt.text.encode(), digest_size=8).hexdigest(),
        "words": prompt_words(trace, PROMPT_CHARACTERS),
        "temperature": settings.temperature,
        "manner": settings.manner.strip(" ,"),
        "max_new_tokens": settings.max_new_tokens,
        "machine": trace.recorded_on.machine,
        "created": trace.created,
    }


def _measured(trace: Trace, source: RunSource) -> str:
    if trace.imported:
        imported = say("imported", system=trace.imported.system, pair=pair_name(trace))
        return " ".join([imported, *trace.imported.notes])
    recorded, forward = source == "recorded", forward_in_words(trace)
    place = say("measured_on", machine=trace.recorded_on.machine) if recorded else say("measured_here")
    return say("with_forward", place=place, forward=forward) if forward else place


def _badge(trace: Trace, source: RunSource, running: bool) -> str:
    if trace.imported:
        return say("badge_imported", system=trace.imported.system)
    if source == "recorded":
        return say("badge_recorded")
    if source == "stored":
        return say("badge_stored", date=trace.created[:10], time=trace.created[11:16])
    return say("badge_waiting" if running and not trace.rounds else "badge_live")


def _trace(trace: Trace) -> to.TraceJson:
    """As JSON, without what the stage does not show: most candidates, the start of a long prompt, the whole texts.

    The rounds are without what has its default: an unjudged token has little else.
    """
    prompt, plain = Prompt("", [], trace.prompt.tokens[-SHOWN_PROMPT_TOKENS:]), trace.autoregressive
    plain, output = plain and replace(plain, token_ids=[]), replace(trace.output, token_ids=[], text="")
    kept = replace(trace, prompt=prompt, rounds=[], autoregressive=plain, output=output)
    rest = _TRACE.dump_python(kept, mode="json")
    rounds = _ROUNDS.dump_python([_shorten_round(round) for round in trace.rounds], mode="json", exclude_defaults=True)
    long = {"rounds": rounds, "prompt": rest["prompt"], "autoregressive": rest["autoregressive"]}
    return to.TraceJson(rest | _shortened(long))


def method_payload(drafter: DrafterInfo | None) -> to.MethodPayload:
    """What the stage says of a way to draft; None: the target alone."""
    method = method_of(drafter.kind if drafter else None).here
    facts = {name: getattr(method, name) for name in to.MethodPayload.__annotations__}
    if drafter and method.takes:
        with suppress(InputError):  # its name need not say how many
            if layers := exit_layers(drafter.name):
                facts["subject"] = say("layers", count=layers)
    return cast(to.MethodPayload, facts)


def replayable(trace: Trace, guesses: DraftGuesses | None) -> DraftGuesses | None:
    """The guesses, where the run can be replayed with them at another draft length."""
    settings = trace.settings
    fixed = settings.greedy and settings.tree is None and settings.draft_schedule == "fixed"
    of_this = guesses and guesses.token_ids == trace.output.token_ids
    return guesses if fixed and of_this and not any(round.draft_tokens for round in trace.rounds) else None


def _replay_times(trace: Trace, calibrated: Costs | None, known: Costs | None = None) -> to.ReplayTimes:
    """What rounds take at other draft lengths, by the pair's `calibrated` costs, else by the run's own.

    The measured speedup of the run is what its own length must have: other lengths are estimated from it, so that the
    visitor sees one speedup. Where the run's time is not trusted, nothing is left but costs that are `known` all the
    same.
    """
    verdict, pair = verdict_of_run(trace, calibrated), quiet(trace, calibrated)
    used = pair or costs(trace)
    said: to.CostsOf = "of_run" if pair is None else "of_both" if pair.of_draft else "of_both_unsure"
    if busy := verdict is not None and not verdict.trusted:
        verdict, used = None, known
        said = "of_pair" if known and known.of_draft else "of_pair_unsure"
    if used is None:
        return {"steps": None, "between": None, "said": "unknown_busy" if busy else "unknown_times"}

    def steps(of: Costs) -> list[float]:
        modelled = speedup_at(trace.rounds, of)
        scale = modelled / verdict.speedup if verdict and modelled else 1.0
        return [scale * of.round_steps(drafted) for drafted in range(MAX_DRAFT_LENGTH + 1)]

    # over the repeats of the costs, and over the noise of the run
    ends = [interval_of_median(column) for column in zip(*map(steps, used.blocks), strict=True)]
    timed = (verdict.interval or 2 * (verdict.speedup,)) if verdict else (1.0, 1.0)
    own = [end / (verdict.speedup if verdict else 1.0) for end in timed]
    between = [[round(end[side] / own[1 - side], 6) for end in ends if end] for side in (0, 1)]
    return {
        "steps": [round(each, 6) for each in steps(used)],
        "between": (between[0], between[1]) if all(between) else None,
        "said": said,
    }


def result_data(trace: Trace, where: str, costs: Costs | None, known: KnownCosts | None = None) -> to.ResultPayload:
    """What the browser says of a run that is over; arguments as of `stage_data`, `where` it was timed."""
    verdict, plain, same = verdict_of_run(trace, costs), trace.autoregressive, ""
    if plain is not None and trace.output.stopped_by is not None:  # with the question where that is short
        identical = trace.settings.greedy and trace.output.token_ids == plain.token_ids
        same = say_result("same_text", says=compare_texts(trace)) if identical else compare_texts(trace)
    result: to.ResultPayload = {
        "verdict": verdict,
        "quiet": estimated_at(trace.rounds, known.costs) if known and verdict and not verdict.trusted else None,
        "source": known.source if known else "",
        "where": where,
        "same": same,
        "previous": False,
    }
    if calibrated := quiet(trace, costs):
        terms = [its for each in calibrated.blocks if (its := terms_of(trace, each))]
        guesses, check = map(interval_of_median, ([its.guessing for its in terms], [its.checking for its in terms]))
        result["spans"] = guesses and check and (guesses, check)
    return result


def tokens_of(round: Round) -> list[to.TokenPayload]:
    tokens: list[to.TokenPayload] = [{"text": _short(token.shown), "status": token.status} for token in round.drafted]
    if round.added != "none":
        tokens.append({"text": _short(round.emitted.text), "status": round.added})
    return tokens


def _shorten_round(round: Round) -> Round:
    own = round.emitted
    residual = sorted(own.residual_top, key=lambda c: (c.id != own.id, -c.r))[:SHOWN_CANDIDATES]
    emitted = replace(own, candidates=_candidates(own.candidates, own.id), residual_top=residual)
    return replace(round, drafted=[_shorten_token(token) for token in round.drafted], emitted=emitted)


def _shorten_token(token: DraftedToken) -> DraftedToken:
    if token.status in ("accepted", "rejected"):
        return replace(token, candidates=_candidates(token.candidates, token.id))
    target_prob = None if token.status == "discarded" else token.target_prob  # never judged: what the target thought
    return replace(token, target_prob=target_prob, accept_prob=None, u=None, candidates=[])


def _candidates(candidates: Sequence[Candidate], own: int | None) -> list[Candidate]:
    """The token itself, each model's most probable one and the next most probable ones: what `chipsOf` chooses."""
    if not candidates:
        return []
    ranked = sorted(candidates, key=lambda c: (c.id != own, -max(c.p, c.q or 0.0)))
    favourites = [max(candidates, key=lambda c: c.p), max(candidates, key=lambda c: c.q or 0.0)]
    return list(dict.fromkeys([*ranked[:1], *favourites, *ranked]))[:SHOWN_CANDIDATES]


def _shortened(value: Any) -> Any:
    """JSON with its texts cut and its numbers rounded."""
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    return _short(value) if isinstance(value, str) else round(value, DECIMALS) if isinstance(value, float) else value


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def compared(
    trace: Trace, guesses: DraftGuesses | None, costs: Costs | None, known: Costs | None = None
) -> to.ComparedPayload:
    """What names a run that another one is compared with, and its figures; arguments as of `stage_data`."""
    states, verdict, steps = running(trace), verdict_of_run(trace, costs), _replay_times(trace, costs, known)["steps"]
    lengths = list[list[float | None]]()
    if replayed := replayable(trace, guesses):
        for length in range(1, MAX_DRAFT_LENGTH + 1):
            rounds = replay(replayed, length, trace.settings.max_new_tokens, ends_of(trace))
            counts, took = count(rounds), sum(steps[len(each.drafted)] for each in rounds) if steps else 0.0
            lengths.append([counts.acceptance_rate, counts.emitted / took if took else None])
    return {
        "named": _named(trace),
        "acceptance": _shortened([counts.acceptance_rate for counts, _ in states]),
        "speedup": _shortened([speedup for _, speedup in states]),
        "lengths": _shortened(lengths),
        "per_call": count(trace.rounds).tokens_per_target_call,
        "trusted": verdict is None or verdict.trusted,
    }


def draft_name(trace: Trace) -> str:
    if trace.drafter is None:
        return say("no_draft")
    name = trace.drafter.asked_as
    return menu_title(name) if named(name) else short_name(name)
