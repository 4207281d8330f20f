// What came out of a run: its costs, its speedup with an interval, whether the machine was too busy to tell, and why it was as fast
// as it was. A server says this of its runs.

import { fixed, percent } from "../shared/numbers.js";
import { bisected, breakEven, tokensOfRound, verificationSteps } from "../shared/theory.js";
import { countsOf, depthOf, emits, median, running, secondsOf } from "../trace/rounds.js";
import { say } from "./words.js";
import type { ResultPayload, Trace, Verdict } from "../dist/payloads.js";

// ---- the times of a run

const FEWEST = 5; // blocks from which an interval is computed
const COARSE = 0.5; // milliseconds between two times that the clock tells apart; a step of this page takes 1 or 2
const WIDE = 1.5; // high / low of an interval: wider ones come from a busy machine
const ONE_RUN = 1.05; // a run that is timed again differs by this much more than its own rounds' times say
const NEUTRAL = 1.05; // nobody would notice a speedup from 1 / 1.05 to 1.05

type Costs = { step: number, draft: number, check: Map<number, number>, overhead: number }; // in plain steps, but `step` in seconds
type Interval = [number, number];
export type Timed = { speedup: number, interval: Interval | null, trusted: boolean }; // interval: 95 %, null where the decoders took no turns

/**
 * The costs that one trace measured, as `costs` of specviz/core/metrics.py; null without a drafted token or times. A
 * browser's clock may count whole milliseconds. Then a median jumps, and only the mean of all times is right.
 */
export function costsOf(trace: Trace): Costs | null {
  const { rounds, autoregressive } = trace;
  const typical = clockIsCoarse(trace) ? mean : median;
  const drafting = rounds.filter(({ drafted }) => drafted.length);
  const step = typical(autoregressive?.seconds_per_token ?? []);
  if (!drafting.length || !step || rounds.some((round) => secondsOf(round) === null)) return null;
  const sizes = [...new Set(rounds.map(({ drafted }) => drafted.length + 1))].sort((one, other) => one - other);
  const seconds = (tokens: number) => rounds.filter(({ drafted }) => drafted.length + 1 === tokens).map((round) => round.verify_seconds ?? 0);
  const repeated = sizes.filter((tokens) => seconds(tokens).length > 1); // the last round is short, and timed once
  return {
    step,
    draft: typical(drafting.map((round) => (round.draft_seconds ?? 0) / depthOf(round))) / step,
    check: new Map((repeated.length ? repeated : sizes).map((tokens) => [tokens, typical(seconds(tokens)) / step])),
    overhead: typical(rounds.map((round) => round.overhead_seconds ?? 0)) / step,
  };
}

export function modelledSpeedup({ rounds }: Trace, costs: Costs) {
  return sum(rounds, emits) / sum(rounds, ({ drafted }) => roundSteps(costs, drafted.length));
}

/** The time of a round with so many guesses, in plain steps. */
export function roundSteps({ draft, check, overhead }: Costs, drafted: number) {
  return drafted * draft + verificationSteps(check, drafted + 1) + overhead;
}

/**
 * The measured speedup with its 95 % interval, as `speedup_interval` of specviz/core/intervals.py, widened by as much as one
 * run differs from the next; null where there is no verdict. There is no interval of a few rounds, or where one decoder ran
 * after the other, as in older records.
 */
export function timedOf(trace: Trace): Timed | null {
  const { speedup, drafted, emitted } = running(trace).at(-1)?.after ?? {};
  if (!speedup || !drafted || !emitted) return null;
  const possible = speedup <= (ONE_RUN * emitted) / trace.rounds.length; // a round takes at least as long as a plain step
  const alone = trace.autoregressive?.seconds_per_token ?? [];
  let end = 0;
  const blocks = trace.rounds.map((round) => { // with the plain steps beside it, while both decoders wrote
    const tokens = emits(round);
    end += tokens;
    return { end, drafted: round.drafted.length, tokens, round: secondsOf(round) ?? 0, plain: sum(alone.slice(end - tokens, end), Number) };
  }).filter((block) => block.end <= alone.length);
  const [plain, rounds, tokens] = [sum(blocks, (block) => block.plain), sum(blocks, ({ round }) => round), sum(blocks, (block) => block.tokens)];
  if (blocks.length < FEWEST || !trace.autoregressive?.alternating || !plain || !rounds) return { speedup, interval: null, trusted: possible };
  const middle = mean(blocks.map((block) => block.drafted));
  const own = rounds / blocks.length;
  const apart = sum(blocks, (block) => (block.drafted - middle) ** 2);
  const slope = apart && sum(blocks, (block) => (block.drafted - middle) * (block.round - own)) / apart; // of the rounds' times over their drafted tokens, by least squares
  const moves = blocks.map((block) => {
    const beside = (block.plain - (block.tokens * plain) / tokens) / plain;
    return beside - (block.round - own - slope * (block.drafted - middle)) / rounds;
  });
  const freedom = blocks.length - (apart ? 2 : 1);
  const half = studentT(freedom) * Math.sqrt((blocks.length / freedom) * sum(moves, (move) => move ** 2));
  const timing = [speedup * Math.exp(-half), speedup * Math.exp(half)];
  return { speedup, interval: [timing[0] / ONE_RUN, timing[1] * ONE_RUN], trusted: possible && timing[1] / timing[0] <= WIDE };
}

/** Student's t for 97.5 %, as `student_t` of specviz/core/intervals.py. */
export function studentT(freedom: number) {
  return bisected(100, (t) => shareBelow(t, freedom) >= 0.975);
}

/** The probability below t, from 0 on: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function shareBelow(t: number, freedom: number) {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const odd = freedom % 2;
  let [term, total] = [odd ? Math.cos(angle) : 1, 0];
  for (let power = odd; power < freedom - 1; power += 2) {
    total += term;
    term *= (Math.cos(angle) ** 2 * (power + 1)) / (power + 2);
  }
  return (1 + (odd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total)) / 2;
}

/** The word for a speedup, as `judge` of specviz/core/judge.py: by its interval, without one by its size. */
export function judged(speedup: number, interval: Timed["interval"]): "helps" | "about even" | "too close to call" | "hurts" {
  if (!interval) return speedup > NEUTRAL ? "helps" : speedup < 1 / NEUTRAL ? "hurts" : "about even";
  const [low, high] = interval;
  return low > 1 ? "helps" : high < 1 ? "hurts" : "too close to call"; // one run's interval is too wide for "about even"
}

function sum<Each>(rows: Each[], of: (row: Each) => number) {
  return rows.reduce((total, row) => total + of(row), 0);
}

function mean(values: number[]) {
  return values.length ? sum(values, Number) / values.length : 0;
}

/** Whether the browser's clock is coarse, as Firefox and Safari have it so that no page can measure others. */
export function clockIsCoarse({ autoregressive }: Trace) {
  const steps = [...new Set((autoregressive?.seconds_per_token ?? []).map((seconds) => Math.round(1e5 * seconds) / 100))].sort((a, b) => a - b);
  if (steps.length < 2) return steps.length === 1 && Number.isInteger(steps[0]);
  return steps.every((step, i) => !i || step - steps[i - 1] >= COARSE);
}

// ---- why it was as fast as it was

/** What its result needs beside its counts, as `result_data` of specviz/player/data.py. `here`: timed by this page; else it is a record */
export function resultIn(trace: Trace, here: boolean): ResultPayload {
  const timed = timedOf(trace);
  const verdict = timed && { ...timed, word: judged(timed.speedup, timed.interval), basis: timed.interval ? "interval" as const : "one pair" as const, binding: null, ...causeOf(trace, timed) };
  const where = here ? say("in_this_browser") : say("recorded_on", { machine: machineInWords(trace.recorded_on.machine) });
  return { verdict, rough: clockIsCoarse(trace), quiet: null, source: "", where, same: comparedInWords(trace), previous: false };
}

export function causeOf(trace: Trace, timed: Timed): Pick<Verdict, "reason" | "break_even" | "terms"> {
  const costs = costsOf(trace);
  const unsaid = { break_even: null, terms: null };
  if (!costs || trace.settings.tree) return { ...unsaid, reason: "" };
  const { accepted, judged: checked, emitted } = countsOf(trace);
  const alpha = accepted / checked;
  const of_rounds = modelledSpeedup(trace, costs);
  if (!explains(of_rounds, timed)) return { ...unsaid, reason: say("unexplained", { share: percent(alpha) }) };
  const counts = trace.rounds.map(({ drafted }) => drafted.length);
  const lengths = counts.filter(Boolean).sort((one, other) => one - other);
  const length = lengths[Math.floor(lengths.length / 2)];
  const checking = (drafted: number) => verificationSteps(costs.check, drafted + 1);
  const differ = trace.drafter?.kind !== "model" || trace.settings.draft_schedule !== "fixed"; // then the tokens per target call decide
  const counted = differ ? { tokens: emitted / counts.length, drafted: mean(counts), verification: mean(counts.map(checking)), nodes: null } : null;
  const steps = roundSteps(costs, length);
  const refuted = (tokensOfRound(alpha, length) / steps - 1) * (timed.speedup - 1) < 0;
  const { draft: cost_ratio, overhead } = costs;
  const terms = { alpha, draft_length: length, cost_ratio, verification: checking(length), overhead, counted, of_rounds };
  return { reason: "", break_even: refuted ? null : breakEven(steps, length), terms };
}

/** Whether a modelled speedup is in the interval of the measured one, and on the side of 1 where that lies. */
function explains(modelled: number, { speedup, interval }: Timed) {
  if (interval && (modelled < interval[0] || modelled > interval[1])) return false;
  const word = judged(speedup, interval);
  if (word === "helps" || word === "hurts") return word === "helps" ? modelled > 1 : modelled <= 1;
  return interval !== null || judged(modelled, null) === "about even";
}

// ---- in words

export type Published = { pair: string, machine: string, cost: number, source: string }; // what a draft step costs there, in passes of its target

const LONGEST_MACHINE = 40; // characters of it

/** In a sentence, as `machine_in_words` of specviz/core/names.py. */
export function machineInWords(machine: string) {
  const name = firstWords(machine.split(",")[0].replace(/^[Aa]n? |\((R|TM)\)|\b(CPU|Processor)\b/g, ""), LONGEST_MACHINE);
  if (!name) return say("no_machine");
  return say(/^[AEIOU]/i.test(name) ? "an_machine" : "a_machine", { machine: name });
}

/** Whether both decoders wrote the same text, as `compare_texts` of specviz/core/verdict.py. */
export function comparedInWords({ settings, drafter, output, autoregressive }: Trace) {
  if (!autoregressive || !drafter) return "";
  if (settings.temperature) return say("two_draws", { temperature: settings.temperature });
  const [written, plain] = [output.token_ids, autoregressive.token_ids];
  const shorter = Math.min(written.length, plain.length);
  const at = written.findIndex((id, place) => place < shorter && id !== plain[place]);
  if (at >= 0) return say("texts_differ", { number: at + 1 });
  if (written.length !== plain.length) return say("one_longer", { count: shorter });
  return say("identical", { count: written.length });
}

/** Empty where the browser's clock is a fine one. */
export function clockInWords(trace: Trace) {
  if (!clockIsCoarse(trace)) return "";
  return say(timedOf(trace) ? "timed_coarse" : "timed_too_coarse");
}

/** What was counted, and what that would gain where checks are cheap. */
export function modelledInWords(trace: Trace, published: Published[]) {
  const { rounds, drafted, accepted, judged, emitted } = countsOf(trace);
  if (!drafted) return "";
  const there = published.map(({ pair, machine, cost, source }) => {
    const speedup = fixed(emitted / (rounds + cost * drafted), 2);
    return say("modelled_there", { speedup, pair, machine, source });
  });
  return say("modelled", { accepted, drafted, judged, per_call: fixed(emitted / rounds, 2), speedups: there.join("; ") });
}

/** The beginning of a text on one line. `most`: characters */
export function firstWords(text: string, most: number) {
  const characters = [...text.split(/\s+/).filter(Boolean).join(" ")];
  return `${characters.slice(0, most).join("")}${characters.length > most ? "…" : ""}`;
}
