// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { partOfCharacter, quoted } from "../shared/text.js";
import { explainJudged, explainProposed, heading, rule } from "./explanations.js";

/** @import { ChipStatus, StagePayload } from "../shared/payloads.js" */
/** @import { Place } from "./strip.js" */

/** @type {Record<ChipStatus, (token: string) => string>} */
const TITLES = {
  accepted: (token) => `Why ${token} was accepted`,
  rejected: (token) => `Why ${token} was rejected`,
  discarded: (token) => `${token} was never judged`,
  correction: (token) => `Where ${token} comes from`,
  bonus: (token) => `${token} is a bonus`,
  own: (token) => `${token} is the target’s own token`,
};

export class Inspector {
  /**
   * @param {HTMLElement} panel
   * @param {() => void} closed
   */
  constructor(panel, closed) {
    this.panel = panel;
    /** @type {StagePayload | null} */
    this.data = null;
    /** @type {string | null | undefined} */
    this.shown = undefined; // undefined: nothing yet; null: the rule
    panel.addEventListener("click", ({ target }) => target instanceof Element && target.closest(".unpin") && closed());
  }

  /** @param {StagePayload} data */
  load(data) {
    this.data = data;
    this.shown = undefined;
  }

  /**
   * @param {Place | null} place of the token to explain; null for the rule
   * @param {boolean} judged whether the playhead has passed its judgement
   * @param {boolean} pinned whether the visitor chose it
   */
  show(place, judged, pinned) {
    const state = place && `${place.round} ${place.index} ${judged} ${pinned}`;
    if (!this.data || this.shown === state) return;
    this.shown = state;
    this.panel.replaceChildren(...(place ? explain(this.data, place, judged, pinned) : theRule(this.data.greedy)));
  }

  /** The same as text, for the live region. */
  get text() {
    return [...this.panel.querySelectorAll(".title, .rule")].map((node) => node.textContent).join(". ");
  }
}

/**
 * @param {StagePayload} data
 * @param {Place} place
 * @param {boolean} judged
 * @param {boolean} pinned
 */
function explain(data, place, judged, pinned) {
  const round = data.rounds[place.round];
  const chip = round.chips[place.index];
  const parts = judged ? explainJudged(data, round, chip) : explainProposed(data, round, chip);
  const title = judged ? TITLES[chip.status](quoted(chip.text)) : `${quoted(chip.text)} is proposed`;
  const cut = partOfCharacter(chip.text);
  if (cut) parts.push(rule(cut));
  return [heading(`${title} · round ${place.round + 1}`, pinned), ...parts];
}

/**
 * Before any token is judged.
 * @param {boolean} greedy
 */
function theRule(greedy) {
  const sampling =
    "Accept a drafted token with probability min(1, p/q): p is the target’s probability of it, q the draft’s.";
  const words = greedy ? "Greedy: accept a drafted token only if it is the target’s own top token." : sampling;
  const rest = "The first one that fails is replaced, and the tokens after it are discarded. Choose a token to see its numbers.";
  return [heading("The rule", false), rule(words), rule(rest)];
}
