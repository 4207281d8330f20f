// What a pass over several tokens of several texts takes at least, from published peak figures: the roofline model. Pure:
// no element. Every time is modelled; real passes reach less than the peak figures.
//
// A pass does two kinds of work, one after the other in each layer: the matrices, whose weights it fetches once for all
// tokens, and attention, which fetches each text's own keys and values once. Each takes the longer of two times: its
// arithmetic at the machine's peak, its bytes at the peak bandwidth. Numbers have two bytes. Left out: links between
// machines, the program's own work, what a pass writes, and what the tokens of a draft read of each other.

/** @import { PublishedMachine, Shape } from "../shared/payloads.js" */

/** @typedef {{ machine: PublishedMachine, shape: Shape, batch: number, context: number }} Setting texts, and tokens of each so far */
/** @typedef {{ alpha: number, length: number, cost: number }} Speculation acceptance of a judged guess, tokens, cost of a guess in plain passes */
/** @typedef {{ flops: number, bytes: number, computing: number, fetching: number, seconds: number }} Work seconds: the longer of both times */
/** @typedef {{ weights: Work, caches: Work, touched: number, seconds: number }} Pass touched: different experts that a layer needs, on average */

const BYTES = 2; // of a number in bfloat16
const HALVINGS = 60; // enough for the last bit of a number

/**
 * How many different experts of a layer `tokens` tokens need, on average: each takes `active` of `experts` at random.
 * @param {number} experts
 * @param {number} active
 * @param {number} tokens
 */
export function expertsTouched(experts, active, tokens) {
  return experts * (1 - (1 - active / experts) ** tokens);
}

/**
 * Weights that a pass uses if each layer needs so many experts. Of the input's embedding it reads only some rows.
 * @param {Shape} shape
 * @param {number} needed
 */
function used({ layers, width, inner, heads, kv_heads, head, vocabulary, experts }, needed) {
  const router = experts > 1 ? width * experts : 0;
  return layers * (2 * width * head * (heads + kv_heads) + router + needed * 3 * width * inner) + vocabulary * width;
}

/**
 * All weights, the input's embedding among them.
 * @param {Shape} shape
 */
export function parameters(shape) {
  return used(shape, shape.experts) + shape.vocabulary * shape.width;
}

/**
 * Bytes of keys and values that one text has in the cache.
 * @param {Shape} shape
 * @param {number} context
 */
export function cacheOfText({ layers, kv_heads, head }, context) {
  return 2 * layers * kv_heads * head * context * BYTES;
}

/**
 * Bytes that must be in memory: all weights, and the keys and values of every text.
 * @param {Setting} setting
 */
export function memoryNeeded({ shape, batch, context }) {
  return parameters(shape) * BYTES + batch * cacheOfText(shape, context);
}

/**
 * One pass over `tokens` tokens of each text.
 * @param {Setting} setting
 * @param {number} tokens
 * @returns {Pass}
 */
export function pass({ machine, shape, batch, context }, tokens) {
  const all = batch * tokens;
  const touched = expertsTouched(shape.experts, shape.active, all);
  const weights = work(machine, 2 * all * used(shape, shape.active), BYTES * used(shape, touched));
  const scores = 4 * shape.layers * shape.heads * shape.head * context;
  const caches = work(machine, all * scores, batch * cacheOfText(shape, context));
  return { weights, caches, touched, seconds: weights.seconds + caches.seconds };
}

/**
 * @param {PublishedMachine} machine
 * @param {number} flops
 * @param {number} bytes
 * @returns {Work}
 */
function work({ teraflops, terabytes }, flops, bytes) {
  const [computing, fetching] = [flops / (teraflops * 1e12), bytes / (terabytes * 1e12)];
  return { flops, bytes, computing, fetching, seconds: Math.max(fetching, computing) };
}

/**
 * v(k): a pass over `tokens` tokens of each text, in passes over one token of each.
 * @param {Setting} setting
 * @param {number} tokens
 */
export function checkCost(setting, tokens) {
  return pass(setting, tokens).seconds / pass(setting, 1).seconds;
}

/**
 * Tokens that a round writes on average, 1 + α + … + α^γ: Leviathan et al. 2023, Eq. 1.
 * @param {number} alpha
 * @param {number} length
 */
export function tokensOfRound(alpha, length) {
  return Array.from({ length: length + 1 }, (_, i) => alpha ** i).reduce((sum, share) => sum + share);
}

/**
 * A round in plain passes: γc + v(γ + 1).
 * @param {Setting} setting
 * @param {Speculation} speculation
 */
export function roundCost(setting, { length, cost }) {
  return length * cost + checkCost(setting, length + 1);
}

/**
 * Tokens of a round over its cost.
 * @param {Setting} setting
 * @param {Speculation} speculation
 */
export function speedup(setting, speculation) {
  return tokensOfRound(speculation.alpha, speculation.length) / roundCost(setting, speculation);
}

/**
 * The acceptance above which speculation gains; null where no acceptance below 1 is enough.
 * @param {Setting} setting
 * @param {Speculation} speculation
 */
export function breakEven(setting, speculation) {
  const cost = roundCost(setting, speculation);
  if (cost >= speculation.length + 1) return null;
  let [low, high] = [0, 1];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (tokensOfRound(middle, speculation.length) < cost) low = middle;
    else high = middle;
  }
  return cost <= 1 ? 0 : high;
}

/**
 * Operations a byte at which both times are equal: the corner of the roof.
 * @param {PublishedMachine} machine
 */
export function corner({ teraflops, terabytes }) {
  return teraflops / terabytes;
}
