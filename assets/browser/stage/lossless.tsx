// The picture of why the rule is lossless: for each token what is accepted of the draft's draws, min(p, q), and what the
// replacement adds, (p − q)₊. Together they are p, whatever q is. The visitor moves q, by mouse, finger or arrow keys.

import { useState } from "preact/hooks";
import { visible } from "../shared/chips.js";
import { PERCENT, fixed, prob } from "../shared/numbers.js";
import { say, voiceOf } from "./words.js";
import type { DiagramPayload, LosslessPayload } from "../dist/payloads.js";

export type Token = LosslessPayload["tokens"][number]; // its text, p and q
export type Parts = { both: number, left: number, lost: number, whole: number }; // accepted, added by the replacement, rejected; and p

/** A probability, without the last digits that only rounding made. */
const shown = (value: number) => prob(Math.round(1e6 * value) / 1e6);

const rounded = (value: number) => Math.round(1000 * value) / 1000;

/** `share`: in per cent, so that what is added is also the sum of what is shown */
const cases = (share: number) => fixed(100 * share, 1);

const SUMS: Record<DiagramPayload["words"], (parts: Parts) => string> = {
  technical: ({ both, whole }) => `${cases(both)} + ${cases(rounded(whole) - rounded(both))} = ${cases(whole)}${PERCENT}`,
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

type Shown = { recorded: LosslessPayload; words: DiagramPayload["words"] };

/** The picture on the page; it keeps what the visitor did to q. */
export function Lossless({ recorded, words }: Shown) {
  const [rule, take] = useState(recorded);
  const said = voiceOf(words);
  const beta = betaOf(rule);
  const figure = words === "plain" ? cases : shown;
  const most = Math.max(...[...recorded.tokens, ["", ...recorded.others]].flatMap(([, p, q]) => [Number(p), Number(q)])) * 1.05;
  const row = (name: string, parts: Parts, move?: (q: number) => void) => <Row {...{ name, parts, most, move }} sum={SUMS[words](parts)} label={said("q_of", { token: name })} />;
  return (
    <div class="lossless" role="group" aria-label={said("sum")}>
      <p class="sum"><span>{said("move_q", { round: recorded.round })}</span>{said("sum")}</p>
      {rule.tokens.map(([text, p, q], i) => row(visible(text), partsOf(p, q), (wanted) => take(movedTo(rule, i, wanted))))}
      {row(say("all_others"), partsOf(...rule.others))}
      <div class="whole"><Part kind="both" share={beta} /><Part kind="left" share={1 - beta} /></div>
      <div class="foot">
        <output class="both" key={beta}>{`${said("rate")} = ${figure(beta)}`}</output>
        <output class="left" key={1 - beta}>{`${said("leftover")} = ${figure(1 - beta)}`}</output>
        <output class="lost">{said("as_much_lost")}</output>
        <button type="button" onClick={() => take(recorded)}>{said("as_recorded")}</button>
        <button type="button" onClick={() => take(halfwayTo(rule))}>{said("halfway")}</button>
      </div>
    </div>
  );
}

type Bar = { name: string; parts: Parts; most: number; sum: string; label: string; move?: (q: number) => void };

/** A token: its name, a slider of its q, and below it the parts of its p on the same scale. All others together have none to move. */
function Row({ name, parts: { both, left, lost }, most, sum, label, move }: Bar) {
  const place = (both + lost) / most;
  return (
    <div class="row">
      <span class="name">{name}</span>
      <input
        type="range" min={0} max={100} step="any" value={100 * place} disabled={!move} style={{ "--filled": `${100 * place}%` }}
        aria-label={label} aria-valuetext={`${shown(both + lost)}: ${sum}`}
        onInput={({ currentTarget: { value } }) => move?.((Number(value) / 100) * most)}
        onKeyDown={(event) => event.stopPropagation() /* its own keys, not the stage's or the page's */}
      />
      <div class="stack"><Part kind="both" share={both / most} /><Part kind="left" share={left / most} /><Part kind="lost" share={lost / most} /></div>
      <span class="figures" key={sum}>{sum}</span>
    </div>
  );
}

function Part({ kind, share }: { kind: keyof Parts; share: number }) {
  return <i class={kind} style={{ width: `${100 * share}%`, display: share > 1e-6 ? undefined : "none" }} />;
}
