// What the inspector's explanations are made of: a heading, sentences, a token's numbers.

import { element, sentence } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { quoted } from "../shared/text.js";
import { say } from "./words.js";
import type { JudgedChip, StagePayload } from "../shared/payloads.js";

export type Numbers = Pick<JudgedChip, "p" | "q" | "accept_prob" | "u">;

/** `pinned`: whether it can be closed */
export function heading(title: string, pinned: boolean) {
  const head = element("div", "head");
  head.append(sentence("div", "title", title));
  if (!pinned) return head;
  const close = element("button", "unpin", "×");
  close.type = "button";
  close.setAttribute("aria-label", say("follow_again"));
  close.title = say("follow_again");
  head.append(close);
  return head;
}

/** The rule with this guess's numbers in it. */
export function ruleApplied({ greedy, point_mass: pointMass }: StagePayload, { p, q, accept_prob: chance, u, status, candidates }: JudgedChip) {
  if (!greedy) return say(pointMass ? `sampled_sure_${status}` : `sampled_${status}`, { p: prob(p), q: prob(q), chance: prob(chance), u: prob(u) });
  if (!candidates.length) return say("greedy_rule");
  const [text, highest] = candidates.reduce((top, one) => (one[1] > top[1] ? one : top));
  return say(`greedy_${status}`, { top: quoted(text), p: prob(highest) });
}

export function rule(text: string) {
  return sentence("p", "rule", text);
}

/** Target p, draft q; of a judged token the acceptance probability and the number drawn too. The swatches are the bars' key. */
export function facts({ p, q, accept_prob: chance, u }: Numbers, { greedy, point_mass: pointMass }: StagePayload, judged: boolean = true) {
  const list = element("dl", "facts");
  const meaning = say(greedy ? "before_sampling" : "after_sampling");
  list.append(
    fact(explained("target-p", say("target_p"), meaning), p, "target"),
    fact(explained("draft-q", say("draft_q"), pointMass ? say("q_is_one") : meaning), q, "draft"),
  );
  if (judged && greedy) list.append(fact([say("first_choice")], say(chance ? "yes" : "no")));
  else if (judged) list.append(fact([say("chance")], chance), fact([say("drew_u")], u));
  return list;
}

function fact(name: Array<string | Node>, value: number | string | null, swatch: string = "") {
  const [entry, term] = [element("div", swatch), element("dt")];
  term.append(...name);
  entry.append(term, element("dd", "", typeof value === "string" ? value : prob(value)));
  return entry;
}

/** A name that explains itself on hover, focus and tap. `id`: of its explanation */
function explained(id: string, name: string, meaning: string) {
  const word = element("button", "term", name);
  word.type = "button";
  const tip = element("span", "tip", meaning);
  tip.setAttribute("role", "tooltip");
  tip.id = `tip-${id}`;
  word.setAttribute("aria-describedby", tip.id);
  return [word, tip];
}
