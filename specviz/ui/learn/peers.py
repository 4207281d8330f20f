"""The picture below the question about other programs: the time of a token in each, plain and with the draft."""

from specviz.core.texts import Words
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.data.texts import page_texts
from specviz.ui.shared import figures as plot

SAYS = page_texts("learn")
PLAIN: plot.FigurePart = {"marker": plot.HATCHED, "orientation": "h"}
WITH_DRAFT: plot.FigurePart = {"marker": {"color": plot.BLUE}, "orientation": "h"}


def peers_figure(words: Words) -> plot.Figure:
    """A pair of bars for each program: the median over the kinds of text; a line goes from the least to the most."""
    found = recorded_peers()
    parts: list[plot.FigurePart] = []
    names: dict[PeerSystem, str] = {
        "transformers": "transformers",
        "llama.cpp": SAYS["peers_server"],
        "ours": SAYS["peers_ours"],
    }
    for name, median, of_kinds, how in (
        (SAYS[f"peers_together_{words}"], found.speculative_ms, lambda each: each.speculative_ms, WITH_DRAFT),
        (SAYS[f"peers_alone_{words}"], found.plain_ms, lambda each: each.plain_ms, PLAIN),
    ):
        values = [median(system) for system in names]
        kinds = [sorted(map(of_kinds, found.select_system(system))) for system in names]
        low, high = [each[0] for each in kinds], [each[-1] for each in kinds]
        ends = {"error_x": plot.interval(values, low, high, plot.GREY), "customdata": list(zip(low, high, strict=True))}
        said = SAYS["peers_hover"].format(name=name)
        parts.append(plot.bars(name, values, names.values(), f"{said}<extra></extra>", **ends, **how))
    y, x = plot.axis(showgrid=False), plot.axis(SAYS["peers_axis"], rangemode="tozero")
    return plot.figure(parts, 250, x=x, y=y, showlegend=True, legend={"traceorder": "reversed"})
