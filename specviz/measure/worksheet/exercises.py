"""The exercise sheet: questions about one run, answers computed from it, and both as a page to print. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from string import Template

from specviz.core import metrics, theory
from specviz.core.languages import current_language
from specviz.core.numbers import localize
from specviz.core.readable import readable
from specviz.core.terms import terms_of
from specviz.core.texts import Sentences
from specviz.core.trace import DraftedToken, Trace
from specviz.data.texts import asset

say = Sentences("exercises")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MARKS = {"accepted": "✓", "rejected": "✗", "discarded": "⋯"}


@dataclass(frozen=True, slots=True)
class Exercise:
    """One question and its answer; plain text, to be escaped where it is shown."""

    question: str
    answer: str


def exercises(trace: Trace) -> list[Exercise]:
    trace = readable(trace)
    return [*_make_round(trace), *_make_counts(trace), *_make_costs(trace)]


def _make_round(trace: Trace) -> Iterator[Exercise]:
    """One round in full: the first with a rejection and a discarded token, else the first with a rejection."""
    rounds = (round for round in trace.rounds if round.rejected and not round.is_tree)
    chosen = max(rounds, key=lambda round: bool(round.accepted) + bool(round.discarded), default=None)
    if chosen is None:
        return
    shown = [quoted(token.shown) for token in chosen.drafted]
    marked = " ".join(f"{MARKS[token.status]}{text}" for token, text in zip(chosen.drafted, shown, strict=True))
    drafted, at = " ".join(shown), chosen.accepted + 1
    yield Exercise(
        say("round", number=chosen.index + 1, count=len(shown), drafted=drafted, at=at),
        say("round_answer", marked=marked, round=chosen, correction=quoted(chosen.emitted.text or "")),
    )
    rejected = chosen.drafted[chosen.accepted]
    if rejected.target_prob is not None and rejected.draft_prob is not None:
        yield _make_rule(rejected, trace.settings.greedy)


def _make_rule(token: DraftedToken, greedy: bool) -> Exercise:
    p, q = token.target_prob or 0.0, token.draft_prob or 0.0
    rule = say("rule", token=quoted(token.shown), p=p, q=q)
    if greedy or not q:
        return Exercise(say("rule_greedy", rule=rule), say("rule_greedy_answer"))
    drawn = localize(token.u, ".4f") if token.u is not None else say("not_recorded")
    answer = say("rule_sampled_answer", p=p, q=q, chance=min(1.0, p / q))
    return Exercise(say("rule_sampled", rule=rule, drawn=drawn), answer)


def _make_counts(trace: Trace) -> Iterator[Exercise]:
    counts = metrics.count(trace.rounds)
    rate, alpha, tokens = counts.acceptance_rate, counts.per_judgement_rate, counts.tokens_per_target_call
    if rate is None or alpha is None or tokens is None:
        return
    yield Exercise(say("rate", counts=counts), say("rate_answer", counts=counts, rate=_round_half_up(rate)))
    yield Exercise(say("alpha"), say("alpha_answer", counts=counts, alpha=_round_half_up(alpha)))
    yield Exercise(say("calls", counts=counts), say("calls_answer", counts=counts))
    length = trace.settings.draft_length
    one = theory.expected_tokens(alpha, length)
    raised = ["", *(str(power).translate(RAISED) for power in range(2, length + 1))]
    powers = " + ".join(["1", *(f"{localize(alpha, '.3f')}{power}" for power in raised)])
    answer = say("expected_answer", powers=powers, one=one, measured=tokens)
    yield Exercise(say("expected", length=length), answer)


def _make_costs(trace: Trace) -> Iterator[Exercise]:
    costs, terms = metrics.costs(trace), terms_of(trace)
    if costs is None or terms is None:
        return
    terms = terms.by_formula  # the questions are about E(γ)
    step, checked = round(1000 * costs.step_seconds, 3), terms.draft_length + 1
    if not step:
        return
    ratios = (costs.cost_ratio, terms.verification, costs.overhead)
    draft, check, overhead = (round(1000 * costs.step_seconds * ratio, 3) for ratio in ratios)  # as they are written
    yield Exercise(
        say("costs", step=step, draft=draft, checked=checked, check=check, overhead=overhead),
        say("costs_answer", c=draft / step, checked=checked, v=check / step, o=overhead / step, step=step),
    )
    measured = metrics.speedup(trace) or 0.0
    yield Exercise(say("speedup", terms=terms), say("speedup_answer", terms=terms, measured=measured))


def sheet(trace: Trace, title: str, source: str, *, key: bool) -> str:
    """The sheet as one HTML page to print: questions with room to write, or with their answers. All text escaped."""
    room, heading = "<div class=room></div>", say("key_title", title=title) if key else title
    items = "".join(
        f"<li><p>{to_html(each.question)}</p>{f'<p class=answer>{to_html(each.answer)}</p>' if key else room}</li>"
        for each in exercises(trace)
    )
    texts = {"lang": current_language(), "heading": heading, "source": source, "prompt": trace.prompt.text}
    page = Template(asset("offline/exercises.html"))
    return page.substitute({name: escape(text) for name, text in texts.items()}, items=items)


def to_html(text: str) -> str:
    """A question or an answer; no browser translates the tokens that it quotes."""
    return re.sub(r"‘.+?’(?!\w)", r"<bdi translate=no>\g<0></bdi>", escape(text))


def quoted(text: str) -> str:
    return "‘" + text.replace("\n", "↵").replace("\t", "⇥").replace(" ", "␣") + "’"


def _round_half_up(value: float) -> str:
    """Three decimals, a tie rounded up as by hand: 43 / 80 is 0.538."""
    return localize(value + 1e-9, ".3f")
