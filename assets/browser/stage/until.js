// What a visitor of the tour has to do at each beat, and what is then said of it. Draws nothing.

import { byTarget } from "../shared/chips.js";
import { fill } from "../shared/fill.js";
import { quoted } from "../shared/text.js";

/** @import { Beat, ChipStatus, Phase, ReplayedLength, RoundPayload } from "../shared/payloads.js" */

/** @typedef {{ round: number, status: ChipStatus, text: string }} Chosen a token, by a click or by Enter */

/**
 * @typedef {object} Doing what the visitor has done since the beat began
 * @property {number} step the playhead's
 * @property {number} last the run's last step
 * @property {number} round the playhead's
 * @property {Phase | null} phase
 * @property {number} done rounds that are judged
 * @property {Chosen | null} chosen
 * @property {{ length: number, run: ReplayedLength } | null} released the draft length at which the slider was released
 */

/** @typedef {{ outcome: string, facts: Record<string, string | number> }} Done */

/** @type {Record<Beat["until"], (doing: Doing, rounds: RoundPayload[], beat: Beat) => Done | null>} */
const UNTIL = {
  checked: ({ round, phase }, _, beat) => (round > beat.round || (round === beat.round && phase !== "propose") ? done() : null),
  guessed: ({ chosen }, _, beat) =>
    chosen?.round === beat.round && !byTarget(chosen) ? done({ token: quoted(chosen.text) }, chosen.status) : null,
  opened: ({ chosen, done: judged }) =>
    chosen?.status === "rejected" && chosen.round < judged ? done({ token: quoted(chosen.text) }) : null,
  full: ({ round, phase }, rounds) => (phase === "judge" ? allAccepted(rounds[round], round) : null),
  length: ({ released }, _, beat) => (released && released.length >= beat.least ? done(factsOf(released)) : null),
  ended: ({ step, last }) => (step >= last ? done() : null),
};

/**
 * What the visitor did, if it is what the beat waits for.
 * @param {Beat} beat
 * @param {Doing} doing
 * @param {RoundPayload[]} rounds
 * @returns {string | null}
 */
export function whatWasDone(beat, doing, rounds) {
  const found = UNTIL[beat.until](doing, rounds, beat);
  return found && fill(beat.did[found.outcome] ?? "", found.facts);
}

/**
 * @param {Record<string, string | number>} [facts]
 * @param {string} [outcome]
 * @returns {Done}
 */
function done(facts = {}, outcome = "done") {
  return { outcome, facts };
}

/**
 * @param {RoundPayload | undefined} current
 * @param {number} round
 */
function allAccepted(current, round) {
  const bonus = current?.chips.find((chip) => chip.status === "bonus");
  const drafted = (current?.chips ?? []).filter((chip) => !byTarget(chip));
  if (!bonus || !drafted.length) return null; // no draft at all is no success
  return done({ round: round + 1, drafted: drafted.length, token: quoted(bonus.text) });
}

/** @param {NonNullable<Doing["released"]>} released */
function factsOf({ length, run }) {
  return { length, passes: run.rounds.length, wasted: run.rejected + run.discarded };
}

