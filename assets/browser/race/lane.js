// One decoder on one prompt: a bar, its tokens as they were written, and a flag at its end.

import { tokenText } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { seconds } from "../shared/numbers.js";
import { say } from "./words.js";

/** @import { LanePayload, LaneStatus } from "../shared/payloads.js" */

/** @type {Record<LanePayload["name"], string>} */
export const LANES = { speculative: say("speculative"), "target alone": say("target_alone") };

/** @typedef {{ at: number, nodes: HTMLElement[], tokens: number }} DrawnStep */

export class Lane {
  /** @param {LanePayload} data */
  constructor(data) {
    this.data = data;
    this.shown = 0; // steps on screen
    this.written = 0; // tokens on screen
    this.node = element("div", `lane ${data.name === "speculative" ? "guessed" : "alone"}`);
    const head = element("div", "lane-head");
    this.count = element("span", "count");
    this.flag = element("span", "flag");
    this.bar = element("i");
    const track = element("span", "track");
    track.append(this.bar);
    head.append(element("span", "lane-name", LANES[data.name]), track, this.count, this.flag);
    this.tokens = element("div", "lane-tokens");
    this.tokens.tabIndex = 0;
    this.tokens.setAttribute("role", "group");
    this.tokens.setAttribute("aria-label", say("wrote", { name: LANES[data.name] }));
    this.node.append(head, this.tokens);
    /** @type {DrawnStep[]} */
    this.steps = data.steps.map(([at, burst]) => ({ at, nodes: burst.flatMap(drawToken), tokens: burst.length }));
    this.#label();
  }

  /**
   * Show the lane as it was at this time.
   * @param {number} at in ms
   */
  show(at) {
    const before = this.shown;
    while (this.shown < this.steps.length && this.steps[this.shown].at <= at) this.#add(this.steps[this.shown++]);
    while (this.shown > 0 && this.steps[this.shown - 1].at > at) this.#remove(this.steps[--this.shown]);
    if (this.shown === before) return;
    this.#label();
    this.tokens.scrollTop = this.tokens.scrollHeight;
  }

  /** @param {DrawnStep} step */
  #add({ nodes, tokens }) {
    this.tokens.append(...nodes);
    this.written += tokens;
  }

  /** @param {DrawnStep} step */
  #remove({ nodes, tokens }) {
    for (const node of nodes) node.remove();
    this.written -= tokens;
  }

  #label() {
    const { tokens, end, flag } = this.data;
    const finished = this.shown === this.steps.length;
    this.bar.style.width = `${(100 * this.written) / tokens}%`;
    this.count.textContent = `${this.written} / ${tokens}`;
    this.flag.textContent = finished ? `⚑ ${seconds(end)}${flag ? ` · ${flag}` : ""}` : "";
    this.node.classList.toggle("finished", finished);
    this.node.classList.toggle("winner", finished && Boolean(flag));
  }
}

/**
 * The chip, and a line break after a token that ends a line.
 * @param {[string, LaneStatus]} token
 */
function drawToken([text, status]) {
  const chip = element("span", `chip ${status}`);
  chip.append(tokenText(text));
  return text.includes("\n") ? [chip, element("br")] : [chip];
}
