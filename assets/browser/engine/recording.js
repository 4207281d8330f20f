/**
 * Turns the numbers of a round into the plain values of a trace. The time this takes is not part of the round.
 * The same as `specviz/decoding/recording.py`, for chains.
 */

/** @import { Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Status } from "../shared/payloads.js" */
/** @import { Row, Sampler } from "./sampler.js" */
/** @import { Tokenizer } from "./tokenizer.js" */
/** @import { Draft, Verification } from "./verification.js" */

const TOP = 5; // candidates stored from each model's distribution

/** @typedef {{ draft: number, verify: number, overhead: number }} Seconds */

/**
 * What the trace stores of one place: p and q of each token that is named there.
 * @typedef {{ p: Row, q: Row | null, candidates: Candidate[] }} Place
 */

export class Recorder {
  /**
   * @param {Tokenizer} tokenizer
   * @param {Sampler} sampler
   */
  constructor(tokenizer, sampler) {
    this._tokenizer = tokenizer;
    this._sampler = sampler;
  }

  /**
   * One round; `emitted` is what it added to the text, cut after an end-of-text token.
   * @param {number} index
   * @param {Seconds} seconds
   * @param {Draft} draft
   * @param {Row[]} targetScores
   * @param {Verification} verification
   * @param {number[]} emitted
   * @returns {Round}
   */
  round(index, seconds, draft, targetScores, verification, emitted) {
    const ended = emitted.length <= verification.accepted; // an accepted end of text: the target adds no token
    const accepted = ended ? emitted.length : verification.accepted;
    const places = this._places(draft, targetScores, verification);
    const statuses = statusesOf(draft, verification, accepted, ended);
    return {
      index,
      draft_seconds: seconds.draft,
      verify_seconds: seconds.verify,
      overhead_seconds: seconds.overhead,
      drafted: draft.tokenIds.map((id, i) => this._drafted(id, i, statuses[i], places[i], verification)),
      emitted: ended ? NOTHING : this._emitted(draft, verification, places[verification.accepted]),
    };
  }

  /**
   * @param {number} id
   * @param {number} i
   * @param {Status} status
   * @param {Place} place
   * @param {Verification} verification
   * @returns {DraftedToken}
   */
  _drafted(id, i, status, { p, q, candidates }, { acceptProbs, drawn }) {
    const judged = status !== "discarded";
    return {
      id,
      text: this._tokenizer.shown(id),
      status,
      target_prob: p[id],
      draft_prob: q ? q[id] : null,
      accept_prob: judged ? acceptProbs[i] : null,
      u: judged && drawn ? drawn[i] : null,
      candidates,
    };
  }

  /**
   * @param {Draft} draft
   * @param {Verification} verification
   * @param {Place} place
   * @returns {EmittedToken}
   */
  _emitted(draft, { accepted, tokenId, residual }, { p, candidates }) {
    const text = this._tokenizer.shown(tokenId);
    if (accepted === draft.tokenIds.length) {
      return { kind: "bonus", id: tokenId, text, target_prob: p[tokenId], candidates, residual_top: [] };
    }
    // greedy: all of (p - q)+ lies on the target's most probable token
    const left = residual ? this._residualTop(residual) : /** @type {ResidualCandidate[]} */ ([[tokenId, text, 1]]);
    return { kind: "correction", id: tokenId, text, target_prob: p[tokenId], candidates, residual_top: left };
  }

  /**
   * @param {Row} residual
   * @returns {ResidualCandidate[]}
   */
  _residualTop(residual) {
    return top(residual).map((id) => [id, this._tokenizer.shown(id), residual[id]]);
  }

  /**
   * The probabilities at each drafted token, and at the one after them.
   * @param {Draft} draft
   * @param {Row[]} targetScores
   * @param {Verification} verification
   * @returns {Place[]}
   */
  _places({ tokenIds, draftScores }, targetScores, { accepted, tokenId }) {
    const ps = this._sampler.probabilities(targetScores);
    const qs = draftScores ? this._sampler.probabilities(draftScores) : tokenIds.map((id, i) => pointMass(id, ps[i].length));
    return ps.map((p, i) => {
      const q = qs[i] ?? null; // the bonus has no draft
      const named = [...tokenIds.slice(i, i + 1), ...(i === accepted ? [tokenId] : [])];
      return { p, q, candidates: this._candidates([...named, ...top(p), ...(q ? top(q) : [])], p, q) };
    });
  }

  /**
   * Each token once, by p and then by q.
   * @param {number[]} ids
   * @param {Row} p
   * @param {Row | null} q
   * @returns {Candidate[]}
   */
  _candidates(ids, p, q) {
    const ordered = [...new Set(ids)].sort((a, b) => p[b] - p[a] || (q ? q[b] - q[a] : 0));
    return ordered.map((id) => [id, this._tokenizer.shown(id), p[id], q ? q[id] : null]);
  }
}

/** @type {EmittedToken} */
const NOTHING = { kind: "none", id: null, text: "", target_prob: null, candidates: [], residual_top: [] };

/**
 * The fates of a round's guesses. `accepted` are in the text: fewer than the rule accepted if one `ended` it.
 * @param {Draft} draft
 * @param {Verification} verification
 * @param {number} accepted
 * @param {boolean} ended
 * @returns {Status[]}
 */
function statusesOf({ tokenIds }, { acceptProbs }, accepted, ended) {
  return tokenIds.map((_, i) => {
    if (i < accepted) return "accepted";
    return i === accepted && !ended && i < acceptProbs.length ? "rejected" : "discarded";
  });
}

/**
 * The most probable tokens of those that are possible.
 * @param {Row} probabilities
 */
function top(probabilities) {
  /** @type {number[]} */
  const best = [];
  for (let id = 0; id < probabilities.length; id += 1) {
    const place = best.findIndex((other) => probabilities[id] > probabilities[other]);
    if (place < 0 && best.length === TOP) continue;
    if (probabilities[id] > 0) best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, TOP);
  }
  return best;
}

/**
 * @param {number} id
 * @param {number} size
 */
function pointMass(id, size) {
  const row = new Float64Array(size);
  row[id] = 1;
  return row;
}
