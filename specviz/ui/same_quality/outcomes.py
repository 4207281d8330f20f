"""The task under way on the Same quality page, what draws came to, and their figures."""

from collections.abc import Iterator, Sequence
from html import escape

import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.numbers import localize
from specviz.core.request import RunRequest
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.measure.proof.findings import LIMIT, Finding, InterimLook, finding, looks, place_looks, totals
from specviz.measure.proof.rows import BATCHES, PLACES, DrawBatch, NearTie, rule_text
from specviz.service.job import JobView
from specviz.ui.same_quality.proof import Found, ProofPlace, ProofSource, SameQualityState
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import show_progress, waiting_line
from specviz.ui.shared.parts import button, chart, notices, offer_download, role_table

SAYS = page_texts("same_quality")
POSITIONS = page_texts("proof_positions")
SHARED = page_texts("shared")
HEIGHT = 300
SHOWN = 12  # tokens with their own bars


def token_label(text: str) -> str:
    """A token for an axis: visible spaces and line ends, and nothing that Plotly reads as a tag."""
    shown = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    return plot.figure_text(shown[:14])


RING: plot.FigurePart = {"mode": "markers", "marker": plot.marker("diamond-open", 9, plot.ORANGE)}
BLUE: plot.FigurePart = {"marker": {"color": plot.BLUE}}
DASHED: plot.FigurePart = {"mode": "lines", "line": {"color": plot.GREY, "dash": "dash"}}


def distribution_figure(drawn: DrawBatch) -> plot.Figure:
    """The three ways' shares of each token; what has no bar of its own is in the last one."""
    own = sorted(range(len(drawn.tokens) - 1), key=lambda i: -drawn.expected[i])[:SHOWN]
    tokens = [*(token_label(drawn.tokens[i]) for i in own), SAYS["all_the_rest"]]
    shown, places = list[plot.FigurePart](), range(len(tokens))
    for draw, look, name, counts in (
        (plot.bars, {"marker": plot.HATCHED}, SAYS["own_probabilities"], drawn.expected),
        (plot.bars, BLUE, SHARED["speculative_wrote"], drawn.speculative),
        (plot.scatter, RING, SHARED["target_wrote"], drawn.plain),
    ):
        parts = [counts[i] for i in own]
        shares = [count / drawn.draws for count in (*parts, drawn.draws - sum(parts))]
        hover = f"%{{customdata}}: %{{y:.1%}}<extra>{name}</extra>"
        shown.append(draw(name, places, shares, hover, customdata=tokens, **look))
    x = plot.axis(tickvals=list(places), ticktext=tokens, tickangle=-40)
    return plot.figure(shown, HEIGHT, x=x, y=_shares_axis(), bargap=0.25, bargroupgap=0.05)


def _shares_axis() -> plot.FigurePart:
    return plot.axis(SAYS["axis_shares"], tickformat=".0%", rangemode="tozero")


def places_figure(drawn: DrawBatch) -> plot.Figure:
    """How the places of the drawn tokens are spread over the target's probability: evenly, if the rule is right."""
    x = [(i + 0.5) / PLACES for i in range(PLACES)]
    ways = (drawn.speculative_places, drawn.plain_places)
    speculative, alone = ([count / drawn.draws for count in counts] for counts in ways)
    said = "%{x:.3f}: %{y:.1%}"
    shown = [
        plot.bars(SAYS["places_speculative"], x, speculative, _hover(said, "speculative"), **BLUE),
        plot.scatter(SAYS["target_alone"], x, alone, _hover(said, "target_alone"), **RING),
        plot.scatter(SAYS["spread_evenly"], [0, 1], [1 / PLACES] * 2, **DASHED, hoverinfo="skip"),
    ]
    along = plot.axis(SAYS["axis_places"], range=[0, 1])
    return plot.figure(shown, HEIGHT, x=along, y=_shares_axis(), bargap=0.1)


def _hover(said: str, name: str) -> str:
    return f"{said}<extra>{SAYS[name]}</extra>"


def distance_figure(batches: Sequence[DrawBatch]) -> plot.Figure:
    found, alone = looks(batches), looks(batches, "plain")
    draws, chance, hover = [one.draws for one in found], [one.chance for one in found], SAYS["hover_draws"]
    below: plot.FigurePart = {**DASHED, "fill": "tozeroy", "fillcolor": "rgba(128,128,128,0.12)"}
    lines = [plot.scatter(SAYS["chance_below"], draws, chance, _hover(hover, "chance_alone"), **below)]
    shown = (("speculative", found, plot.BLUE, "circle"), ("target_alone", alone, plot.ORANGE, "diamond-open"))
    for name, each, color, symbol in shown:
        style: plot.FigurePart = {"line": {"color": color, "width": 2}, "marker": {"symbol": symbol, "size": 8}}
        distances = [one.distance for one in each]
        lines.append(plot.scatter(SAYS[name], draws, distances, _hover(hover, name), **style))
    x, y = plot.axis(SAYS["axis_draws"], rangemode="tozero"), plot.axis(SAYS["axis_distance"], rangemode="tozero")
    return plot.figure(lines, HEIGHT, x=x, y=y)


def tie_figure(tie: NearTie) -> plot.Figure:
    ways = page_texts("tie_ways")
    places = [ways[one.way].format(batch=tie.batch) for one in tie.ways]
    line: plot.FigurePart = {"mode": "lines", "line": {"color": plot.GREY, "width": 3}}
    line |= {"hoverinfo": "skip", "showlegend": False}
    drawn, gap_labels = list[plot.FigurePart](), list[plot.FigurePart]()
    for place, one in zip(places, tie.ways, strict=True):
        drawn.append(plot.scatter("", [one.plain, one.speculative], [place] * 2, **line))
        said = SAYS["tie_gap"].format(gap=abs(one.gap)) if one.gap else SAYS["exactly_equal"]
        middle = (one.plain + one.speculative) / 2
        gap_labels.append({"x": middle, "y": place, "text": said, "showarrow": False, "yshift": 16})
    for name, token, logits, mark in (
        ("plain_took", tie.plain_token, [one.plain for one in tie.ways], ("circle", 13, plot.ORANGE)),
        ("speculative_took", tie.speculative_token, [one.speculative for one in tie.ways], ("diamond", 13, plot.BLUE)),
    ):
        title, marker = SAYS[name].format(token=token_label(token)), {**plot.marker(*mark), "opacity": 0.8}
        hover = f"{SAYS['hover_logit']}<extra>{title}</extra>"
        drawn.append(plot.scatter(title, logits, places, hover, mode="markers", marker=marker))
    x, y = plot.axis(SAYS["axis_logit"]), plot.axis(autorange="reversed", tickfont={"size": 11})
    return plot.figure(drawn, 240, x=x, y=y, annotations=gap_labels)


def show_status(state: SameQualityState, place: ProofPlace) -> None:
    slot, asked = state.slot, state.asked
    if state.place != place or asked is None:
        return
    offer_download(slot)

    def line(view: JobView) -> str:
        name = SAYS.get(f"task_{asked.name}") or rule_text(asked.name).title
        said, progress = waiting_line(view), view.progress
        if progress and said is None:
            step = SAYS["step_drawing" if progress.phase == "drawing" else "step_prompt"]
            said = step.format(progress=progress, prompt=progress.done + 1)
        return SAYS["task"].format(name=name, said=said or SAYS["running"])

    if slot.busy:
        with st.container(key="same_quality_status", border=True):
            show_progress(slot, line, state.refresh, f"same_quality_part_{'greedy' if place == 'near-tie' else place}")
            # the buttons of every section are free again
            button(SAYS["cancel"], "same_quality_cancel", slot.cancel, icon="close", whole_page=True)
    else:
        notices([slot.ended], "error" if slot.view.state == "failed" else "info")


def show_outcome(state: SameQualityState, outcome: Found, key: str, *, narrow: bool = False) -> None:
    batches: Sequence[DrawBatch] = outcome.items
    if not batches:
        return
    running = outcome.name and state.asked and state.slot.busy and state.asked.name == outcome.name
    where, drawn = POSITIONS[outcome.position], totals(batches)[-1]
    what = SAYS["what"].format(place=where, of=describe_request(outcome.request), draws=drawn.draws)
    st.markdown(f"{badge(outcome.source)} {what}")
    st.markdown(_verdict(finding(batches), cut_short=not running and len(batches) < BATCHES))
    with st.expander(SAYS["statistics"], key=f"{key}_statistics"):
        found = dict(_statistics(batches))
        cells = [f'<td role="cell" data-label="{escape(title)}">{escape(value)}</td>' for title, value in found.items()]
        row = f'<tr role="row">{"".join(cells)}</tr>'
        st.html(role_table("statistics", found, [row]))
        st.caption(SAYS["statistics_mean"].format(batches=BATCHES, limit=LIMIT))
    figures = {"bars": distribution_figure(drawn), "distance": distance_figure(batches)}
    if drawn.speculative_places:  # an older recording has none
        figures["places"] = places_figure(drawn)
    # in one row, or the first above the others
    columns = [st.container(), *st.columns(2, gap="small")] if narrow else st.columns([5, 4, 4], gap="small")
    for column, (name, shown) in zip(columns, figures.items(), strict=False):
        with column:
            chart(shown, f"{key}_{name}", alt=SAYS[f"{name}_alt"])


def describe_request(request: RunRequest) -> str:
    draft, target = plain(spoken(request.draft)), plain(request.target)
    return SAYS["request"].format(draft=draft, target=target, settings=request.settings)


def _verdict(found: Finding, *, cut_short: bool) -> str:
    if found.state == "fails":
        return f":material/cancel: :orange[**{SAYS['fails']}**] {found.sentence}"
    if found.state == "passes":
        return f":material/check_circle: :blue[**{SAYS['passes']}**] {found.sentence}"
    if cut_short:
        return f":material/pause_circle: {SAYS['cut_short']}"
    return f":material/pending: {found.sentence}"


def _statistics(batches: Sequence[DrawBatch]) -> Iterator[tuple[str, str]]:
    """Each with its title and its value."""

    def p(look: InterimLook) -> str:
        value = look.p_value
        return localize(value, ".3f") if value >= 0.001 else f"{value:.0e}" if value > 1e-99 else "< 1e-99"

    last, alone = looks(batches)[-1], looks(batches, "plain")[-1]
    yield SAYS["axis_draws"], localize(last.draws, ",")
    yield SAYS["axis_distance"], localize(last.distance, ".3f")
    yield SAYS["by_chance"], SAYS["up_to"].format(chance=last.chance)
    yield SAYS["chi_squared_of"].format(degrees=last.degrees), localize(last.statistic, ".1f")
    yield SAYS["p_counts"], p(last)
    yield SAYS["p_counts_alone"], p(alone)
    if places := place_looks(batches):
        yield SAYS["p_places"], p(places[-1])
        yield SAYS["p_places_alone"], p(place_looks(batches, "plain")[-1])


def badge(source: ProofSource) -> str:
    return f":{'green' if source == 'live' else 'gray'}-badge[{SAYS[f'badge_{source}']}]"
