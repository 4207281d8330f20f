/**
 * Plain decoding: the target alone, one forward pass a token. Speculative decoding must write the same.
 * The same as `specviz/decoding/autoregressive.py`.
 */

import { CachedModel } from "./cached_model.js";
import { Random } from "./random.js";
import { makeSampler, type Sampler } from "./sampler.js";
import type { RunSetup } from "./run_setup.js";

export type Step = { tokenId: number, seconds: number };

/** Seconds on the browser's clock. */
export function now() {
  return performance.now() / 1000;
}

/** The passes over a prompt, and the seconds they took; what others do between two passes does not count. */
export class TimedReading {
  _steps;

  constructor(steps: Generator<void>, public seconds = 0) {
    this._steps = steps;
  }

  /** A second call reads what is left. */
  *read() {
    for (;;) {
      const began = now();
      const { done } = this._steps.next();
      this.seconds += now() - began;
      if (done) return;
      yield;
    }
  }
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

/** One plain run, step by step. */
export class AutoregressiveRun {
  _model;
  _reading;
  _steps;

  constructor(setup: RunSetup) {
    const tokenIds = [...setup.prompt.token_ids];
    const sampler = makeSampler(setup.settings, new Random(setup.settings.seed));
    this._model = new CachedModel(setup.target);
    this._reading = new TimedReading(this._model.prefillSteps(tokenIds.slice(0, -1)));
    this._steps = autoregressiveSteps(this._model, sampler, tokenIds, setup);
  }

  /** Read the prompt, and yield between two passes; a second call reads what is left. */
  *readPrompt() {
    yield* this._reading.read();
  }

  /** Decode; yields each token id with the seconds it took. Reads what is left of the prompt first. */
  *steps() {
    for (const _ of this.readPrompt());
    yield* this._steps;
  }

  close() {
    this._model.close();
  }
}
