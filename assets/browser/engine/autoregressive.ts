/**
 * Plain decoding: the target alone, one forward pass a token. Speculative decoding must write the same.
 * The same as `specviz/decoding/autoregressive.py`.
 */

import type { CachedModel } from "./cached_model.js";
import type { RunSetup } from "./run.js";
import type { Sampler } from "./sampler.js";

export type Step = { tokenId: number, seconds: number };

/** Seconds on the browser's clock. */
export function now() {
  return performance.now() / 1000;
}

export function* autoregressiveSteps(target: CachedModel, sampler: Sampler, tokenIds: number[], setup: RunSetup): Generator<Step> {
  for (let count = 0; count < setup.settings.max_new_tokens; count += 1) {
    const began = now();
    const logits = target.read(tokenIds.slice(-1));
    const tokenId = sampler.choose(sampler.scores(logits)[0]);
    tokenIds.push(tokenId);
    yield { tokenId, seconds: now() - began };
    if (setup.ends.has(tokenId)) return;
  }
}
