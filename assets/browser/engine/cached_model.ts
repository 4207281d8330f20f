/**
 * A model with its KV cache: it reads every token once and removes only rejected ones.
 * The same as `specviz/models/cached_model.py`, without trees.
 */
import type { Cache } from "./llama.js";
import type { LoadedModel } from "./models.js";

const CHUNK = 128; // tokens of a prompt in one pass; between two passes a run can be stopped

export class CachedModel {
  _llama = this.loaded.llama;
  _taken: Cache | null = null;

  constructor(public loaded: LoadedModel) {}

  /** Taken when it is first needed, so that whoever makes a run and cannot begin it holds nothing. */
  get _cache() {
    this._taken ??= this._llama.cache();
    return this._taken;
  }

  /** Tokens in the cache. */
  get length() {
    return this._cache.length;
  }

  /** Read the prompt in chunks, and yield after each: a chance to stop. */
  *prefillSteps(tokenIds: number[]) {
    for (let start = 0; start < tokenIds.length; start += CHUNK) {
      this._llama.read(this._cache, tokenIds.slice(start, start + CHUNK), { last: true });
      yield;
    }
  }

  /** Read tokens in one forward pass; returns the logits of the next token after each, a row of the vocabulary each. */
  read(tokenIds: number[]) {
    return this._llama.read(this._cache, tokenIds);
  }

  /** Remove every token after the first `length` from the cache. */
  crop(length: number) {
    this._cache.length = Math.min(this._cache.length, length);
  }

  /** Give the cache's memory to the next run. */
  close() {
    if (this._taken) this._llama.release(this._taken);
    this._taken = null;
  }
}
