"""The questions users of speculative decoding ask, each answered with recorded or modelled figures and a run to try."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal
from urllib.parse import urlencode

from specviz.core.metrics import costs, count
from specviz.core.theory import realistic_speedup
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.lessons.story import Facts, facts_of, percent, watch_link

Source = Literal["recorded", "modelled", "general"]
BUSY_SLOPE = 0.6  # assumed slope of v(k) in a busy server: what each further token adds to a pass


@dataclass(frozen=True, slots=True)
class FaqEntry:
    """One question and its answer."""

    name: str
    question: str
    answer: str  # a template; its facts are those of `trace` and, where modelled, `modelled_facts`
    source: Source  # where the answer's figures are from
    trace: str  # the recorded run its figures are of
    page: str  # URL path of the page that shows it; empty for Watch
    run_it: str  # the link's label

    @property
    def href(self) -> str:
        """A relative address with every setting that shows it."""
        return f"./{self.page}?{urlencode(_link(self))}"


FAQ = (
    FaqEntry(
        "costs",
        "Why is it slower although acceptance is high?",
        "Because drafting and checking are not free. Here the draft model is larger than its target: {accepted} of "
        "{drafted} drafted tokens were accepted ({acceptance}), but the run still had only {speedup} times the "
        "speed of the target alone. A draft step cost {cost} target steps, and a check of {most} tokens {check}.",
        "recorded",
        "costly",
        "",
        "Run this pair",
    ),
    FaqEntry(
        "longer",
        "Why are longer drafts not better?",
        "A late guess is accepted only if all guesses before it were, and each guess costs time. Over story "
        "prompts, draft length {best_length} gave {best_length_speedup} times the speed ({best_length_rate} "
        "accepted), draft length {longest_length} {longest_speedup} times ({longest_rate} accepted).",
        "recorded",
        "round",
        "",
        "Run it with the longest draft",
    ),
    FaqEntry(
        "bigger",
        "Why is a bigger draft not better?",
        "It is right more often, but each guess costs more. Over story prompts, {biggest_draft} had {biggest_rate} "
        "of its tokens accepted and reached {biggest_speedup} times the speed of the target alone; {best_draft} had "
        "{best_draft_rate} accepted and reached {best_draft_speedup} times.",
        "recorded",
        "round",
        "",
        "Run it with the biggest draft",
    ),
    FaqEntry(
        "colours",
        "Which tokens came from the draft, and why should I believe the colours?",
        "Blue tokens were drafted and accepted, green ones are the target’s own. You can check this yourself: "
        "select any token on the stage to see both models’ probabilities for it, and compare the whole output with "
        "plain decoding, id for id.",
        "general",
        "round",
        "proof",
        "Check it yourself",
    ),
    FaqEntry(
        "rates",
        "What does “acceptance rate” count?",
        "Three different things go by that name. Accepted over drafted: here {accepted} / {drafted} = {acceptance}. "
        "Accepted over judged, where discarded tokens do not count: {judgement}. And tokens per target call, "
        "{per_call}. A figure without its definition cannot be compared.",
        "recorded",
        "round",
        "worksheet",
        "Convert one into another",
    ),
    FaqEntry(
        "rounding",
        "Why does greedy output sometimes differ from plain decoding?",
        "A pass over several tokens adds numbers in another order than a pass over one. Where the target’s two most "
        "likely tokens are nearly equal, rounding can decide which is chosen, in bfloat16 far more often than in "
        "float32. The app finds such a place and shows both logits.",
        "general",
        "round",
        "proof",
        "Look at a near-tie",
    ),
    FaqEntry(
        "temperature",
        "Why does the speedup vanish at temperature above zero?",
        "Sampling makes both models less predictable: over story prompts {greedy_rate} of judged tokens were "
        "accepted when greedy and {hot_rate} at temperature {hot_temperature}, and the speedup went from "
        "{greedy_speedup} to {hot_speedup} times. Some systems also accept a drafted token only if the token that "
        "the target draws is the same. With p the target’s probability of a token and q the draft’s, that happens "
        "with probability Σp·q = {product} over {positions} places of real text; the lossless rule accepts with "
        "Σmin(p, q) = {minimum}.",
        "recorded",
        "sampled",
        "",
        "Run it at a temperature above zero",
    ),
    FaqEntry(
        "pair",
        "Why is my pair refused?",
        "The draft’s token ids must mean the same text to the target. Before anything is loaded the two "
        "vocabularies are compared token by token, and a refusal names the first one that differs. A pair with "
        "different tokenizers can still run greedily: the draft’s text is split again into the target’s tokens.",
        "general",
        "round",
        "",
        "Try the pairs that fit",
    ),
    FaqEntry(
        "busy",
        "Why is there no gain in a busy server?",
        "Checking several tokens is cheap only while the machine waits for memory. A server that decodes many "
        "sequences together already uses that waiting time. Modelled: with this run’s acceptance and draft cost, "
        "checking for the time of one token gives {idle_speedup} times; where each further token adds {busy_slope} "
        "of a pass, {busy_speedup} times.",
        "modelled",
        "round",
        "worksheet",
        "Move the batch slider",
    ),
    FaqEntry(
        "right",
        "Is it worth it if half of the drafts are wrong?",
        "It depends on the costs. Here {acceptance} of the drafted tokens were accepted, a guess cost {cost} target "
        "steps, and the run had {speedup} times the speed of the target alone. Only a measurement shows whether "
        "there is a real gain, for each kind of text.",
        "recorded",
        "no-gain",
        "helps",
        "See it by kind of text",
    ),
)


@cache
def answer_facts(entry: FaqEntry) -> Facts:
    """The figures the answer may use."""
    return {**facts_of(entry.trace), **modelled_facts()}


@cache
def modelled_facts() -> Facts:
    """A quiet machine and a busy one, by the formula E(γ) / (γc + v(γ+1)): modelled, not measured."""
    trace = story_trace("round")
    alpha = count(trace.rounds).per_judgement_rate or 0.0
    measured = costs(trace)
    length, cost = trace.settings.draft_length, measured.cost_ratio if measured else 0.0
    idle = realistic_speedup(alpha, length, cost)
    busy = realistic_speedup(alpha, length, cost, 1 + BUSY_SLOPE * length)
    return {
        "idle_speedup": f"{idle:.2f}",
        "busy_speedup": f"{busy:.2f}",
        "busy_slope": percent(BUSY_SLOPE),
    }


def _link(entry: FaqEntry) -> dict[str, str]:
    trace = story_trace(entry.trace)
    if entry.name == "longer":
        return watch_link(replace(trace, settings=replace(trace.settings, draft_length=16)))
    if entry.name == "bigger":
        assert trace.drafter is not None
        return watch_link(replace(trace, drafter=replace(trace.drafter, name="wren-small")))
    return watch_link(trace)
