// What the inspector's explanations are made of: a heading, sentences, a token's numbers.

import { element, sentence } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { say } from "./words.js";

/** @import { JudgedChip, StagePayload } from "../shared/payloads.js" */

/** @typedef {Pick<JudgedChip, "p" | "q" | "accept_prob" | "u">} Numbers */

/**
 * @param {string} title
 * @param {boolean} pinned whether it can be closed
 */
export function heading(title, pinned) {
  const head = element("div", "head");
  head.append(sentence("div", "title", title));
  if (!pinned) return head;
  const close = element("button", "unpin", "×");
  close.type = "button";
  close.setAttribute("aria-label", say("close_token"));
  close.title = say("follow_again");
  head.append(close);
  return head;
}

/** @param {string} text */
export function rule(text) {
  return sentence("p", "rule", text);
}

/**
 * Target p, draft q; of a judged token the acceptance probability and the number drawn too. The swatches are the bars' key.
 * @param {Numbers} numbers
 * @param {StagePayload} data
 * @param {boolean} [judged]
 */
export function facts({ p, q, accept_prob: chance, u }, { greedy, rule: how, point_mass: pointMass }, judged = true) {
  const list = element("dl", "facts");
  const draft = pointMass ? "q_is_one" : greedy ? "q_greedy" : "q_sampling";
  list.append(
    fact("target-p", say("target_p"), p, say(greedy ? "p_greedy" : "p_sampling"), "target"),
    fact("draft-q", say("draft_q"), q, say(draft), "draft"),
  );
  if (judged && greedy) list.append(fact("first-choice", say("first_choice"), say(chance ? "yes" : "no"), say("chance_greedy")));
  else if (judged) list.append(fact("chance", say("chance"), chance, say(`chance_${how}`)), fact("drew-u", say("drew_u"), u, say(`drew_${how}`)));
  return list;
}

/**
 * A figure whose name explains itself on hover, focus and tap.
 * @param {string} id of its explanation
 * @param {string} name
 * @param {number | string | null} value
 * @param {string} meaning
 * @param {string} [swatch]
 */
function fact(id, name, value, meaning, swatch = "") {
  const entry = element("div", swatch);
  const term = element("dt");
  const word = element("button", "term", name);
  word.type = "button";
  const tip = element("span", "tip", meaning);
  tip.setAttribute("role", "tooltip");
  tip.id = `tip-${id}`;
  word.setAttribute("aria-describedby", tip.id);
  term.append(word, tip);
  entry.append(term, element("dd", "", typeof value === "string" ? value : prob(value)));
  return entry;
}
