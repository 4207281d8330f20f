// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { partOfCharacter, quoted } from "../shared/text.js";
import { explainJudged, explainProposed } from "./explanations.js";
import { heading, rule } from "./facts.js";
import { nameOf, say } from "./words.js";

/** @import { Chip, StagePayload } from "../shared/payloads.js" */
/** @import { Place } from "./strip.js" */

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
  const title = judged ? titleOf(chip, data.rule) : say("is_a_guess", { token: quoted(chip.text) });
  const cut = partOfCharacter(chip.text);
  if (cut) parts.push(rule(cut));
  return [heading(say("title_in_round", { title, round: place.round + 1 }), pinned), ...parts];
}

/**
 * @param {Chip} chip
 * @param {StagePayload["rule"]} how
 */
function titleOf({ status, text }, how) {
  const token = quoted(text);
  return how === "block" && status === "discarded" ? say("was_discarded", { token }) : say(`title_${nameOf(status)}`, { token });
}

/**
 * Before any token is judged.
 * @param {StagePayload} data
 */
function theRule({ greedy, rule: how }) {
  const words = !greedy ? say(`rule_${how}`) : say(how === "tree" ? "rule_greedy_tree" : "rule_greedy");
  return [heading(say("the_rule"), false), rule(words), rule(say(`rule_after_${how}`))];
}
