"""A race’s results: a sentence, a plot, a table, how the texts compare, files; what When it helps says of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from statistics import median
from typing import Any

import streamlit as st

from specviz.core.names import short_name
from specviz.core.rounding import judge_difference
from specviz.core.verdict import Verdict
from specviz.data.texts import page_texts
from specviz.measure import race
from specviz.measure.paired import Comparison, GreedyQuality, LogProbability, SampledQuality
from specviz.measure.race import RaceKind, burst_texts
from specviz.measure.sweep.beside_race import RaceComparison, compare_with_race
from specviz.measure.sweep.study import Study
from specviz.player.offline import offline_page
from specviz.ui.race.race_state import recorded_race
from specviz.ui.session import session
from specviz.ui.shared import parts
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.figures import GREY, UPRIGHT, Figure, FigurePart, axis, chart, figure, interval, marker, scatter
from specviz.ui.when_it_helps.when_it_helps_state import WhenItHelpsState, recorded_studies, studied

SAYS = page_texts("race")
CONTEXT_TOKENS = 12  # shown before the place where two texts begin to differ
RaceRow = dict[str, Any]


def show_verdict(laps: Sequence[Comparison], name: str, where: str) -> None:
    """One sentence over all prompts; where kinds of prompt clearly differ, with the word of each kind."""
    verdict, kinds = race.overall_verdict(laps), race.kinds_of(laps)
    assert verdict is not None
    from_where = f":gray[({plain(where)})]"
    said = f"**it depends on the kind of prompt.** {describe_kinds(kinds)}"
    if verdict.certain or not race.clearly_differ(kinds):
        said = f"{parts.headline(verdict, end='')} {_name_scope(laps, verdict)}. {verdict.reason}"
    st.markdown(f"{name}: {said} {from_where}")
    if busy := race.busy_laps(laps):
        st.caption(SAYS["busy"].format(busy=busy, total=len(laps)))


def _name_scope(laps: Sequence[Comparison], verdict: Verdict) -> str:
    interval = within(verdict, " (95 % interval {:.2f} to {:.2f}×)")
    return f"over {len(laps)} prompts{interval}" if len(laps) > 1 else "on this prompt"


def describe_kinds(kinds: Sequence[RaceKind]) -> str:
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


def show_results(races: Mapping[str, Sequence[Comparison]], laps: Sequence[Comparison]) -> None:
    plot, words = st.columns([5, 4], gap="large")
    with plot:
        chart(speedups_figure(races), "race_speedups")
    with words:
        verdict, kinds = race.overall_verdict(laps), race.kinds_of(laps)
        st.caption(SAYS["plot"])
        if verdict and race.clearly_differ(kinds):
            st.markdown("\n".join(f"- {kind_line(kind)}" for kind in kinds))
            mean = (
                f"The mean {_name_scope(laps, verdict)} is {verdict.speedup:.2f}×: it describes none of these kinds. "
            )
            st.caption(f"{'' if verdict.certain else mean}{SAYS['kinds']}")
    show_sweep_beside(laps, session().when_it_helps)
    parts.data_table(rows(laps), "race_table", columns=COLUMNS)
    parts.note(SAYS["table"], "race-table")
    show_quality(laps)
    with st.container(horizontal=True):  # the whole race, as a table or with every time and token
        parts.download("Download CSV", partial(race.race_csv, laps), "specviz-race.csv")
        parts.download("Download JSON", partial(race.dump_race, laps), "specviz-race.json")


def kind_line(kind: RaceKind) -> str:
    """ "Code (1 prompt): Helps, 1.46×, 95 % interval 1.40 to 1.52×", as Markdown."""
    counted = "1 prompt" if len(kind.prompts) == 1 else f"{len(kind.prompts)} prompts"
    interval = within(kind.verdict, ", 95 % interval {:.2f} to {:.2f}×")
    return f"{kind.title} ({counted}): {parts.headline(kind.verdict, end='')}{interval}"


def rows(laps: Sequence[Comparison]) -> list[RaceRow]:
    return [*map(prompt_row, laps), *([_overall_row(laps)] if len(laps) > 1 else [])]


def prompt_row(lap: Comparison) -> RaceRow:
    return {
        "prompt": lap.name,
        "speedup": show_interval(lap.verdict),
        "quality": quality_cell(lap),
        **_counts([lap]),
        "target alone, s": show_spread(lap.plain_latency),
        "speculative, s": show_spread(lap.speculative_latency),
        "target alone, tokens/s": median(lap.plain_rates),
        "speculative, tokens/s": median(lap.speculative_rates),
    }


def _overall_row(laps: Sequence[Comparison]) -> RaceRow:
    verdict = race.overall_verdict(laps)
    assert verdict is not None
    same = sum(bool(lap.identical) for lap in laps)
    quality = "identical" if same == len(laps) else f"{same} of {len(laps)} identical"
    greedy = all(isinstance(lap.quality, GreedyQuality) for lap in laps)

    def total(name: str) -> float:
        return float(sum(median(getattr(lap, name)) for lap in laps))

    return {
        "prompt": "all together",
        "speedup": show_interval(verdict),
        "quality": quality if greedy else "two draws each",
        **_counts(laps),
        "target alone, s": f"{total('plain_latency'):.2f}",
        "speculative, s": f"{total('speculative_latency'):.2f}",
        "target alone, tokens/s": total("plain_lengths") / total("plain_seconds"),
        "speculative, tokens/s": total("speculative_lengths") / total("speculative_seconds"),
    }


def _counts(laps: Sequence[Comparison]) -> dict[str, int]:
    columns = {"accepted": "accepted", "rejected": "rejected", "discarded": "discarded", "target passes": "rounds"}
    return {title: sum(getattr(lap.counts, counted) for lap in laps) for title, counted in columns.items()}


COLUMNS = {
    **parts.texts("speedup", "target alone, s", "speculative, s"),  # each with its range
    "quality": st.column_config.TextColumn(width="medium"),
    **parts.numbers("%d", "accepted", "rejected"),
    **parts.numbers("%d", "discarded", explanation=SAYS["discarded"]),
    **parts.numbers("%d", "target passes", explanation="Passes of the target in the speculative run."),
    **parts.numbers("%.0f", "target alone, tokens/s", "speculative, tokens/s"),
}


def within(verdict: Verdict, words: str) -> str:
    """These words with both ends of the interval; nothing where there is one repeat."""
    return words.format(*verdict.interval) if verdict.interval else ""


def show_interval(verdict: Verdict) -> str:
    """ "1.42× (1.38–1.46)"; only the number where there is one repeat."""
    return f"{verdict.speedup:.2f}×{within(verdict, ' ({:.2f}–{:.2f})')}"


def show_spread(seconds: Sequence[float]) -> str:
    """ "0.61 (0.60–0.68)": the median, and fastest to slowest."""
    spread = f" ({min(seconds):.2f}–{max(seconds):.2f})" if len(seconds) > 1 else ""
    return f"{median(seconds):.2f}{spread}"


def quality_cell(lap: Comparison) -> str:
    found = lap.quality
    if isinstance(found, SampledQuality):
        return f"{found.speculative.mean:.2f}, alone {found.autoregressive.mean:.2f}"
    if found.first_difference is None:
        return "identical"
    gap = "" if found.top2_gap is None else f", gap {found.top2_gap:.2g}"
    return f"{'FAILS: ' if found.explained == 'fails' else ''}differs from token {found.first_difference + 1}{gap}"


def show_quality(laps: Sequence[Comparison]) -> None:
    st.markdown("**Is the text as good?**")
    if all(lap.identical for lap in laps):
        st.markdown("Identical: on every prompt both decoders wrote the same tokens, id for id.")
    if any(isinstance(lap.quality, SampledQuality) for lap in laps):
        st.markdown(SAYS["sampled"])
    for lap in laps:
        with st.expander(f"{plain(lap.name)}: {quality_cell(lap)}"):
            st.text(quality_sentence(lap))  # holds tokens: text, not Markdown
            parts.two_texts(lap.speculative.output.text, lap.plain.output.text)
            made = partial(offline_page, lap.speculative, plain_text=lap.plain.output.text, repeats=lap)
            options: parts.Options = {"key": f"race_offline_{lap.name}", "help": SAYS["offline_help"]}
            icon, file = ":material/download:", f"specviz-{lap.name}.html"
            parts.download("Save this run as a page that plays offline", made, file, icon=icon, **options)


def quality_sentence(lap: Comparison) -> str:
    """Where two greedy texts begin to differ, and why; token texts are shown one by one, never joined."""
    if isinstance(lap.quality, SampledQuality):
        ours, theirs = log_probability(lap.quality.speculative), log_probability(lap.quality.autoregressive)
        return (
            f"The target’s mean log-probability a token: {ours} for the speculative text, {theirs} for its own. "
            "These are two draws from the same distribution: not comparable word for word."
        )
    at, target = lap.quality.first_difference, lap.plain.target
    if at is None:
        return f"Identical: both wrote the same {len(lap.plain.output.token_ids)} tokens, id for id."
    if lap.quality.top2_gap is None:
        return f"The same for {at} tokens; then one text ends and the other continues."
    before = " ".join(f"“{text}”" for text in lap.plain_tokens[max(0, at - CONTEXT_TOKENS) : at])
    after = f" after {before}" if before else ""
    written = [text for burst in burst_texts(lap.speculative) for text, _ in burst]
    ours, theirs = written[at], lap.plain_tokens[at]
    lead = lap.quality.top2_gap if lap.quality.lead is None else lap.quality.lead  # older races have no lead
    why = judge_difference(lead, target.dtype, short_name(target.name)).sentence
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
# Beside the highest end; times the highest speedup, where an interval is cut: that of two prompts that differ reaches
# to hundreds, and would flatten every other.
ROOM, WIDEST = 1.08, 2


def speedups_figure(races: Mapping[str, Sequence[Comparison]]) -> Figure:
    """A row for each prompt of each race, those of one prompt below each other; see `WIDEST`."""
    found = {name: _verdicts(laps) for name, laps in races.items()}
    prompts = list(dict.fromkeys(prompt for its in found.values() for prompt in its if prompt != ALL))
    rows = {
        f"{prompt}, {name}" if len(races) > 1 else prompt: its[prompt]
        for prompt in (*prompts, ALL)
        for name, its in found.items()
        if prompt in its
    }
    highest = max(max(verdict.interval or (verdict.speedup,)) for verdict in rows.values())
    most = ROOM * min(highest, WIDEST * max(verdict.speedup for verdict in rows.values()))
    heights, names = range(len(rows), 0, -1), [figure_text(row) for row in rows]
    x = axis("speedup (1×: as fast as the target alone)", range=[0, most], ticksuffix="×")
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
        found[ALL] = whole
    return found


def _row(name: str, verdict: Verdict, height: int, most: float) -> tuple[FigurePart, list[FigurePart]]:
    """A point, and its label: above it, towards the middle of the figure, since on a phone it has no room elsewhere."""
    speedup, look = verdict.speedup, verdict.judgement.look
    text = f"{speedup:.2f}× {verdict.judgement.said}"
    low, high = verdict.interval or (speedup, speedup)
    ends = {"error_x": interval([speedup], [low], [high], GREY)} if verdict.interval else {}
    hover = f"{text}; {within(verdict, '95 % interval {:.2f} to {:.2f}×') or 'one repeat, no interval'}<extra></extra>"
    point = scatter(name, [speedup], [height], hover, mode="markers", marker=marker(look.shape, 13, look.fill), **ends)
    place = {"y": height, "yanchor": "bottom", "yshift": 7, "xanchor": "right" if speedup > most / 2 else "left"}
    labels: list[FigurePart] = [{"text": text, "showarrow": False, "x": speedup, **place}]
    if high > most:
        end = {"x": most, "y": height, "xanchor": "right", "yanchor": "middle"}
        labels.append({"text": "→", "font": {"size": 16}, "showarrow": False, **end})
    return point, labels


def show_sweep_beside(laps: Sequence[Comparison], sweeps: WhenItHelpsState) -> None:
    """On Race: why a kind of text has another word on When it helps; nothing where that page has no such sweep."""
    studies = (study for source in sweeps.sources() for study in studied(sweeps, source))
    _show((_beside(laps, study) for study in studies), "When it helps", "race_to_when_it_helps")


def show_race_beside(study: Study, races: Iterable[Sequence[Comparison]]) -> None:
    """On When it helps: why a kind of text has another word on Race; nothing where no race has these models."""
    _show((_beside(laps, study) for laps in races), "Race", "when_it_helps_to_race")


def _beside(laps: Sequence[Comparison], study: Study) -> list[RaceComparison]:
    known = _both_recorded().get(id(study)) if laps is recorded_race() else None
    return compare_with_race(laps, [study]) if known is None else known


@cache
def _both_recorded() -> dict[int, list[RaceComparison]]:
    """For each recorded study: the same for every visitor, and a tenth of a second of the processor's time."""
    return {id(study): compare_with_race(recorded_race(), [study]) for study in recorded_studies()}


def _show(every: Iterable[list[RaceComparison]], page: str, key: str) -> None:
    found = next(filter(None, every), [])
    if not found:
        return
    if others := [each for each in found if each.differs]:
        titles = [plain(each.raced.title) for each in others]
        named = ", ".join(f"{title[0].lower()}{title[1:]}" for title in titles)
        st.markdown(f"**Why {page} and this page differ: {named}.**")
        for each in others:
            st.markdown(plain(each.sentence))
    else:
        st.caption(f"{page} has these kinds of text too, and says the same of them.")
    parts.page_button(f"Open {page}", key.partition("_to_")[2], key, type="tertiary")
