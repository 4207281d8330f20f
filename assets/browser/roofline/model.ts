// What a pass over several tokens of several texts takes at least, from published peak figures: the roofline model. Pure:
// no element. Every time is modelled; real passes reach less than the peak figures.
//
// A pass does two kinds of work, one after the other in each layer: the matrices, whose weights it fetches once for all
// tokens, and attention, which fetches each text's own keys and values once. Each takes the longer of two times: its
// arithmetic at the machine's peak, its bytes at the peak bandwidth. Numbers have two bytes. Left out: links between
// machines, the program's own work, what a pass writes, and what the tokens of a draft read of each other.

import { fixed, grouped, percent, times } from "../shared/numbers.js";
import { breakEven, tokensOfRound } from "../shared/theory.js";
import type { JudgedPayload, ModelShape, PublishedMachine, RooflinePayload, RooflineView, SpeculationPayload } from "../dist/payloads.js";

export type Chosen = RooflineView & SpeculationPayload; // what the controls say
export type Work = { bytes: number, intensity: number, computing: number, fetching: number, seconds: number }; // intensity: operations a byte; seconds: the longer of both times
export type Pass = { weights: Work, caches: Work, touched: number, seconds: number }; // touched: different experts that a layer needs, on average
export type Round = ReturnType<typeof roundOf>;

const BYTES = 2; // of a number in bfloat16
export const STOPS = {
  batch: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  context: [512, 2048, 8192, 32768, 131072],
  alpha: Array.from({ length: 21 }, (_, i) => i / 20),
  length: Array.from({ length: 10 }, (_, i) => i + 1),
  cost: Array.from({ length: 51 }, (_, i) => i / 100),
}; // of the sliders

/** Weights that a pass uses if each layer needs so many experts. Of the input's embedding it reads only some rows. */
function used({ layers, width, inner, heads, kv_heads, head, vocabulary, experts }: ModelShape, needed: number) {
  const router = experts > 1 ? width * experts : 0;
  return layers * (2 * width * head * (heads + kv_heads) + router + needed * 3 * width * inner) + vocabulary * width;
}

/** All weights, the input's embedding among them. */
export function parameters(shape: ModelShape) {
  return used(shape, shape.experts) + shape.vocabulary * shape.width;
}

/** One pass over `tokens` tokens of each text. Each token takes its experts at random. texts, and tokens of each so far */
export function pass({ machine, shape, batch, context }: { machine: PublishedMachine, shape: ModelShape, batch: number, context: number }, tokens: number): Pass {
  const work = (flops: number, bytes: number) => {
    const [computing, fetching] = [flops / (machine.teraflops * 1e12), bytes / (machine.terabytes * 1e12)];
    return { bytes, intensity: flops / bytes, computing, fetching, seconds: Math.max(fetching, computing) };
  };
  const { layers, heads, kv_heads, head, experts, active } = shape;
  const all = batch * tokens;
  const touched = experts * (1 - (1 - active / experts) ** all);
  const weights = work(2 * all * used(shape, active), BYTES * used(shape, touched));
  const caches = work(4 * layers * heads * head * context * all, 2 * layers * kv_heads * head * context * BYTES * batch);
  return { weights, caches, touched, seconds: weights.seconds + caches.seconds };
}

/** A draft and its check, as the controls say it. */
export function roundOf(chosen: Chosen, { machines, models }: Pick<RooflinePayload, "machines" | "models">) {
  const machine = machines.find(({ short }) => short === chosen.machine);
  const shape = models.find(({ name }) => name === chosen.model);
  if (!machine || !shape) throw new Error(`There is no ${chosen.machine} or ${chosen.model}`);
  const [setting, { alpha, length }] = [{ ...chosen, machine, shape }, chosen];
  const [plain, check] = [pass(setting, 1), pass(setting, length + 1)];
  const memory = parameters(shape) * BYTES + plain.caches.bytes; // all weights, and the keys and values of every text
  const growth = check.seconds / plain.seconds; // v(γ + 1)
  const [steps, written] = [length * chosen.cost + growth, tokensOfRound(alpha, length)]; // γc + v(γ + 1), in plain passes
  const corner = machine.teraflops / machine.terabytes; // operations a byte at which both times are equal
  return { ...setting, corner, plain, check, memory, growth, steps, written, speedup: written / steps, needed: breakEven(steps, length) };
}

// ---- what is said of a round: its figures as they are written, in the sentences that the server sends

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
