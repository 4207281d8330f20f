"""The worksheet's model: acceptance and costs in, speedup and break-even out. Pure; all of it is modelled."""

from dataclasses import dataclass, field, replace

from specviz.core import theory
from specviz.core.judge import judge
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import Terms
from specviz.measure.worksheet.passes import MeasuredPasses

BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
MOST_COST, MOST_VERIFICATION, MOST_OVERHEAD, MOST_TOKENS = 1.5, 8.0, 2.0, 10_000_000  # the controls' upper limits


@dataclass(frozen=True, slots=True)
class Model:
    """The values of the worksheet's controls. Times are in single-token target steps."""

    alpha: float  # per judgement
    draft_length: int
    cost_ratio: float  # c
    verification: float  # v at draft_length + 1, one sequence alone
    overhead: float  # o
    batch: int = 1  # sequences decoded together
    operations_ratio: float = 0.0  # ĉ
    survival: tuple[float, ...] = ()  # share of rounds that accepted position 1, 2, ... as counted; empty: alike
    passes: MeasuredPasses | None = field(default=None, compare=False)  # of this kind of machine; None: assumed

    def steps(self, tokens: int) -> float:
        """v(k) in a batch: one pass over `tokens` of every sequence, over one pass over one of every sequence.

        For one sequence a straight line through v(1) = 1 and v(γ+1). In a batch it grows as the measured passes do. If
        there are none, a pass is assumed to take 1 + s(n − 1) for n tokens in it, whichever sequence they are of, with
        the slope s of that line: nearly free on an idle machine, `tokens` times as expensive on a busy one.
        """
        slope = max(0.0, (self.verification - 1) / self.draft_length)
        if self.passes:
            return (1 + slope * (tokens - 1)) * self.passes.growth(self.batch, tokens)
        return (1 + slope * (self.batch * tokens - 1)) / (1 + slope * (self.batch - 1))

    @property
    def terms(self) -> Terms:
        checked = self.steps(self.draft_length + 1)
        return Terms(self.alpha, self.draft_length, self.cost_ratio, checked, self.overhead)

    def tokens_at(self, draft_length: int) -> float:
        """Tokens a round writes: by the counted positions up to the last one, else E(γ): Leviathan, Eq. 1."""
        if draft_length <= len(self.survival):
            return 1 + sum(self.survival[:draft_length])
        return theory.expected_tokens(self.alpha, draft_length)

    @property
    def tokens_per_call(self) -> float:
        return self.tokens_at(self.draft_length)

    @property
    def ideal(self) -> float:
        """E(γ) / (γc + 1): Leviathan, Theorem 3.8."""
        return theory.ideal_speedup(self.alpha, self.draft_length, self.cost_ratio)

    @property
    def realistic(self) -> float:
        """Tokens a round / (γc + v(γ+1) + o), v in this batch."""
        return self.speedup_of(self.draft_length)

    def speedup_of(self, draft_length: int) -> float:
        cost = theory.round_steps(draft_length, self.cost_ratio, self.steps, self.overhead)
        return self.tokens_at(draft_length) / cost

    @property
    def extra_operations(self) -> float:
        """Factor on arithmetic: Leviathan, Theorem 3.11."""
        return theory.extra_operations(self.alpha, self.draft_length, self.operations_ratio)

    @property
    def longest(self) -> int:
        """The longest draft that can be compared: the last counted position, else the slider's end."""
        return min(len(self.survival), MAX_DRAFT_LENGTH) or MAX_DRAFT_LENGTH

    @property
    def best(self) -> int:
        """The draft length up to `longest` with the highest realistic speedup; the shortest of equal ones."""
        return max(range(1, self.longest + 1), key=self.speedup_of)

    @property
    def best_speedup(self) -> float:
        return self.speedup_of(self.best)

    def speedup_at(self, alpha: float, draft_length: int) -> float:
        return theory.realistic_speedup(alpha, draft_length, self.cost_ratio, self.steps, self.overhead)

    def break_even_at(self, draft_length: int) -> float | None:
        return theory.break_even_acceptance(draft_length, self.cost_ratio, self.steps, self.overhead)

    @property
    def break_even(self) -> float | None:
        return self.break_even_at(self.draft_length)

    def accepted_share(self, alpha: float) -> float:
        """Accepted / drafted that this alpha leads to at the chosen draft length."""
        return theory.acceptance_rate_from_alpha(alpha, self.draft_length)


def alpha_of_counts(drafted: int, accepted: int, draft_length: int) -> float:
    """The alpha that leads to accepted / drafted at this draft length if every judgement is alike: modelled."""
    return theory.alpha_from_acceptance_rate(min(1.0, accepted / drafted), draft_length)


def verdict_sentence(model: Model) -> str:
    terms, needed = model.terms, model.break_even
    speed = (
        f"A round writes {model.tokens_per_call:.2f} tokens on average and takes as long as {terms.steps:.2f} steps of "
        f"the target alone: {model.tokens_per_call:.2f} / {terms.steps:.2f} = {model.realistic:.2f}."
    )
    if needed is None:
        return f"{speed} No acceptance is enough: even if all is accepted, it writes {model.draft_length + 1} tokens."
    if needed == 0:
        return f"{speed} Any acceptance pays."
    return (
        f"{speed} It pays above {_percent(needed)} of the checked guesses accepted; the slider says "
        f"{_percent(model.alpha)}."
    )


def counts_sentence(drafted: int, accepted: int, counted_at: int, model: Model) -> str:
    """Counts in, rate out, and the acceptance per judgement that leads to it. No verdict: the sliders get that.

    Args:
        drafted: tokens.
        accepted: of them.
        counted_at: the draft length at which these were counted; the sliders may have another one.
        model: what the sliders say.
    """
    if not drafted:
        return "Nothing was drafted, so there is no rate."
    if accepted > drafted:
        return "More tokens were accepted than drafted, which is impossible."
    alpha = alpha_of_counts(drafted, accepted, counted_at)
    return (
        f"{accepted} / {drafted} = **{_percent(accepted / drafted)} of the drafted tokens accepted**; at "
        f"γ = {counted_at} that needs α = **{alpha:.2f}** per judgement, if every judgement is alike. "
        f"{_slider(alpha, model)}"
    )


def _slider(alpha: float, model: Model) -> str:
    if round(alpha, 2) == round(model.alpha, 2):
        return ""
    return (
        f"The slider has α = {model.alpha:.2f}: a run’s own α is accepted / judged, or you have set it. The two differ "
        "because real judgements are not all alike."
    )


def symbols(model: Model) -> list[tuple[str, str, str]]:
    terms, length = model.terms, model.draft_length
    needed = model.break_even
    return [
        ("α", "acceptance per judgement: accepted / (accepted + rejected)", f"{model.alpha:.3f}"),
        ("", f"accepted / drafted that follows at γ = {length}", _percent(model.accepted_share(model.alpha))),
        ("γ", "draft length", str(length)),
        ("c", "cost of a guess: a draft step / a target step", f"{model.cost_ratio:.3f}"),
        ("v(γ+1)", f"cost of a check of {length + 1} tokens, in this batch", f"{terms.verification:.3f}"),
        ("o", "overhead: the rest of a round", f"{model.overhead:.3f}"),
        ("ĉ", "operations of the draft / of the target", f"{model.operations_ratio:.3f}"),
        ("E(γ)", _tokens_are(model), f"{model.tokens_per_call:.2f}"),
        ("γc + v(γ+1) + o", "cost of a round", f"{terms.steps:.2f}"),
        ("E(γ) / (γc + v(γ+1) + o)", "speedup with these costs", f"{model.realistic:.2f}×"),
        (
            "E(γ) / (γc + 1)",
            "ideal speedup: checking costs one step, the loop nothing (Leviathan, Theorem 3.8)",
            f"{model.ideal:.2f}×",
        ),
        ("", "α that breaks even", "none" if needed is None else f"{needed:.3f}"),
        (
            "(1 − α)(γĉ + γ + 1) / (1 − α^(γ+1))",
            "extra arithmetic: rejected tokens are thrown away (Leviathan, Theorem 3.11)",
            f"{model.extra_operations:.2f}×",
        ),
    ]


def _tokens_are(model: Model) -> str:
    if model.draft_length <= len(model.survival):
        return "tokens a round writes, by the counted positions"
    return "tokens a round is expected to write (Leviathan et al. 2023, Eq. 1)"


def break_even_sentence(model: Model) -> str:
    needed = model.break_even
    if needed is None:
        return (
            f"**No acceptance breaks even**: a round takes {model.terms.steps:.2f} target steps and can write at most "
            f"{model.draft_length + 1} tokens."
        )
    if needed == 0:
        return "**Any acceptance breaks even**: a round costs no more than one plain step."
    return (
        f"**Breaks even above α = {needed:.2f} per judgement.** At γ = {model.draft_length} that is "
        f"**{_percent(model.accepted_share(needed))} accepted / drafted**: the two rates are counted differently, so "
        "compare each with its own kind."
    )


def half_sentence(model: Model) -> str:
    speedup = model.speedup_at(0.5, model.draft_length)
    return (
        f"Right half the time (α = 0.50; at γ = {model.draft_length} only {_percent(model.accepted_share(0.5))} "
        f"accepted / drafted) would be {speedup:.2f}×: {judge(speedup, None, modelled=True).word}."
    )


def batch_sentence(model: Model, measured: bool = False) -> str:
    """What the batch changes in the model. `measured`: the costs contain the load of a measurement."""
    if model.batch == 1 and measured:
        return "A batch of 1 stands here for the load at which the speedup was measured: its costs contain it."
    if model.batch == 1:
        return "A batch of 1: one sequence, as on the Watch page."
    if model.verification <= 1 and not model.passes:
        return (
            "The batch changes nothing here: with v(γ+1) = 1, checking is free in this model at any batch size. No "
            "real machine does that. Raise v to see the effect of a batch."
        )
    alone, here = replace(model, batch=1), model.terms.verification
    return (
        f"In a batch of {model.batch}, checking {model.draft_length + 1} tokens of each takes {here:.2f} target steps "
        f"(alone: {alone.terms.verification:.2f}): the modelled speedup is {model.realistic:.2f}× instead of "
        f"{alone.realistic:.2f}×."
    )


def batch_shape(model: Model) -> str:
    """What the batch slider follows: measured passes, or an assumption; and for which kind of machine which holds."""
    if model.passes is None:
        return (
            "Assumed in a batch: a pass over n tokens takes 1 + s(n − 1), whichever sequence they are of, with the "
            "slope s of v(γ+1); c and o stay as they are. That is a straight line."
        )
    passes, largest = model.passes, model.passes.largest
    further = (
        f" Above {largest} texts nothing was measured: further tokens cost what they cost in batches of {largest}."
    )
    return (
        f"In a batch, v(k) grows as it was measured for {passes.target} ({passes.dtype}) on {passes.machine}, in "
        f"batches of 1 to {largest}; c and o stay as they are.{further if model.batch > largest else ''}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
