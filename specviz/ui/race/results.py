"""A race’s results: a sentence, a plot, a table, how the texts compare, files; what When it helps says of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.names import short_name
from specviz.core.rounding import judge_difference
from specviz.core.verdict import Verdict
from specviz.data.texts import page_texts
from specviz.measure.race import (
    GreedyQuality,
    Kind,
    LogProbability,
    RaceLap,
    SampledQuality,
    clearly_differ,
    dump_race,
    kinds_of,
    overall_verdict,
    race_csv,
)
from specviz.measure.sweep.beside_race import Beside, beside
from specviz.measure.sweep.study import Study
from specviz.player.offline import offline_page
from specviz.ui.helps.helps_state import Sweeps, studied
from specviz.ui.session import session
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.figures import GREY, UPRIGHT, Figure, Part, axis, chart, figure, interval, scatter
from specviz.ui.shared.parts import (
    Options,
    data_table,
    download,
    headline,
    note,
    numbers,
    page_button,
    texts,
    two_texts,
)

SAYS = page_texts("race")


CONTEXT_TOKENS = 12  # shown before the place where two texts begin to differ

Row = dict[str, Any]


def say_verdict(laps: Sequence[RaceLap], name: str, where: str) -> None:
    """One sentence over all prompts; where kinds of prompt clearly differ, with the word of each kind."""
    verdict, kinds = overall_verdict(laps), kinds_of(laps)
    assert verdict is not None
    from_where = f":gray[({plain(where)})]"
    if verdict.certain or not clearly_differ(kinds):
        st.markdown(f"{name}: {headline(verdict, end='')} {_over(laps, verdict)} {verdict.reason} {from_where}")
    else:
        st.markdown(f"{name}: **it depends on the kind of prompt.** {by_kind(kinds)} {from_where}")


def by_kind(kinds: Sequence[Kind]) -> str:
    """ "Helps on story (1.56×), code (1.56×). Hurts on random words (0.60×).", as Markdown."""
    on: dict[str, list[str]] = {}
    looks = {kind.verdict.judgement.said: kind.verdict.judgement.look for kind in kinds}
    for kind in kinds:
        title = f"{kind.title[0].lower()}{kind.title[1:]} ({kind.verdict.speedup:.2f}×)"
        on.setdefault(kind.verdict.judgement.said, []).append(title)
    return " ".join(
        f":material/{look.icon}: :{look.color}[**{said[0].upper()}{said[1:]}**] on {', '.join(on[said])}."
        for said, look in looks.items()
    )


def show_results(races: Mapping[str, Sequence[RaceLap]], laps: Sequence[RaceLap]) -> None:
    plot, words = st.columns([5, 4], gap="large")
    with plot:
        chart(speedups_figure(races), "race_speedups")
    with words:
        verdict, kinds = overall_verdict(laps), kinds_of(laps)
        st.caption(SAYS["plot"])
        if verdict and clearly_differ(kinds):
            st.markdown("\n".join(f"- {kind_line(kind)}" for kind in kinds))
            over = _over(laps, verdict)[:-1]
            mean = f"The mean {over} is {verdict.speedup:.2f}×: it describes none of these kinds. "
            st.caption(f"{'' if verdict.certain else mean}{SAYS['kinds']}")
    show_sweep_beside(laps, session().sweeps)
    data_table(pd.DataFrame(rows(laps)), "race_table", columns=COLUMNS)
    note(SAYS["table"], "race-table")
    show_quality(laps)
    as_csv, as_json, _ = st.columns([1, 1, 3])  # the whole race, as a table or with every time and token
    with as_csv:
        download("Download CSV", lambda: race_csv(laps), "specviz-race.csv", width="stretch")
    with as_json:
        download("Download JSON", lambda: dump_race(laps), "specviz-race.json", width="stretch")


def kind_line(kind: Kind) -> str:
    """ "Code (1 prompt): Helps, 1.46×, 95 % interval 1.40 to 1.52×", as Markdown."""
    prompts = len(kind.prompts)
    line = f"{kind.title} ({prompts} {'prompt' if prompts == 1 else 'prompts'}): {headline(kind.verdict, end='')}"
    if kind.verdict.interval is None:
        return line
    low, high = kind.verdict.interval
    return f"{line}, 95 % interval {low:.2f} to {high:.2f}×"


def _over(laps: Sequence[RaceLap], verdict: Verdict) -> str:
    if len(laps) == 1:
        return "on this prompt."
    if verdict.interval is None:
        return f"over {len(laps)} prompts."
    low, high = verdict.interval
    return f"over {len(laps)} prompts (95 % interval {low:.2f} to {high:.2f}×)."


def rows(laps: Sequence[RaceLap]) -> list[Row]:
    each = [prompt_row(lap) for lap in laps]
    return [*each, _overall_row(laps)] if len(laps) > 1 else each


def prompt_row(lap: RaceLap) -> Row:
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
    same = sum(bool(lap.identical) for lap in laps)
    quality = "identical" if same == len(laps) else f"{same} of {len(laps)} identical"
    greedy = all(isinstance(lap.quality, GreedyQuality) for lap in laps)
    plain_seconds = sum(median(lap.plain_seconds) for lap in laps)
    seconds = sum(median(lap.speculative_seconds) for lap in laps)
    return {
        "prompt": "all together",
        "speedup": with_interval(verdict),
        "quality": quality if greedy else "two draws each",
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


COLUMNS = {
    **texts("speedup", "target alone, s", "speculative, s"),  # each with its range
    "quality": st.column_config.TextColumn(width="medium"),
    **numbers("%d", "accepted", "rejected"),
    **numbers("%d", "discarded", explanation=SAYS["discarded"]),
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
    found = lap.quality
    if isinstance(found, SampledQuality):
        return f"{found.speculative.mean:.2f}, alone {found.autoregressive.mean:.2f}"
    if found.first_difference is None:
        return "identical"
    gap = "" if found.top2_gap is None else f", gap {found.top2_gap:.2g}"
    return f"{'FAILS: ' if found.explained == 'fails' else ''}differs from token {found.first_difference + 1}{gap}"


def show_quality(laps: Sequence[RaceLap]) -> None:
    st.markdown("**Is the text as good?**")
    if all(lap.identical for lap in laps):
        st.markdown("Identical: on every prompt both decoders wrote the same tokens, id for id.")
    if any(isinstance(lap.quality, SampledQuality) for lap in laps):
        st.markdown(SAYS["sampled"])
    for lap in laps:
        with st.expander(f"{plain(lap.name)}: {quality_cell(lap)}"):
            st.text(quality_sentence(lap))  # holds tokens: text, not Markdown
            two_texts(lap.speculative.output.text, lap.plain.output.text)
            made = partial(offline_page, lap.speculative, plain_text=lap.plain.output.text, repeats=lap)
            options: Options = {
                "key": f"race_offline_{lap.name}",
                "icon": ":material/download:",
                "help": SAYS["offline_help"],
            }
            download("Save this run as a page that plays offline", made, f"specviz-{lap.name}.html", **options)


def quality_sentence(lap: RaceLap) -> str:
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


ALL = "all prompts"
ROW, AROUND = 46, 66  # px: of a row, and of what is around the rows
ROOM, WIDEST = 1.08, 2  # beside the highest end; times the highest speedup, where an interval is cut


def speedups_figure(races: Mapping[str, Sequence[RaceLap]]) -> Figure:
    """A row for each prompt of each race, those of one prompt below each other."""
    found = {name: _verdicts(laps) for name, laps in races.items()}
    prompts = list(dict.fromkeys(prompt for its in found.values() for prompt in its if prompt != ALL))
    rows = {
        f"{prompt}, {name}" if len(races) > 1 else prompt: its[prompt]
        for prompt in (*prompts, ALL)
        for name, its in found.items()
        if prompt in its
    }
    most = ROOM * min(max(map(_high, rows.values())), WIDEST * max(verdict.speedup for verdict in rows.values()))
    heights = range(len(rows), 0, -1)
    x = axis("speedup (1×: as fast as the target alone)", range=[0, most], ticksuffix="×")
    names = [figure_text(row) for row in rows]
    y = axis(tickvals=list(heights), ticktext=names, range=[0.4, len(rows) + 0.7], showgrid=False)
    return figure(
        [_point(name, verdict, at) for name, verdict, at in zip(names, rows.values(), heights, strict=True)],
        AROUND + ROW * len(rows),
        x=x,
        y=y,
        showlegend=False,
        shapes=[UPRIGHT],
        annotations=[
            label for verdict, at in zip(rows.values(), heights, strict=True) for label in _labels(verdict, at, most)
        ],
    )


def _high(verdict: Verdict) -> float:
    return max(verdict.interval or (verdict.speedup,))


def _verdicts(laps: Sequence[RaceLap]) -> dict[str, Verdict]:
    """Of each prompt, and of all unless that would be the mean of kinds that differ."""
    found = {lap.name: lap.verdict for lap in laps}
    whole = overall_verdict(laps)
    if len(laps) > 1 and whole and (whole.certain or not clearly_differ(kinds_of(laps))):
        found[ALL] = whole
    return found


def _point(row: str, verdict: Verdict, height: int) -> Part:
    speedup, look = verdict.speedup, verdict.judgement.look
    ends, said = {}, "one repeat, no interval"
    if verdict.interval:
        low, high = verdict.interval
        ends = {"error_x": interval([speedup], [low], [high], GREY)}
        said = f"95 % interval {low:.2f} to {high:.2f}×"
    marker = {"symbol": look.shape, "size": 13, "color": look.fill, "line": {"width": 2, "color": look.fill}}
    hover = f"{_said(verdict)}; {said}<extra></extra>"
    return scatter(row, [speedup], [height], hover, mode="markers", marker=marker, **ends)


def _said(verdict: Verdict) -> str:
    return f"{verdict.speedup:.2f}× {verdict.judgement.said}"


def _labels(verdict: Verdict, height: int, most: float) -> list[Part]:
    """Above its point, towards the middle of the figure: on a phone it has no room on the other side.

    Two prompts that differ give an interval of hundreds: drawn to its end, it would flatten every other.
    """
    side = "right" if verdict.speedup > most / 2 else "left"
    place = {"x": verdict.speedup, "y": height, "xanchor": side, "yanchor": "bottom", "yshift": 7}
    end = {"x": most, "y": height, "xanchor": "right", "yanchor": "middle"}
    further = {"text": "→", "font": {"size": 16}, "showarrow": False, **end}
    label = {"text": _said(verdict), "showarrow": False, **place}
    return [label, further] if _high(verdict) > most else [label]


def show_sweep_beside(laps: Sequence[RaceLap], sweeps: Sweeps) -> None:
    """On Race: why a kind of text has another word on When it helps; nothing where that page has no such sweep."""
    _show(
        _first(beside(laps, studied(sweeps, source)) for source in sweeps.sources()), "When it helps", "race_to_helps"
    )


def show_race_beside(study: Study, races: Iterable[Sequence[RaceLap]]) -> None:
    """On When it helps: why a kind of text has another word on Race; nothing where no race has these models."""
    _show(_first(beside(laps, [study]) for laps in races), "Race", "helps_to_race")


def _first(each: Iterable[list[Beside]]) -> list[Beside]:
    return next((found for found in each if found), [])


def _show(found: Sequence[Beside], page: str, key: str) -> None:
    if not found:
        return
    others = [each for each in found if each.differs]
    if others:
        titles = [plain(each.raced.title) for each in others]
        named = ", ".join(f"{title[0].lower()}{title[1:]}" for title in titles)
        st.markdown(f"**{page} has another word for {named}.**")
        for each in others:
            st.markdown(plain(each.sentence))
    else:
        st.caption(f"{page} has these kinds of text too, and the same words for them.")
    page_button(f"Open {page}", key.rpartition("_")[2], key=key, type="tertiary")
