/** The models of a page: safetensors files that came with it or are fetched, checked and put into memory. */

import { Llama, type Cache, type Config, type Tensor } from "./llama.js";
import { Tokenizer, type TokenizerFile } from "./tokenizer.js";
import { PlainError, say } from "./words.js";
import type { Machine, ModelInfo } from "../dist/payloads.js";

const CHUNK = 128; // tokens of a prompt in one pass; between two passes a run can be stopped

export interface ModelFiles {
  config: Config;
  tokenizer: TokenizerFile;
  weights: ArrayBuffer | string; // a safetensors file, or its address
  sha256: string; // that the weights must have
}

/** A model that is in memory, with what a run needs to know of it. */
export interface LoadedModel {
  name: string;
  info: ModelInfo; // what a trace says of it
  llama: Llama;
  tokenizer: Tokenizer;
  context: number; // tokens that a text can have
  ends: Set<number>; // ids that end a text
}

/** `progress`: of what is fetched. Throws PlainError the weights cannot be fetched, are damaged or others than the page was made with */
export async function loadModel(name: string, { config, tokenizer, weights, sha256: wanted }: ModelFiles, progress: (bytes: number, of: number) => void): Promise<LoadedModel> {
  const file = typeof weights === "string" ? await fetched(name, weights, progress) : new Uint8Array(weights);
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", file); // undefined on a page over plain http, which has no cryptography
  const found = digest ? [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("") : wanted;
  if (found !== wanted) throw new PlainError(say("wrong_checksum", { name }));
  const tensors = tensorsIn(file, name);
  const parameters = [...tensors.values()].reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  return {
    name,
    info: { name, parameters, dtype: "float32", weights_hash: wanted.slice(0, 16), forward: "light" },
    llama: new Llama(config, file, tensors),
    tokenizer: new Tokenizer(tokenizer, config.eos_token_id),
    context: config.max_position_embeddings,
    ends: new Set([config.eos_token_id]),
  };
}

async function fetched(name: string, address: string, progress: (bytes: number, of: number) => void) {
  const missing = new PlainError(say("not_loaded", { name }));
  try {
    const answer = await fetch(address);
    if (!answer.ok || !answer.body) throw missing;
    const of = Number(answer.headers.get("content-length") ?? 0);
    const parts = [];
    let bytes = 0;
    for (const reader = answer.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      progress((bytes += value.length), Math.max(of, bytes));
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  } catch {
    throw missing;
  }
}

/**
 * Where each tensor lies in the file, in bytes from its start: eight bytes with the length of a JSON header, the header, then the
 * numbers. `name`: of the model, for a sentence. Throws PlainError where it is no such file, it is not whole, or its numbers are not bfloat16
 */
export function tensorsIn(file: Uint8Array<ArrayBuffer>, name: string) {
  const damaged = new PlainError(say("damaged", { name }));
  if (file.length < 8) throw damaged;
  const start = 8 + Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (start > file.length) throw damaged;
  let header: Record<string, { dtype: string, shape: number[], data_offsets: [number, number] }>;
  try {
    header = JSON.parse(new TextDecoder().decode(file.subarray(8, start)));
  } catch {
    throw damaged;
  }
  const tensors: Map<string, Tensor> = new Map();
  for (const [key, { dtype, shape, data_offsets: [from, to] = [0, 0] }] of Object.entries(header)) {
    if (key === "__metadata__") continue;
    const numbers = shape.reduce((product, size) => product * size, 1);
    if (dtype !== "BF16" || to - from !== 2 * numbers || start + to > file.length) throw damaged;
    tensors.set(key, { at: start + from, shape });
  }
  return tensors;
}

/** Where a run was made, for its trace. A browser does not say which processor it is. */
export function machineOf(models: Map<string, LoadedModel>): Machine {
  const [model] = models.values();
  return { machine: `a browser, WebAssembly with ${model?.llama.simd ?? "SIMD"}`, torch: "not used", transformers: "not used", threads: 1 };
}

/**
 * A model with its KV cache: it reads every token once and removes only rejected ones.
 * The same as `specviz/models/cached_model.py`, without trees.
 */
export class CachedModel {
  _taken: Cache | null = null;

  constructor(public loaded: LoadedModel) {}

  /** Taken when it is first needed, so that whoever makes a run and cannot begin it holds nothing. */
  get _cache() {
    this._taken ??= this.loaded.llama.cache();
    return this._taken;
  }

  get length() {
    return this._cache.length;
  }

  /** Read the prompt in chunks, and yield after each: a chance to stop. */
  *prefillSteps(tokenIds: number[]) {
    for (let start = 0; start < tokenIds.length; start += CHUNK) {
      this.loaded.llama.read(this._cache, tokenIds.slice(start, start + CHUNK), { last: true });
      yield;
    }
  }

  /** Read tokens in one forward pass; returns the logits of the next token after each, a row of the vocabulary each. */
  read(tokenIds: number[]) {
    return this.loaded.llama.read(this._cache, tokenIds);
  }

  /** Remove every token after the first `length` from the cache. */
  crop(length: number) {
    this._cache.length = Math.min(this._cache.length, length);
  }

  /** Give the cache's memory to the next run. */
  close() {
    if (this._taken) this.loaded.llama.release(this._taken);
    this._taken = null;
  }
}
