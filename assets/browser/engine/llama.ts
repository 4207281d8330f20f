/**
 * The model on one page: the forward pass of the Llama family, from token ids to the next token's logits.
 *
 *     token ids ── embedding ──> x
 *     for each layer:
 *         x = x + attention(norm(x))      every token looks at itself and at the tokens before it
 *         x = x + mlp(norm(x))            every token for itself
 *     norm(x) ── output embedding ──> logits
 *
 * The same as `specviz/models/llama.py`. The weights stay in bfloat16 in the kernel's memory, as the file has them.
 */

import { grown, startKernel } from "./kernel.js";
import { PlainError, say } from "./words.js";

export type Tensor = { at: number, shape: number[] }; // where it lies in the file, in bytes

export interface Config {
  model_type: string;
  hidden_size: number;
  intermediate_size: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim: number;
  num_hidden_layers: number;
  vocab_size: number;
  max_position_embeddings: number;
  rms_norm_eps: number;
  tie_word_embeddings: boolean;
  eos_token_id: number;
  rope_parameters: { rope_theta: number };
}

export type Layer = { attentionNorm: number, query: number, key: number, value: number, attentionOut: number, mlpNorm: number, gate: number, up: number, down: number }; // Addresses of one layer's weights.

/** The keys and values of a text: for each layer the keys of all places, then the values. */
export type Cache = { at: number, length: number };

const FLOAT = 4; // bytes
const MOST = 128; // tokens in one pass
const CACHES = 2; // with room from the start: both decoders have their own
const MOST_CACHES = 4; // a model that drafts for itself has one more, and one for what it would have guessed
const ALIGN = 64;
const START = 65_536; // below it are the kernel's own tables

export class Llama {
  _layerBytes;
  _cacheBytes;
  simd;
  _kernel;
  _memory;
  _places;
  _free;
  _caches = CACHES;
  _embedding;
  _norm;
  _output;
  _layers;

  /**
   * `file`: the safetensors file. `tensors`: see `tensorsIn`. `builds`: of the kernel; see `startKernel`. Throws PlainError
   * see `startKernel`; or a weight is missing
   */
  constructor(public _config: Config, file: Uint8Array, tensors: Map<string, Tensor>, builds?: string[]) {
    const config = _config;
    const width = config.num_key_value_heads * config.head_dim;
    this._layerBytes = 2 * config.max_position_embeddings * width * FLOAT;
    this._cacheBytes = config.num_hidden_layers * this._layerBytes;
    const { places, end } = this._plan(file.length);
    const { kernel, memory, simd } = startKernel(end + CACHES * this._cacheBytes, builds);
    this.simd = simd;
    this._kernel = kernel;
    this._memory = memory;
    this._places = places;
    this._free = Array.from({ length: CACHES }, (_, i) => end + i * this._cacheBytes);
    new Uint8Array(memory.buffer).set(file, places.weights);
    this._computeAngles();
    const at = (name: string) => {
      const tensor = tensors.get(name);
      if (!tensor) throw new PlainError(say("other_model", { name }));
      return places.weights + tensor.at;
    };
    this._embedding = at("model.embed_tokens.weight");
    this._norm = at("model.norm.weight");
    this._output = config.tie_word_embeddings ? this._embedding : at("lm_head.weight");
    this._layers = Array.from({ length: config.num_hidden_layers }, (_, i) => layerAt(at, `model.layers.${i}`));
  }

  /** An empty cache; give it back with `release`. Throws PlainError the browser has too little memory for one more */
  cache(): Cache {
    const free = this._free.pop();
    if (free !== undefined) return { at: free, length: 0 };
    if (this._caches === MOST_CACHES) throw new Error("all caches are in use");
    const at = grown(this._memory, this._cacheBytes); // at the end of the memory, which grows
    this._caches += 1;
    return { at, length: 0 };
  }

  release(cache: Cache) {
    if (!this._free.includes(cache.at)) this._free.push(cache.at);
  }

  /** Read tokens after those in the cache, which grows by them; returns the logits after each, or after the last alone. `ids`: at most 128 */
  read(cache: Cache, ids: number[], { last = false } = {}) {
    const { _kernel: kernel, _places: { x, normed }, _config: { hidden_size, rms_norm_eps } } = this;
    const count = ids.length;
    ids.forEach((id, i) => kernel.embed(this._embedding + id * hidden_size * 2, x + i * hidden_size * FLOAT, hidden_size));
    this._layers.forEach((layer, index) => {
      this._attention(layer, cache, index, count);
      this._mlp(layer, count);
    });
    kernel.norm(x, this._norm, normed, count, hidden_size, rms_norm_eps);
    cache.length += count;
    return this._logits(last ? count - 1 : 0, count);
  }

  /** x += attention(norm(x)). `index`: of the layer */
  _attention(layer: Layer, cache: Cache, index: number, count: number) {
    const { _kernel: kernel, _places: { x, normed, sorted, queries, shares, seen, cos, sin } } = this;
    const { hidden_size, num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: size, rms_norm_eps } = this._config;
    const keys = cache.at + index * this._layerBytes;
    const values = keys + this._layerBytes / 2;
    const past = cache.length;
    const [newKeys, newValues] = [keys, values].map((start) => start + past * kvHeads * size * FLOAT);
    const angle = (past * size * FLOAT) / 2;
    kernel.norm(x, layer.attentionNorm, normed, count, hidden_size, rms_norm_eps);
    kernel.linear(normed, sorted, layer.query, queries, count, heads * size, hidden_size);
    kernel.linear(normed, sorted, layer.key, newKeys, count, kvHeads * size, hidden_size);
    kernel.linear(normed, sorted, layer.value, newValues, count, kvHeads * size, hidden_size);
    kernel.rotate(queries, cos + angle, sin + angle, count, heads, size);
    kernel.rotate(newKeys, cos + angle, sin + angle, count, kvHeads, size);
    kernel.attention(queries, keys, values, shares, seen, count, past, heads, kvHeads, size);
    kernel.linear(seen, sorted, layer.attentionOut, normed, count, hidden_size, heads * size);
    kernel.add(normed, x, count * hidden_size);
  }

  /** x += mlp(norm(x)), two layers with a gate */
  _mlp(layer: Layer, count: number) {
    const { _kernel: kernel, _places: { x, normed, sorted, gate, up } } = this;
    const { hidden_size, intermediate_size: inner, rms_norm_eps } = this._config;
    kernel.norm(x, layer.mlpNorm, normed, count, hidden_size, rms_norm_eps);
    kernel.linear(normed, sorted, layer.gate, gate, count, inner, hidden_size);
    kernel.linear(normed, sorted, layer.up, up, count, inner, hidden_size);
    kernel.gated(gate, up, count * inner);
    kernel.linear(gate, sorted, layer.down, normed, count, hidden_size, inner);
    kernel.add(normed, x, count * hidden_size);
  }

  /** What the model expects next after the tokens from `first` on: a row of the vocabulary each, copied out. */
  _logits(first: number, count: number) {
    const { _kernel: kernel, _places: { normed, sorted, logits } } = this;
    const { hidden_size, vocab_size } = this._config;
    const rows = count - first;
    kernel.linear(normed + first * hidden_size * FLOAT, sorted, this._output, logits, rows, vocab_size, hidden_size);
    const all = new Float32Array(this._memory.buffer, logits, rows * vocab_size).slice();
    return Array.from({ length: rows }, (_, i) => all.subarray(i * vocab_size, (i + 1) * vocab_size));
  }

  /** Where in memory everything lies, one after the other; `end` is where the caches begin. `weights`: bytes */
  _plan(weights: number) {
    const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads, head_dim: size } = this._config;
    const { vocab_size: vocabulary, max_position_embeddings: context } = this._config;
    const widest = Math.max(hidden, inner, heads * size);
    const sizes = {
      x: MOST * hidden, normed: MOST * hidden, sorted: MOST * widest, queries: MOST * heads * size, seen: MOST * heads * size,
      shares: context, gate: MOST * inner, up: MOST * inner, logits: MOST * vocabulary,
      cos: (context * size) / 2, sin: (context * size) / 2, weights: weights / FLOAT,
    };
    let end = START;
    const places = {} as Record<keyof typeof sizes, number>;
    for (const [name, floats] of Object.entries(sizes)) {
      places[name as keyof typeof sizes] = end;
      end += Math.ceil((floats * FLOAT) / ALIGN) * ALIGN;
    }
    return { places, end };
  }

  /** Cosines and sines of the angle of each place and each pair of a head's numbers (Su et al. 2021). */
  _computeAngles() {
    const { max_position_embeddings: context, head_dim: size, rope_parameters } = this._config;
    const pairs = size / 2;
    const [cos, sin] = [this._places.cos, this._places.sin].map((at) => new Float32Array(this._memory.buffer, at, context * pairs));
    for (let pair = 0; pair < pairs; pair += 1) {
      const frequency = Math.fround(1 / Math.fround(rope_parameters.rope_theta ** ((2 * pair) / size)));
      for (let place = 0; place < context; place += 1) {
        const angle = Math.fround(place * frequency); // float32, as the model was trained
        cos[place * pairs + pair] = Math.cos(angle);
        sin[place * pairs + pair] = Math.sin(angle);
      }
    }
  }
}

function layerAt(at: (name: string) => number, layer: string): Layer {
  return {
    attentionNorm: at(`${layer}.input_layernorm.weight`),
    query: at(`${layer}.self_attn.q_proj.weight`),
    key: at(`${layer}.self_attn.k_proj.weight`),
    value: at(`${layer}.self_attn.v_proj.weight`),
    attentionOut: at(`${layer}.self_attn.o_proj.weight`),
    mlpNorm: at(`${layer}.post_attention_layernorm.weight`),
    gate: at(`${layer}.mlp.gate_proj.weight`),
    up: at(`${layer}.mlp.up_proj.weight`),
    down: at(`${layer}.mlp.down_proj.weight`),
  };
}
