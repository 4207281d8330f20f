"""A race’s results: a sentence, a plot, a table, how the texts compare, and files."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import streamlit as st

from specviz.core.names import short_name
from specviz.core.numbers import localize, times
from specviz.core.rounding import judge_difference
from specviz.core.texts import fill, join_choices
from specviz.core.verdict import Verdict
from specviz.data.texts import page_texts, quoted
from specviz.measure import race
from specviz.measure.paired import Comparison, GreedyQuality, LogProbability, SampledQuality
from specviz.measure.race import RaceKind, burst_texts
from specviz.player.offline import offline_page
from specviz.ui.shared import parts
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.figures import GREY, UPRIGHT, Figure, FigurePart, axis, chart, figure, interval, marker, scatter

SAYS = page_texts("race")
CONTEXT_TOKENS = 12  # shown before the place where two texts begin to differ
RaceRow = dict[str, Any]


def show_verdict(laps: Sequence[Comparison], name: str, where: str) -> None:
    """One sentence over all prompts; where kinds of prompt clearly differ, with the word of each kind."""
    verdict, kinds = race.overall_verdict(laps), race.kinds_of(laps)
    assert verdict is not None
    figures = {"name": name, "where": f":gray[({plain(where)})]"}
    if verdict.certain or not race.clearly_differ(kinds):
        said = {"headline": parts.headline(verdict), "reason": verdict.reason}
        outcome = SAYS["outcome_one" if len(laps) == 1 else "outcome_all"]
        st.markdown(outcome.format(count=len(laps), between=_between(verdict), **said, **figures))
    else:
        st.markdown(SAYS["outcome_depends"].format(kinds=describe_kinds(kinds), **figures))
    if busy := sum(not lap.trusted for lap in laps):
        st.caption(SAYS["busy"].format(busy=busy, total=len(laps)))


def describe_kinds(kinds: Sequence[RaceKind]) -> str:
    """ "Helps on story (1.56×), code (1.56×). Hurts on random words (0.60×).", as Markdown."""
    on: dict[str, list[str]] = {}
    for kind in kinds:
        said = kind.verdict.said
        title = f"{kind.title[0].lower()}{kind.title[1:]} ({times(kind.verdict.speedup)})"
        on.setdefault(parts.marked(kind.verdict, f"{said[0].upper()}{said[1:]}"), []).append(title)
    return " ".join(
        SAYS["on_kinds"].format(said=said, kinds=join_choices(titles, "and")) for said, titles in on.items()
    )


def show_results(races: Mapping[str, Sequence[Comparison]], laps: Sequence[Comparison]) -> None:
    plot, words = st.columns([5, 4], gap="large")
    with plot:
        chart(speedups_figure(races), "race_speedups")
    with words:
        verdict, kinds = race.overall_verdict(laps), race.kinds_of(laps)
        st.caption(SAYS["plot"])
        if verdict and race.clearly_differ(kinds):
            st.markdown("\n".join(f"- {kind_line(kind)}" for kind in kinds))
            st.caption(SAYS["kinds"])
    parts.data_table(rows(laps), "race_table", columns=_columns())
    parts.note(SAYS["table"], "race-table")
    show_quality(laps)
    with st.container(horizontal=True):  # the whole race, as a table or with every time and token
        parts.download(SAYS["save_csv"], partial(race.race_csv, laps), "specviz-race.csv")
        parts.download(SAYS["save_json"], partial(race.dump_race, laps), "specviz-race.json")


def kind_line(kind: RaceKind) -> str:
    """ "Code (1 prompt): Helps, 1.46× (95 % interval 1.40 to 1.52×)", as Markdown."""
    figures = {"count": len(kind.prompts), "headline": parts.headline(kind.verdict), "between": _between(kind.verdict)}
    return fill(SAYS["kind"], {"title": kind.title, **figures})


def _between(verdict: Verdict) -> str:
    if verdict.interval is None:
        return ""
    low, high = verdict.interval
    return SAYS["between"].format(low=low, high=high)


def rows(laps: Sequence[Comparison]) -> list[RaceRow]:
    return [*map(prompt_row, laps), *([_overall_row(laps)] if len(laps) > 1 else [])]


def prompt_row(lap: Comparison) -> RaceRow:
    return {
        SAYS["column_prompt"]: lap.name,
        SAYS["column_speedup"]: show_interval(lap.verdict),
        SAYS["column_quality"]: quality_cell(lap),
        **_counts([lap]),
        SAYS["column_alone"]: show_spread(lap.plain_latency),
        SAYS["column_speculative"]: show_spread(lap.speculative_latency),
        SAYS["column_alone_rate"]: median(lap.plain_rates),
        SAYS["column_speculative_rate"]: median(lap.speculative_rates),
    }


def _overall_row(laps: Sequence[Comparison]) -> RaceRow:
    verdict = race.overall_verdict(laps)
    assert verdict is not None
    same = sum(bool(lap.identical) for lap in laps)
    quality = SAYS["identical" if same == len(laps) else "identical_some"].format(count=same, total=len(laps))
    greedy = all(isinstance(lap.quality, GreedyQuality) for lap in laps)

    def total(name: str) -> float:
        return float(sum(median(getattr(lap, name)) for lap in laps))

    return {
        SAYS["column_prompt"]: SAYS["all_together"],
        SAYS["column_speedup"]: show_interval(verdict),
        SAYS["column_quality"]: quality if greedy else SAYS["two_draws"],
        **_counts(laps),
        SAYS["column_alone"]: localize(total("plain_latency"), ".2f"),
        SAYS["column_speculative"]: localize(total("speculative_latency"), ".2f"),
        SAYS["column_alone_rate"]: total("plain_lengths") / total("plain_seconds"),
        SAYS["column_speculative_rate"]: total("speculative_lengths") / total("speculative_seconds"),
    }


def _counts(laps: Sequence[Comparison]) -> dict[str, int]:
    columns = {"accepted": "accepted", "rejected": "rejected", "discarded": "discarded", "passes": "rounds"}
    return {
        SAYS[f"column_{name}"]: sum(getattr(lap.counts, counted) for lap in laps) for name, counted in columns.items()
    }


def _columns() -> dict[str, Any]:
    return {
        # each with its range
        **parts.texts(SAYS["column_speedup"], SAYS["column_alone"], SAYS["column_speculative"]),
        SAYS["column_quality"]: st.column_config.TextColumn(width="medium"),
        **parts.numbers("%d", *(SAYS[f"column_{name}"] for name in ("accepted", "rejected", "discarded", "passes"))),
        **parts.numbers("%.0f", SAYS["column_alone_rate"], SAYS["column_speculative_rate"]),
    }


def show_interval(verdict: Verdict) -> str:
    """ "1.42× (1.38–1.46)"; only the number where there is one repeat, and with "?" where it is not trusted."""
    between = fill(" ({:.2f}–{:.2f})", {}, *verdict.interval) if verdict.interval else ""
    return f"{times(verdict.speedup)}{'' if verdict.trusted else '?'}{between}"


def show_spread(seconds: Sequence[float]) -> str:
    """ "0.61 (0.60–0.68)": the median, and fastest to slowest."""
    spread = fill(" ({:.2f}–{:.2f})", {}, min(seconds), max(seconds)) if len(seconds) > 1 else ""
    return f"{localize(median(seconds), '.2f')}{spread}"


def quality_cell(lap: Comparison) -> str:
    found = lap.quality
    if isinstance(found, SampledQuality):
        return SAYS["quality_sampled"].format(ours=found.speculative.mean, theirs=found.autoregressive.mean)
    if found.first_difference is None:
        return SAYS["identical"]
    differs = SAYS["differs" if found.top2_gap is None else "differs_gap"]
    difference = differs.format(place=found.first_difference + 1, gap=found.top2_gap)
    return SAYS["fails"].format(difference=difference) if found.explained == "fails" else difference


def show_quality(laps: Sequence[Comparison]) -> None:
    st.markdown(SAYS["quality"])
    if all(lap.identical for lap in laps):
        st.markdown(SAYS["all_identical"])
    if any(isinstance(lap.quality, SampledQuality) for lap in laps):
        st.markdown(SAYS["sampled"])
    for lap in laps:
        with st.expander(f"{plain(lap.name)}: {quality_cell(lap)}"):
            st.text(quality_sentence(lap))  # holds tokens: text, not Markdown
            parts.two_texts(lap.speculative.output.text, lap.plain.output.text)
            made = partial(offline_page, lap.speculative, plain_text=lap.plain.output.text, repeats=lap)
            options: parts.Options = {"key": f"race_offline_{lap.name}"}
            icon, file = ":material/download:", f"specviz-{lap.name}.html"
            parts.download(SAYS["offline"], made, file, icon=icon, **options)


def quality_sentence(lap: Comparison) -> str:
    """Where two greedy texts begin to differ, and why; token texts are shown one by one, never joined."""
    if isinstance(lap.quality, SampledQuality):
        ours, theirs = log_probability(lap.quality.speculative), log_probability(lap.quality.autoregressive)
        return SAYS["log_probabilities"].format(ours=ours, theirs=theirs)
    at, target = lap.quality.first_difference, lap.plain.target
    if at is None:
        return SAYS["same_tokens"].format(count=len(lap.plain.output.token_ids))
    if lap.quality.top2_gap is None:
        return SAYS["one_longer"].format(count=at)
    before = " ".join(map(quoted, lap.plain_tokens[max(0, at - CONTEXT_TOKENS) : at]))
    written = [text for burst in burst_texts(lap.speculative) for text, _ in burst]
    ours, theirs = written[at], lap.plain_tokens[at]
    lead = lap.quality.top2_gap if lap.quality.lead is None else lap.quality.lead  # older races have no lead
    why = judge_difference(lead, target.dtype, short_name(target.name)).sentence
    after = SAYS["after"].format(before=before) if before else ""
    return SAYS["parted"].format(place=at + 1, after=after, ours=ours, theirs=theirs, why=why)


def log_probability(found: LogProbability) -> str:
    """ "-1.23 (95 % interval -1.41 to -1.05)"."""
    if found.low is None or found.high is None:
        return localize(found.mean, ".2f")
    return SAYS["log_between"].format(mean=found.mean, low=found.low, high=found.high)


ROW, AROUND = 46, 66  # px: of a row, and of what is around the rows
# Beside the highest end; times the highest speedup, where an interval is cut: that of two prompts that differ reaches
# to hundreds, and would flatten every other.
ROOM, WIDEST = 1.08, 2


def speedups_figure(races: Mapping[str, Sequence[Comparison]]) -> Figure:
    """A row for each prompt of each race, those of one prompt below each other; see `WIDEST`."""
    found = {name: _verdicts(laps) for name, laps in races.items()}
    whole = SAYS["all_prompts"]
    prompts = list(dict.fromkeys(prompt for its in found.values() for prompt in its if prompt != whole))
    rows = {
        f"{prompt}, {name}" if len(races) > 1 else prompt: its[prompt]
        for prompt in (*prompts, whole)
        for name, its in found.items()
        if prompt in its
    }
    highest = max(max(verdict.interval or (verdict.speedup,)) for verdict in rows.values())
    most = ROOM * min(highest, WIDEST * max(verdict.speedup for verdict in rows.values()))
    heights, names = range(len(rows), 0, -1), [figure_text(row) for row in rows]
    x = axis(SAYS["axis"], range=[0, most], ticksuffix="×")
    y = axis(tickvals=list(heights), ticktext=names, range=[0.4, len(rows) + 0.7], showgrid=False)
    drawn = [_row(name, verdict, at, most) for name, verdict, at in zip(names, rows.values(), heights, strict=True)]
    labels = [label for _, its in drawn for label in its]
    more: FigurePart = {"showlegend": False, "shapes": [UPRIGHT], "annotations": labels}
    return figure([point for point, _ in drawn], AROUND + ROW * len(rows), x=x, y=y, **more)


def _verdicts(laps: Sequence[Comparison]) -> dict[str, Verdict]:
    """Of each prompt, and of all unless that would be the mean of kinds that differ."""
    found = {lap.name: lap.verdict for lap in laps}
    whole = race.overall_verdict(laps)
    if len(laps) > 1 and whole and (whole.certain or not race.clearly_differ(race.kinds_of(laps))):
        found[SAYS["all_prompts"]] = whole
    return found


def _row(name: str, verdict: Verdict, height: int, most: float) -> tuple[FigurePart, list[FigurePart]]:
    """A point, and its label: above it, towards the middle of the figure, since on a phone it has no room elsewhere."""
    speedup, look = verdict.speedup, verdict.judgement.look
    text = f"{times(speedup)} {verdict.said}"
    low, high = verdict.interval or (speedup, speedup)
    ends = {"error_x": interval([speedup], [low], [high], GREY)} if verdict.interval else {}
    told = SAYS["hover" if verdict.interval else "hover_once"].format(said=text, low=low, high=high)
    hover = f"{told}<extra></extra>"
    point = scatter(name, [speedup], [height], hover, mode="markers", marker=marker(look.shape, 13, look.fill), **ends)
    place = {"y": height, "yanchor": "bottom", "yshift": 7, "xanchor": "right" if speedup > most / 2 else "left"}
    labels: list[FigurePart] = [{"text": text, "showarrow": False, "x": speedup, **place}]
    if high > most:
        end = {"x": most, "y": height, "xanchor": "right", "yanchor": "middle"}
        labels.append({"text": "→", "font": {"size": 16}, "showarrow": False, **end})
    return point, labels
