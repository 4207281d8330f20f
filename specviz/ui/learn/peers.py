"""The picture below the question about other programs: the time of a token in each, plain and with the draft."""

from specviz.core.texts import Words
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.ui.shared import figures as plot

NAMES: dict[PeerSystem, str] = {"transformers": "transformers", "llama.cpp": "llama.cpp’s server", "ours": "here"}
BARS: dict[Words, tuple[str, str]] = {
    "technical": ("plain", "with the draft"),
    "plain": ("without the intern", "with the intern"),
}
PLAIN: plot.FigurePart = {"marker": plot.HATCHED, "orientation": "h"}
WITH_DRAFT: plot.FigurePart = {"marker": {"color": plot.BLUE}, "orientation": "h"}


def peers_figure(words: Words) -> plot.Figure:
    """A pair of bars for each program: the median over the kinds of text; a line goes from the least to the most."""
    found = recorded_peers()
    parts: list[plot.FigurePart] = []
    alone, together = BARS[words]
    for name, median, of_kinds, how in (
        (together, found.speculative_ms, lambda each: each.speculative_ms, WITH_DRAFT),
        (alone, found.plain_ms, lambda each: each.plain_ms, PLAIN),
    ):
        values = [median(system) for system in NAMES]
        kinds = [sorted(map(of_kinds, found.select_system(system))) for system in NAMES]
        low, high = [each[0] for each in kinds], [each[-1] for each in kinds]
        ends = {"error_x": plot.interval(values, low, high, plot.GREY), "customdata": list(zip(low, high, strict=True))}
        said = f"%{{y}}, {name}: %{{x:.1f}} ms, by kind of text %{{customdata[0]:.1f}} to %{{customdata[1]:.1f}}"
        parts.append(plot.bars(name, values, NAMES.values(), f"{said}<extra></extra>", **ends, **how))
    y, x = plot.axis(showgrid=False), plot.axis("ms a token", rangemode="tozero")
    return plot.figure(parts, 250, x=x, y=y, showlegend=True, legend={"traceorder": "reversed"})
