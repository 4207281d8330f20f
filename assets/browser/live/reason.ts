/** Why a run was as fast as it was: from which share of accepted guesses it pays, as `_reason` of specviz/core/verdict.py. */

import { fixed } from "../shared/localize.js";
import { percent } from "../shared/numbers.js";
import { verificationSteps } from "../shared/theory.js";
import { running } from "../trace/running.js";
import { clockIsCoarse, costsOf, judged, roundSteps, writing, type Timed } from "./timing.js";
import { say } from "./words.js";
import type { Trace } from "../dist/payloads.js";

const HALVINGS = 50; // of the interval that holds the break-even

export function reasonOf(trace: Trace, timed: Timed) {
  const costs = costsOf(trace);
  if (!costs || trace.settings.tree) return "";
  const { accepted, judged: checked, emitted } = running(trace).at(-1)?.after ?? { accepted: 0, judged: 0, emitted: 0 };
  const modelled = emitted / trace.rounds.reduce((steps, round) => steps + roundSteps(costs, round.drafted.length), 0);
  const [alpha, share] = [accepted / checked, percent(accepted / checked)];
  if (!explains(modelled, timed)) return say("unexplained", { share });
  if (trace.drafter?.kind !== "model" || trace.settings.draft_schedule !== "fixed") return perCall(trace, costs, emitted);
  const length = usual(trace.rounds.map((round) => round.drafted.length).filter(Boolean));
  const [steps, check] = [roundSteps(costs, length), verificationSteps(costs.check, length + 1)];
  const [guess, written] = [costs.draft, check].map(writing(trace));
  const figures = { here: share, guesses: guess, times: written };
  if (steps >= length + 1) return say("pays_never", figures);
  if ((expected(alpha, length) / steps - 1) * (timed.speedup - 1) < 0) return say("pays_unsaid", figures);
  return say("pays_rate", { ...figures, least: about(percent(breakEven(steps, length)), trace) });
}

/** Where rounds differ in length, the tokens per target call decide. */
function perCall(trace: Trace, costs: import("./timing.js").Costs, emitted: number) {
  const { rounds } = trace;
  const written = writing(trace);
  const mean = (of: (drafted: number) => number) => rounds.reduce((sum, { drafted }) => sum + of(drafted.length), 0) / rounds.length;
  const [guesses, check] = [mean((count) => count) * costs.draft, mean((count) => verificationSteps(costs.check, count + 1))];
  const least = guesses + check + costs.overhead;
  const here = fixed(emitted / rounds.length, 2);
  return say("pays_tokens", { steps: about(written(least), trace), here, guesses: written(guesses), times: written(check) });
}

/** Whether a modelled speedup is in the interval of the measured one, and on the side of 1 where that lies. */
function explains(modelled: number, { speedup, interval }: Timed) {
  if (interval && (modelled < interval[0] || modelled > interval[1])) return false;
  const word = judged(speedup, interval);
  if (word === "helps" || word === "hurts") return word === "helps" ? modelled > 1 : modelled <= 1;
  return interval !== null || judged(modelled, null) === "about even";
}

function about(figure: string, trace: Trace) {
  return clockIsCoarse(trace) ? say("about", { figure }) : figure;
}

/** E(γ): the tokens per target call where each judged guess is accepted with this probability. */
function expected(alpha: number, length: number) {
  return Array.from({ length: length + 1 }, (_, power) => alpha ** power).reduce((sum, part) => sum + part, 0);
}

/** The α at which E(γ) is so many steps; 0 where every α pays. */
function breakEven(steps: number, length: number) {
  let [low, high] = [0, 1];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (expected(middle, length) < steps) low = middle;
    else high = middle;
  }
  return low;
}

/** `counts`: their upper median */
function usual(counts: number[]) {
  return counts.toSorted((one, other) => one - other)[Math.floor(counts.length / 2)];
}
