"""The proof's figures. Pure functions: counts and looks in, a figure out."""

from collections.abc import Sequence

from specviz.measure.proof.rows import PLACES, DrawBatch, NearTie
from specviz.measure.proof.statistics import Look
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, HATCHED, ORANGE, Figure, Part, axis, figure

HEIGHT = 300
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


def distribution_figure(batches: Sequence[DrawBatch]) -> Figure:
    """Shares of the most likely tokens: expected from the target's probabilities, and written by both decoders."""
    tokens, (expected, speculative, plain) = _shares(batches)
    ring = {"symbol": "diamond-open", "size": 9, "color": ORANGE, "line": {"width": 2}}
    return figure(
        [
            {"type": "bar", "marker": HATCHED, **_ways(tokens, expected, "the target’s own probabilities")},
            {"type": "bar", "marker": {"color": BLUE}, **_ways(tokens, speculative, "speculative decoding wrote")},
            {"type": "scatter", "mode": "markers", "marker": ring, **_ways(tokens, plain, "the target alone wrote")},
        ],
        HEIGHT,
        x=axis(tickvals=list(range(len(tokens))), ticktext=tokens, tickangle=-40),
        y=axis("share of the draws", tickformat=".0%", rangemode="tozero"),
        bargap=0.25,
        bargroupgap=0.05,
    )


def _ways(tokens: list[str], shares: list[float], name: str) -> Part:
    return {
        "x": list(range(len(tokens))),
        "y": shares,
        "name": name,
        "customdata": tokens,
        "hovertemplate": f"%{{customdata}}: %{{y:.1%}}<extra>{name}</extra>",
    }


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
    labels = [*(token_label(names[i]) for i in own), "all the rest"]
    rows = [[*(column[i] / draws for i in own), (draws - sum(column[i] for i in own)) / draws] for column in columns]
    return labels, rows


def places_figure(batches: Sequence[DrawBatch]) -> Figure:
    """How the places of the drawn tokens are spread over the target's probability: evenly, if the rule is right."""
    draws = sum(batch.draws for batch in batches)
    ways = {
        name: [sum(counts) / draws for counts in zip(*(getattr(batch, field) for batch in batches), strict=True)]
        for name, field in (("speculative", "speculative_places"), ("target alone", "plain_places"))
    }
    x = [(i + 0.5) / PLACES for i in range(PLACES)]
    hover = {name: f"%{{x:.3f}}: %{{y:.1%}}<extra>{name}</extra>" for name in ways}
    bars: Part = {"type": "bar", "marker": {"color": BLUE}, "name": "places, speculative", "x": x}
    ring = {"symbol": "diamond-open", "size": 8, "color": ORANGE}
    rings: Part = {"type": "scatter", "mode": "markers", "marker": ring, "name": "target alone", "x": x}
    even: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [1 / PLACES] * 2,
        "name": "spread evenly",
        "line": {"color": GREY, "dash": "dash"},
        "hoverinfo": "skip",
    }
    return figure(
        [
            bars | {"y": ways["speculative"], "hovertemplate": hover["speculative"]},
            rings | {"y": ways["target alone"], "hovertemplate": hover["target alone"]},
            even,
        ],
        HEIGHT,
        x=axis("place: tokens by probability, the most probable first", range=[0, 1]),
        y=axis("share of the draws", tickformat=".0%", rangemode="tozero"),
        bargap=0.1,
    )


def distance_figure(speculative: Sequence[Look], plain: Sequence[Look]) -> Figure:
    """The distance from the target's probabilities by number of draws, beside the limit of chance."""
    chance: Part = {
        "type": "scatter",
        "x": [one.draws for one in speculative],
        "y": [one.chance for one in speculative],
        "name": "chance alone stays below (19 times in 20)",
        "mode": "lines",
        "line": {"color": GREY, "dash": "dash"},
        "fill": "tozeroy",
        "fillcolor": "rgba(128,128,128,0.12)",
        "hovertemplate": "%{x:,} draws: %{y:.3f}<extra>chance alone</extra>",
    }
    lines = [
        _distances("speculative", speculative, BLUE, "circle"),
        _distances("target alone", plain, ORANGE, "diamond-open"),
    ]
    x, y = axis("draws each way", rangemode="tozero"), axis("distance", rangemode="tozero")
    return figure([chance, *lines], HEIGHT, x=x, y=y)


def _distances(name: str, looks: Sequence[Look], color: str, symbol: str) -> Part:
    return {
        "type": "scatter",
        "x": [one.draws for one in looks],
        "y": [one.distance for one in looks],
        "name": name,
        "mode": "lines+markers",
        "line": {"color": color, "width": 2},
        "marker": {"symbol": symbol, "size": 8},
        "hovertemplate": f"%{{x:,}} draws: %{{y:.3f}}<extra>{name}</extra>",
    }


def tie_figure(tie: NearTie) -> Figure:
    """Both tokens' logits in the one-token pass, in the batched pass, and in float32."""
    places = [WAYS[one.way].format(batch=tie.batch) for one in tie.ways]
    plain, speculative = [one.plain for one in tie.ways], [one.speculative for one in tie.ways]
    gaps: list[Part] = [
        {
            "type": "scatter",
            "x": [one.plain, one.speculative],
            "y": [place, place],
            "mode": "lines",
            "line": {"color": GREY, "width": 3},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for place, one in zip(places, tie.ways, strict=True)
    ]
    gap_labels = [
        {
            "x": (one.plain + one.speculative) / 2,
            "y": place,
            "text": f"gap {abs(one.gap):.2g}" if one.gap else "exactly equal",
            "showarrow": False,
            "yshift": 16,
        }
        for place, one in zip(places, tie.ways, strict=True)
    ]
    return figure(
        [
            *gaps,
            _logits(f"{token_label(tie.plain_token)} (plain took it)", plain, places, "circle", ORANGE),
            _logits(f"{token_label(tie.speculative_token)} (speculative)", speculative, places, "diamond", BLUE),
        ],
        240,
        x=axis("logit (score before the softmax)"),
        y=axis(autorange="reversed", tickfont={"size": 11}),
        annotations=gap_labels,
    )


def _logits(name: str, logits: list[float], places: list[str], symbol: str, color: str) -> Part:
    return {
        "type": "scatter",
        "x": logits,
        "y": places,
        "mode": "markers",
        "name": name,
        "marker": {"symbol": symbol, "size": 13, "color": color, "opacity": 0.8},
        "hovertemplate": f"%{{y}}: logit %{{x:.4f}}<extra>{name}</extra>",
    }
