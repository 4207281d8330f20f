/**
 * From logits to a choice: the most probable token, or a draw after temperature, top-k and top-p, in that order.
 * The same as `specviz/decoding/sampler.py`.
 */

import type { DecodeSettings } from "../dist/payloads.js";

export type Row = Float32Array | Float64Array; // of the vocabulary
export type Sampler = Greedy | Sampling; // how tokens are chosen; the draft and the target of a run share it

const GOLDEN = 0x9e3779b9; // 2^32 divided by the golden ratio
const WARM_UP = 12; // rounds in which a small seed reaches all bits

/**
 * Random numbers that a seed gives again. They are not those of PyTorch, so a sampled text differs from the server's. sfc32 of
 * PractRand (Chris Doty-Humphrey, 2010; public domain): 128 bits of state, period at least 2^32.
 */
export class Random {
  _state;

  constructor(seed: number) {
    this._state = new Uint32Array([seed, Math.floor(seed / 2 ** 32), GOLDEN, 1]);
    for (let i = 0; i < WARM_UP; i += 1) this._bits();
  }

  /** At least 0 and below 1, with 53 bits. */
  next() {
    return ((this._bits() >>> 5) * 2 ** 26 + (this._bits() >>> 6)) / 2 ** 53;
  }

  _bits() {
    const state = this._state;
    const [a, b, c, count] = state;
    const bits = (a + b + count) >>> 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + bits;
    state[3] = count + 1;
    return bits;
  }
}

/** Takes the most probable token. Scores are the logits; a trace records their softmax at temperature 1. */
export class Greedy {
  scores(logits: Row[]) {
    return logits;
  }

  /** The most probable token; of equal ones, the first. */
  choose(scores: Row) {
    return mostProbable(scores);
  }

  probabilities(scores: Row[]) {
    return scores.map(softmax);
  }
}

/** Draws from the distribution left after temperature, then top-k, then top-p. Scores are its probabilities. */
export class Sampling {
  constructor(public settings: DecodeSettings, public random: Random) {}

  /** Probabilities after temperature, top-k and top-p, each row summing to 1. */
  scores(logits: Row[]): Row[] {
    const { temperature, top_k, top_p } = this.settings;
    return logits.map((row) => {
      const warped = new Float64Array(row).map((logit) => logit / temperature);
      if (top_k !== null) onlyTopK(warped, top_k);
      if (top_p !== null && top_p < 1) onlyTopP(warped, top_p);
      return softmax(warped);
    });
  }

  choose(scores: Row) {
    return draw(scores, this.random);
  }

  probabilities(scores: Row[]) {
    return scores;
  }
}

export function makeSampler(settings: DecodeSettings, random: Random): Sampler {
  return settings.temperature === 0 ? new Greedy() : new Sampling(settings, random);
}

export function mostProbable(row: Row) {
  let best = 0;
  for (let id = 1; id < row.length; id += 1) if (row[id] > row[best]) best = id;
  return best;
}

export function softmax(logits: Row) {
  const highest = logits[mostProbable(logits)];
  const shares = new Float64Array(logits.length);
  let total = 0;
  for (let id = 0; id < logits.length; id += 1) total += shares[id] = Math.exp(logits[id] - highest);
  for (let id = 0; id < logits.length; id += 1) shares[id] /= total;
  return shares;
}

/** A token id from one row of probabilities. */
export function draw(probabilities: Row, random: Random) {
  let left = random.next();
  let last = 0; // of the possible tokens: by rounding, their sum can be a little below 1
  for (let id = 0; id < probabilities.length; id += 1) {
    if (probabilities[id] === 0) continue;
    last = id;
    left -= probabilities[id];
    if (left < 0) return id;
  }
  return last;
}

/** Leave only the `count` largest logits (Fan et al. 2018); others become -Infinity. */
export function onlyTopK(logits: Float64Array, count: number) {
  const least = logits.toSorted()[Math.max(logits.length - count, 0)];
  for (let id = 0; id < logits.length; id += 1) if (logits[id] < least) logits[id] = -Infinity;
}

/** Leave only the most probable tokens that together reach `share` (Holtzman et al. 2020). */
export function onlyTopP(logits: Float64Array, share: number) {
  const probabilities = softmax(logits);
  const order = Uint32Array.from(logits.keys()).sort((a, b) => logits[a] - logits[b]);
  let reached = 0;
  for (const id of order.subarray(0, -1)) { // one token is always left
    reached += probabilities[id];
    if (reached > 1 - share) return;
    logits[id] = -Infinity;
  }
}
