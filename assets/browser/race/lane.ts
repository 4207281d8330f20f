// One decoder on one prompt: a bar, its tokens as they were written, and a flag at its end.

import { tokenText } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { seconds } from "../shared/numbers.js";
import { say } from "./words.js";
import type { LanePayload, LaneStatus } from "../dist/payloads.js";

export const LANES: Record<LanePayload["name"], string> = { speculative: say("speculative"), "target alone": say("target_alone") };

export type DrawnStep = { at: number, nodes: HTMLElement[], tokens: number };

export class Lane {
  shown = 0; // steps on screen
  written = 0; // tokens on screen
  node = element("div", `lane ${this.data.name === "speculative" ? "guessed" : "alone"}`);
  count = element("span", "count");
  flag = element("span", "flag");
  bar = element("i");
  tokens = element("div", "lane-tokens");
  steps: DrawnStep[];

  constructor(public data: LanePayload) {
    const head = element("div", "lane-head");
    const track = element("span", "track");
    track.append(this.bar);
    head.append(element("span", "lane-name", LANES[data.name]), track, this.count, this.flag);
    this.tokens.tabIndex = 0;
    this.tokens.setAttribute("role", "group");
    this.tokens.setAttribute("aria-label", say("wrote", { name: LANES[data.name] }));
    this.node.append(head, this.tokens);
    this.steps = data.steps.map(([at, burst]) => ({ at, nodes: burst.flatMap(drawToken), tokens: burst.length }));
    this.#label();
  }

  /** Show the lane as it was at this time. `at`: in ms */
  show(at: number) {
    const before = this.shown;
    while (this.shown < this.steps.length && this.steps[this.shown].at <= at) this.#add(this.steps[this.shown++]);
    while (this.shown > 0 && this.steps[this.shown - 1].at > at) this.#remove(this.steps[--this.shown]);
    if (this.shown === before) return;
    this.#label();
    this.tokens.scrollTop = this.tokens.scrollHeight;
  }

  #add({ nodes, tokens }: DrawnStep) {
    this.tokens.append(...nodes);
    this.written += tokens;
  }

  #remove({ nodes, tokens }: DrawnStep) {
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

/** The chip, and a line break after a token that ends a line. */
function drawToken([text, status]: [string, LaneStatus]) {
  const chip = element("span", `chip ${status}`);
  chip.append(tokenText(text));
  return text.includes("\n") ? [chip, element("br")] : [chip];
}
