/**
 * From logits to a choice: the most probable token, or a draw after temperature, top-k and top-p, in that order.
 * The same as `specviz/decoding/sampler.py`.
 */

/** @typedef {import("./random.js").Random} Random */
/** @typedef {Float32Array | Float64Array} Row of the vocabulary */
/** @import { DecodeSettings } from "../shared/payloads.js" */
/** @typedef {Greedy | Sampling} Sampler how tokens are chosen; the draft and the target of a run share it */

/** Takes the most probable token. Scores are the logits; a trace records their softmax at temperature 1. */
export class Greedy {
  /** @param {Row[]} logits */
  scores(logits) {
    return logits;
  }

  /**
   * The most probable token; of equal ones, the first.
   * @param {Row} scores
   */
  choose(scores) {
    return mostProbable(scores);
  }

  /** @param {Row[]} scores */
  probabilities(scores) {
    return scores.map(softmax);
  }
}

/** Draws from the distribution left after temperature, then top-k, then top-p. Scores are its probabilities. */
export class Sampling {
  /**
   * @param {DecodeSettings} settings
   * @param {Random} random
   */
  constructor(settings, random) {
    this._settings = settings;
    this._random = random;
  }

  /**
   * Probabilities after temperature, top-k and top-p, each row summing to 1.
   * @param {Row[]} logits
   * @returns {Row[]}
   */
  scores(logits) {
    const { temperature, top_k, top_p } = this._settings;
    return logits.map((row) => {
      const warped = new Float64Array(row).map((logit) => logit / temperature);
      if (top_k !== null) onlyTopK(warped, top_k);
      if (top_p !== null && top_p < 1) onlyTopP(warped, top_p);
      return softmax(warped);
    });
  }

  /** @param {Row} scores */
  choose(scores) {
    return draw(scores, this._random);
  }

  /** @param {Row[]} scores */
  probabilities(scores) {
    return scores;
  }
}

/**
 * @param {DecodeSettings} settings
 * @param {Random} random
 * @returns {Sampler}
 */
export function makeSampler(settings, random) {
  return settings.temperature === 0 ? new Greedy() : new Sampling(settings, random);
}

/** @param {Row} row */
export function mostProbable(row) {
  let best = 0;
  for (let id = 1; id < row.length; id += 1) if (row[id] > row[best]) best = id;
  return best;
}

/** @param {Row} logits */
export function softmax(logits) {
  const highest = logits[mostProbable(logits)];
  const shares = new Float64Array(logits.length);
  let total = 0;
  for (let id = 0; id < logits.length; id += 1) total += shares[id] = Math.exp(logits[id] - highest);
  for (let id = 0; id < logits.length; id += 1) shares[id] /= total;
  return shares;
}

/**
 * A token id from one row of probabilities.
 * @param {Row} probabilities
 * @param {Random} random
 */
export function draw(probabilities, random) {
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

/**
 * Leave only the `count` largest logits (Fan et al. 2018); others become -Infinity.
 * @param {Float64Array} logits
 * @param {number} count
 */
export function onlyTopK(logits, count) {
  const least = logits.toSorted()[Math.max(logits.length - count, 0)];
  for (let id = 0; id < logits.length; id += 1) if (logits[id] < least) logits[id] = -Infinity;
}

/**
 * Leave only the most probable tokens that together reach `share` (Holtzman et al. 2020).
 * @param {Float64Array} logits
 * @param {number} share
 */
export function onlyTopP(logits, share) {
  const probabilities = softmax(logits);
  const order = Uint32Array.from(logits.keys()).sort((a, b) => logits[a] - logits[b]);
  let reached = 0;
  for (const id of order.subarray(0, -1)) { // one token is always left
    reached += probabilities[id];
    if (reached > 1 - share) return;
    logits[id] = -Infinity;
  }
}
