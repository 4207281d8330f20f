/** What came out of a run, in words: what was counted first, then what was timed, then what is modelled. */

import { counted } from "../shared/numbers.js";
import { running } from "../trace/running.js";
import { reasonOf } from "./reason.js";
import { clockIsCoarse, costsOf, judged, timedOf, writing } from "./timing.js";

/** @import { Result, Trace } from "../shared/payloads.js" */
/** @import { Timed } from "./timing.js" */

/** @typedef {{ pair: string, machine: string, cost: number, source: string }} Published what a draft step costs there, in passes of its target */

const COARSE_CLOCK = "The browser’s clock is coarse on purpose";
const LONGEST_MACHINE = 40; // characters
const UNTIMED = { speedup: null, interval: null, where: "" };
const AGAIN = "Press Run again to time it again.";

/**
 * In a sentence, as `machine_in_words` of specviz/core/names.py.
 * @param {string} machine
 */
export function machineInWords(machine) {
  const name = firstWords(machine.split(",")[0].replace(/^[Aa]n? |\((R|TM)\)|\b(CPU|Processor)\b/g, ""), LONGEST_MACHINE);
  return name ? `${/^[AEIOU]/i.test(name) ? "an" : "a"} ${name}` : "a machine that is not named";
}

/** @param {Trace} trace */
export function countsOf(trace) {
  return { rounds: trace.rounds.length, drafted: 0, accepted: 0, judged: 0, emitted: 0, acceptance: null, ...running(trace).at(-1)?.after };
}

/**
 * The result at the top of the stage.
 * @param {Trace} trace
 * @param {boolean} here decoded by this page; else it is a record
 * @returns {Result}
 */
export function resultOf(trace, here) {
  const { rounds, emitted } = countsOf(trace);
  const passes = `${counted(emitted, "token")} in ${counted(rounds, "pass", "passes")} of the target instead of ${emitted}`;
  const timed = timedOf(trace);
  if (!timed) return { says: `${passes}.`, reason: `No verdict: ${whyNoVerdict(trace)}.`, ...UNTIMED, trusted: true };
  if (!timed.trusted) return { says: `${passes}; busy machine, its time is not trusted`, reason: `What was counted is exact. ${AGAIN}`, ...UNTIMED, trusted: false };
  const ending = { "too close to call": ", too close to call", hurts: ", so slower", helps: "", "about even": "" }[judged(timed.speedup, timed.interval)];
  const says = `${timed.speedup.toFixed(2)} times as fast${ending}: ${passes}`;
  const where = here ? "measured in this browser" : `recorded on ${machineInWords(trace.recorded_on.machine)}`;
  const reason = `${reasonOf(trace, timed)} One run, ${where}${intervalOf(timed, "; ")}.`.trim();
  return { says, reason, trusted: true, where, speedup: Number(timed.speedup.toFixed(2)), interval: timed.interval };
}

/** @param {Trace} trace */
function whyNoVerdict(trace) {
  if (!countsOf(trace).drafted) return "nothing was drafted, so there is nothing to compare";
  return trace.autoregressive ? "this run has no times" : "this run has no run of the target alone beside it";
}

/**
 * @param {Timed} timed
 * @param {string} before
 */
function intervalOf({ interval }, before) {
  return interval ? `${before}95 % interval ${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}` : "";
}

/** @param {Trace} trace */
export function countedInWords(trace) {
  const { rounds, drafted, accepted, judged, emitted } = countsOf(trace);
  if (!drafted) return "Counted, exact: nothing was drafted.";
  const perCall = (emitted / rounds).toFixed(2);
  return `Counted, exact: ${accepted} of ${drafted} guesses are accepted (${judged} were judged); ${perCall} tokens per target call.`;
}

/**
 * Whether both decoders wrote the same text, as `compare_texts` of specviz/core/verdict.py.
 * @param {Trace} trace
 */
export function comparedInWords({ settings, drafter, output, autoregressive }) {
  if (!autoregressive || !drafter) return "";
  if (settings.temperature) return `Texts: at temperature ${settings.temperature} these are two different draws from the same distribution, so they cannot be compared word by word.`;
  const [written, plain] = [output.token_ids, autoregressive.token_ids];
  const shorter = Math.min(written.length, plain.length);
  const at = written.findIndex((id, place) => place < shorter && id !== plain[place]);
  if (at >= 0) return `Texts: they differ first at token ${at + 1}. Only rounding between two tokens of almost equal probability should do that.`;
  if (written.length !== plain.length) return `Texts: the same for ${shorter} tokens, then only one of the two continues.`;
  return `Texts, identical: the target alone wrote the same ${written.length} ${written.length === 1 ? "token" : "tokens"}.`;
}

/** @param {Trace} trace */
export function timedInWords(trace) {
  const [timed, costs] = [timedOf(trace), costsOf(trace)];
  if (!timed || !costs) return `Timed: ${clockIsCoarse(trace) ? `${COARSE_CLOCK}, and a step takes less than it counts` : whyNoVerdict(trace)}.`;
  const [tokens, check] = /** @type {[number, number]} */ ([...costs.check].at(-1));
  const where = `Timed, one run, on ${trace.recorded_on.machine}:`;
  if (!timed.trusted) return `${where} the machine was too busy to tell.`;
  const [checked, drafted] = [check, costs.draft].map(writing(trace));
  const why = clockIsCoarse(trace) ? ` ${COARSE_CLOCK}, so each single time is rough.` : "";
  return `${where} ${timed.speedup.toFixed(2)}×${intervalOf(timed, ", ")}. A check of ${tokens} tokens takes ${checked} times as long as one token, v(${tokens}) = ${checked}; a guess takes ${drafted}.${why}`;
}

/**
 * @param {Trace} trace
 * @param {Published[]} published
 */
export function modelledInWords(trace, published) {
  const { rounds, drafted, emitted } = countsOf(trace);
  if (!drafted) return "";
  const there = published.map(({ pair, machine, cost, source }) => {
    const speedup = emitted / (rounds + cost * drafted);
    return `${speedup.toFixed(2)}× at the costs of ${pair} on ${machine} (${source})`;
  });
  return `Modelled, not measured: with the same counts, where a check costs as much as one token, it would be ${there.join("; ")}.`;
}

/**
 * The beginning of a text on one line.
 * @param {string} text
 * @param {number} most characters
 */
export function firstWords(text, most) {
  const characters = [...text.split(/\s+/).filter(Boolean).join(" ")];
  return `${characters.slice(0, most).join("")}${characters.length > most ? "…" : ""}`;
}
