// What a pass over several tokens of several texts takes at least, from published peak figures: the roofline model. Pure:
// no element. Every time is modelled; real passes reach less than the peak figures.
//
// A pass does two kinds of work, one after the other in each layer: the matrices, whose weights it fetches once for all
// tokens, and attention, which fetches each text's own keys and values once. Each takes the longer of two times: its
// arithmetic at the machine's peak, its bytes at the peak bandwidth. Numbers have two bytes. Left out: links between
// machines, the program's own work, what a pass writes, and what the tokens of a draft read of each other.

import { breakEven, tokensOfRound } from "../shared/theory.js";
import type { PublishedMachine, RooflinePayload, ModelShape, RooflineView, SpeculationPayload } from "../dist/payloads.js";

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

