/** The models of a page: files that came with it or are fetched, checked and put into memory. */

import { Llama, type Config } from "./llama.js";
import { PlainError } from "./plain_error.js";
import { tensorsIn } from "./safetensors.js";
import { Tokenizer, type TokenizerFile } from "./tokenizer.js";
import { say } from "./words.js";
import type { ModelInfo } from "../dist/payloads.js";

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
  if (((await sha256(file)) ?? wanted) !== wanted) throw new PlainError(say("wrong_checksum", { name }));
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

/** In hexadecimal digits; undefined on a page over plain http, which has no cryptography. */
async function sha256(bytes: Uint8Array<ArrayBuffer>) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", bytes);
  return digest && [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
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
