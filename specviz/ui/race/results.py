"""The results of a race: one sentence, a table, how the texts compare, and files to download."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.names import short_name
from specviz.core.rounding import judge_difference
from specviz.core.verdict import Verdict
from specviz.data.lessons.glossary import explained
from specviz.measure.race import (
    GreedyQuality,
    LogProbability,
    RaceLap,
    SampledQuality,
    overall_verdict,
)
from specviz.measure.race_kinds import Kind, clearly_differ, kinds_of
from specviz.ui.race.files import offline_button, show_files
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.tables import data_table, numbers
from specviz.ui.shared.verdict import headline

CONTEXT_TOKENS = 12  # shown before the place where two texts begin to differ

Row = dict[str, Any]


def show_results(laps: Sequence[RaceLap], where: str) -> None:
    """The verdict first, then the table; `where` says on which machine it was measured, and when."""
    _show_verdict(laps, where)
    data_table(
        pd.DataFrame(rows(laps)), hide_index=True, key="race_table", column_config=_columns(), alt="Results by prompt."
    )
    st.caption(explained(TABLE_CAPTION, "race-table"), unsafe_allow_html=True)
    show_quality(laps)
    show_files(laps)


def _show_verdict(laps: Sequence[RaceLap], where: str) -> None:
    """One verdict over all prompts; where kinds of prompt clearly differ, one for each kind."""
    verdict, kinds = overall_verdict(laps), kinds_of(laps)
    if not verdict:
        return
    differ = clearly_differ(kinds)
    if verdict.certain or not differ:
        st.markdown(f"{headline(verdict, end='')} {_over(laps, verdict)} {verdict.reason} :gray[({plain(where)})]")
    else:
        st.markdown(f":material/alt_route: **It depends on the kind of prompt.** :gray[({plain(where)})]")
    if differ:
        st.markdown("\n".join(f"- {kind_line(kind)}" for kind in kinds))
        st.caption(" ".join([*([] if verdict.certain else [mean_sentence(laps, verdict)]), KINDS_CAPTION]))


KINDS_CAPTION = (
    "The 95 % intervals of some kinds do not overlap, so each kind has its own verdict. A kind with one prompt is "
    "judged on that prompt only: its interval is over repeats. With more prompts, the interval is over prompts."
)


def kind_line(kind: Kind) -> str:
    """ "Code (1 prompt): Helps, 1.46×, 95 % interval 1.40 to 1.52×", as Markdown."""
    prompts = len(kind.prompts)
    line = f"{kind.title} ({prompts} {'prompt' if prompts == 1 else 'prompts'}): {headline(kind.verdict, end='')}"
    if kind.verdict.interval is None:
        return line
    low, high = kind.verdict.interval
    return f"{line}, 95 % interval {low:.2f} to {high:.2f}×"


def mean_sentence(laps: Sequence[RaceLap], verdict: Verdict) -> str:
    """The mean of kinds that differ, and that it is no verdict."""
    return f"The mean {_over(laps, verdict)[:-1]} is {verdict.speedup:.2f}×: it describes none of these kinds."


DISCARDED = "Never judged: drafted after a rejected token, or in a tree not on the way that was taken."
TABLE_CAPTION = (
    "The speedup is computed from pairs of runs that were timed back to back, alternately the target alone first and "
    "speculative decoding first: it is the geometric mean of their ratios, seconds of the target alone / seconds of "
    "speculative decoding, with the 95 % interval of the same ratios. `specviz compare` computes it in the same way. "
    "Over all prompts the interval is over prompts, not over repeats. Greedy repeats all write the same text, so the "
    "counts are of one. Above temperature 0 each repeat has a new seed: the interval is over seeds, and the counts are "
    "the sum over them. Tokens per second and speedup leave out prefill; "
    "the latency in seconds includes it and is the median of the repeats (fastest to slowest)."
)


def _over(laps: Sequence[RaceLap], verdict: Verdict) -> str:
    if len(laps) == 1:
        return "on this prompt."
    if verdict.interval is None:
        return f"over {len(laps)} prompts."
    low, high = verdict.interval
    return f"over {len(laps)} prompts (95 % interval {low:.2f} to {high:.2f}×)."


def rows(laps: Sequence[RaceLap]) -> list[Row]:
    """The table: a row for each prompt, and one for all of them where there are several."""
    each = [prompt_row(lap) for lap in laps]
    return [*each, _overall_row(laps)] if len(laps) > 1 else each


def prompt_row(lap: RaceLap) -> Row:
    """What the table says of one prompt."""
    return {
        "prompt": lap.name,
        "speedup": with_interval(lap.verdict),
        "quality": quality_cell(lap),
        **_counts([lap]),
        "target alone, s": with_spread(lap.plain_latency),
        "speculative, s": with_spread(lap.speculative_latency),
        "target alone, tokens/s": median(lap.plain_rates),
        "speculative, tokens/s": median(lap.speculative_rates),
    }


def _overall_row(laps: Sequence[RaceLap]) -> Row:
    verdict = overall_verdict(laps)
    assert verdict is not None
    plain_seconds = sum(median(lap.plain_seconds) for lap in laps)
    seconds = sum(median(lap.speculative_seconds) for lap in laps)
    return {
        "prompt": "all together",
        "speedup": with_interval(verdict),
        "quality": overall_quality(laps),
        **_counts(laps),
        "target alone, s": f"{sum(median(lap.plain_latency) for lap in laps):.2f}",
        "speculative, s": f"{sum(median(lap.speculative_latency) for lap in laps):.2f}",
        "target alone, tokens/s": sum(median(lap.plain_lengths) for lap in laps) / plain_seconds,
        "speculative, tokens/s": sum(median(lap.speculative_lengths) for lap in laps) / seconds,
    }


def _counts(laps: Sequence[RaceLap]) -> dict[str, int]:
    counts = [lap.counts for lap in laps]
    return {
        "accepted": sum(one.accepted for one in counts),
        "rejected": sum(one.rejected for one in counts),
        "discarded": sum(one.discarded for one in counts),
        "target calls": sum(one.rounds for one in counts),
    }


def _columns() -> dict[str, Any]:
    ranges = ("speedup", "target alone, s", "speculative, s")  # a number and its range: text, on the right
    return {
        **{name: st.column_config.TextColumn(alignment="right") for name in ranges},
        "quality": st.column_config.TextColumn(width="medium"),
        **numbers("%d", "accepted", "rejected"),
        **numbers("%d", "discarded", explanation=DISCARDED),
        **numbers("%d", "target calls", explanation="Passes of the target in the speculative run."),
        **numbers("%.0f", "target alone, tokens/s", "speculative, tokens/s"),
    }


def with_interval(verdict: Verdict) -> str:
    """ "1.42× (1.38–1.46)"; only the number where there is one repeat."""
    if verdict.interval is None:
        return f"{verdict.speedup:.2f}×"
    low, high = verdict.interval
    return f"{verdict.speedup:.2f}× ({low:.2f}–{high:.2f})"


def with_spread(seconds: Sequence[float]) -> str:
    """ "0.61 (0.60–0.68)": the median, and fastest to slowest."""
    if len(seconds) == 1:
        return f"{seconds[0]:.2f}"
    return f"{median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f})"


def quality_cell(lap: RaceLap) -> str:
    """How the two texts of a prompt compare, in a few words."""
    found = lap.quality
    if isinstance(found, SampledQuality):
        return f"{found.speculative.mean:.2f}, alone {found.autoregressive.mean:.2f}"
    if found.first_difference is None:
        return "identical"
    gap = "" if found.top2_gap is None else f", gap {found.top2_gap:.2g}"
    return f"{'FAILS: ' if found.explained == 'fails' else ''}differs from token {found.first_difference + 1}{gap}"


def overall_quality(laps: Sequence[RaceLap]) -> str:
    """For how many prompts the two texts are the same."""
    if not all(isinstance(lap.quality, GreedyQuality) for lap in laps):
        return "two draws each"
    same = sum(bool(lap.identical) for lap in laps)
    return "identical" if same == len(laps) else f"{same} of {len(laps)} identical"


def show_quality(laps: Sequence[RaceLap]) -> None:
    """A sentence for each prompt, and both texts."""
    st.markdown("**Is the text as good?**")
    if all(lap.identical for lap in laps):
        st.markdown("Identical: on every prompt both decoders wrote the same tokens, id for id.")
    if any(isinstance(lap.quality, SampledQuality) for lap in laps):
        st.markdown(SAMPLED)
    for lap in laps:
        with st.expander(f"{plain(lap.name)}: {quality_cell(lap)}"):
            st.text(quality_sentence(lap))  # holds tokens: text, not Markdown
            ours, theirs = st.columns(2, gap="medium")
            ours.caption("Speculative decoding wrote")
            ours.code(lap.speculative.output.text or " ", language=None, wrap_lines=True)
            theirs.caption("The target alone wrote")
            theirs.code(lap.plain.output.text or " ", language=None, wrap_lines=True)
            offline_button(lap)


SAMPLED = (
    "Above temperature 0 the two texts are different draws from the same distribution. What can be compared is how "
    "likely each text is for the target: its mean log-probability a token, where higher means more likely. Neither "
    "decoder should be better."
)


def quality_sentence(lap: RaceLap) -> str:
    """How the two texts of a prompt compare, in one or two sentences."""
    if isinstance(lap.quality, SampledQuality):
        ours, theirs = log_probability(lap.quality.speculative), log_probability(lap.quality.autoregressive)
        return (
            f"The target’s mean log-probability a token: {ours} for the speculative text, {theirs} for its own. "
            "These are two draws from the same distribution: not comparable word for word."
        )
    at = lap.quality.first_difference
    if at is None:
        return f"Identical: both wrote the same {len(lap.plain.output.token_ids)} tokens, id for id."
    if lap.quality.top2_gap is None:
        return f"The same for {at} tokens; then one text ends and the other continues."
    lead = lap.quality.top2_gap if lap.quality.lead is None else lap.quality.lead  # older races have no lead
    return _difference(lap, at, lead)


def _difference(lap: RaceLap, at: int, lead: float) -> str:
    """Where two greedy texts begin to differ, and why; token texts are shown one by one, never joined."""
    before = " ".join(f"“{text}”" for text in lap.plain_tokens[max(0, at - CONTEXT_TOKENS) : at])
    ours, theirs = lap.speculative_tokens[at], lap.plain_tokens[at]
    target = lap.plain.target
    why = judge_difference(lead, target.dtype, short_name(target.name)).sentence
    after = f" after {before}" if before else ""
    return (
        f"They differ from token {at + 1} on{after}: speculative decoding wrote “{ours}”, the target alone “{theirs}”. "
        f"The result: {why}."
    )


def log_probability(found: LogProbability) -> str:
    """ "-1.23 (95 % interval -1.41 to -1.05)"."""
    if found.low is None or found.high is None:
        return f"{found.mean:.2f}"
    return f"{found.mean:.2f} (95 % interval {found.low:.2f} to {found.high:.2f})"
