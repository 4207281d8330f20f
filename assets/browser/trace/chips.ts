// The tokens of a round as chips: what the strip draws and the inspector explains.

import { addedIn, shown } from "./rounds.js";
import type { Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, ShareRow } from "../dist/payloads.js";
import type { CandidateRow, Chip, TargetChip } from "./drawn.js";

const SHOWN = 3; // of a token's candidates

/** The drafted tokens, then the target's own one. */
export function chipsOf(round: Round): Chip[] {
  const chips = round.drafted.map(draftedChip);
  const added = addedIn(round);
  return added === "none" ? chips : [...chips, targetChip(round.emitted, added)];
}

function draftedChip(token: DraftedToken): Chip {
  const { status, target_prob: p = null, draft_prob: q = null, accept_prob = null, u = null, candidates = [] } = token;
  const text = shown(token);
  if (status === "discarded") return { text, status, q };
  if (status === "not taken") return { text, status, p, q };
  return { text, status, p, q, accept_prob, u, candidates: candidateRows(candidates, token.id) };
}

function targetChip({ id = null, text = "", target_prob: p = null, candidates = [], residual_top: top = [] }: EmittedToken, status: TargetChip["status"]): TargetChip {
  return { text, status, p, candidates: candidateRows(candidates, id), residual: residualRows(top, id) };
}

/** The token itself, each model's most probable one and the next most probable ones, ordered by p. */
function candidateRows(candidates: Candidate[], own: number | null): CandidateRow[] {
  if (!candidates.length) return [];
  const larger = ([, , p, q]: Candidate) => Math.max(p, q ?? 0);
  const ranked = candidates.toSorted((a, b) => Number(a[0] !== own) - Number(b[0] !== own) || larger(b) - larger(a));
  const byTarget = candidates.toSorted((a, b) => b[2] - a[2]);
  const byDraft = candidates.toSorted((a, b) => (b[3] ?? 0) - (a[3] ?? 0));
  const wanted = [...new Set([ranked[0], byTarget[0], byDraft[0], ...ranked])].slice(0, SHOWN);
  const ordered = wanted.toSorted((a, b) => b[2] - a[2] || (b[3] ?? 0) - (a[3] ?? 0));
  return ordered.map(([id, text, p, q]) => [text, p, q, id === own]);
}

/** The residual's most probable tokens, this token among them where it was recorded. */
function residualRows(top: ResidualCandidate[], own: number | null): ShareRow[] {
  const wanted = top.toSorted((a, b) => Number(a[0] !== own) - Number(b[0] !== own) || b[2] - a[2]).slice(0, SHOWN);
  return wanted.toSorted((a, b) => b[2] - a[2]).map(([id, text, share]) => [text, share, id === own]);
}
