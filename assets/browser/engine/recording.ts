/**
 * Turns the numbers of a round into the plain values of a trace. The time this takes is not part of the round.
 * The same as `specviz/decoding/recording.py`, for chains.
 */
import type { Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Status } from "../dist/payloads.js";
import type { Row, Sampler } from "./sampler.js";
import type { Tokenizer } from "./tokenizer.js";
import type { Draft, Verification } from "./verification.js";

const TOP = 5; // candidates stored from each model's distribution

export type Seconds = { draft: number, verify: number, overhead: number };
export type Place = { p: Row, q: Row | null, candidates: Candidate[] }; // What the trace stores of one place: p and q of each token that is named there.

export class Recorder {
  constructor(public tokenizer: Tokenizer, public sampler: Sampler) {}

  /** One round; `emitted` is what it added to the text, cut after an end-of-text token. */
  round(index: number, seconds: Seconds, draft: Draft, targetScores: Row[], verification: Verification, emitted: number[]): Round {
    const ended = emitted.length <= verification.accepted; // an accepted end of text: the target adds no token
    const accepted = ended ? emitted.length : verification.accepted;
    const places = this._places(draft, targetScores, verification);
    const { acceptProbs, drawn } = verification;
    return {
      index,
      draft_seconds: seconds.draft,
      verify_seconds: seconds.verify,
      overhead_seconds: seconds.overhead,
      drafted: draft.tokenIds.map((id, i): DraftedToken => {
        const { p, q, candidates } = places[i];
        const isRejected = i === accepted && !ended && i < acceptProbs.length;
        const status: Status = i < accepted ? "accepted" : isRejected ? "rejected" : "discarded"; // fewer are in the text than the rule accepted if one ended it
        const judged = status !== "discarded";
        const chance = { accept_prob: judged ? acceptProbs[i] : null, u: judged && drawn ? drawn[i] : null };
        return { id, text: this.tokenizer.shown(id), status, target_prob: p[id], draft_prob: q ? q[id] : null, ...chance, candidates };
      }),
      emitted: ended ? NOTHING : this._emitted(draft, verification, places[verification.accepted]),
    };
  }

  _emitted(draft: Draft, { accepted, tokenId, residual }: Verification, { p, candidates }: Place): EmittedToken {
    const text = this.tokenizer.shown(tokenId);
    if (accepted === draft.tokenIds.length) {
      return { kind: "bonus", id: tokenId, text, target_prob: p[tokenId], candidates, residual_top: [] };
    }
    // greedy: all of (p - q)+ lies on the target's most probable token
    const left: ResidualCandidate[] = residual ? top(residual).map((id) => [id, this.tokenizer.shown(id), residual[id]]) : [[tokenId, text, 1]];
    return { kind: "correction", id: tokenId, text, target_prob: p[tokenId], candidates, residual_top: left };
  }

  /** The probabilities at each drafted token, and at the one after them. */
  _places({ tokenIds, draftScores }: Draft, targetScores: Row[], { accepted, tokenId }: Verification): Place[] {
    const ps = this.sampler.probabilities(targetScores);
    const qs = draftScores ? this.sampler.probabilities(draftScores) : tokenIds.map((id, i) => ps[i].map((_, each) => Number(each === id))); // a point mass
    return ps.map((p, i) => {
      const q = qs[i] ?? null; // the bonus has no draft
      const named = [...tokenIds.slice(i, i + 1), ...(i === accepted ? [tokenId] : [])];
      const ids = new Set([...named, ...top(p), ...(q ? top(q) : [])]);
      const ordered = [...ids].sort((a, b) => p[b] - p[a] || (q ? q[b] - q[a] : 0));
      return { p, q, candidates: ordered.map((id): Candidate => [id, this.tokenizer.shown(id), p[id], q ? q[id] : null]) };
    });
  }
}

const NOTHING: EmittedToken = { kind: "none", id: null, text: "", target_prob: null, candidates: [], residual_top: [] };

/** The most probable tokens of those that are possible. */
function top(probabilities: Row) {
  const best: number[] = [];
  for (let id = 0; id < probabilities.length; id += 1) {
    const place = best.findIndex((other) => probabilities[id] > probabilities[other]);
    if (place < 0 && best.length === TOP) continue;
    if (probabilities[id] > 0) best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, TOP);
  }
  return best;
}

