"""The exercise sheet: questions about one run, answers computed from it, and both as a page to print. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from specviz.core import metrics, theory
from specviz.core.readable import readable
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import Terms, terms_of
from specviz.core.trace import DraftedToken, Trace
from specviz.measure.worksheet.runs import position_rates

MARKS = {"accepted": "✓", "rejected": "✗", "discarded": "⋯"}


@dataclass(frozen=True, slots=True)
class Exercise:
    question: str
    answer: str


def exercises(trace: Trace) -> list[Exercise]:
    """Questions whose answers this run holds; those it cannot answer are left out."""
    trace = readable(trace)
    return [*_on_a_round(trace), *_on_counts(trace), *_on_costs(trace)]


def _on_a_round(trace: Trace) -> Iterator[Exercise]:
    """One round in full: the first with a rejection and a discarded token, else the first with a rejection."""
    chosen = max(
        (r for r in trace.rounds if r.rejected and not r.is_tree),
        key=lambda r: bool(r.accepted) + bool(r.discarded),
        default=None,
    )
    if chosen is None:
        return
    drafted = " ".join(quoted(token.shown) for token in chosen.drafted)
    at = chosen.accepted + 1
    marked = " ".join(f"{MARKS[token.status]}{quoted(token.shown)}" for token in chosen.drafted)
    written = chosen.emits
    yield Exercise(
        f"In round {chosen.index + 1} the draft proposes {len(chosen.drafted)} tokens: {drafted}. The target rejects "
        f"number {at}. Mark each token accepted (✓), rejected (✗) or discarded (⋯). How many tokens does the round "
        "write?",
        f"{marked}. It writes {written}: {chosen.accepted} accepted and the target’s correction, "
        f"{quoted(chosen.emitted.text or '')}.",
    )
    rejected = chosen.drafted[chosen.accepted]
    if rejected.target_prob is not None and rejected.draft_prob is not None:
        yield _on_the_rule(rejected, trace.settings.greedy)


def _on_the_rule(token: DraftedToken, greedy: bool) -> Exercise:
    p, q = token.target_prob or 0.0, token.draft_prob or 0.0
    said = f"For the rejected token {quoted(token.shown)} the target has p = {p:.4f} and the draft q = {q:.4f}."
    if greedy or not q:
        return Exercise(
            f"{said} The run is greedy (temperature 0). Why was it rejected?",
            "Greedy accepts a drafted token only if it is the target’s most likely token; here another token was "
            "more likely. p and q are shown but are not used.",
        )
    drawn = f"{token.u:.4f}" if token.u is not None else "not recorded"
    return Exercise(
        f"{said} With what probability is such a token accepted? The number drawn was u = {drawn}: what happens?",
        f"min(1, p/q) = min(1, {p:.4f} / {q:.4f}) = {min(1.0, p / q):.4f}; u was not below it, so it is rejected.",
    )


def _on_counts(trace: Trace) -> Iterator[Exercise]:
    counts = metrics.count(trace.rounds)
    rate, alpha, tokens = counts.acceptance_rate, counts.per_judgement_rate, counts.tokens_per_target_call
    if rate is None or alpha is None or tokens is None:
        return
    yield Exercise(
        f"The run drafted {counts.drafted} tokens: {counts.accepted} were accepted, {counts.rejected} rejected, the "
        "others discarded. How many were discarded, and what is the acceptance rate (accepted / drafted)?",
        f"{counts.drafted} − {counts.accepted} − {counts.rejected} = {counts.discarded} discarded. "
        f"{counts.accepted} / {counts.drafted} = {_three(rate)}.",
    )
    yield Exercise(
        "What is the rate per judgement, the estimate of α? Why is it at least as high as the acceptance rate?",
        f"{counts.accepted} / ({counts.accepted} + {counts.rejected}) = {_three(alpha)}. Discarded tokens were never "
        "judged: they count as drafted and not as judged.",
    )
    yield Exercise(
        f"The {counts.rounds} rounds wrote {counts.emitted} tokens. How many tokens per target call? How many calls "
        "were saved?",
        f"{counts.emitted} / {counts.rounds} = {tokens:.2f} tokens per target call; "
        f"{counts.emitted} − {counts.rounds} = {counts.emitted - counts.rounds} calls saved.",
    )
    yield _on_expected_tokens(trace, alpha, tokens)


def _on_expected_tokens(trace: Trace, alpha: float, measured: float) -> Exercise:
    length = trace.settings.draft_length
    one = theory.expected_tokens(alpha, length)
    positions = theory.expected_tokens_by_position(position_rates(trace, length))
    powers = " + ".join(["1", *(f"{alpha:.3f}{_superscript(power)}" for power in range(1, length + 1))])
    return Exercise(
        f"With γ = {length} and that α, how many tokens per target call does the formula 1 + α + … + α^γ expect? "
        "Compare with what was written. What does the formula assume that may not hold for a text?",
        f"{powers} = {one:.2f}, and the run wrote {measured:.2f}. It assumes that all judgements are alike "
        f"and independent. With the rates by position it gives {positions:.2f}. The last round may draft fewer tokens.",
    )


def _on_costs(trace: Trace) -> Iterator[Exercise]:
    costs, terms = metrics.costs(trace), terms_of(trace)
    if costs is None or terms is None:
        return
    terms = terms.by_formula  # the questions are about E(γ)
    step, length = 1000 * costs.step_seconds, terms.draft_length
    draft, overhead = step * costs.cost_ratio, step * costs.overhead
    yield Exercise(
        f"One plain target step takes {step:.3f} ms, one draft step {draft:.3f} ms, checking {length + 1} "
        f"tokens at once {step * terms.verification:.3f} ms, the rest of a round {overhead:.3f} ms. What are "
        f"c, v({length + 1}) and o, in target steps?",
        f"c = {costs.cost_ratio:.3f}, v({length + 1}) = {terms.verification:.3f}, o = {costs.overhead:.3f}: each time "
        f"over {step:.3f} ms.",
    )
    yield _on_speedup(trace, terms)
    yield _on_break_even(terms, trace)
    yield _on_other_lengths(terms)


def _on_speedup(trace: Trace, terms: Terms) -> Exercise:
    ideal = theory.ideal_speedup(terms.alpha, terms.draft_length, terms.cost_ratio)
    tokens = theory.expected_tokens(terms.alpha, terms.draft_length)
    round_steps = theory.round_steps(terms.draft_length, terms.cost_ratio, terms.verification, terms.overhead)
    measured = metrics.speedup(trace) or 0.0
    return Exercise(
        f"What speedup do E(γ) / (γc + 1) and E(γ) / (γc + v + o) predict at γ = {terms.draft_length}? Which is nearer "
        "to the measured one, and what does the other leave out?",
        f"{tokens:.2f} / ({terms.draft_length} × {terms.cost_ratio:.3f} + 1) = {ideal:.2f}×, and {tokens:.2f} / "
        f"{round_steps:.2f} = {terms.speedup:.2f}×. Measured: {measured:.2f}×. "
        f"{_nearer(ideal, terms.speedup, measured)} The first assumes that checking and the loop cost nothing extra.",
    )


def _nearer(ideal: float, realistic: float, measured: float) -> str:
    which = "second" if abs(realistic - measured) <= abs(ideal - measured) else "first"
    return f"The {which} is nearer."


def _on_break_even(terms: Terms, trace: Trace) -> Exercise:
    question = (
        "What α breaks even at these costs? What acceptance rate (accepted / drafted) is that at this γ, and was "
        "the run above it?"
    )
    needed = terms.break_even
    if needed is None:
        return Exercise(question, "None: a round costs more target steps than the tokens it can write.")
    share = theory.acceptance_rate_from_alpha(needed, terms.draft_length)
    rate = metrics.count(trace.rounds).acceptance_rate or 0.0
    above = "is above both" if terms.alpha > needed and rate > share else "is not above both"
    measured = metrics.speedup(trace) or 0.0
    refuted = f" Yet {measured:.2f}× was measured: these costs do not explain this run."
    return Exercise(
        question,
        f"α = {needed:.3f} per judgement, which at γ = {terms.draft_length} is {share:.3f} accepted / drafted. The run "
        f"had {_three(terms.alpha)} and {_three(rate)}: it {above}. Each rate is compared with its own kind."
        f"{refuted if (measured - 1) * (terms.alpha - needed) < 0 else ''}",
    )


def _on_other_lengths(terms: Terms) -> Exercise:
    table = {1: 1.0, terms.draft_length + 1: terms.verification}
    best = theory.best_draft_length(terms.alpha, terms.cost_ratio, table, terms.overhead)
    speedup = theory.realistic_speedup(terms.alpha, best, terms.cost_ratio, table, terms.overhead)
    other = 2 * terms.draft_length if 2 * terms.draft_length <= MAX_DRAFT_LENGTH else terms.draft_length // 2
    there = theory.realistic_speedup(terms.alpha, other, terms.cost_ratio, table, terms.overhead)
    return Exercise(
        f"Would γ = {other} be better if v grows in a straight line? Which γ from 1 to {MAX_DRAFT_LENGTH} is best?",
        f"γ = {other} is modelled at {there:.2f}× against {terms.speedup:.2f}× at γ = {terms.draft_length}; best is "
        f"γ = {best}, {speedup:.2f}×. Try it on the Watch page.",
    )


def sheet(trace: Trace, title: str, source: str, *, key: bool) -> str:
    """The sheet as one HTML page to print: questions with room to write, or with their answers. All text escaped."""
    items = "".join(_item(exercise, key) for exercise in exercises(trace))
    heading = f"{title}: answer key" if key else title
    prompt = f"<p>Prompt: <q>{escape(trace.prompt.text)}</q></p>"
    symbols = "".join(f"<li><b>{name}</b> {escape(meaning)}</li>" for name, meaning in SYMBOLS.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(heading)}</title><style>{STYLE}</style>'
        f"<h1>{escape(heading)}</h1><p>{escape(source)}</p>{prompt}<ul>{symbols}</ul><ol>{items}</ol></html>\n"
    )


def _item(exercise: Exercise, key: bool) -> str:
    below = f"<p class=answer>{escape(exercise.answer)}</p>" if key else "<div class=room></div>"
    return f"<li><p>{escape(exercise.question)}</p>{below}</li>"


SYMBOLS = {
    "α": "acceptance per judgement: accepted / (accepted + rejected)",
    "γ": "draft length: tokens proposed in a round",
    "c": "one draft step, in plain target steps",
    "v(k)": "checking k tokens at once, in plain target steps",
    "o": "the rest of a round, in plain target steps",
}
STYLE = """
body { font: 12pt/1.45 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
h1 { font-size: 1.4rem; } li { break-inside: avoid; } q { quotes: "“" "”"; overflow-wrap: anywhere; }
ol > li { margin: 0 0 1rem; overflow-wrap: anywhere; } .room { height: 4.5rem; border-bottom: 1px solid #999; }
.answer { border-left: 3px solid #0072B2; padding-left: .75rem; }
@media print { body { margin: 0; max-width: none; } }
"""


def quoted(text: str) -> str:
    return "‘" + text.replace("\n", "↵").replace("\t", "⇥").replace(" ", "␣") + "’"


def _three(value: float) -> str:
    """Three decimals, a tie rounded up as by hand: 43 / 80 is 0.538."""
    return f"{value + 1e-9:.3f}"


def _superscript(power: int) -> str:
    return "" if power == 1 else str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
