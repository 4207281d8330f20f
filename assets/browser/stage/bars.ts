// Candidates as bars: both models' probabilities, or one distribution.

import { element } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { shorten, visible } from "../shared/text.js";
import { say } from "./words.js";
import type { CandidateRow, ShareRow } from "../shared/payloads.js";

const NAME_LENGTH = 12; // characters

export function pairedBars(candidates: CandidateRow[]) {
  if (!candidates.length) return element("p", "rule", say("candidates_not_recorded"));
  const list = element("ul", "bars paired");
  for (const [text, p, q, own] of candidates) {
    const row = barRow(text, own, say("candidate", { p: prob(p), q: prob(q) }));
    row.append(bar("target", p), bar("draft", q ?? 0));
    list.append(row);
  }
  return list;
}

export function targetBars(candidates: CandidateRow[]) {
  return singleBars(candidates.map(([text, p, , own]) => [text, p, own]), say("target"));
}

export function singleBars(shares: ShareRow[], distribution: string) {
  const list = element("ul", "bars");
  for (const [text, share, own] of shares) {
    const row = barRow(text, own, `${distribution} ${prob(share)}`);
    row.append(bar("target", share));
    list.append(row);
  }
  return list;
}

/** `own`: whether it is the token that is explained */
function barRow(text: string, own: boolean, title: string) {
  const row = element("li", own ? "own" : "");
  row.title = title;
  row.append(element("bdi", "name", shorten(visible(text), NAME_LENGTH)));
  return row;
}

function bar(model: "target" | "draft", share: number) {
  const track = element("span", `bar ${model}`);
  const fill = element("i");
  fill.style.width = `${(share * 100).toFixed(2)}%`;
  track.append(fill, element("span", "", prob(share)));
  return track;
}
