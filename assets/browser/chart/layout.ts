// What every chart looks like, before its own layout is added. Pure: no element, no Plotly.

import { localize } from "../shared/localize.js";

export type Look = { ink: string, mute: string, line: string, veil: string, background: string, font: string, room: number };
export type Part = Record<string, unknown>; // a part of a Plotly layout

/** A chart's layout: its own on top of the one that all charts share. */
export function layoutOf(own: Part, look: Look, width: number) {
  return merged({ ...shared(look), width }, own);
}

/** A copy of a figure, with the theme's colours where it names them: "var(--ink)". */
export function themed<T>(figure: T, look: Look): T {
  const colours = { ink: look.ink, line: look.line, background: look.background };
  const named = /"var\(--(ink|line|background)\)"/g;
  return JSON.parse(JSON.stringify(figure).replace(named, (_, name: keyof typeof colours) => JSON.stringify(colours[name])));
}

/** `more` on top of `base`: objects inside are merged, anything else is replaced. */
export function merged(base: Part, more: Part): Part {
  const both = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const below = both[name];
    both[name] = isPart(below) && isPart(value) ? merged(below, value) : value;
  }
  return both;
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shared({ ink, mute, line, veil, background, font, room }: Look) {
  const axis = {
    automargin: true,
    fixedrange: true, // a finger that scrolls the page must not zoom the chart
    zeroline: false,
    ticks: "",
    ticklabelstandoff: 4,
    autotickangles: [0, -40, -90], // where names do not fit
    title: { font: { size: 14 }, standoff: 12 },
  };
  return {
    autosize: false,
    margin: { l: 8, r: room, t: 8, b: 8 }, // a legend is as wide as the axis: it ends before the button that saves
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: font, size: 12, color: mute },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: ink } },
    xaxis: { ...axis, showgrid: false },
    yaxis: { ...axis, gridcolor: line },
    dragmode: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: background, bordercolor: mute, font: { family: font, color: ink, size: 13 } },
    template: { layout: { annotationdefaults: { bgcolor: veil } } }, // a label over a line stays readable
    separators: localize(".,"), // of decimals and of thousands
    uirevision: "same", // what the visitor hid in the legend stays hidden when the numbers change
  };
}
