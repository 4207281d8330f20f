// What the inspector's explanations are made of: a heading, sentences, a token's numbers.

import { element, sentence } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";

/** @import { JudgedChip, StagePayload } from "../shared/payloads.js" */

/** @typedef {Pick<JudgedChip, "p" | "q" | "accept_prob" | "u">} Numbers */

export const NOT_RECORDED = "Its probabilities were not recorded.";
export const NOTHING_TO_SHOW = "This run recorded no probabilities, so there is nothing to show here.";

/** @type {Record<StagePayload["rule"] | "greedy", { chance: string, drew: string }>} what the two numbers are */
const MEANINGS = {
  greedy: {
    chance: "Greedy means that the most likely token is always taken: a guess is accepted if it is the one that the target would take.",
    drew: "",
  },
  token: {
    chance: "The chance to accept it: min(1, p/q).",
    drew: "The dice roll, from 0 to 100 %: the token is accepted if it is below the chance.",
  },
  tree: {
    chance: "The chance to accept it: min(1, p/q); after a guess for the same place has failed, p is what that one leaves of it.",
    drew: "The dice roll, from 0 to 100 %: the guess is accepted if it is below the chance.",
  },
  block: {
    chance: "The chance that the block passes which ends with this token. It is no chance of the token alone.",
    drew: "The dice roll of that block, from 0 to 100 %: the block passes if it is below the chance.",
  },
};

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
  close.setAttribute("aria-label", "Close: follow the playhead again");
  close.title = "Follow the playhead again (Escape)";
  head.append(close);
  return head;
}

/** @param {string} text */
export function rule(text) {
  return sentence("p", "rule", text);
}

/** @param {{ p: number | null }} chip */
export function withProb({ p }) {
  return p === null ? "" : ` (p = ${prob(p)})`;
}

/**
 * Target p, draft q; of a judged token the acceptance probability and the number drawn too. The swatches are the bars' key.
 * @param {Numbers} numbers
 * @param {StagePayload} data
 * @param {boolean} [judged]
 */
export function facts({ p, q, accept_prob: chance, u }, { greedy, rule: how, point_mass: pointMass }, judged = true) {
  const list = element("dl", "facts");
  const when = greedy ? "plain softmax at temperature 1" : "after temperature, top-k and top-p";
  const sure = "The draft does not draw its guesses, so q is 1 on each.";
  const meaning = MEANINGS[greedy ? "greedy" : how];
  list.append(
    fact("target p", p, `The target’s probability of this token: ${when}.`, "target"),
    fact("draft q", q, pointMass ? sure : `The draft’s probability of this token: ${when}.`, "draft"),
  );
  if (judged && greedy) list.append(fact("target’s first choice", chance ? "yes" : "no", meaning.chance));
  else if (judged) list.append(fact("chance", chance, meaning.chance), fact("drew u", u, meaning.drew));
  return list;
}

/**
 * A figure whose name explains itself on hover, focus and tap.
 * @param {string} name
 * @param {number | string | null} value
 * @param {string} meaning
 * @param {string} [swatch]
 */
function fact(name, value, meaning, swatch = "") {
  const entry = element("div", swatch);
  const term = element("dt");
  const word = element("button", "term", name);
  word.type = "button";
  const tip = element("span", "tip", meaning);
  tip.setAttribute("role", "tooltip");
  tip.id = `tip-${name.replaceAll(" ", "-")}`;
  word.setAttribute("aria-describedby", tip.id);
  term.append(word, tip);
  entry.append(term, element("dd", "", typeof value === "string" ? value : prob(value)));
  return entry;
}
