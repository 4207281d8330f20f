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
BUSY_SLOPE = 0.6  # of v(k) in the busy server of the answer: what each further token adds to a pass; assumed


@dataclass(frozen=True, slots=True)
class Why:
    """One question."""

    name: str
    question: str
    answer: str  # a template; its facts are those of `trace` and, where modelled, `modelled_facts`
    source: Source  # where the answer's figures are from
    trace: str  # the recorded run its figures are of
    page: str  # url path of the page that shows it; empty is Watch
    run_it: str  # the link's label

    @property
    def href(self) -> str:
        """A relative address with every setting that shows it."""
        return f"./{self.page}?{urlencode(_link(self))}"


WHYS = (
    Why(
        "costs",
        "Why is it slower although acceptance is high?",
        "Because drafting and checking are not free. Here the draft model is larger than its target: {accepted} of "
        "{drafted} drafted tokens survived ({acceptance}), and still the run had only {speedup} times the speed of the "
        "target alone. A draft step cost {cost} target steps, and a check of {most} tokens {check}.",
        "recorded",
        "costly",
        "",
        "Run this pair",
    ),
    Why(
        "longer",
        "Why are longer drafts not better?",
        "A late guess survives only if all before it did, and each one is paid for. Over story prompts, draft length "
        "{best_length} gave {best_length_speedup} times ({best_length_rate} accepted), draft length {longest_length} "
        "{longest_speedup} times ({longest_rate} accepted).",
        "recorded",
        "round",
        "",
        "Run it with the longest draft",
    ),
    Why(
        "bigger",
        "Why is a bigger draft not better?",
        "It is right more often and dearer every time. Over story prompts, {biggest_draft} had {biggest_rate} of its "
        "tokens accepted and came to {biggest_speedup} times; {best_draft} had {best_draft_rate} accepted and came to "
        "{best_draft_speedup} times.",
        "recorded",
        "round",
        "",
        "Run it with the biggest draft",
    ),
    Why(
        "colours",
        "Which tokens came from the draft, and why should I believe the colours?",
        "Blue tokens were drafted and kept, green ones are the target’s own. You need not take our word for it: select "
        "any token on the stage to see both models’ probabilities for it, and have the whole output compared with "
        "plain decoding, id for id.",
        "general",
        "round",
        "proof",
        "Check it yourself",
    ),
    Why(
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
    Why(
        "rounding",
        "Why does greedy output differ from plain decoding now and then?",
        "A pass over several tokens adds its numbers up in another order than a pass over one. Where the target’s two "
        "likeliest tokens are nearly tied, that rounding can decide, in bfloat16 far more often than in float32. The "
        "app finds such a place and shows both logits.",
        "general",
        "round",
        "proof",
        "Look at a near-tie",
    ),
    Why(
        "temperature",
        "Why does the speedup vanish at temperature above zero?",
        "Sampling makes both models less predictable: over story prompts {greedy_rate} of judged tokens passed when "
        "greedy and {hot_rate} at temperature {hot_temperature}, and the speedup went from {greedy_speedup} to "
        "{hot_speedup} times. Some systems also keep a draft only if a draw of the target equals it: over {positions} "
        "places of real text that happens with probability Σp·q = {product}, where the lossless rule keeps "
        "Σmin(p, q) = {minimum}.",
        "recorded",
        "sampled",
        "",
        "Run it at a temperature above zero",
    ),
    Why(
        "pair",
        "Why is my pair refused?",
        "The draft’s token ids must mean the same text to the target. Before anything is loaded the two vocabularies "
        "are compared token by token, and a refusal names the first one that differs. A pair with different "
        "tokenizers can still run greedily: the draft’s text is cut again for the target.",
        "general",
        "round",
        "",
        "Try the pairs that fit",
    ),
    Why(
        "busy",
        "Why is there no gain in a busy server?",
        "Checking several tokens is cheap only while the machine waits for memory. A server that decodes many "
        "sequences together has already filled that waiting time. Modelled: with this run’s acceptance and draft cost, "
        "checking at the price of one token gives {idle_speedup} times; where each further token adds "
        "{busy_slope} of a pass, {busy_speedup} times.",
        "modelled",
        "round",
        "worksheet",
        "Move the batch slider",
    ),
    Why(
        "right",
        "Is it worth it if half of the drafts are wrong?",
        "It depends on the costs. Here {acceptance} of the drafted tokens survived, a guess cost {cost} target steps, "
        "and the run had {speedup} times the speed of the target alone. Whether that is a gain or theatre is for the "
        "clock to say, kind of text by kind of text.",
        "recorded",
        "theatre",
        "helps",
        "See it by kind of text",
    ),
)


@cache
def answer_facts(why: Why) -> Facts:
    """The figures the answer may use."""
    return {**facts_of(why.trace), **modelled_facts()}


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


def _link(why: Why) -> dict[str, str]:
    trace = story_trace(why.trace)
    if why.name == "longer":
        return watch_link(replace(trace, settings=replace(trace.settings, draft_length=16)))
    if why.name == "bigger":
        assert trace.drafter is not None
        return watch_link(replace(trace, drafter=replace(trace.drafter, name="wren-small")))
    return watch_link(trace)
