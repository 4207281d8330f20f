"""The task under way on the Same quality page, what draws came to, and their figures."""

from collections.abc import Iterator, Sequence
from html import escape

import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.request import RunRequest
from specviz.data.texts import page_texts
from specviz.measure.proof.findings import FALSE_ALARM, LIMIT, Finding, InterimLook, looks, place_looks
from specviz.measure.proof.rows import BATCHES, PLACES, POSITIONS, DrawBatch, NearTie, rule_text
from specviz.service.job import JobView
from specviz.service.protocol import JobProgress
from specviz.ui.same_quality.same_quality_state import Outcome, ProofPlace, ProofSource, SameQualityState
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.figures import (
    BLUE,
    GREY,
    HATCHED,
    ORANGE,
    Figure,
    FigurePart,
    axis,
    bars,
    chart,
    figure,
    marker,
    scatter,
)
from specviz.ui.shared.job_slot import show_progress, waiting_line
from specviz.ui.shared.parts import button, role_table

SAYS = page_texts("same_quality")
HEIGHT = 300
SHOWN = 12  # tokens with their own bars
SHARES = axis("share of the draws", tickformat=".0%", rangemode="tozero")


def token_label(text: str) -> str:
    """A token for an axis: visible spaces and line ends, and nothing that Plotly reads as a tag."""
    shown = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    return figure_text(shown[:14])


def distribution_figure(batches: Sequence[DrawBatch]) -> Figure:
    tokens, (expected, speculative, plain) = _shares(batches)
    ring, places = marker("diamond-open", 9, ORANGE), range(len(tokens))

    def label(name: str) -> FigurePart:
        return {"name": name, "hover": f"%{{customdata}}: %{{y:.1%}}<extra>{name}</extra>", "customdata": tokens}

    shown = [
        bars(x=places, y=expected, marker=HATCHED, **label("the target’s own probabilities")),
        bars(x=places, y=speculative, marker={"color": BLUE}, **label("speculative decoding wrote")),
        scatter(x=places, y=plain, mode="markers", marker=ring, **label("the target alone wrote")),
    ]
    x = axis(tickvals=list(places), ticktext=tokens, tickangle=-40)
    return figure(shown, HEIGHT, x=x, y=SHARES, bargap=0.25, bargroupgap=0.05)


def _shares(batches: Sequence[DrawBatch]) -> tuple[list[str], list[list[float]]]:
    """Labels, and for each of the three ways their shares; what has no bar of its own is in the last one."""
    columns = [[*map(sum, _columns(batches, way))] for way in ("expected", "speculative", "plain")]
    draws, names = sum(batch.draws for batch in batches), batches[0].tokens
    own = sorted(range(len(names) - 1), key=lambda i: -columns[0][i])[:SHOWN]
    labels = [*(token_label(names[i]) for i in own), "all the rest"]
    rows = [[*(column[i] / draws for i in own), (draws - sum(column[i] for i in own)) / draws] for column in columns]
    return labels, rows


def places_figure(batches: Sequence[DrawBatch]) -> Figure:
    """How the places of the drawn tokens are spread over the target's probability: evenly, if the rule is right."""
    draws = sum(batch.draws for batch in batches)
    x = [(i + 0.5) / PLACES for i in range(PLACES)]
    speculative, alone = (
        [sum(counts) / draws for counts in _columns(batches, f"{way}_places")] for way in ("speculative", "plain")
    )
    said, ring = "%{x:.3f}: %{y:.1%}<extra>", marker("diamond-open", 8, ORANGE)
    even: FigurePart = {"mode": "lines", "line": {"color": GREY, "dash": "dash"}, "hoverinfo": "skip"}
    shown = [
        bars("places, speculative", x, speculative, f"{said}speculative</extra>", marker={"color": BLUE}),
        scatter("target alone", x, alone, f"{said}target alone</extra>", mode="markers", marker=ring),
        scatter("spread evenly", [0, 1], [1 / PLACES] * 2, **even),
    ]
    along = axis("place, the most probable token first", range=[0, 1])
    return figure(shown, HEIGHT, x=along, y=SHARES, bargap=0.1)


def _columns(batches: Sequence[DrawBatch], name: str) -> Iterator[tuple[float, ...]]:
    return zip(*(getattr(batch, name) for batch in batches), strict=True)


def distance_figure(speculative: Sequence[InterimLook], plain: Sequence[InterimLook]) -> Figure:
    said = "%{x:,} draws: %{y:.3f}<extra>"
    below: FigurePart = {"mode": "lines", "line": {"color": GREY, "dash": "dash"}}
    below |= {"fill": "tozeroy", "fillcolor": "rgba(128,128,128,0.12)"}
    draws, chance = [one.draws for one in speculative], [one.chance for one in speculative]
    lines = [scatter("chance stays below (19 in 20)", draws, chance, f"{said}chance alone</extra>", **below)]
    shown = (("speculative", speculative, BLUE, "circle"), ("target alone", plain, ORANGE, "diamond-open"))
    for name, each, color, symbol in shown:
        style: FigurePart = {"line": {"color": color, "width": 2}, "marker": {"symbol": symbol, "size": 8}}
        at, distances = [one.draws for one in each], [one.distance for one in each]
        lines.append(scatter(name, at, distances, f"{said}{name}</extra>", **style))
    x, y = axis("draws each way", rangemode="tozero"), axis("distance", rangemode="tozero")
    return figure(lines, HEIGHT, x=x, y=y)


def tie_figure(tie: NearTie) -> Figure:
    ways = page_texts("tie_ways")
    places = {ways[one.way].format(batch=tie.batch): one for one in tie.ways}
    line: FigurePart = {"mode": "lines", "line": {"color": GREY, "width": 3}, "hoverinfo": "skip", "showlegend": False}
    gaps = [scatter("", [one.plain, one.speculative], [place] * 2, **line) for place, one in places.items()]
    gap_labels: list[FigurePart] = []
    for place, one in places.items():
        said = f"gap {abs(one.gap):.2g}" if one.gap else "exactly equal"
        middle = (one.plain + one.speculative) / 2
        gap_labels.append({"x": middle, "y": place, "text": said, "showarrow": False, "yshift": 16})

    def logits(name: str, scores: list[float], mark: FigurePart) -> FigurePart:
        said = f"%{{y}}: logit %{{x:.4f}}<extra>{name}</extra>"
        return scatter(name, scores, [*places], said, mode="markers", marker={**mark, "opacity": 0.8})

    plain = f"{token_label(tie.plain_token)} (plain took it)"
    speculative = f"{token_label(tie.speculative_token)} (speculative)"
    both = [
        logits(plain, [one.plain for one in tie.ways], marker("circle", 13, ORANGE)),
        logits(speculative, [one.speculative for one in tie.ways], marker("diamond", 13, BLUE)),
    ]
    x, y = axis("logit (score before the softmax)"), axis(autorange="reversed", tickfont={"size": 11})
    return figure([*gaps, *both], 240, x=x, y=y, annotations=gap_labels)


UNDER_WAY = {"greedy": "Greedy comparison", "near-tie": "The near-tie, here", "yours": "Every rule"}
STOPPED = {
    "cancelled": "Cancelled. The results so far stay.",
    "lost": "This proof has expired. The results so far stay.",
}


def show_status(state: SameQualityState, place: ProofPlace) -> None:
    task, slot = state.task, state.slot
    if task is None or slot.view is None or task.place != place:
        return

    def line(view: JobView) -> str:
        name = rule_text(task.rule).title if task.rule else UNDER_WAY[task.place]
        return f"{name}: {waiting_line(view) or (_step(view.progress) if view.progress else 'running')}"

    if slot.busy:
        with st.container(key="same_quality_status", border=True):
            show_progress(slot, line, state.refresh, f"same_quality_part_{'greedy' if place == 'near-tie' else place}")
            # the buttons of every section are free again
            button("Cancel", "same_quality_cancel", slot.cancel, icon="close", whole_page=True)
    elif slot.state == "failed":
        st.error(plain(slot.message), icon=":material/error:")
    elif slot.state in STOPPED:
        st.info(STOPPED[slot.state], icon=":material/info:")


def _step(progress: JobProgress) -> str:
    done = f"{progress.done} of {progress.total} parts"
    if progress.phase == "drawing":
        return f"{done}, drawing {progress.draws:,} {'more' if progress.done else 'tokens'} each way"
    return f"{done}, prompt {progress.done + 1} of {progress.total}"


def show_outcome(state: SameQualityState, outcome: Outcome, key: str, *, narrow: bool = False) -> None:
    if not outcome.batches:
        return
    running = outcome.rule is not None and state.drawing == outcome.rule
    st.markdown(f"{badge(outcome.source)} {_what(outcome)}")
    st.markdown(_verdict(outcome.finding, cut_short=not running and len(outcome.batches) < BATCHES))
    with st.expander("The statistics of this test", key=f"{key}_statistics"):
        found = list(_statistics(outcome))
        cells = [f'<td role="cell" data-label="{escape(title)}">{escape(value)}</td>' for title, value, _ in found]
        row = f'<tr role="row">{"".join(cells)}</tr>'
        st.html(role_table("statistics", [title for title, _, _ in found], [row]))
        st.caption("\n".join(f"- **{title}**: {meaning}" for title, _, meaning in found))
    drawn = {"bars": distribution_figure(outcome.batches)}
    drawn["distance"] = distance_figure(outcome.looks, looks(outcome.batches, "plain"))
    if outcome.place_looks:
        drawn["places"] = places_figure(outcome.batches)
    # in one row, or the first above the others
    columns = [st.container(), *st.columns(2, gap="small")] if narrow else st.columns([5, 4, 4], gap="small")
    for column, (name, shown) in zip(columns, drawn.items(), strict=False):
        with column:
            chart(shown, f"{key}_{name}", alt=SAYS[f"{name}_alt"])
    bins = ", ".join(token.replace("\n", "⏎") for token in outcome.batches[0].tokens)
    st.caption(plain(f"Bins of the first test: {bins}. The bars show the first {SHOWN}, and all the rest together."))


def _what(outcome: Outcome) -> str:
    texts = sum(batch.texts for batch in outcome.batches)
    after = "" if outcome.position == "first" else f", after {texts:,} texts"
    draws = f"{outcome.looks[-1].draws:,} draws each way"
    return f"{POSITIONS[outcome.position]}{after}; {describe_request(outcome.request)}; {draws}."


def describe_request(request: RunRequest) -> str:
    settings = request.settings
    return (
        f"{plain(spoken(request.draft))} → {plain(request.target)}, temperature {settings.temperature:g}, draft length "
        f"{settings.draft_length}{settings.manner}"
    )


def _verdict(found: Finding, *, cut_short: bool) -> str:
    if found.state == "fails":
        return f":material/cancel: :orange[**Fails the test.**] {found.sentence}"
    if found.state == "passes":
        return f":material/check_circle: :blue[**Passes the test.**] {found.sentence}"
    if cut_short:
        return ":material/pause_circle: **Stopped early: no verdict.** No difference was found so far."
    return f":material/pending: {found.sentence}"


def _statistics(outcome: Outcome) -> Iterator[tuple[str, str, str]]:
    """Each with its title, its value and what it means."""

    def p(look: InterimLook) -> str:
        value = look.p_value
        return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value > 1e-99 else "< 1e-99"

    last, alone = outcome.looks[-1], looks(outcome.batches, "plain")[-1]
    yield ("draws each way", f"{last.draws:,}", SAYS["drawn"])
    yield ("distance", f"{last.distance:.3f}", SAYS["distance"])
    yield ("distance by chance", f"up to {last.chance:.3f}", SAYS["chance"])
    yield (f"χ² ({last.degrees} degrees of freedom)", f"{last.statistic:.1f}", SAYS["chi_squared"])
    meaning = SAYS["p_value"].format(batches=BATCHES, limit=LIMIT, false_alarm=FALSE_ALARM)
    yield ("p-value, counts", p(last), meaning)
    yield ("p-value, counts, target alone", p(alone), SAYS["control"])
    if outcome.place_looks:  # an older recording has none
        yield ("p-value, places", p(outcome.place_looks[-1]), SAYS["places"])
        control = place_looks(outcome.batches, "plain")[-1]
        yield ("p-value, places, target alone", p(control), SAYS["control"])


BADGES: dict[ProofSource, str] = {
    "recorded": ":gray-badge[RECORDED]",
    "live": ":green-badge[LIVE · this machine]",
    "file": ":gray-badge[YOUR FILE]",
}


def badge(source: ProofSource) -> str:
    return BADGES[source]
