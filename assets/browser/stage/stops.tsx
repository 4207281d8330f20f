// The picture of when to stop drafting: the draft's own probability of each guess of the round at the playhead, with the
// limit of the confidence stop; and the measured speedups with their intervals, by schedule and by batch.

import { byTarget, className } from "../shared/chips.js";
import { prob, times } from "../shared/numbers.js";
import { visible } from "../shared/text.js";
import { say } from "./words.js";
import type { Chip, RoundPayload, TargetChip } from "../dist/payloads.js";
import type { Pictured } from "./diagram.js";

type Row = [name: string, value: number, low: number, high: number]; // a speedup and its interval

const SCHEDULES: Record<string, "stop_fixed" | "stop_heuristic" | "stop_confidence"> = { fixed: "stop_fixed", heuristic: "stop_heuristic", confidence: "stop_confidence" };
const MOST = 8; // guesses drawn

/** The guesses of a round, and which of them the confidence stop would not draft: those after the first unsure one. */
export function guessesOf({ chips }: RoundPayload, limit: number) {
  const drafted = chips.filter((chip) => !byTarget(chip)).map((chip) => chip as Exclude<Chip, TargetChip>);
  const unsure = drafted.findIndex(({ q }) => q !== null && q < limit);
  return drafted.map(({ text, status, q }, i) => ({ text, kind: className(status), q: q ?? 0, beyond: unsure >= 0 && i > unsure }));
}

export function Stops({ data, lesson: { stops }, at, said }: Pictured) {
  if (!stops) return null;
  const guesses = guessesOf(data.rounds[at], stops.limit).slice(0, MOST);
  const schedules = stops.schedules.map(([schedule, ...figures]) => [said(SCHEDULES[schedule]), ...figures] as Row);
  const batches = stops.batches.map(([texts, length, ...figures]) => [said("stop_batch", { texts, length }), ...figures] as Row);
  const ends = [1, ...[...schedules, ...batches].flatMap(([, , low, high]) => [low, high])];
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const place = (value: number) => `${(100 * (value - least)) / (most - least)}%`;
  const speedups = (rows: Row[]) => rows.map(([name, value, low, high]) => (
    <div class="speedup-row" title={say("from_to", { low: times(low), high: times(high) })}>
      <span>{name}</span>
      <span class="on-scale" style={{ "--line": place(1) }}><i class="interval" style={{ left: place(low), right: `calc(100% - ${place(high)})` }} /><i class="dot-at" style={{ left: place(value) }} /></span>
      <small>{times(value)}</small>
    </div>
  ));
  return (
    <div class="two">
      <div style={{ "--line": `${100 * stops.limit}%` }}>
        <small>{said(guesses.length ? "this_round" : "nothing_drafted")}</small>
        {guesses.map(({ text, kind, q, beyond }) => (
          <div class="guess-row"><bdi>{visible(text)}</bdi><span class="on-scale"><i class={`odds guessed ${beyond ? "later" : kind}`} style={{ width: `${100 * q}%` }} /></span><small>{beyond ? say("after_the_stop") : prob(q)}</small></div>
        ))}
        <small class="limit">{guesses.length > 0 && said("limit_of_stop", { limit: prob(stops.limit) })}</small>
      </div>
      <div>
        <small>{said("by_schedule", { measured: stops.measured[0] })}</small>{speedups(schedules)}
        <small>{said("by_batch", { measured: stops.measured[1] })}</small>{speedups(batches)}
        <small>{said("stops_scale")}</small>
      </div>
    </div>
  );
}
