/**
 * Speculative decoding: a draft proposes tokens, the target verifies all of them in one pass.
 *
 * `speculativeRounds` is the algorithm (Leviathan et al. 2023, Algorithm 1; Chen et al. 2023, Algorithm 2) and nothing
 * else, step for step as in `specviz/decoding/speculative.py`. The rest of the file starts a run around it.
 */

import { TimedReading, now } from "./autoregressive.js";
import { CachedModel } from "./cached_model.js";
import { Random } from "./random.js";
import { Recorder } from "./recording.js";
import { untilEnd, type RunSetup } from "./run_setup.js";
import { makeSampler, type Sampler } from "./sampler.js";
import { makeRule, type AcceptanceRule } from "./verification.js";
import type { Round } from "../dist/payloads.js";
import type { Drafter, Proposer } from "./drafters.js";

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
    const emitted = untilEnd([...draft.tokenIds.slice(0, verification.accepted), verification.tokenId], setup.ends);
    tokenIds.push(...emitted);

    // 4. Both caches drop what was not accepted. The last token stays unread: the next round starts with it.
    target.crop(tokenIds.length - 1);
    proposer.commit(tokenIds.length - 1);

    const seconds = { draft: drafted - began, verify: verified - drafted, overhead: now() - verified };
    yield recorder.round(index, seconds, draft, targetScores, verification, emitted);
    if (tokenIds.length === finalLength || setup.ends.has(tokenIds[tokenIds.length - 1])) return;
  }
}

/** One speculative run, round by round. */
export class SpeculativeRun {
  _model;
  _proposer;
  _readings;
  _decoding;

  constructor(setup: RunSetup, drafter: Drafter) {
    const random = new Random(setup.settings.seed);
    const sampler = makeSampler(setup.settings, random);
    const tokenIds = [...setup.prompt.token_ids];
    this._model = new CachedModel(setup.target);
    this._proposer = drafter.begin(tokenIds, sampler);
    this._readings = [
      new TimedReading(this._model.prefillSteps(tokenIds.slice(0, -1))),
      new TimedReading(this._proposer.readPrompt()),
    ];
    const recorder = new Recorder(setup.target.tokenizer, sampler);
    const rule = makeRule(setup.settings, random);
    this._decoding = speculativeRounds(this._model, this._proposer, sampler, rule, tokenIds, setup, recorder);
  }

  /** Seconds that the prompt took. */
  get prefill() {
    const [target, draft] = this._readings.map(({ seconds }) => seconds);
    return { target, draft };
  }

  /** Let both models read the prompt, and yield between their passes; a second call reads what is left. */
  *readPrompt() {
    for (const reading of this._readings) yield* reading.read();
  }

  /** Decode; yields each round as it ends. Reads what is left of the prompt first. */
  *rounds() {
    for (const _ of this.readPrompt());
    yield* this._decoding;
  }

  close() {
    this._model.close();
    this._proposer.close();
  }
}
