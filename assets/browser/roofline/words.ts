// What is said of a round: its figures as they are written, in the sentences that the server sends. Pure.

import { fixed, grouped } from "../shared/localize.js";
import { percent, times } from "../shared/numbers.js";
import type { JudgedPayload, RooflinePayload } from "../dist/payloads.js";
import type { Round } from "./model.js";

const FREE = 1.05; // a check that takes less costs nearly nothing more
const MORE_EXPERTS = 1.2; // from here a check fetches clearly more weights than a plain pass
const MOSTLY = 0.5; // of a pass

/** `seconds`: as milliseconds, to two digits that count: 0.31 ms, 3.1 ms, 31 ms */
export function inMs(seconds: number) {
  const ms = 1000 * seconds;
  return `${ms < 10 ? fixed(ms, ms < 1 ? 2 : 1) : grouped(Math.round(ms))} ms`;
}

/** A slider's value in words. */
export function valueOf(name: string, value: number, said: RooflinePayload["labels"]) {
  if (name === "alpha") return percent(value);
  if (name === "cost") return `${fixed(value, 2)} ${said.steps}`;
  const [one, many] = name === "batch" ? [said.text, said.texts] : [said.token, said.tokens];
  return `${grouped(Math.round(value))} ${value === 1 ? one : many}`;
}

/** A text with its figures. */
export function filled(text: string | undefined = "", figures: Record<string, string> | undefined = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => figures[name] ?? whole).replaceAll(" %", "\u00a0%");
}

/** Every figure that a sentence or an answer may name. */
export function figuresOf({ batch, context, shape, machine, length, plain, check, memory, growth, steps, written, speedup, needed }: Round): Record<string, string> {
  return {
    batch: String(batch),
    context: grouped(Math.round(context)),
    model: shape.name,
    tokens: String(length + 1),
    all: grouped(batch * (length + 1)),
    check: fixed(growth, 2),
    round: fixed(steps, 2),
    written: fixed(written, 2),
    speedup: fixed(speedup, 2),
    times: times(speedup),
    needed: percent(needed),
    memory: `${grouped(Math.round(memory / 1e9))} GB`,
    own: `${machine.memory} GB`,
    experts: fixed(plain.touched, 1),
    more_experts: fixed(check.touched, 1),
    share: percent(plain.caches.seconds / plain.seconds),
    alone: inMs(plain.seconds),
    together: inMs(plain.seconds / speedup),
    rate: grouped(Math.round(batch / plain.seconds)),
    faster: grouped(Math.round((batch * speedup) / plain.seconds)),
  };
}

/** The word of a speedup that no clock measured: its size decides. */
export function wordOf(ratio: number, { neutral }: JudgedPayload) {
  return ratio > neutral ? "helps" : ratio < 1 / neutral ? "hurts" : "even";
}

/** The paragraphs above the picture, by their class: the verdict, what a round costs and brings, why a check is cheap or not. */
export function outcomeOf(round: Round, { sentences, judged }: Pick<RooflinePayload, "sentences" | "judged">) {
  const { plain, check, machine, memory, speedup, needed } = round;
  const free = check.seconds < FREE * plain.seconds;
  const reasons = [
    free && sentences.free,
    check.touched > MORE_EXPERTS * plain.touched && sentences.experts,
    !free && check.weights.computing > check.weights.fetching && sentences.busy,
    plain.caches.seconds > MOSTLY * plain.seconds && sentences.caches,
  ];
  const gains = needed === null ? sentences.never : needed === 0 ? sentences.always : sentences.above;
  const figures = { ...figuresOf(round), word: judged[wordOf(speedup, judged)] };
  return {
    headline: filled(sentences.headline, figures),
    says: filled(`${sentences.verdict} ${gains}`, figures),
    why: filled(reasons.filter(Boolean).join(" "), figures),
    speeds: filled(sentences.speeds, figures),
    memory: memory > machine.memory * 1e9 ? filled(sentences.memory, figures) : "",
  };
}
