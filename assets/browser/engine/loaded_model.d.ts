// A model that is in memory, with what a run needs to know of it.

import type { ModelInfo } from "../dist/payloads.js";
import type { Llama } from "./llama.js";
import type { Tokenizer } from "./tokenizer.js";

export interface LoadedModel {
  name: string;
  info: ModelInfo; // what a trace says of it
  llama: Llama;
  tokenizer: Tokenizer;
  context: number; // tokens that a text can have
  ends: Set<number>; // ids that end a text
}
