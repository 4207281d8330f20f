/**
 * Where the guesses come from: a smaller model, or a copy of what followed the same words earlier in the text.
 * The same as `specviz/decoding/drafters/model.py` (its chain) and `prompt_lookup.py`.
 */

import { now, type RunSetup } from "./decoding.js";
import { CachedModel } from "./models.js";
import { mostProbable } from "./sampler.js";
import type { DraftGuesses, DrafterInfo } from "../dist/payloads.js";
import type { LoadedModel } from "./models.js";
import type { Row, Sampler } from "./sampler.js";
import type { Draft } from "./verification.js";

const LONGEST = 3; // n of the n-gram that is looked for first
const MOST = 16; // tokens that a copy is followed for
const AT_ONCE = 64; // tokens that are guessed at in one pass

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

/**
 * What the draft would guess at each place of a greedy output: from it, the stage replays the run at other lengths. `written`: the
 * target's output
 */
export function guessAlong(drafter: Drafter, setup: RunSetup, written: number[]): DraftGuesses {
  const began = now();
  const text = [...setup.prompt.token_ids, ...written];
  const guesses = drafter.loaded ? guessesOf(drafter.loaded, text, written.length) : null;
  const copies = (place: number) => (drafter as PromptLookupDrafter).propose(text.slice(0, place - written.length), MOST).tokenIds;
  const proposals = guesses ? null : written.map((_, place) => copies(place));
  const ids = new Set([...written, ...(guesses ?? []), ...(proposals ?? []).flat()]);
  const pieces = Object.fromEntries([...ids].map((id) => [id, setup.target.tokenizer.shown(id)]));
  // Every sum is added in the same order however many tokens are read, so a real run chooses the same tokens.
  return { drafter: drafter.info, token_ids: written, guesses, proposals, pieces, exact: true, seconds: now() - began };
}

/** The model's most probable token before each of the last `count` tokens. */
function guessesOf(loaded: LoadedModel, tokenIds: number[], count: number) {
  const model = new CachedModel(loaded);
  const first = tokenIds.length - count - 1; // the guess at the output's first token follows the prompt's last token
  const guesses = [];
  try {
    for (const _ of model.prefillSteps(tokenIds.slice(0, first)));
    for (let start = first; start < tokenIds.length - 1; start += AT_ONCE) {
      guesses.push(...model.read(tokenIds.slice(start, Math.min(start + AT_ONCE, tokenIds.length - 1))).map(mostProbable));
    }
  } finally {
    model.close();
  }
  return guesses;
}
