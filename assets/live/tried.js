/** The list of what was tried on this visit; a row brings its run back exactly. */

import { element } from "../shared/dom.js";
import { timedOf } from "./timing.js";
import { countsOf } from "./words.js";

/** @import { Shown } from "./sent.js" */

const MOST = 50; // rows
const PROMPT = 24; // characters

export class Tried {
  /**
   * @param {HTMLElement} body of the table
   * @param {(shown: Shown) => void} bringBack
   */
  constructor(body, bringBack) {
    this.body = body;
    this.bringBack = bringBack;
  }

  /** @param {Shown} shown a run that is over */
  add(shown) {
    const { trace } = shown;
    const { drafted, accepted, rounds, emitted } = countsOf(trace);
    const timed = timedOf(trace);
    const speed = timed?.trusted ? `${timed.speedup.toFixed(2)}× (${timed.low.toFixed(2)} to ${timed.high.toFixed(2)})` : "not trusted";
    const cells = [
      trace.drafter?.name ?? "no draft",
      String(trace.settings.draft_length),
      String(trace.settings.temperature),
      [...trace.prompt.text].slice(0, PROMPT).join("").replace(/\s+/g, " "),
      drafted ? `${Math.round((100 * accepted) / drafted)} %` : "–",
      rounds ? (emitted / rounds).toFixed(2) : "–",
      timed ? speed : "–",
    ];
    const row = element("tr");
    row.append(...cells.map((text) => element("td", "", text)), this._back(shown));
    this.body.prepend(row);
    while (this.body.children.length > MOST) this.body.lastElementChild?.remove();
  }

  /** @param {Shown} shown */
  _back(shown) {
    const cell = element("td");
    const button = element("button", "", "Show again");
    button.type = "button";
    button.addEventListener("click", () => this.bringBack(shown));
    cell.append(button);
    return cell;
  }
}
