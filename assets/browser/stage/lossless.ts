// The picture of why the rule is lossless: for each token what is accepted of the draft's draws, min(p, q), and what the
// replacement adds, (p − q)₊. Together they are p, whatever q is. The visitor moves q, by mouse, finger or arrow keys.

import { element } from "../shared/dom.js";
import { fixed } from "../shared/localize.js";
import { prob } from "../shared/numbers.js";
import { visible } from "../shared/text.js";
import { say, voiceOf } from "./words.js";
import type { DiagramPayload, LosslessPayload } from "../dist/payloads.js";

export type Token = LosslessPayload["tokens"][number]; // its text, p and q
export type Parts = { both: number, left: number, lost: number, whole: number }; // accepted, added by the replacement, rejected; and p
export type Row = { row: HTMLElement, slider: HTMLInputElement, bar: HTMLElement, figures: HTMLElement };

/** A probability, without the last digits that only rounding made. */
const shown = (value: number) => prob(Math.round(1e6 * value) / 1e6);

const rounded = (value: number) => Math.round(1000 * value) / 1000;

/** `share`: in per cent, so that what is added is also the sum of what is shown */
const cases = (share: number) => fixed(100 * share, 1);

const SUMS: Record<DiagramPayload["words"], (parts: Parts) => string> = {
  technical: ({ both, whole }) => `${cases(both)} + ${cases(rounded(whole) - rounded(both))} = ${cases(whole)} %`,
  plain: ({ both, left, whole }) => `${cases(both)} + ${cases(left)} = ${cases(whole)}`,
};

/**
 * What becomes of a token's probability under the rule. `both`: the part that the two have in common; of several tokens
 * together it is not the smaller one
 */
export function partsOf(p: number, q: number, both: number = Math.min(p, q)): Parts {
  return { both, left: p - both, lost: q - both, whole: p };
}

/** How often a drafted token is accepted: Σ min(p, q). */
export function betaOf({ tokens, others }: LosslessPayload) {
  return tokens.reduce((sum, [, p, q]) => sum + Math.min(p, q), others[2]);
}

/**
 * The same place with another q for one token. The other tokens of the list share the rest as before; those that are not in
 * the list keep theirs, because the run recorded them only together.
 */
export function movedTo(rule: LosslessPayload, index: number, wanted: number): LosslessPayload {
  const all = rule.tokens.reduce((sum, [, , q]) => sum + q, 0);
  const q = Math.min(Math.max(wanted, 0), all);
  const before = all - rule.tokens[index][2];
  const rest = all - q;
  const share = (own: number) => (before > 1e-9 ? (own / before) * rest : rest / (rule.tokens.length - 1));
  const tokens = rule.tokens.map(([text, p, own], i) => [text, p, i === index ? q : share(own)] as Token);
  return { ...rule, tokens };
}

/** Every q halfway to its p, as a draft that learned from the target would be: what is lost is halved, exactly. */
export function halfwayTo({ tokens, others: [p, q, both], ...rest }: LosslessPayload): LosslessPayload {
  const nearer = tokens.map(([text, its, own]) => [text, its, (its + own) / 2] as Token);
  return { ...rest, tokens: nearer, others: [p, (p + q) / 2, (p + both) / 2] };
}

/** The picture as sentences, for a screen reader. */
export function losslessInWords(rule: LosslessPayload, words: DiagramPayload["words"]) {
  const said = voiceOf(words);
  const beta = betaOf(rule);
  const figure = words === "plain" ? cases : shown;
  const rows = [...rule.tokens.map(([text, p, q]) => [visible(text), partsOf(p, q)]), [say("all_others"), partsOf(...rule.others)]];
  const parts = rows.map(([name, its]) => `${name}: ${SUMS[words](its as Parts)}`);
  return `${said("sum")}. ${parts.join("; ")}. ${said("rate")}: ${figure(beta)}. ${said("leftover")}: ${figure(1 - beta)}.`;
}

/** The picture on the page; it keeps what the visitor did to q until another one is loaded. */
export class Lossless {
  rule = this.recorded;
  said = voiceOf(this.words);
  sum = SUMS[this.words];
  most = Math.max(...[...this.recorded.tokens, ["", ...this.recorded.others]].flatMap(([, p, q]) => [Number(p), Number(q)])) * 1.05;
  box = element("div", "lossless");
  rows;
  totals;
  line = element("div", "whole");

  constructor(public recorded: LosslessPayload, public words: DiagramPayload["words"]) {
    this.box.setAttribute("role", "group");
    this.rows = [...recorded.tokens.map(([text], i) => this.#row(visible(text), i)), this.#row(say("all_others"), -1)];
    this.totals = [element("output", "both"), element("output", "left"), element("output", "lost")];
    this.line.append(element("i", "both"), element("i", "left"));
    this.box.append(this.#head(), ...this.rows.map(({ row }) => row), this.line, this.#foot());
    this.#show();
  }

  #head() {
    const head = element("p", "sum");
    head.append(element("span", "", this.said("move_q", { round: this.recorded.round })), this.said("sum"));
    return head;
  }

  #foot() {
    const foot = element("div", "foot");
    foot.append(...this.totals, this.#button(this.said("as_recorded"), () => this.recorded), this.#button(this.said("halfway"), () => halfwayTo(this.rule)));
    return foot;
  }

  #button(text: string, next: () => LosslessPayload) {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", () => this.#take(next()));
    return made;
  }

  /** A token: its name, a slider of its q, and below it the parts of its p on the same scale. `index`: -1: all others, which have no slider */
  #row(name: string, index: number): Row {
    const [row, bar, figures] = [element("div", "row"), element("div", "stack"), element("span", "figures")];
    const slider = element("input");
    Object.assign(slider, { type: "range", min: "0", max: "100", step: "any", disabled: index < 0 });
    slider.setAttribute("aria-label", this.said("q_of", { token: name }));
    slider.addEventListener("input", () => this.#take(movedTo(this.rule, index, (Number(slider.value) / 100) * this.most)));
    slider.addEventListener("keydown", (event) => event.stopPropagation()); // its own keys, not the stage's or the page's
    bar.append(element("i", "both"), element("i", "left"), element("i", "lost"));
    row.append(element("span", "name", name), slider, bar, figures);
    return { row, slider, bar, figures };
  }

  #take(rule: LosslessPayload) {
    this.rule = rule;
    this.#show();
  }

  #show() {
    const { tokens, others } = this.rule;
    const parts = [...tokens.map(([, p, q]) => partsOf(p, q)), partsOf(...others)];
    this.rows.forEach((row, i) => this.#showRow(row, parts[i]));
    const beta = betaOf(this.rule);
    const figure = this.words === "plain" ? cases : shown;
    widths(this.line, [beta, 1 - beta]);
    const totals = [`${this.said("rate")} = ${figure(beta)}`, `${this.said("leftover")} = ${figure(1 - beta)}`, this.said("as_much_lost")];
    this.totals.forEach((total, i) => (total.textContent = totals[i]));
    this.box.setAttribute("aria-label", losslessInWords(this.rule, this.words));
  }

  #showRow({ slider, bar, figures }: Row, parts: Parts) {
    const place = (parts.both + parts.lost) / this.most;
    slider.value = String(100 * place);
    slider.style.setProperty("--filled", `${100 * place}%`);
    slider.setAttribute("aria-valuetext", `${shown(parts.both + parts.lost)}: ${this.sum(parts)}`);
    widths(bar, [parts.both / this.most, parts.left / this.most, parts.lost / this.most]);
    figures.textContent = this.sum(parts);
  }
}

function widths(bar: HTMLElement, shares: number[]) {
  [...bar.children].forEach((part, i) => part instanceof HTMLElement && Object.assign(part.style, { width: `${100 * shares[i]}%`, display: shares[i] > 1e-6 ? "" : "none" }));
}
