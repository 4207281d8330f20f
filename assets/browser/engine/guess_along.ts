/** What the draft would guess at each place of a greedy output: from it, the stage replays the run at other lengths. */

import { now } from "./autoregressive.js";
import { CachedModel } from "./cached_model.js";
import { mostProbable } from "./sampler.js";
import type { DraftGuesses } from "../dist/payloads.js";
import type { Drafter } from "./drafters.js";
import type { LoadedModel } from "./models.js";
import type { RunSetup } from "./run.js";

const MOST = 16; // tokens that a copy is followed for
const CHUNK = 64;

/** `written`: the target's greedy output */
export function guessAlong(drafter: Drafter, setup: RunSetup, written: number[]): DraftGuesses {
  const began = now();
  const prompt = setup.prompt.token_ids;
  const guesses = drafter.loaded ? guessesOf(drafter.loaded, [...prompt, ...written], written.length) : null;
  const proposals = guesses ? null : written.map((_, place) => copies(drafter, [...prompt, ...written.slice(0, place)]));
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
    for (let start = first; start < tokenIds.length - 1; start += CHUNK) {
      guesses.push(...model.read(tokenIds.slice(start, Math.min(start + CHUNK, tokenIds.length - 1))).map(mostProbable));
    }
  } finally {
    model.close();
  }
  return guesses;
}

function copies(drafter: Drafter, text: number[]) {
  return drafter.begin(text, NOBODY).propose(text, MOST).tokenIds;
}

/** A copy is not drawn. */
const NOBODY = { scores: () => [], choose: () => 0, probabilities: () => [] };
