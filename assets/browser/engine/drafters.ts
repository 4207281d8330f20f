/**
 * Where the guesses come from: a smaller model, or a copy of what followed the same words earlier in the text.
 * The same as `specviz/decoding/drafters/model.py` (its chain) and `prompt_lookup.py`.
 */

import { CachedModel } from "./cached_model.js";
import type { DrafterInfo } from "../dist/payloads.js";
import type { LoadedModel } from "./models.js";
import type { Row, Sampler } from "./sampler.js";
import type { Draft } from "./verification.js";

/** A drafter's work on one text, round by round. */
export interface Proposer {
  readPrompt: () => Generator<void>; // the prompt in chunks; yields after each
  propose: (tokenIds: number[], count: number) => Draft; // how the text continues, at most `count` tokens
  commit: (length: number) => void; // the first `length` tokens of the text are final, later guesses are not
  close: () => void;
}

export type Drafter = { info: DrafterInfo, loaded: LoadedModel | null, begin(promptIds: number[], sampler: Sampler): Proposer };

export class ModelDrafter {
  info = { kind: "model", ...this.loaded.info };

  constructor(public loaded: LoadedModel) {}

  begin(promptIds: number[], sampler: Sampler): Proposer {
    return new ModelProposer(new CachedModel(this.loaded), promptIds, sampler);
  }
}

class ModelProposer {
  constructor(public model: CachedModel, public promptIds: number[], public sampler: Sampler) {}

  *readPrompt() {
    yield* this.model.prefillSteps(this.promptIds.slice(0, -1));
  }

  /** One guess after the other; after a full accept, the text's last two tokens are read first. */
  propose(tokenIds: number[], count: number): Draft {
    const text = [...tokenIds];
    const draftScores: Row[] = [];
    while (draftScores.length < count) {
      const logits = this.model.read(text.slice(this.model.length)).slice(-1);
      draftScores.push(...this.sampler.scores(logits));
      text.push(this.sampler.choose(draftScores[draftScores.length - 1]));
    }
    return { tokenIds: text.slice(tokenIds.length), draftScores };
  }

  commit(length: number) {
    this.model.crop(length);
  }

  close() {
    this.model.close();
  }
}

const LONGEST = 3; // n of the n-gram that is looked for first

/** Finds the last few tokens earlier in the text and copies what followed them there. It is its own proposer. */
export class PromptLookupDrafter {
  loaded = null;
  info = { kind: "prompt-lookup", name: `prompt lookup, n-grams up to ${LONGEST}`, parameters: null, dtype: null, weights_hash: null, forward: null };

  begin() {
    return this;
  }

  *readPrompt() {}

  /** What followed the most recent earlier occurrence of the text's end, longest n-gram first; maybe nothing. */
  propose(tokenIds: number[], count: number): Draft {
    for (let n = Math.min(LONGEST, tokenIds.length - 1); n > 0; n -= 1) {
      const ending = tokenIds.slice(-n);
      for (let start = tokenIds.length - n - 1; start >= 0; start -= 1) {
        if (!ending.every((id, i) => tokenIds[start + i] === id)) continue;
        return { tokenIds: tokenIds.slice(start + n, start + n + count), draftScores: null };
      }
    }
    return { tokenIds: [], draftScores: null };
  }

  commit() {}

  close() {}
}
