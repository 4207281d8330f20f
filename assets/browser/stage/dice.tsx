// The picture of a token drawn by lot: what both models give it, one dice roll, and the leftover its replacement is drawn
// from. It is of the round at the playhead; the style sheet shows each part in its phase.

import { prob } from "../shared/numbers.js";
import { visible } from "../shared/text.js";
import { Bar } from "./weights.js";
import { Columns } from "./way.js";
import { say, type Voice } from "./words.js";
import type { CandidateRow, JudgedChip, RoundPayload, ShareRow, TargetChip } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

/** The token that the dice roll was about: the rejected one, else the accepted one that was most in danger. */
export function rolled(round: RoundPayload): JudgedChip | undefined {
  const judged: JudgedChip[] = round.chips.flatMap((chip) => (chip.status === "accepted" || chip.status === "rejected" ? [chip] : []));
  const drawn = judged.filter((chip) => chip.u !== null && chip.p !== null && chip.q !== null);
  const inDanger = [...drawn].sort((one, other) => (one.accept_prob ?? 1) - (other.accept_prob ?? 1));
  return drawn.find((chip) => chip.status === "rejected") ?? inDanger[0];
}

export function Dice({ data, at, phase, said }: Pictured) {
  const round = data.rounds[at];
  const chip = rolled(round);
  const under = { draft: said("dice_draft"), target: said("dice_target"), text: said("dice_text") };
  const most = Math.max(...(chip?.candidates ?? []).map(([, p, q]) => Math.max(p, q ?? 0)), 0.01);
  return (
    <>
      <Columns {...{ data, phase, said, under }} last={said("dice_title")} />
      {data.rule !== "token" && <small>{said("not_token_by_token")}</small>}
      {data.rule === "token" && !chip && <small>{say("nothing_drawn")}</small>}
      {data.rule === "token" && chip && <><div class="candidates">{chip.candidates.map((row) => <Candidate {...{ row, most, chip, said }} />)}</div><Roll {...{ chip, said }} /><Shares {...{ round, said }} /></>}
    </>
  );
}

/** What the draft and the target give a token, and the part of p above q again, on the scale of both. `most`: the longest bar */
function Candidate({ row: [text, p, q, own], most, chip, said }: { row: CandidateRow; most: number; chip: JudgedChip; said: Voice }) {
  const [name, common] = [visible(text), Math.min(p, q ?? 0)];
  const left = p - (q ?? 0);
  return (
    <>
      <Bar name={own ? `${name} ◂` : name} parts={[["draft", (q ?? 0) / most]]} figure={prob(q)} />
      <Bar class="checked" name={name} parts={[["target", common / most], ["left", (p - common) / most]]} figure={prob(p)} />
      {chip.status === "accepted" ? <small class="judged">{own && said("it_stays")}</small> : left <= 0 ? <small class="judged">{said("nothing_left")}</small> : <Bar class="judged" name={name} parts={[["left", left / most]]} figure={prob(left)} />}
    </>
  );
}

/** The dice roll as a place on a line from 0 to 1. */
function Roll({ chip: { accept_prob: chance, u, status }, said }: { chip: JudgedChip; said: Voice }) {
  const [passes, at] = [100 * (chance ?? 0), 100 * (u ?? 0)];
  return (
    <div class="roll-line checked">
      <b class="judged" style={{ marginLeft: `clamp(0em, ${at}% - 5em, 100% - 10em)` }}>{`${said("dice_roll")} = ${prob(u)}: ${status === "accepted" ? "✓" : "✗"}`}</b>
      <div class="on-line"><i class="odds passes" style={{ width: `${passes}%` }} /><i class="odds lost" style={{ width: `${100 - passes}%` }} /><i class="roll judged" style={{ left: `${at}%` }} /></div>
      <p class="ends"><small>{said("stays_below", { chance: prob(chance) })}</small>{passes < 80 && <small>{said("goes_above")}</small>}</p>
    </div>
  );
}

/** The leftover as a line from 0 to 1: each token has the part of it with which it is drawn. */
function Shares({ round, said }: { round: RoundPayload; said: Voice }) {
  const shares = sharesOf(round, say("others"));
  return (
    <div class="judged">
      <small>{shares.length > 0 && said("leftover_whole")}</small>
      <div class="on-line shares">{shares.map(([text, share, own]) => <span class={own ? "odds left" : "odds target"} style={{ width: `${100 * share}%` }}>{`${own ? "↻ " : ""}${visible(text)} ${prob(share)}`}</span>)}</div>
    </div>
  );
}

/** The tokens of the leftover by their share, and what is left for all others. Empty where nothing was rejected. */
export function sharesOf(round: RoundPayload, others: string): ShareRow[] {
  const corrections: TargetChip[] = round.chips.flatMap((chip) => (chip.status === "correction" ? [chip] : []));
  const found = corrections.flatMap(({ residual }) => residual);
  const rest = 1 - found.reduce((sum, [, share]) => sum + share, 0);
  return found.length && rest > 0.0005 ? [...found, [others, rest, false]] : found;
}
