"""The proof's figures. Pure functions: counts and looks in, a Plotly figure out."""

from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.measure.proof.rows import DrawBatch, NearTie
from specviz.measure.proof.statistics import Look
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, ORANGE

SHOWN = 12  # tokens with their own bars
WAYS = {
    "one token": "plain: one token a pass",
    "batched": "speculative: {batch} tokens a pass",
    "float32": "recheck in float32",
}


def token_label(text: str) -> str:
    """A token for an axis: visible spaces and line ends, and nothing that Plotly reads as a tag."""
    shown = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    return figure_text(shown[:14])


def distribution_figure(batches: Sequence[DrawBatch]) -> go.Figure:
    """Shares of the most likely tokens: expected from the target's probabilities, and written by both decoders."""
    tokens, rows = _shares(batches)
    places = list(range(len(tokens)))
    figure = go.Figure()
    outline = {
        "color": "rgba(0,0,0,0)",
        "line": {"color": GREY, "width": 1.5},
        "pattern": {"shape": "/", "fgcolor": GREY},
    }
    hover = "%{customdata}: %{y:.1%}"
    for name, values, marker in [
        ("the target’s own probabilities", rows[0], outline),
        ("speculative decoding wrote", rows[1], {"color": BLUE}),
    ]:
        text = f"{hover}<extra>{name}</extra>"
        figure.add_trace(go.Bar(x=places, y=values, name=name, marker=marker, customdata=tokens, hovertemplate=text))
    figure.add_trace(
        go.Scatter(
            x=places,
            y=rows[2],
            name="the target alone wrote",
            mode="markers",
            marker={"symbol": "diamond-open", "size": 9, "color": ORANGE, "line": {"width": 2}},
            customdata=tokens,
            hovertemplate=f"{hover}<extra>the target alone wrote</extra>",
        )
    )
    figure.update_xaxes(tickvals=places, ticktext=tokens, tickangle=-40)
    figure.update_yaxes(title="share of the draws", tickformat=".0%", rangemode="tozero")
    return _laid_out(figure, 300).update_layout(bargap=0.25, bargroupgap=0.05)


def _shares(batches: Sequence[DrawBatch]) -> tuple[list[str], list[list[float]]]:
    """Labels, and for each of the three ways their shares; what has no bar of its own is in the last one."""
    columns = [
        [sum(values) for values in zip(*(getattr(batch, way) for batch in batches), strict=True)]
        for way in ("expected", "speculative", "plain")
    ]
    draws = sum(batch.draws for batch in batches)
    names = batches[0].tokens
    order = sorted(range(len(names) - 1), key=lambda i: -columns[0][i])
    own = order[:SHOWN]
    labels = [*(token_label(names[i]) for i in own), "any other"]
    rows = [[*(column[i] / draws for i in own), (draws - sum(column[i] for i in own)) / draws] for column in columns]
    return labels, rows


def distance_figure(speculative: Sequence[Look], plain: Sequence[Look]) -> go.Figure:
    """The distance from the target's probabilities by number of draws, beside the limit of chance."""
    draws = [one.draws for one in speculative]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=draws,
            y=[one.chance for one in speculative],
            name="chance alone stays below (19 times in 20)",
            mode="lines",
            line={"color": GREY, "dash": "dash"},
            fill="tozeroy",
            fillcolor="rgba(128,128,128,0.12)",
            hovertemplate="%{x:,} draws: %{y:.3f}<extra>chance alone</extra>",
        )
    )
    for name, made, color, symbol in [
        ("speculative", speculative, BLUE, "circle"),
        ("target alone", plain, ORANGE, "diamond-open"),
    ]:
        figure.add_trace(
            go.Scatter(
                x=[one.draws for one in made],
                y=[one.distance for one in made],
                name=name,
                mode="lines+markers",
                line={"color": color, "width": 2},
                marker={"symbol": symbol, "size": 8},
                hovertemplate="%{x:,} draws: %{y:.3f}<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(title="draws each way", rangemode="tozero")
    figure.update_yaxes(title="distance", rangemode="tozero")
    return _laid_out(figure, 300)


def tie_figure(tie: NearTie) -> go.Figure:
    """Both tokens' logits in the one-token pass, in the batched pass, and in float32."""
    places = [WAYS[one.way].format(batch=tie.batch) for one in tie.ways]
    figure = go.Figure()
    for place, one in zip(places, tie.ways, strict=True):
        ends = [one.plain, one.speculative]
        gap = f"gap {abs(one.gap):.2g}" if one.gap else "exactly equal"
        figure.add_trace(
            go.Scatter(
                x=ends,
                y=[place, place],
                mode="lines+text",
                text=["", ""],
                line={"color": GREY, "width": 3},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        figure.add_annotation(x=sum(ends) / 2, y=place, text=gap, showarrow=False, yshift=16)
    for name, symbol, color, values in [
        (f"{token_label(tie.plain_token)} (plain took it)", "circle", ORANGE, [one.plain for one in tie.ways]),
        (f"{token_label(tie.speculative_token)} (speculative)", "diamond", BLUE, [o.speculative for o in tie.ways]),
    ]:
        figure.add_trace(
            go.Scatter(
                x=values,
                y=places,
                mode="markers",
                name=name,
                marker={"symbol": symbol, "size": 13, "color": color, "opacity": 0.8},
                hovertemplate="%{y}: logit %{x:.4f}<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(title="logit (score before the softmax)")
    figure.update_yaxes(autorange="reversed", automargin=True, tickfont={"size": 11})
    return _laid_out(figure, 240)


def _laid_out(figure: go.Figure, height: int) -> go.Figure:
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
    return figure
