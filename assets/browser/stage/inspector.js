// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { partOfCharacter, quoted } from "../shared/text.js";
import { explainJudged, explainProposed } from "./explanations.js";
import { heading, rule } from "./facts.js";

/** @import { Chip, ChipStatus, StagePayload } from "../shared/payloads.js" */
/** @import { Place } from "./strip.js" */

/** @type {Record<ChipStatus, (token: string) => string>} */
const TITLES = {
  accepted: (token) => `Why ${token} was accepted`,
  rejected: (token) => `Why ${token} was rejected`,
  discarded: (token) => `${token} was never judged`,
  "not taken": (token) => `${token} was not taken`,
  correction: (token) => `Where ${token} comes from`,
  bonus: (token) => `${token} is a bonus`,
  own: (token) => `${token} is the target’s own token`,
};

/** @type {Record<StagePayload["rule"], [string, string]>} above temperature 0; and what happens to the rest */
const RULES = {
  token: [
    "Accept a guess with probability min(1, p/q): p is the target’s probability of it, q the draft’s.",
    "The first one that fails is replaced, and the tokens after it are discarded.",
  ],
  tree: [
    "Try the guesses for a place one after the other: accept one with probability min(1, p/q); where it fails, p becomes what is left of it.",
    "From an accepted guess the target goes on to those that follow it. Where no guess is left, it writes its own token.",
  ],
  block: [
    "All guesses are judged together: the longest block that passes its dice roll is accepted. It may hold a token whose own block failed.",
    "The token after the block is replaced, and those after it are discarded.",
  ],
};
const GREEDY_TOKEN = "Greedy: accept a guess only if it is the target’s own top token.";
const GREEDY = {
  token: GREEDY_TOKEN,
  tree: "Greedy: of the guesses for a place, accept the one that is the target’s own top token.",
  block: GREEDY_TOKEN,
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
    this.panel.replaceChildren(...(place ? explain(this.data, place, judged, pinned) : theRule(this.data)));
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
  const parts = judged ? explainJudged(data, round, place.index) : explainProposed(data, round, place.index);
  const title = judged ? titleOf(chip, data.rule) : `${quoted(chip.text)} is a guess`;
  const cut = partOfCharacter(chip.text);
  if (cut) parts.push(rule(cut));
  return [heading(`${title} · round ${place.round + 1}`, pinned), ...parts];
}

/**
 * @param {Chip} chip
 * @param {StagePayload["rule"]} how
 */
function titleOf({ status, text }, how) {
  if (how === "block" && status === "discarded") return `${quoted(text)} was discarded`;
  return TITLES[status](quoted(text));
}

/**
 * Before any token is judged.
 * @param {StagePayload} data
 */
function theRule({ greedy, rule: how }) {
  const [sampling, rest] = RULES[how];
  const words = greedy ? GREEDY[how] : sampling;
  return [heading("The rule", false), rule(words), rule(`${rest} Choose a token to see its numbers.`)];
}
