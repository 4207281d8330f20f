/**
 * From logits to a choice: the most probable token, or a draw after temperature, top-k and top-p, in that order.
 * The same as `specviz/decoding/sampler.py`.
 */

export type Random = import("./random.js").Random;
export type Row = Float32Array | Float64Array; // of the vocabulary
import type { DecodeSettings } from "../dist/payloads.js";
export type Sampler = Greedy | Sampling; // how tokens are chosen; the draft and the target of a run share it

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
