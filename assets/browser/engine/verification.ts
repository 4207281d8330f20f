/**
 * The acceptance rule: how many drafted tokens are accepted, and which token the target adds.
 *
 * p is the target's distribution, q the draft's (Leviathan et al. 2023; Chen et al. 2023 state the same rule).
 * The same as `specviz/decoding/verification.py`, and `BlockRule` as in `rules.py`.
 */

import { draw, mostProbable, type Random, type Row } from "./sampler.js";
import type { DecodeSettings } from "../dist/payloads.js";

export interface Draft {
  tokenIds: number[];
  draftScores: Row[] | null; // what each was chosen from; null: q is a point mass on the guess
}

export interface Verification {
  accepted: number; // length of the accepted prefix
  tokenId: number; // the target's own token after it: a correction, or a bonus when all were accepted
  acceptProbs: number[]; // for each judged token: the accepted ones and, if there is one, the rejected one
  drawn: number[] | null; // u for each judged token; null if nothing is drawn
  residual: Row | null; // the distribution a correction came from; null for a bonus
}

export type AcceptanceRule = {verify(draft: Draft, targetScores: Row[]): Verification};

/** Accept drafted tokens as long as each is the target's most probable one. Scores are logits. */
export class GreedyRule {
  /** The accepted tokens, then the target's most probable token after them. */
  verify(draft: Draft, targetScores: Row[]): Verification {
    const best = targetScores.map(mostProbable);
    let accepted = 0;
    while (accepted < draft.tokenIds.length && draft.tokenIds[accepted] === best[accepted]) accepted += 1;
    const acceptProbs = draft.tokenIds.slice(0, accepted + 1).map((_, i) => (i < accepted ? 1 : 0));
    return { accepted, tokenId: best[accepted], acceptProbs, drawn: null, residual: null };
  }
}

/**
 * Accept token x with probability min(1, p(x)/q(x)); replace the first rejected one by a draw from (p - q)+.
 *
 * Whatever q is, the output is distributed as p (Leviathan et al. 2023, Appendix A.1). Scores are probabilities.
 */
export class SamplingRule {
  constructor(public random: Random) {}

  /** The accepted tokens, then a draw from the residual; if all were accepted, from the target's own. */
  verify(draft: Draft, targetScores: Row[]): Verification {
    const count = draft.tokenIds.length;
    const drawn = draft.tokenIds.map(() => this.random.next());
    const q = tokenProbs(draft);
    const acceptProbs = [];
    for (let i = 0; i < count; i += 1) {
      acceptProbs.push(Math.min(1, targetScores[i][draft.tokenIds[i]] / q[i]));
      if (drawn[i] >= acceptProbs[i]) {
        const rest = residual(targetScores[i], draft, i);
        return { accepted: i, tokenId: draw(rest, this.random), acceptProbs, drawn: drawn.slice(0, i + 1), residual: rest };
      }
    }
    return { accepted: count, tokenId: draw(targetScores[count], this.random), acceptProbs, drawn, residual: null };
  }
}

/**
 * Accept the longest prefix of the draft that passes its own draw; replace what follows by a draw from the rest.
 *
 * A prefix of i tokens has the share s(i) = min(1, s(i - 1) · p(x)/q(x)), with s(0) = 1: the probability that at least
 * these i tokens are accepted (Sun et al. 2024). Scores are probabilities.
 */
export class BlockRule {
  constructor(public random: Random) {}

  /**
   * The accepted tokens, then a draw from (s·p - q)+; if all were accepted, from the target's own. `acceptProbs` and `drawn`
   * have an entry for each prefix: a token can be accepted although its own prefix failed, because a longer prefix passed.
   */
  verify(draft: Draft, targetScores: Row[]): Verification {
    const count = draft.tokenIds.length;
    const drawn = draft.tokenIds.map(() => this.random.next());
    const q = tokenProbs(draft);
    const shares = [1]; // s(0) to s(n)
    draft.tokenIds.forEach((id, i) => shares.push(Math.min(1, (shares[i] * targetScores[i][id]) / q[i])));
    const acceptProbs = drawn.map((_, i) => acceptProb(shares[i + 1], draft, targetScores, i + 1));
    const accepted = acceptProbs.findLastIndex((probability, i) => drawn[i] < probability) + 1;
    if (accepted === count) {
      return { accepted, tokenId: draw(targetScores[count], this.random), acceptProbs, drawn, residual: null };
    }
    const rest = normalised(excess(targetScores[accepted], draft, accepted, shares[accepted]), targetScores[accepted]);
    return { accepted, tokenId: draw(rest, this.random), acceptProbs, drawn, residual: rest };
  }
}

export function makeRule(settings: DecodeSettings, random: Random): AcceptanceRule {
  if (settings.temperature === 0) return new GreedyRule();
  return settings.verification === "block" ? new BlockRule(random) : new SamplingRule(random);
}

/** q of each guess, where the scores are probabilities. */
function tokenProbs({ tokenIds, draftScores }: Draft) {
  return tokenIds.map((id, i) => (draftScores ? draftScores[i][id] : 1));
}

/** (p - q)+ / (1 - sum of min(p, q)), the distribution of a correction. */
export function residual(targetProbs: Row, draft: Draft, position: number) {
  return normalised(excess(targetProbs, draft, position), targetProbs);
}

/** (share · p - q)+ of each token; `share` is at most 1. */
function excess(targetProbs: Row, draft: Draft, position: number, share = 1) {
  const q = draft.draftScores?.[position];
  const left = new Float64Array(targetProbs.length);
  for (let id = 0; id < left.length; id += 1) left[id] = Math.max(0, share * targetProbs[id] - (q ? q[id] : 0));
  if (!q) left[draft.tokenIds[position]] = 0; // q is a point mass on the drafted token
  return left;
}

/** What is left, with sum 1. A rejection means p(x) < q(x), so some token has p > q. Only rounding can make the sum 0, and then p equals q. */
function normalised(left: Float64Array, targetProbs: Row) {
  const total = sumOf(left);
  return total > 0 ? left.map((each) => each / total) : targetProbs;
}

/** The probability that a prefix of this many tokens passes its own draw (equation 4 of the paper). */
function acceptProb(share: number, draft: Draft, targetScores: Row[], length: number) {
  if (length === draft.tokenIds.length) return share;
  const mass = sumOf(excess(targetScores[length], draft, length, share));
  const missing = mass + (1 - share); // in this order it is never below the mass
  return missing > 0 ? mass / missing : 1; // 0 of 0: p is q, and all that follows has a share of 1 too
}

function sumOf(row: Float64Array) {
  return row.reduce((sum, each) => sum + each, 0);
}
