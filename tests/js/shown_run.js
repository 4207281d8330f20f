// A run as the stage holds it, for tests of what is made of it: slides and sentences.

import { drawnRun } from "../../assets/browser/trace/drawn_run.js";
import { sentRun, traceOf } from "./made_rounds.js";

/** @import { Round, SentStage, StageState, Trace } from "../../assets/browser/dist/payloads.js" */

export const HOSTILE = "<script>alert(1)</script>&\"'";

/**
 * @param {Round[]} rounds
 * @param {Partial<StageState>} [more]
 * @param {Partial<Trace>} [trace]
 */
export function shownRun(rounds, more = {}, trace = {}) {
  const run = sentRun(traceOf(rounds, trace));
  const state = { running: false, longest_draft: 16, phases: ["propose", "check", "judge"], badge: "recorded run", measured: "measured on a machine" };
  const sent = { ...state, idle: "Waiting for the first round…", ...more, run };
  return { data: drawnRun(/** @type {SentStage} */ (/** @type {unknown} */ (sent))), run };
}
