/**
 * Where the guesses come from: a smaller model, or a copy of what followed the same words earlier in the text.
 * The same as `specviz/decoding/drafters/model.py` (its chain) and `prompt_lookup.py`.
 */

import { CachedModel } from "./cached_model.js";

/** @import { DrafterInfo } from "../shared/payloads.js" */
/** @import { LoadedModel } from "./loaded_model.js" */
/** @import { Row, Sampler } from "./sampler.js" */
/** @import { Draft } from "./verification.js" */

/**
 * A drafter's work on one text, round by round.
 * @typedef {object} Proposer
 * @property {() => Generator<void>} readPrompt the prompt in chunks; yields after each
 * @property {(tokenIds: number[], count: number) => Draft} propose how the text continues, at most `count` tokens
 * @property {(length: number) => void} commit the first `length` tokens of the text are final, later guesses are not
 * @property {() => void} close
 */

/** @typedef {{ info: DrafterInfo, loaded: LoadedModel | null, begin(promptIds: number[], sampler: Sampler): Proposer }} Drafter */

export class ModelDrafter {
  /** @param {LoadedModel} loaded */
  constructor(loaded) {
    this.loaded = loaded;
    this.info = { kind: "model", ...loaded.info };
  }

  /**
   * @param {number[]} promptIds
   * @param {Sampler} sampler
   * @returns {Proposer}
   */
  begin(promptIds, sampler) {
    return new ModelProposer(new CachedModel(this.loaded), promptIds, sampler);
  }
}

class ModelProposer {
  /**
   * @param {CachedModel} model
   * @param {number[]} promptIds
   * @param {Sampler} sampler
   */
  constructor(model, promptIds, sampler) {
    this._model = model;
    this._promptIds = promptIds;
    this._sampler = sampler;
  }

  *readPrompt() {
    yield* this._model.prefillSteps(this._promptIds.slice(0, -1));
  }

  /**
   * One guess after the other; after a full accept, the text's last two tokens are read first.
   * @param {number[]} tokenIds
   * @param {number} count
   * @returns {Draft}
   */
  propose(tokenIds, count) {
    const text = [...tokenIds];
    /** @type {Row[]} */
    const draftScores = [];
    while (draftScores.length < count) {
      const logits = this._model.read(text.slice(this._model.length)).slice(-1);
      draftScores.push(...this._sampler.scores(logits));
      text.push(this._sampler.choose(draftScores[draftScores.length - 1]));
    }
    return { tokenIds: text.slice(tokenIds.length), draftScores };
  }

  /** @param {number} length */
  commit(length) {
    this._model.crop(length);
  }

  close() {
    this._model.close();
  }
}

const LONGEST = 3; // n of the n-gram that is looked for first

/** Finds the last few tokens earlier in the text and copies what followed them there. It is its own proposer. */
export class PromptLookupDrafter {
  constructor() {
    this.loaded = null;
    this.info = { kind: "prompt-lookup", name: `prompt lookup, n-grams up to ${LONGEST}`, parameters: null, dtype: null, weights_hash: null, forward: null };
  }

  begin() {
    return this;
  }

  *readPrompt() {}

  /**
   * What followed the most recent earlier occurrence of the text's end, longest n-gram first; maybe nothing.
   * @param {number[]} tokenIds
   * @param {number} count
   * @returns {Draft}
   */
  propose(tokenIds, count) {
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
