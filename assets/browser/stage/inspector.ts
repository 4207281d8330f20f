// Why one token was accepted or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { partOfCharacter, quoted } from "../shared/text.js";
import { explainJudged, explainProposed } from "./explanations.js";
import { heading, rule } from "./facts.js";
import { nameOf, say } from "./words.js";
import type { Chip, StagePayload } from "../shared/payloads.js";
import type { Place } from "./strip.js";

export class Inspector {
  data: StagePayload | null = null;
  shown: string | null | undefined = undefined; // undefined: nothing yet; null: the rule

  constructor(public panel: HTMLElement, closed: () => void) {
    panel.addEventListener("click", ({ target }) => target instanceof Element && target.closest(".unpin") && closed());
  }

  load(data: StagePayload) {
    this.data = data;
    this.shown = undefined;
  }

  /**
   * `place`: of the token to explain; null for the rule. `judged`: whether the playhead has passed its judgement. `pinned`:
   * whether the visitor chose it
   */
  show(place: Place | null, judged: boolean, pinned: boolean) {
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

function explain(data: StagePayload, place: Place, judged: boolean, pinned: boolean) {
  const round = data.rounds[place.round];
  const chip = round.chips[place.index];
  const parts = judged ? explainJudged(data, round, place.index) : explainProposed(data, round, place.index);
  const title = judged ? titleOf(chip, data.rule) : say("is_a_guess", { token: quoted(chip.text) });
  const cut = partOfCharacter(chip.text);
  if (cut) parts.push(rule(cut));
  return [heading(say("title_in_round", { title, round: place.round + 1 }), pinned), ...parts];
}

function titleOf({ status, text }: Chip, how: StagePayload["rule"]) {
  const token = quoted(text);
  return how === "block" && status === "discarded" ? say("was_discarded", { token }) : say(`title_${nameOf(status)}`, { token });
}

/** Before any token is judged. */
function theRule({ greedy, rule: how }: StagePayload) {
  const words = !greedy ? say(`rule_${how}`) : say(how === "tree" ? "rule_greedy_tree" : "rule_greedy");
  return [heading(say("the_rule"), false), rule(words), rule(say(`rule_after_${how}`))];
}
