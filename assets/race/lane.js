// One decoder on one prompt: a bar, its tokens as they came, and a flag at its end.

import { element } from "../shared/dom.js";
import { seconds } from "../shared/numbers.js";
import { shorten, visible } from "../shared/text.js";

export class Lane {
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
    head.append(element("span", "lane-name", data.name), track, this.count, this.flag);
    this.tokens = element("div", "lane-tokens");
    this.tokens.tabIndex = 0;
    this.tokens.setAttribute("role", "group");
    this.tokens.setAttribute("aria-label", `What ${data.name} wrote`);
    this.node.append(head, this.tokens);
    this.steps = data.steps.map(([at, burst]) => ({ at, nodes: burst.flatMap(drawToken), tokens: burst.length }));
    this.#label();
  }

  /** Show the lane as it was at this time. */
  show(at) {
    const before = this.shown;
    while (this.shown < this.steps.length && this.steps[this.shown].at <= at) this.#add(this.steps[this.shown++]);
    while (this.shown > 0 && this.steps[this.shown - 1].at > at) this.#remove(this.steps[--this.shown]);
    if (this.shown === before) return;
    this.#label();
    this.tokens.scrollTop = this.tokens.scrollHeight;
  }

  #add({ nodes, tokens }) {
    this.tokens.append(...nodes);
    this.written += tokens;
  }

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

/** The chip, and a line break after a token that ends a line. */
function drawToken([text, status]) {
  const chip = element("span", `chip ${status}`);
  chip.append(element("bdi", "", shorten(visible(text), 32)));
  return text.includes("\n") ? [chip, element("br")] : [chip];
}
