/**
 * Both decoders. Plain decoding: the target alone, one forward pass a token. Speculative decoding must write the same: a draft
 * proposes tokens, the target verifies all of them in one pass. `speculativeRounds` is the algorithm (Leviathan et al. 2023,
 * Algorithm 1; Chen et al. 2023, Algorithm 2) and nothing else, step for step as in `specviz/decoding/speculative.py`.
 */

import type { DecodeSettings, Prompt, Round } from "../dist/payloads.js";
import type { Proposer } from "./drafters.js";
import type { CachedModel, LoadedModel } from "./models.js";
import type { Recorder } from "./recording.js";
import type { Sampler } from "./sampler.js";
import type { AcceptanceRule } from "./verification.js";

export interface RunSetup {
  target: LoadedModel;
  settings: DecodeSettings;
  prompt: Prompt;
  ends: Set<number>; // ids that end the output; empty when end of text is ignored
}

type Step = { tokenId: number, seconds: number };

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

/**
 * Append to `tokenIds` round by round, and yield each round. At the start and at every yield, both models have read all
 * tokens except the last one.
 */
export function* speculativeRounds(target: CachedModel, proposer: Proposer, sampler: Sampler, rule: AcceptanceRule, tokenIds: number[], setup: RunSetup, recorder: Recorder): Generator<Round> {
  const finalLength = tokenIds.length + setup.settings.max_new_tokens;
  for (let index = 0; ; index += 1) {
    const began = now();

    // 1. The draft proposes n tokens. The target adds one token of its own to every round, so leave room for it.
    const room = finalLength - tokenIds.length - 1;
    const draft = proposer.propose(tokenIds, Math.min(setup.settings.draft_length, room));
    const drafted = now();

    // 2. The target reads the last token and the n drafted tokens in one pass. This gives n + 1 distributions.
    const logits = target.read([tokenIds[tokenIds.length - 1], ...draft.tokenIds]);
    const verified = now();

    // 3. The rule accepts the first tokens of the draft. The target's own token follows: a correction or a bonus.
    const targetScores = sampler.scores(logits);
    const verification = rule.verify(draft, targetScores);
    const written = [...draft.tokenIds.slice(0, verification.accepted), verification.tokenId];
    const end = written.findIndex((id) => setup.ends.has(id));
    const emitted = end < 0 ? written : written.slice(0, end + 1);
    tokenIds.push(...emitted);

    // 4. Both caches drop what was not accepted. The last token stays unread: the next round starts with it.
    target.crop(tokenIds.length - 1);
    proposer.commit(tokenIds.length - 1);

    const seconds = { draft: drafted - began, verify: verified - drafted, overhead: now() - verified };
    yield recorder.round(index, seconds, draft, targetScores, verification, emitted);
    if (tokenIds.length === finalLength || setup.ends.has(tokenIds[tokenIds.length - 1])) return;
  }
}
