"""Speedups as one picture: a bar for each row, with its 95 % interval and the look of what the judge says of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD, Judgement, VerdictWord
from specviz.core.numbers import times
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.figures.parts import figure_text

HOLLOW: plot.FigurePart = {"color": "rgba(0,0,0,0)", "line": {"color": plot.GREY, "width": 2}}
BARS: dict[VerdictWord, plot.FigurePart] = {
    HELPS: {"color": LOOKS[HELPS].fill, "opacity": 0.85},
    EVEN: {"color": LOOKS[EVEN].fill},
    UNTOLD: HOLLOW,
    HURTS: {"color": LOOKS[HURTS].fill, "pattern": {**plot.HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}},
}
LEGEND = page_texts("outcomes")  # by the judge's words
SAYS = page_texts("when_it_helps")
ROW, AROUND = 44, 120  # px: of a bar, and of what is around the bars
WITHOUT = 330  # px: without the names
ROOM, WIDEST = 1.08, 2  # beside the highest end; times the highest speedup, where an interval is cut


@dataclass(frozen=True, slots=True)
class SpeedupRow:
    name: str
    judged: Judgement
    more: str = ""  # beside the speedup, below the name

    @property
    def label(self) -> str:
        return f"{figure_text(self.name)}<br>{times(self.judged.speedup)}{figure_text(self.more)}"

    @property
    def told(self) -> str:
        return figure_text(f"{self.name}: {times(self.judged.speedup, self.judged.interval)}{self.more}")


def speedup_figure(
    rows: Sequence[SpeedupRow],
    points: Sequence[plot.FigurePart] = (),
    axis: str = "",
    of: str = "",
    *,
    named: bool = True,
) -> plot.Figure:
    """The rows from top to bottom, `of` what they are; `points` lie on the bars, at the labels of their rows.

    Not `named`: rows without labels, in a figure that grows no taller with them.

    An interval that is far wider than the others is cut: that of two prompts that differ reaches to hundreds, and would
    flatten every other.
    """
    parts: list[plot.FigurePart] = []
    for word, marker in BARS.items():
        its = [row for row in rows if row.judged.word == word]
        if its:
            speedups = [row.judged.speedup for row in its]
            more: plot.FigurePart = {"orientation": "h", "marker": marker}
            more["customdata"] = [row.told for row in its]
            more["error_x"] = plot.intervals([row.judged for row in its], plot.GREY)
            labels = [row.label for row in its]
            parts.append(plot.bars(LEGEND[word], speedups, labels, "%{customdata}<extra></extra>", **more))
    highest = max(row.judged.speedup for row in rows)
    end = max((row.judged.interval or (0, row.judged.speedup))[1] for row in rows)
    reach = max(1, min(end, WIDEST * highest), *(speedup for dots in points for speedup in dots["x"]))
    x = plot.axis(axis or SAYS["axis_speedup"], ticksuffix="×", range=[0, ROOM * reach])
    labels = [row.label for row in reversed(rows)]
    y = plot.axis(of, categoryorder="array", categoryarray=labels, showgrid=False, showticklabels=named)
    height = AROUND + ROW * len(rows) if named else WITHOUT
    return plot.figure([*parts, *points], height, x=x, y=y, showlegend=True, shapes=[plot.UPRIGHT])
