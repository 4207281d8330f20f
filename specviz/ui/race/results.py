"""A race’s results: a sentence, a plot, a table, how the texts compare, and files."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import streamlit as st

from specviz.core.names import short_name
from specviz.core.numbers import localize, times
from specviz.core.rounding import judge_difference
from specviz.core.texts import fill, join_choices
from specviz.data.texts import page_texts
from specviz.figures.parts import Figure
from specviz.figures.speedups import SpeedupRow, speedup_figure
from specviz.measure import race
from specviz.measure.paired import Comparison, GreedyQuality, SampledQuality, TimedDecoder, total
from specviz.measure.race import burst_texts
from specviz.player.offline import offline_page
from specviz.ui.shared import parts
from specviz.ui.shared.escaping import plain

SAYS = page_texts("race")


def show_verdict(laps: Sequence[Comparison], name: str, where: str) -> None:
    """One sentence over all prompts; where kinds of prompt clearly differ, with the word of each kind."""
    verdict, figures = race.overall_verdict(laps), {"name": name, "where": f":gray[({plain(where)})]"}
    if kinds := race.differing_kinds(laps):
        on: dict[str, list[str]] = defaultdict(list)  # "Helps on story (1.56×), code (1.56×). Hurts on ..."
        for kind in kinds:
            said = kind.verdict.said
            title = f"{kind.title[0].lower()}{kind.title[1:]} ({times(kind.verdict.speedup)})"
            on[parts.marked(kind.verdict, f"{said[0].upper()}{said[1:]}")].append(title)
        told = (SAYS["on_kinds"].format(said=said, kinds=join_choices(on[said], "and")) for said in on)
        st.markdown(SAYS["outcome_depends"].format(kinds=" ".join(told), **figures))
    else:
        low, high = verdict.interval or (0, 0)
        between = SAYS["between"].format(low=low, high=high) if verdict.interval else ""
        figures |= {"headline": parts.headline(verdict), "reason": verdict.reason}
        outcome = SAYS["outcome_one" if len(laps) == 1 else "outcome_all"]
        st.markdown(outcome.format(count=len(laps), between=between, **figures))
    if busy := sum(not lap.trusted for lap in laps):
        st.caption(SAYS["busy"].format(busy=busy, total=len(laps)))


def show_results(races: Mapping[str, Sequence[Comparison]], laps: Sequence[Comparison]) -> None:
    st.caption(SAYS["plot"])
    parts.chart(speedups_figure(races), "race_speedups")
    parts.data_table(rows(laps), "race_table", columns=formats())
    parts.note(SAYS["table"], "race-table")
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
            parts.download(SAYS["offline"], made, f"specviz-{lap.name}.html", f"race_offline_{lap.name}", "download")
    with st.container(horizontal=True):  # the whole race, as a table or with every time and token
        parts.download(SAYS["save_csv"], partial(race.race_csv, laps), "specviz-race.csv")
        parts.download(SAYS["save_json"], partial(race.dump_race, laps), "specviz-race.json")


def rows(laps: Sequence[Comparison]) -> list[dict[str, Any]]:
    """One for each prompt, and for several one of all together."""
    found = [_row(lap.name, quality_cell(lap), [lap]) for lap in laps]
    if len(laps) > 1:
        same = sum(bool(lap.identical) for lap in laps)
        said = "identical" if same == len(laps) else "identical_some"
        said = said if all(isinstance(lap.quality, GreedyQuality) for lap in laps) else "two_draws"
        found.append(_row(SAYS["all_together"], SAYS[said].format(count=same, total=len(laps)), laps))
    return found


def _row(name: str, quality: str, laps: Sequence[Comparison]) -> dict[str, Any]:
    counts, alone, ours = total(lap.counts for lap in laps), [lap.alone for lap in laps], [lap.ours for lap in laps]
    row = {
        "prompt": name,
        "speedup": race.overall_verdict(laps).shown,
        "quality": quality,
        "accepted": counts.accepted,
        "rejected": counts.rejected,
        "discarded": counts.discarded,
        "passes": counts.rounds,
        "alone": _seconds(alone),
        "speculative": _seconds(ours),
        "alone_rate": _rate(alone),
        "speculative_rate": _rate(ours),
    }
    return {SAYS[f"column_{name}"]: cell for name, cell in row.items()}


def _seconds(prompts: Sequence[TimedDecoder]) -> str:
    """ "0.61 (0.60–0.68)": the median, and fastest to slowest of one prompt's."""
    its = prompts[0].latency
    between = fill(" ({:.2f}–{:.2f})", {}, min(its), max(its)) if len(prompts) == 1 < len(its) else ""
    return f"{localize(sum(median(each.latency) for each in prompts), '.2f')}{between}"


def _rate(prompts: Sequence[TimedDecoder]) -> float:
    return sum(median(each.tokens) for each in prompts) / sum(median(each.seconds) for each in prompts)


def formats() -> dict[str, Any]:
    return {
        # each with its range
        **parts.texts(SAYS["column_speedup"], SAYS["column_alone"], SAYS["column_speculative"]),
        SAYS["column_quality"]: st.column_config.TextColumn(width=160),
        **parts.numbers("%d", *(SAYS[f"column_{name}"] for name in ("accepted", "rejected", "discarded", "passes"))),
        **parts.numbers("%.0f", SAYS["column_alone_rate"], SAYS["column_speculative_rate"]),
    }


def quality_cell(lap: Comparison) -> str:
    found = lap.quality
    if isinstance(found, SampledQuality):
        return SAYS["quality_sampled"].format(ours=found.speculative.mean, theirs=found.autoregressive.mean)
    if found.first_difference is None:
        return SAYS["identical"]
    differs = SAYS["differs" if found.top2_gap is None else "differs_gap"]
    difference = differs.format(place=found.first_difference + 1, gap=found.top2_gap)
    return SAYS["fails"].format(difference=difference) if found.explained == "fails" else difference


def quality_sentence(lap: Comparison) -> str:
    """Where two greedy texts begin to differ, and why; how likely the target finds two sampled ones."""
    if isinstance(lap.quality, SampledQuality):
        ours, theirs = (
            localize(found.mean, ".2f")
            if found.low is None or found.high is None
            else SAYS["log_between"].format(mean=found.mean, low=found.low, high=found.high)
            for found in (lap.quality.speculative, lap.quality.autoregressive)
        )
        return SAYS["log_probabilities"].format(ours=ours, theirs=theirs)
    at, target = lap.quality.first_difference, lap.plain.target
    if at is None:
        return SAYS["same_tokens"].format(count=len(lap.plain.output.token_ids))
    if lap.quality.top2_gap is None:
        return SAYS["one_longer"].format(count=at)
    written = [text for burst in burst_texts(lap.speculative) for text, _ in burst]
    lead = lap.quality.top2_gap if lap.quality.lead is None else lap.quality.lead  # older races have no lead
    why = judge_difference(lead, target.dtype, short_name(target.name)).sentence
    return SAYS["parted"].format(place=at + 1, ours=written[at], theirs=lap.plain_tokens[at], why=why)


def speedups_figure(races: Mapping[str, Sequence[Comparison]]) -> Figure:
    """A row for each prompt of each race, those of one prompt below each other; of all unless their kinds differ."""
    found = {name: {lap.name: lap.verdict for lap in laps} for name, laps in races.items()}
    prompts = list(dict.fromkeys(prompt for its in found.values() for prompt in its))
    for name, laps in races.items():
        if len(laps) > 1 and not race.differing_kinds(laps):
            found[name][SAYS["all_prompts"]] = race.overall_verdict(laps)
    rows = [
        SpeedupRow(f"{prompt}, {name}" if len(races) > 1 else prompt, verdict, f" {verdict.said}")
        for prompt in [*prompts, SAYS["all_prompts"]]
        for name, its in found.items()
        if (verdict := its.get(prompt))
    ]
    return speedup_figure(rows, axis=SAYS["axis"])
