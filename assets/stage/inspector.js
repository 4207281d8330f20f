// Why one token was kept or not: both models' candidates as bars, and the rule with this token's numbers in it.

import { element } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";

const TITLES = {
  accepted: (token) => `Why ${token} was accepted`,
  rejected: (token) => `Why ${token} was rejected`,
  discarded: (token) => `${token} was never judged`,
  correction: (token) => `Where ${token} comes from`,
  bonus: (token) => `${token} is a bonus`,
};

export class Inspector {
  constructor(panel, closed) {
    this.panel = panel;
    this.closed = closed;
    this.shown = undefined;
    panel.addEventListener("click", (event) => event.target.closest(".unpin") && closed());
  }

  load(data) {
    this.data = data;
    this.shown = undefined;
  }

  /** `place` {round, index} or null; `judged` whether the playhead has passed its judgement. */
  show(place, judged, pinned) {
    const state = place && `${place.round} ${place.index} ${judged} ${pinned}`;
    if (this.shown === state) return;
    this.shown = state;
    this.panel.replaceChildren(...(place ? this.#explain(place, judged, pinned) : theRule(this.data.greedy)));
  }

  #explain(place, judged, pinned) {
    const round = this.data.rounds[place.round];
    const chip = round.chips[place.index];
    const { greedy, lookup, translated, person } = this.data;
    const context = { chip, round, greedy, lookup, translated, person };
    const parts = judged ? EXPLAIN[chip.status](context) : proposed(context);
    const title = judged ? TITLES[chip.status](quoted(chip.text)) : `${quoted(chip.text)} is proposed`;
    return [heading(`${title} · round ${place.round + 1}`, pinned), ...parts.filter(Boolean)];
  }

  /** The same as text, for the live region. */
  get text() {
    return [...this.panel.querySelectorAll(".title, .rule")].map((node) => node.textContent).join(". ");
  }
}

const EXPLAIN = {
  accepted: judgedToken,
  rejected: judgedToken,
  discarded: discardedToken,
  correction: correctionToken,
  bonus: bonusToken,
};

function judgedToken({ chip, round, greedy, translated }) {
  if (chip.p == null || (chip.q == null && !translated)) return [rule("This run kept no probabilities, so there is nothing to show here.")];
  const replacement = round.chips.find((other) => other.status === "correction");
  const after = chip.status === "rejected" && replacement && sourceOfReplacement(replacement, greedy);
  const why = greedy ? greedyRule(chip) : samplingRule(chip);
  const bars = translated ? targetBars(chip.top) : pairedBars(chip.top);
  return [facts(chip, greedy), bars, rule(after ? `${why}. ${after}` : why), translated && ownWords(round)];
}

function samplingRule(chip) {
  const ratio = `min(1, p/q) = min(1, ${prob(chip.p)}/${prob(chip.q)}) = ${prob(chip.keep)}`;
  return `keep with probability ${ratio}; drew ${prob(chip.u)}: ${chip.status}`;
}

function greedyRule(chip) {
  const best = chip.top.reduce((top, one) => (!top || one[1] > top[1] ? one : top), null);
  const start = "greedy: kept only if it is the target’s top token";
  if (!best) return start;
  return `${start}: target’s top is ${quoted(best[0])} (${prob(best[1])}): ${chip.status}`;
}

function sourceOfReplacement(chip, greedy) {
  return `${quoted(chip.text)} ${greedy ? "takes its place" : "is drawn from what p has over q"}.`;
}

function discardedToken({ chip, round, person }) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const because = rejected
    ? `because ${quoted(rejected.text)} before it was rejected: it continues a text that no longer exists.`
    : "because an accepted token before it ended the text.";
  const draft = person ? "You named it for certain:" : "The draft gave it";
  const odds = chip.q == null ? null : `${draft} q = ${prob(chip.q)}; the target’s view of it was not used.`;
  return [rule(`Never judged ${because}`), odds && rule(odds)];
}

function correctionToken({ chip, round, greedy, translated }) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const place = rejected ? `In place of ${quoted(rejected.text)}. ` : "";
  if (greedy) return [translated ? targetBars(chip.top) : pairedBars(chip.top), rule(`${place}Greedy: the target’s own top token${withProb(chip)}.`)];
  const bars = chip.residual.length ? singleBars(chip.residual, "residual") : null;
  const source = `${place}Drawn from the residual (p − q)₊, normalised: what the target wants more than the draft does.`;
  const unlikely = bars && !chip.residual.some(([, , own]) => own);
  const note = unlikely ? `A less likely draw than these${withProb(chip)}.` : bars ? "" : "The residual was not recorded.";
  return [bars, rule(`${source} ${note}`)];
}

function bonusToken({ chip, round, greedy }) {
  const bars = chip.top.length ? targetBars(chip.top) : null;
  const drafted = round.chips.length > 1;
  const reason = drafted ? "Every drafted token was accepted, and the same target pass already knows what comes next: " : "Nothing was drafted: ";
  const source = greedy ? `the target’s top token${withProb(chip)}` : `a token drawn from p itself${withProb(chip)}`;
  return [bars, rule(`${reason}${source}.`), chip.p == null && rule("Its probabilities were not recorded.")];
}

function withProb(chip) {
  return chip.p == null ? "" : ` (p = ${prob(chip.p)})`;
}

function proposed({ chip, round, lookup, translated, person }) {
  if (person) return [rule("You named it for certain (q = 1)."), rule("The target has not judged it yet.")];
  if (translated) return [ownWords(round), rule("The target has not judged it yet.")];
  const odds = lookup ? "Prompt lookup copies it from the text so far (q = 1)." : `The draft gave it q = ${prob(chip.q)}.`;
  return [rule(chip.q == null && !lookup ? "Its probabilities were not recorded." : odds), rule("The target has not judged it yet.")];
}

/** Why there is no q, and what the draft said instead. */
function ownWords(round) {
  const words = shorten((round.own ?? []).map(visible).join(" · "), 44);
  return rule(`The draft wrote other tokens, ${words}, so there is no q.`);
}

/** Before anything was judged. */
function theRule(greedy) {
  const random = "Keep a drafted token with probability min(1, p/q): p is the target’s, q the draft’s probability of it.";
  const words = greedy ? "Greedy: keep a drafted token only if it is the target’s own top token." : random;
  const rest = "The first one that fails is replaced, and what follows it is thrown away. Choose a token to see its numbers.";
  return [heading("The rule", false), rule(words), rule(rest)];
}

function heading(title, pinned) {
  const head = element("div", "head");
  head.append(element("div", "title", title));
  if (!pinned) return head;
  const close = element("button", "unpin", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Close: follow the playhead again");
  close.title = "Follow the playhead again (Escape)";
  head.append(close);
  return head;
}

function rule(text) {
  return element("p", "rule", text);
}

/** Target p, draft q, acceptance probability and the number drawn; the swatches are the bars' key. */
function facts(chip, greedy) {
  const list = element("dl", "facts");
  list.title = greedy ? "Plain softmax at temperature 1" : "After temperature, top-k and top-p";
  const entries = [["target p", chip.p, "target"], ["draft q", chip.q, "draft"], ["chance to keep", chip.keep, ""]];
  if (!greedy) entries.push(["drew u", chip.u, ""]);
  for (const [name, value, swatch] of entries) {
    const entry = element("div", swatch);
    entry.append(element("dt", "", name), element("dd", "", prob(value)));
    list.append(entry);
  }
  return list;
}

function pairedBars(candidates) {
  if (!candidates.length) return rule("The other candidates were not recorded.");
  const list = element("ul", "bars paired");
  for (const [text, p, q, own] of candidates) {
    const row = barRow(text, own, `target ${prob(p)}, draft ${prob(q)}`);
    row.append(bar("target", p), bar("draft", q));
    list.append(row);
  }
  return list;
}

function targetBars(candidates) {
  return singleBars(candidates.map(([text, p, , own]) => [text, p, own]), "target");
}

function singleBars(candidates, kind) {
  const list = element("ul", "bars");
  for (const [text, share, own] of candidates) {
    const row = barRow(text, own, `${kind} ${prob(share)}`);
    row.append(bar("target", share));
    list.append(row);
  }
  return list;
}

function barRow(text, own, title) {
  const row = element("li", own ? "own" : "");
  row.title = title;
  row.append(element("bdi", "name", shorten(visible(text), 12)));
  return row;
}

function bar(kind, share) {
  const track = element("span", `bar ${kind}`);
  const fill = element("i");
  fill.style.width = `${(share * 100).toFixed(2)}%`;
  track.append(fill, element("span", "", prob(share)));
  return track;
}
