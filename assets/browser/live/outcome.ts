/** What came out of a run, in words: what was counted first, then what was timed, then what is modelled. */

import { running } from "../trace/running.js";
import { fixed } from "../shared/localize.js";
import { reasonOf } from "./reason.js";
import { clockIsCoarse, costsOf, judged, timedOf, writing, type Timed } from "./timing.js";
import { say } from "./words.js";
import type { Result, Trace } from "../dist/payloads.js";

export type Published = { pair: string, machine: string, cost: number, source: string }; // what a draft step costs there, in passes of its target

const LONGEST_MACHINE = 40; // characters
const UNTIMED = { speedup: null, interval: null, where: "" };
const SPEEDS = { "too close to call": "untold", hurts: "slower", helps: "faster", "about even": "faster" } as const;

/** In a sentence, as `machine_in_words` of specviz/core/names.py. */
export function machineInWords(machine: string) {
  const name = firstWords(machine.split(",")[0].replace(/^[Aa]n? |\((R|TM)\)|\b(CPU|Processor)\b/g, ""), LONGEST_MACHINE);
  if (!name) return say("no_machine");
  return say(/^[AEIOU]/i.test(name) ? "an_machine" : "a_machine", { machine: name });
}

export function countsOf(trace: Trace) {
  return { rounds: trace.rounds.length, drafted: 0, accepted: 0, judged: 0, emitted: 0, acceptance: null, ...running(trace).at(-1)?.after };
}

/** The result at the top of the stage. `here`: decoded by this page; else it is a record */
export function resultOf(trace: Trace, here: boolean): Omit<Result, "same"> {
  const { rounds, emitted } = countsOf(trace);
  const passes = say("passes", { tokens: emitted, rounds });
  const timed = timedOf(trace);
  if (!timed) return { says: say("untimed", { passes }), reason: say("no_verdict", { why: whyNoVerdict(trace) }), ...UNTIMED, trusted: true };
  if (!timed.trusted) return { says: say("busy", { passes }), reason: say("busy_counts"), ...UNTIMED, trusted: false };
  const says = say(SPEEDS[judged(timed.speedup, timed.interval)], { speedup: fixed(timed.speedup, 2), where: "", passes });
  const where = here ? say("in_this_browser") : say("recorded_on", { machine: machineInWords(trace.recorded_on.machine) });
  const reason = say(timed.interval ? "timed_between" : "timed", { reason: reasonOf(trace, timed), where, ...ends(timed) }).trim();
  return { says, reason, trusted: true, where, speedup: Number(timed.speedup.toFixed(2)), interval: timed.interval };
}

function whyNoVerdict(trace: Trace) {
  if (!countsOf(trace).drafted) return say("nothing_drafted");
  return say(trace.autoregressive ? "no_times" : "not_alone");
}

function ends({ interval }: Timed) {
  const [low, high] = (interval ?? []).map((end) => fixed(end, 2));
  return { low, high };
}

export function countedInWords(trace: Trace) {
  const { rounds, drafted, accepted, judged, emitted } = countsOf(trace);
  if (!drafted) return say("counted_none");
  return say("counted", { accepted, drafted, judged, per_call: fixed(emitted / rounds, 2) });
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

export function timedInWords(trace: Trace) {
  const [timed, costs] = [timedOf(trace), costsOf(trace)];
  const coarse = clockIsCoarse(trace);
  if (!timed || !costs) return coarse ? say("timed_too_coarse") : say("timed_nothing", { why: whyNoVerdict(trace) });
  const [tokens, check] = [...costs.check].at(-1) as [number, number];
  const { machine } = trace.recorded_on;
  if (!timed.trusted) return say("timed_busy", { machine });
  const [checked, guess] = [check, costs.draft].map(writing(trace));
  const alone = `${fixed(timed.speedup, 2)}×`;
  const speedup = timed.interval ? say("timed_interval", { speedup: alone, ...ends(timed) }) : alone;
  const said = say("times", { machine, speedup, tokens, check: checked, guess });
  return coarse ? `${said} ${say("timed_coarse")}` : said;
}

export function modelledInWords(trace: Trace, published: Published[]) {
  const { rounds, drafted, emitted } = countsOf(trace);
  if (!drafted) return "";
  const there = published.map(({ pair, machine, cost, source }) => {
    const speedup = fixed(emitted / (rounds + cost * drafted), 2);
    return say("modelled_there", { speedup, pair, machine, source });
  });
  return say("modelled", { speedups: there.join("; ") });
}

/** The beginning of a text on one line. `most`: characters */
export function firstWords(text: string, most: number) {
  const characters = [...text.split(/\s+/).filter(Boolean).join(" ")];
  return `${characters.slice(0, most).join("")}${characters.length > most ? "…" : ""}`;
}
