// What a visitor of the tour has to do at each beat, and what is then said of it. Draws nothing.

import { byTarget } from "../shared/chips.js";
import { fill } from "../shared/fill.js";
import { quoted } from "../shared/text.js";
import type { Beat, ChipStatus, Phase, ReplayedLength, RoundPayload } from "../dist/payloads.js";

export type Chosen = { round: number, status: ChipStatus, text: string }; // a token, by a click or by Enter

/** what the visitor has done since the beat began */
export interface Doing {
  step: number; // the playhead's
  last: number; // the run's last step
  round: number; // the playhead's
  phase: Phase | null;
  done: number; // rounds that are judged
  chosen: Chosen | null;
  released: { length: number, run: ReplayedLength } | null; // the draft length at which the slider was released
}

export type Done = { outcome: string, facts: Record<string, string | number> };

const UNTIL: Record<Beat["until"], (doing: Doing, rounds: RoundPayload[], beat: Beat) => Done | null> = {
  checked: ({ round, phase }, _, beat) => (round > beat.round || (round === beat.round && phase !== "propose") ? done() : null),
  guessed: ({ chosen }, _, beat) =>
    chosen?.round === beat.round && !byTarget(chosen) ? done({ token: quoted(chosen.text) }, chosen.status) : null,
  opened: ({ chosen, done: judged }) =>
    chosen?.status === "rejected" && chosen.round < judged ? done({ token: quoted(chosen.text) }) : null,
  full: ({ round, phase }, rounds) => (phase === "judge" ? allAccepted(rounds[round], round) : null),
  length: ({ released }, _, beat) => (released && released.length >= beat.least ? done(factsOf(released)) : null),
  ended: ({ step, last }) => (step >= last ? done() : null),
};

/** What the visitor did, if it is what the beat waits for. */
export function whatWasDone(beat: Beat, doing: Doing, rounds: RoundPayload[]): string | null {
  const found = UNTIL[beat.until](doing, rounds, beat);
  return found && fill(beat.did[found.outcome] ?? "", found.facts);
}

function done(facts: Record<string, string | number> = {}, outcome: string = "done"): Done {
  return { outcome, facts };
}

function allAccepted(current: RoundPayload | undefined, round: number) {
  const bonus = current?.chips.find((chip) => chip.status === "bonus");
  const drafted = (current?.chips ?? []).filter((chip) => !byTarget(chip));
  if (!bonus || !drafted.length) return null; // no draft at all is no success
  return done({ round: round + 1, drafted: drafted.length, token: quoted(bonus.text) });
}

function factsOf({ length, run }: NonNullable<Doing["released"]>) {
  return { length, passes: run.rounds.length, wasted: run.rejected + run.discarded };
}

