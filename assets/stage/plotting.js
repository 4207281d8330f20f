// What the stage's figures share: their look, and a queue that draws at most one of them a frame, so that no frame is long.

/** @import { Style } from "./style.js" */

/** Runs the latest of each named job, one a frame. */
export class FrameQueue {
  constructor() {
    /** @type {Map<string, () => void>} */
    this.jobs = new Map();
    this.frame = 0;
  }

  /**
   * @param {string} name
   * @param {() => void} job
   */
  put(name, job) {
    this.jobs.delete(name);
    this.jobs.set(name, job);
    this.frame ||= requestAnimationFrame(() => this.#run());
  }

  #run() {
    const [[name, job]] = this.jobs;
    this.jobs.delete(name);
    this.frame = this.jobs.size ? requestAnimationFrame(() => this.#run()) : 0;
    job();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.jobs.clear();
  }
}

/**
 * @param {Style} style
 * @param {HTMLElement} plot
 */
export function baseLayout(style, plot) {
  return {
    width: plot.clientWidth,
    height: plot.clientHeight,
    margin: { l: 34, r: 8, t: 6, b: 20 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: style.font, size: 12, color: style.mute },
    showlegend: false,
    dragmode: false,
    hovermode: "closest",
    hoverdistance: -1,
    hoverlabel: { bgcolor: style.background, bordercolor: style.mute, font: { family: style.font, color: style.ink, size: 13 } },
    bargap: 0.25,
  };
}

/**
 * @param {Style} style
 * @param {object} more
 */
export function axis(style, more) {
  return { fixedrange: true, zeroline: false, showgrid: false, showline: true, linecolor: style.line, ticks: "", ...more };
}
