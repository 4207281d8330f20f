// Candidates as bars: both models' probabilities, or one distribution.

import { prob } from "../shared/numbers.js";
import { shorten, visible } from "../shared/text.js";
import { say } from "./words.js";
import type { CandidateRow, ShareRow } from "../dist/payloads.js";

const NAME_LENGTH = 12; // characters

type Bars = { text: string; own: boolean; title: string; shares: Array<["target" | "draft", number]> }[]; // own: of the token that is explained

export function PairedBars({ candidates }: { candidates: CandidateRow[] }) {
  if (!candidates.length) return <p class="rule">{say("candidates_not_recorded")}</p>;
  const rows: Bars = candidates.map(([text, p, q, own]) => {
    return { text, own, title: say("candidate", { p: prob(p), q: prob(q) }), shares: [["target", p], ["draft", q ?? 0]] };
  });
  return <Rows rows={rows} paired />;
}

export function TargetBars({ candidates }: { candidates: CandidateRow[] }) {
  return <SingleBars shares={candidates.map(([text, p, , own]) => [text, p, own])} distribution={say("target")} />;
}

export function SingleBars({ shares, distribution }: { shares: ShareRow[]; distribution: string }) {
  return <Rows rows={shares.map(([text, share, own]) => ({ text, own, title: `${distribution} ${prob(share)}`, shares: [["target", share]] }))} />;
}

function Rows({ rows, paired }: { rows: Bars; paired?: boolean }) {
  return (
    <ul class={paired ? "bars paired" : "bars"}>
      {rows.map(({ text, own, title, shares }) => (
        <li class={own ? "own" : ""} title={title}>
          <bdi class="name" translate={false}>{shorten(visible(text), NAME_LENGTH)}</bdi>
          {shares.map(([model, share]) => (
            <span class={`bar ${model}`}><i style={{ width: `${(share * 100).toFixed(2)}%` }} /><span>{prob(share)}</span></span>
          ))}
        </li>
      ))}
    </ul>
  );
}
